import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Documents, OpenDocument } from '../../../../src/editor/files/documents.ts'

/** An open document that behaves as the editor's: one line end, steps of undo, no save over a newer file. */
export class FakeDocument implements OpenDocument {
  readonly path: string
  readonly lineEnd: '\n' | '\r\n'
  encoding = 'utf8'
  /** Called before an edit is taken, as when the user types at that moment. */
  beforeReplace: (() => void) | undefined
  /** Called when it is told to save; its answer is the document's. */
  onSave: (() => boolean) | undefined
  closed = false
  saves = 0
  #text: string
  #saved: string
  #undo: string[] = []
  /** what the file held when it was last read or saved */
  #base: string

  constructor(path: string, lineEnd: '\n' | '\r\n' = '\n') {
    this.path = path
    this.lineEnd = lineEnd
    this.#base = readFileSync(path, 'utf8')
    this.#text = this.#normal(this.#base)
    this.#saved = this.#text
  }

  text = () => this.#text
  isDirty = () => this.#text !== this.#saved
  isClosed = () => this.closed

  /** The user types. */
  type(text: string): void {
    this.#undo.push(this.#text)
    this.#text = text
  }

  undo(): string {
    this.#text = this.#undo.pop() ?? this.#text
    return this.#text
  }

  async replace(edit: { start: number; end: number; text: string }, expected: string): Promise<boolean> {
    this.beforeReplace?.()
    if (this.closed || this.#text !== expected) return false
    this.#undo.push(this.#text)
    this.#text = this.#normal(this.#text.slice(0, edit.start) + edit.text + this.#text.slice(edit.end))
    return true
  }

  async save(): Promise<boolean> {
    this.saves += 1
    if (this.onSave && !this.onSave()) return false
    const bytes = this.encoding === 'utf8bom' ? `\ufeff${this.#text}` : this.#text
    const now = existsSync(this.path) ? readFileSync(this.path, 'utf8') : undefined
    if (now !== undefined && now !== this.#base && now !== bytes) return false
    writeFileSync(this.path, bytes)
    this.#base = bytes
    this.#saved = this.#text
    return true
  }

  #normal(text: string): string {
    return text.replace(/^\ufeff/, '').replace(/\r?\n/g, this.lineEnd)
  }
}

export function fakeDocuments(...open: FakeDocument[]): Documents {
  return { find: paths => open.find(document => !document.closed && paths.includes(document.path)) }
}
