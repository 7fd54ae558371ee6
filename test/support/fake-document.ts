import { readFileSync, writeFileSync } from 'node:fs'
import type { Documents, OpenDocument } from '../../src/editor/files/documents.ts'

/** A state in the undo history. Two states with the same text are different. */
interface Version {
  text: string
}

/**
 * An open document that behaves like the editor's: it has consistent line endings and undo steps, and doesn't overwrite
 * a newer file. It's tested with `contracts/documents.ts`, like the editor.
 */
export class FakeDocument implements OpenDocument {
  readonly path: string
  /** Called before an edit is applied, to simulate that the user types at that moment. */
  beforeReplace: (() => void) | undefined
  /** Called on save; returns the result of the save. */
  onSave: (() => boolean) | undefined
  onDidChange: (() => void) | undefined
  closed = false
  saves = 0
  lineEnd: '\n' | '\r\n' = '\n'
  encoding = 'utf8'
  #now: Version = { text: '' }
  #saved = this.#now
  #undo: Version[] = []
  /** the file's content when it was last read or saved */
  #base: string | undefined

  constructor(path: string) {
    this.path = path
    this.reload()
  }

  text = () => this.#now.text
  isDirty = () => this.#now !== this.#saved
  isClosed = () => this.closed

  /** Reads the file again. Returns whether its content differs. */
  reload(): boolean {
    this.#base = readOrNothing(this.path)
    const read = this.#base ?? ''
    this.encoding = read.startsWith('\ufeff') ? 'utf8bom' : 'utf8'
    const ends = read.match(/\r?\n/g) ?? []
    this.lineEnd = ends.filter(end => end === '\r\n').length * 2 > ends.length ? '\r\n' : '\n'
    const text = this.#normal(read)
    const isOther = text !== this.#now.text
    if (isOther) this.#become(text)
    this.#saved = this.#now
    return isOther
  }

  /** Types as the user. */
  type(text: string): void {
    this.#become(this.#normal(text))
    this.onDidChange?.()
  }

  undo(): string {
    this.#now = this.#undo.pop() ?? this.#now
    this.onDidChange?.()
    return this.#now.text
  }

  async replace(edit: { start: number; end: number; text: string }, expected: string): Promise<boolean> {
    this.beforeReplace?.()
    const { text } = this.#now
    if (this.closed || text !== expected) return false
    this.type(text.slice(0, edit.start) + edit.text + text.slice(edit.end))
    return true
  }

  async save(): Promise<boolean> {
    this.saves += 1
    if (this.closed || (this.onSave && !this.onSave())) return false
    if (!this.isDirty()) return true
    const now = readOrNothing(this.path)
    if (now !== undefined && now !== this.#base && now !== this.#bytes()) return false
    this.write()
    this.markSaved()
    return true
  }

  /** Overwrites the file, even if it's newer. */
  write(): void {
    writeFileSync(this.path, this.#bytes())
  }

  /** Records that the file has this text. */
  markSaved(): void {
    this.#base = this.#bytes()
    this.#saved = this.#now
  }

  #become(text: string): void {
    this.#undo.push(this.#now)
    this.#now = { text }
  }

  #bytes(): string {
    return this.encoding === 'utf8bom' ? `\ufeff${this.#now.text}` : this.#now.text
  }

  #normal(text: string): string {
    return text.replace(/^\ufeff/, '').replace(/\r?\n/g, this.lineEnd)
  }
}

export function fakeDocuments(...open: FakeDocument[]): Documents {
  return {
    find: paths => open.find(document => !document.closed && paths.includes(document.path)),
    isUnsavedElsewhere: () => false,
    unsaved: () => open.filter(document => document.isDirty()).map(({ path }) => path),
  }
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
