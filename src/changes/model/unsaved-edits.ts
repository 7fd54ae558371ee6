/** Follows the unsaved changes in documents of tracked files. */
import type { OpenDocument } from '../../editor/files/documents.ts'
import { type MergedTexts, mergeTexts } from '../../editor/files/merge-texts.ts'
import { withLineEndsOf } from '../../editor/line-edits.ts'
import { sameButEnds, withLineEnd } from '../../editor/text.ts'
import type { Matches } from './change-versions.ts'
import type { FileState } from './file-state.ts'
import type { TrackedFile } from './tracked-file.ts'

/**
 * The states of a document with unsaved changes before and after each undo of agents' changes in it, by which the editor's own undo and
 * redo are recognized. `at`: the index of the state that the document's text is based on.
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
  /** This text, or a text that the user saved later, was seen on disk and is known to be the user's. */
  isAttributed: boolean
}

/** A file as the editor shows it. `document`: set if it has unsaved changes. */
export interface View {
  file: TrackedFile
  document?: OpenDocument
}

/** The version of the file that a saved text is based on. */
export interface SavedEdits {
  /** A copy of that version, which the caller may edit. */
  known: TrackedFile
  /** The file of which `known` is a copy, if late reports can be about that file. */
  followed: TrackedFile | undefined
  /** Whether the saved text differs from the tracked file. */
  isOther: boolean
}

/** The unsaved changes of tracked files. All maps are by the key of the file. */
export class UnsavedEdits {
  readonly #dirty = new Set<string>()
  readonly #rewritten = new Map<string, Rewritten>()
  /** the texts of untracked files on disk when the user began to type in them */
  readonly #begun = new Map<string, Promise<string | undefined>>()
  /**
   * files that changed on disk while their documents had unsaved changes: the text that the documents are based on, and whether the user
   * was notified
   */
  readonly #stale = new Map<string, { loaded: string; isReported: boolean }>()
  /**
   * files that were deleted or emptied while they had unsaved changes: the versions on which the unsaved changes are based; editors, too,
   * empty a file before they write it
   */
  readonly #emptied = new Map<string, TrackedFile>()
  /** texts that the user saved, earliest first, until the editor's reports about them are handled */
  readonly #saving = new Map<string, Saving[]>()
  /** texts that were seen on disk and attributed to the user before the editor reported the save */
  readonly #savedEarly = new Map<string, string>()
  /** texts that the user saved in files that aren't tracked, earliest first, since running turns may have changed these files, too */
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

  /** Records that the document has no unsaved changes anymore. Returns whether agents' changes had been undone in it. */
  delete(key: string): boolean {
    this.#dirty.delete(key)
    this.clearConflict(key)
    return this.#rewritten.delete(key)
  }

  /**
   * Records that the user begins to type in an untracked file. `onDisk`: reads the text on disk, which the unsaved changes are based on;
   * not called if that text is known.
   */
  begin(key: string, onDisk: () => Promise<string | undefined>): void {
    if (!this.#begun.has(key)) this.#begun.set(key, onDisk())
  }

  /** Records that the document of an untracked file has no unsaved changes anymore. */
  end(key: string): void {
    this.#begun.delete(key)
  }

  /** The text on disk when the user began to type in an untracked file, by any of the file's keys. */
  async begunFrom(keys: readonly string[]): Promise<string | undefined> {
    const key = keys.find(one => this.#begun.has(one))
    return key === undefined ? undefined : this.#begun.get(key)
  }

  /** Records that the document doesn't conflict with the file on disk anymore. */
  clearConflict(key: string): void {
    this.#stale.delete(key)
    this.#emptied.delete(key)
  }

  /** Records that the file changed on disk. `loaded`: the text that the document's unsaved changes are based on. */
  changedOnDisk(key: string, before: TrackedFile, now: FileState, loaded: string): void {
    if (!this.#stale.has(key)) this.#stale.set(key, { loaded, isReported: false })
    if (now.text !== '') this.#emptied.delete(key)
    else if (before.text !== '' || !this.#emptied.has(key)) this.#emptied.set(key, before)
  }

  /**
   * Corrects the version from before the file was deleted or emptied, after an agent reported earlier changes. `before`: the file with
   * these changes.
   */
  correctEmptied(key: string, before: TrackedFile | undefined): void {
    if (before && this.#emptied.has(key)) this.#emptied.set(key, before)
  }

  /** The hashes of contents that remembered versions of files refer to. */
  get contents(): string[] {
    const rewritten = [...this.#rewritten.values()].flatMap(({ states }) => states.map(({ file }) => file))
    return [...this.#emptied.values(), ...rewritten].flatMap(file => file.contents)
  }

  /** The text that the document's unsaved changes are based on; `undefined` if the file on disk hasn't changed since. */
  loadedText(key: string): string | undefined {
    return this.#stale.get(key)?.loaded
  }

  /** Whether the file changed on disk and the user hasn't been notified. */
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

  /** Records that the user saved this text, which isn't attributed yet. */
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

  /** Records that the user saved this text in an untracked file during a turn. */
  remember(key: string, text: string): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, text)
    const length = () => [...this.#remembered.values()].reduce((sum, one) => sum + one.length, 0)
    while (this.#remembered.size > MAX_REMEMBERED || length() > MAX_REMEMBERED_LENGTH)
      this.#remembered.delete([...this.#remembered.keys()][0]!)
  }

  /** Records that this text, and what the user saved before it, is attributed to the user. */
  attributed(key: string, text: string): void {
    const remembered = this.#remembered.get(key)
    this.#remembered.delete(key)
    const saving = this.#saving.get(key) ?? []
    const last = saving.findLastIndex(one => sameButEnds(one.text, text))
    // the texts in `saving` were saved later
    if (last < 0 && remembered !== undefined && sameButEnds(remembered, text)) return
    if (last < 0) this.#savedEarly.set(key, text)
    for (const one of last < 0 ? saving : saving.slice(0, last + 1)) one.isAttributed = true
  }

  /** Forgets saved texts: no turn is running anymore, so a difference can't be both the user's and an agent's. */
  endTurns(): void {
    this.#remembered.clear()
    this.#savedEarly.clear()
  }

  /**
   * Records that the document was saved. Returns the file that the saved text is based on, and whether this text differs from the tracked
   * file. `beforeEmptied`: the file before it was deleted or emptied, including changes that were reported since.
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

  /**
   * The file with its unsaved changes, and the document that contains these; `undefined` if the changes conflict with the content on disk.
   */
  view(key: string, file: TrackedFile, document: OpenDocument | undefined): View | undefined {
    if (!document?.isDirty() || file.gone) return { file }
    if (this.#stale.has(key) || file.attributes.type !== 'text') return undefined
    if (!isSameText(document, file.attributes, file)) return undefined
    return { file: this.withText(key, file, document.text()), document }
  }

  /**
   * The document's unsaved changes merged with later writes to disk; `undefined` if there were no such writes or the texts can't be merged.
   */
  merge(key: string, file: TrackedFile, document: OpenDocument | undefined): MergedTexts | undefined {
    const loaded = this.loadedText(key)
    if (loaded === undefined || !document?.isDirty() || file.gone) return undefined
    if (file.attributes.type !== 'text' || !isSameText(document, file.attributes, file)) return undefined
    const adapt = (text: string) => withLineEnd(text, document.lineEnd)
    return mergeTexts(adapt(loaded), document.text(), adapt(file.text))
  }

  /** Returns the file with the text of its document, whose differences are the user's. */
  withText(key: string, file: TrackedFile, text: string): TrackedFile {
    const view = this.inDocument(key, file).clone()
    view.editText(withLineEndsOf(text, view.text), 'user')
    return view
  }

  // ---- documents in which changes were undone ----------------------------------------------------------------------

  isRewritten(key: string): boolean {
    return this.#rewritten.has(key)
  }

  /** The tracked version that the document's text is based on; `file` if no agents' changes were undone in the document. */
  inDocument(key: string, file: TrackedFile): TrackedFile {
    const known = this.#rewritten.get(key)
    return known?.states[known.at]?.file ?? file
  }

  /** Records that agents' changes are undone in the document. Returns a function that removes the record. */
  rewrite(key: string, from: Rewritten['states'][0], to: Rewritten['states'][0]): () => void {
    const known = this.#rewritten.get(key)
    const states = [...(known?.states.slice(0, known.at + 1) ?? []), from, to].slice(-MAX_STATES)
    this.#rewritten.set(key, { states, at: states.length - 1 })
    return () => {
      if (known) this.#rewritten.set(key, known)
      else this.#rewritten.delete(key)
    }
  }

  /** Follows a change of the document's text: the editor's undo or redo may have led to a known state. */
  follow(key: string, textOf: () => string): void {
    const known = this.#rewritten.get(key)
    if (!known) return
    const now = textOf()
    const at = known.states.findLastIndex(state => state.text === now)
    if (at >= 0) known.at = at
  }

  /** Forgets the document's states, which are obsolete since an agent wrote the file. */
  overwritten(key: string): void {
    this.#rewritten.delete(key)
  }

  /**
   * Keeps the matching changes in the document's states. Returns a function that reverts this unless changes were undone in the document
   * since.
   */
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

  /** Removes the data of a file that is being renamed. Returns a function that adds the data under the file's new key. */
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
