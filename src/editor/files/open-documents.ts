/** Copies of the texts that the editor has open. The editor reports the events of its documents. */
import { type Disposable, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { PathRules } from '../path-rules.ts'
import type { Documents, OpenDocument } from './documents.ts'

/** Replaces the UTF-16 units from `start` to `end` by `text`. */
export interface DocumentEdit {
  start: number
  end: number
  text: string
}

interface DocumentState {
  /** a number that changes with each edit */
  version: number
  isDirty: boolean
  lineEnd: '\n' | '\r\n'
  encoding: string
}

/** An event of a document of a file on disk, or of a file in another kind of editor. `id`: identifies a document while it's open. */
export type DocumentEvent =
  | ({ type: 'opened'; id: number; path: string; text: string } & DocumentState)
  /** `edits`: each edit refers to the text after the edit before it. `text`: the whole text, instead of edits. */
  | ({ type: 'changed'; id: number; edits: DocumentEdit[]; text?: string } & DocumentState)
  | { type: 'saved'; id: number; isDirty: boolean }
  /** It became known whether the document has unsaved changes. */
  | { type: 'dirty'; id: number; isDirty: boolean }
  | { type: 'closed'; id: number }
  /** The paths of all files with unsaved changes in notebooks and custom editors. */
  | { type: 'unsaved-elsewhere'; paths: string[] }
  /** The user saved a file in a notebook or a custom editor. */
  | { type: 'saved-elsewhere'; path: string }
  /** The user is about to rename files or folders, or has renamed them. */
  | { type: 'renaming' | 'renamed'; files: Array<{ from: string; to: string }> }

/** The editor's documents. */
export interface EditorDocuments {
  /** Reports each open document, and then the events of all documents, in order. */
  follow(listener: (event: DocumentEvent) => void): Disposable
  /** Edits a document as one undo step. Resolves to false if the document has another version by now, or if the editor refused the edit. */
  edit(id: number, version: number, edit: DocumentEdit): Promise<boolean>
  /** Saves a document. Resolves to false if the editor didn't save it. */
  save(id: number): Promise<boolean>
}

/** Maximum number of edits, and of their UTF-16 units, that wait: edits are applied only when the text is read. */
const MAX_WAITING_EDITS = 1000
const MAX_WAITING_TEXT = 1_000_000

/** Applies each edit to the text after the edit before it, without copying the text for each edit. */
function applyEdits(text: string, edits: readonly DocumentEdit[]): string {
  // the texts before and after the latest edit; the text after it continues with the last element of `after`
  const before: string[] = []
  const after = [text]
  let at = 0
  const goTo = (place: number) => {
    while (at > place) {
      const piece = before.pop()!
      at -= piece.length
      after.push(piece)
    }
    while (at < place && after.length > 0) {
      const piece = after.pop()!
      const head = piece.slice(0, place - at)
      before.push(head)
      at += head.length
      if (head.length < piece.length) after.push(piece.slice(head.length))
    }
  }
  for (const { start, end, text: added } of edits) {
    goTo(end)
    while (at > start) {
      const piece = before.pop()!
      at -= piece.length
      if (at >= start) continue
      before.push(piece.slice(0, start - at))
      at = start
    }
    before.push(added)
    at += added.length
  }
  return [...before, ...after.reverse()].join('')
}

/** A copy of an open document of the editor. */
export class DocumentCopy implements OpenDocument {
  readonly path: string
  readonly key: string
  readonly #id: number
  readonly #editor: EditorDocuments
  #text: string
  #edits: DocumentEdit[] = []
  #state: DocumentState
  #isClosed = false

  constructor(
    { id, path, text, ...state }: Extract<DocumentEvent, { type: 'opened' }>,
    key: string,
    editor: EditorDocuments,
  ) {
    this.path = path
    this.key = key
    this.#id = id
    this.#editor = editor
    this.#text = text
    this.#state = state
  }

  get version(): number {
    return this.#state.version
  }

  get lineEnd(): '\n' | '\r\n' {
    return this.#state.lineEnd
  }

  get encoding(): string {
    return this.#state.encoding
  }

  isDirty(): boolean {
    return this.#state.isDirty
  }

  isClosed(): boolean {
    return this.#isClosed
  }

  text(): string {
    if (this.#edits.length > 0) this.#text = applyEdits(this.#text, this.#edits)
    this.#edits = []
    return this.#text
  }

  async replace(edit: DocumentEdit, expected: string): Promise<boolean> {
    return !this.#isClosed && this.text() === expected && this.#editor.edit(this.#id, this.version, edit)
  }

  async save(): Promise<boolean> {
    return !this.#isClosed && this.#editor.save(this.#id)
  }

  changed({ edits, text, version, isDirty, lineEnd, encoding }: Extract<DocumentEvent, { type: 'changed' }>) {
    this.#state = { version, isDirty, lineEnd, encoding }
    if (text !== undefined) {
      this.#text = text
      this.#edits = []
    } else this.#edits = this.#edits.concat(edits)
    const waiting = this.#edits.reduce((sum, edit) => sum + edit.text.length, 0)
    if (this.#edits.length > MAX_WAITING_EDITS || waiting > MAX_WAITING_TEXT) this.text()
  }

  set dirty(isDirty: boolean) {
    this.#state = { ...this.#state, isDirty }
  }

  close(): void {
    this.#isClosed = true
    this.#state = { ...this.#state, isDirty: false }
  }
}

/** An event with the copy of its document, in the state after the event. */
export type DocumentReport =
  | { type: 'opened' | 'changed' | 'saved' | 'dirty' | 'closed'; document: DocumentCopy }
  | Extract<DocumentEvent, { type: 'saved-elsewhere' | 'renaming' | 'renamed' }>

/** Copies of the editor's open documents. */
export class OpenDocuments extends Owner implements Documents {
  readonly #rules: PathRules
  readonly #editor: EditorDocuments
  readonly #open = new Map<number, DocumentCopy>()
  readonly #report = this.register(new Emitter<DocumentReport>())
  readonly #unsaved = this.register(new Emitter<void>())
  #elsewhere: readonly string[] = []

  readonly onDidReport = this.#report.event
  /** Fires when a file has got unsaved changes, or has no unsaved changes anymore. */
  readonly onDidChangeUnsaved = this.#unsaved.event

  constructor(editor: EditorDocuments, rules: PathRules) {
    super()
    this.#editor = editor
    this.#rules = rules
    this.register(editor.follow(event => this.#follow(event)))
  }

  /** The copies of all open documents. */
  get all(): DocumentCopy[] {
    return [...this.#open.values()]
  }

  find(paths: readonly string[]): DocumentCopy | undefined {
    const keys = new Set(paths.map(path => this.#rules.key(path)))
    // A file may be open under two spellings of its path: prefer the document with unsaved changes.
    let found: DocumentCopy | undefined
    for (const document of this.#open.values())
      if (keys.has(document.key) && (!found || (document.isDirty() && !found.isDirty()))) found = document
    return found
  }

  isUnsavedElsewhere(paths: readonly string[]): boolean {
    const keys = new Set(paths.map(path => this.#rules.key(path)))
    return this.#elsewhere.some(path => keys.has(this.#rules.key(path)))
  }

  unsaved(): string[] {
    const documents = this.all.filter(document => document.isDirty()).map(({ path }) => path)
    return [...documents, ...this.#elsewhere]
  }

  #follow(event: DocumentEvent): void {
    switch (event.type) {
      case 'opened': {
        const document = new DocumentCopy(event, this.#rules.key(event.path), this.#editor)
        this.#open.set(event.id, document)
        if (event.isDirty) this.#unsaved.fire()
        this.#report.fire({ type: 'opened', document })
        return
      }
      case 'unsaved-elsewhere':
        this.#elsewhere = event.paths
        this.#unsaved.fire()
        return
      case 'saved-elsewhere':
      case 'renaming':
      case 'renamed':
        this.#report.fire(event)
        return
    }
    const document = this.#open.get(event.id)
    if (!document) return
    const wasDirty = document.isDirty()
    if (event.type === 'changed') document.changed(event)
    else if (event.type === 'closed') {
      this.#open.delete(event.id)
      document.close()
    } else document.dirty = event.isDirty
    if (document.isDirty() !== wasDirty) this.#unsaved.fire()
    this.#report.fire({ type: event.type, document })
  }
}
