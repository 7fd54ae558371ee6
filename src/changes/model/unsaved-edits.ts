/** Tracked files whose documents have unsaved changes. */
import type { OpenDocument } from '../../editor/files/documents.ts'
import { type MergedTexts, mergeTexts } from '../../editor/files/merge-texts.ts'
import { withLineEndsOf } from '../../editor/line-edits.ts'
import { sameButEnds, withLineEnd } from '../../editor/text.ts'
import type { Matches } from './change-versions.ts'
import type { FileState } from './file-state.ts'
import type { TrackedFile } from './tracked-file.ts'

/**
 * A document with unsaved changes in which agents' changes were undone: its states before and after each undo, so that the editor's own
 * undo and redo can be recognized. `at`: the state that the document's text is based on.
 */
interface Rewritten {
  states: Array<{ file: TrackedFile; text: string }>
  at: number
}

/** Number of states remembered for a document. */
const MAX_STATES = 50

/** Number of remembered saves, and the total size of their texts in UTF-16 units. */
const MAX_REMEMBERED = 50
const MAX_REMEMBERED_LENGTH = 8_000_000

/** A text that the user saved. */
export interface Saving {
  readonly text: string
  /** It, or what the user saved after it, was seen on disk and is known to be the user's. */
  isAttributed: boolean
}

/** A file as the editor shows it, and its document if that has unsaved changes. */
export interface View {
  file: TrackedFile
  document?: OpenDocument
}

/** The base of a saved text. */
export interface SavedEdits {
  /** A copy, to be edited. */
  known: TrackedFile
  /** The file of which `known` is a copy, if late reports can be about that file. */
  followed: TrackedFile | undefined
  /** Whether the saved text differs from the tracked file. */
  isOther: boolean
}

/** Everything is stored by the keys of the files. */
export class UnsavedEdits {
  readonly #dirty = new Set<string>()
  readonly #rewritten = new Map<string, Rewritten>()
  /** texts on disk when the user began to type in untracked files */
  readonly #begun = new Map<string, Promise<string | undefined>>()
  /** files that changed on disk while their documents had unsaved changes: the text that the documents are based on */
  readonly #stale = new Map<string, { loaded: string; isReported: boolean }>()
  /**
   * files that were deleted or emptied while they had unsaved changes: the versions on which those changes are based. Editors empty a file
   * before they write it.
   */
  readonly #emptied = new Map<string, TrackedFile>()
  /** texts that the user saved, earliest first, until the editor's reports about them are handled */
  readonly #saving = new Map<string, Saving[]>()
  /** unsaved texts that were seen on disk, and attributed, before the editor reported that they are saved */
  readonly #savedEarly = new Map<string, string>()
  /** texts that the user saved in files that aren't tracked, earliest first: turns that run may have changed these files */
  readonly #remembered = new Map<string, string>()

  /** Whether no document has unsaved changes. */
  get none(): boolean {
    return this.#dirty.size === 0
  }

  has(key: string): boolean {
    return this.#dirty.has(key)
  }

  add(key: string): void {
    this.#dirty.add(key)
  }

  /** The document has no unsaved changes anymore. Returns whether changes had been undone in it. */
  delete(key: string): boolean {
    this.#dirty.delete(key)
    this.clearConflict(key)
    return this.#rewritten.delete(key)
  }

  /**
   * The document of a file that isn't tracked has unsaved changes. `onDisk`: the file's text, which they are based on; called
   * only when the user begins to type.
   */
  begin(key: string, onDisk: () => Promise<string | undefined>): void {
    if (!this.#begun.has(key)) this.#begun.set(key, onDisk())
  }

  /** The document has no unsaved changes. */
  end(key: string): void {
    this.#begun.delete(key)
  }

  /** The text on disk when the user began to type in an untracked file, by any of the file's keys. */
  async begunFrom(keys: readonly string[]): Promise<string | undefined> {
    const key = keys.find(one => this.#begun.has(one))
    return key === undefined ? undefined : this.#begun.get(key)
  }

  /** The document doesn't conflict with the file on disk anymore. */
  clearConflict(key: string): void {
    this.#stale.delete(key)
    this.#emptied.delete(key)
  }

  /** The file changed on disk. `loaded`: the text that the document's unsaved changes are based on. */
  changedOnDisk(key: string, before: TrackedFile, now: FileState, loaded: string): void {
    if (!this.#stale.has(key)) this.#stale.set(key, { loaded, isReported: false })
    if (now.text !== '') this.#emptied.delete(key)
    else if (before.text !== '' || !this.#emptied.has(key)) this.#emptied.set(key, before)
  }

  /** An agent reported changes that it had made before the file was deleted or emptied. `before`: the file with these changes. */
  correctEmptied(key: string, before: TrackedFile | undefined): void {
    if (before && this.#emptied.has(key)) this.#emptied.set(key, before)
  }

  /** The hashes of contents that files before unsaved changes refer to. */
  get contents(): string[] {
    const rewritten = [...this.#rewritten.values()].flatMap(({ states }) => states.map(({ file }) => file))
    return [...this.#emptied.values(), ...rewritten].flatMap(file => file.contents)
  }

  /** The base of the document's unsaved changes, if the file on disk has changed since. */
  loadedText(key: string): string | undefined {
    return this.#stale.get(key)?.loaded
  }

  /** Whether the file changed on disk and the user doesn't know it. */
  hasUnreported(key: string): boolean {
    return this.#stale.get(key)?.isReported === false
  }

  reported(key: string): void {
    const stale = this.#stale.get(key)
    if (stale) stale.isReported = true
  }

  isStale(key: string): boolean {
    return this.#stale.has(key)
  }

  /** The user saved this text, which isn't attributed yet. */
  saving(key: string, text: string): Saving {
    const saving = { text, isAttributed: this.#savedEarly.get(key) === text }
    this.#savedEarly.delete(key)
    this.#saving.set(key, [...(this.#saving.get(key) ?? []), saving])
    return saving
  }

  endSaving(key: string, saving: Saving): void {
    const others = this.#saving.get(key)?.filter(one => one !== saving) ?? []
    if (others.length > 0) this.#saving.set(key, others)
    else this.#saving.delete(key)
  }

  /** The texts that the user has saved and that aren't attributed yet, earliest first. */
  beingSaved(key: string): string[] {
    const remembered = this.#remembered.get(key)
    const saving = this.#saving.get(key)?.flatMap(({ text, isAttributed }) => (isAttributed ? [] : text))
    return [...(remembered === undefined ? [] : [remembered]), ...(saving ?? [])]
  }

  /** The user saved this text in a file that isn't tracked, during a turn. */
  remember(key: string, text: string): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, text)
    const length = () => [...this.#remembered.values()].reduce((sum, one) => sum + one.length, 0)
    while (this.#remembered.size > MAX_REMEMBERED || length() > MAX_REMEMBERED_LENGTH)
      this.#remembered.delete([...this.#remembered.keys()][0]!)
  }

  /** What the user saved, up to this text, is attributed. */
  attributed(key: string, text: string): void {
    const remembered = this.#remembered.get(key)
    this.#remembered.delete(key)
    const saving = this.#saving.get(key) ?? []
    const last = saving.findLastIndex(one => sameButEnds(one.text, text))
    // the others were saved later
    if (last < 0 && remembered !== undefined && sameButEnds(remembered, text)) return
    if (last < 0) this.#savedEarly.set(key, text)
    for (const one of last < 0 ? saving : saving.slice(0, last + 1)) one.isAttributed = true
  }

  /** No turn is running anymore, so a difference can't be both the user's and an agent's. */
  endTurns(): void {
    this.#remembered.clear()
    this.#savedEarly.clear()
  }

  /**
   * The document was saved. Returns the file that the saved text is based on, and whether it differs from the tracked file.
   * `beforeEmptied`: the file before it was deleted or emptied, including changes that were reported since.
   */
  save(key: string, file: TrackedFile, beforeEmptied: () => TrackedFile | undefined): SavedEdits {
    const emptied = file.text === '' ? this.#emptied.get(key) : undefined
    const followed = emptied && beforeEmptied()
    const known = (followed ?? emptied ?? this.inDocument(key, file)).clone()
    this.clearConflict(key)
    const isRewritten = this.#rewritten.delete(key)
    return {
      known,
      followed: followed ?? (isRewritten || emptied ? undefined : file),
      isOther: isRewritten || emptied !== undefined,
    }
  }

  /** The file with its unsaved changes, and their document; `undefined` if the changes conflict with the content on disk. */
  view(key: string, file: TrackedFile, document: OpenDocument | undefined): View | undefined {
    if (!document?.isDirty() || file.gone) return { file }
    if (this.#stale.has(key) || file.attributes.type !== 'text') return undefined
    if (!isSameText(document, file.attributes, file)) return undefined
    return { file: this.withText(key, file, document.text()), document }
  }

  /** The document's unsaved changes merged with writes to disk since then; `undefined` if there were none, or if they can't be merged. */
  merge(key: string, file: TrackedFile, document: OpenDocument | undefined): MergedTexts | undefined {
    const loaded = this.loadedText(key)
    if (loaded === undefined || !document?.isDirty() || file.gone) return undefined
    if (file.attributes.type !== 'text' || !isSameText(document, file.attributes, file)) return undefined
    const adapt = (text: string) => withLineEnd(text, document.lineEnd)
    return mergeTexts(adapt(loaded), document.text(), adapt(file.text))
  }

  /** The file with the text of its document. */
  withText(key: string, file: TrackedFile, text: string): TrackedFile {
    const view = this.inDocument(key, file).clone()
    view.editText(withLineEndsOf(text, view.text), 'user')
    return view
  }

  // ---- documents in which changes were undone ----------------------------------------------------------------------

  isRewritten(key: string): boolean {
    return this.#rewritten.has(key)
  }

  /** The tracked text of the file's document, or the file if no changes were undone in it. */
  inDocument(key: string, file: TrackedFile): TrackedFile {
    const known = this.#rewritten.get(key)
    return known?.states[known.at]?.file ?? file
  }

  /** Changes are undone in the document. Returns a function that reverts this record. */
  rewrite(key: string, from: Rewritten['states'][0], to: Rewritten['states'][0]): () => void {
    const known = this.#rewritten.get(key)
    const states = [...(known?.states.slice(0, known.at + 1) ?? []), from, to].slice(-MAX_STATES)
    this.#rewritten.set(key, { states, at: states.length - 1 })
    return () => {
      if (known) this.#rewritten.set(key, known)
      else this.#rewritten.delete(key)
    }
  }

  /** The document's text changed: the editor's undo or redo may have led to a known state. */
  follow(key: string, textOf: () => string): void {
    const known = this.#rewritten.get(key)
    if (!known) return
    const now = textOf()
    const at = known.states.findLastIndex(state => state.text === now)
    if (at >= 0) known.at = at
  }

  /** An agent wrote the file, so the document's states are obsolete. */
  overwritten(key: string): void {
    this.#rewritten.delete(key)
  }

  /** Returns a function that reverts this; it does nothing if changes were undone in the document since. */
  keep(key: string, matches: Matches, ids?: ReadonlySet<number>): () => void {
    const known = this.#rewritten.get(key)
    if (!known) return () => {}
    const before = known.states.map(({ file, text }) => ({ file: file.clone(), text }))
    for (const { file } of known.states) file.keep(matches, ids)
    return () => {
      if (this.#rewritten.get(key) === known) known.states = before
    }
  }

  // ---- files -------------------------------------------------------------------------------------------------------

  /** Removes a file that is being renamed. Returns a function that adds the file under its new key. */
  move(key: string): (to: string, path: string) => void {
    const isDirty = this.#dirty.has(key)
    const known = this.#rewritten.get(key)
    this.delete(key)
    return (to, path) => {
      if (isDirty) this.#dirty.add(to)
      if (!known) return
      const states = known.states.map(({ file, text }) => ({ file: file.clone(path), text }))
      this.#rewritten.set(to, { states, at: known.at })
    }
  }
}

/** Whether the same text in the document and in the tracked file means the same bytes. */
function isSameText(document: OpenDocument, { encoding }: { encoding: string }, file: TrackedFile): boolean {
  const isUnicode = (name: string) => /^utf/.test(name)
  if (document.encoding === encoding || (isUnicode(document.encoding) && isUnicode(encoding))) return true
  return [document.text(), file.text, file.base.text].every(text => /^[\0-\x7f]*$/.test(text))
}
