import { sameButEnds } from '../../editor/text.ts'
import type { AgentAuthor } from './change-versions.ts'
import { type Claim, FilePast, type PastEdit } from './file-past.ts'
import { type FileState, sameState } from './file-state.ts'
import type { TrackedFile } from './tracked-file.ts'

/** Number of times that a file was changed otherwise, before which late reports are followed. */
const MAX_PASTS = 4

/** What files were before changes that a tool call may still report, by the key of the file. */
export class FilePasts {
  /** The histories of a file while turns ran; a change outside of them begins a new one. The newest is last. */
  readonly #pasts = new Map<string, FilePast[]>()

  /** The hashes of contents that files before such changes refer to. */
  get contents(): string[] {
    return [...this.#pasts.values()].flat().flatMap(({ contents }) => contents)
  }

  /** `original`: the file that was tracked before the edits, and `before` as it was then. */
  add(
    key: string,
    original: TrackedFile,
    before: TrackedFile,
    file: TrackedFile,
    edits: readonly PastEdit[],
    isBehind: boolean,
  ): void {
    let past = this.#pasts.get(key)?.at(-1)
    if (!past?.isOf(original, before.version)) {
      // no late report can be about it
      if (edits.every(({ how }) => how === 'known')) return
      past = new FilePast(before, original)
      this.#pasts.set(key, [...(this.#pasts.get(key) ?? []), past].slice(-MAX_PASTS))
    }
    past.add(file, edits, isBehind)
  }

  /** The texts that the file had, oldest first. */
  texts(key: string): string[] {
    return this.#of(key).flatMap(({ texts }) => texts)
  }

  /** Whether a tool call may report later what the user has saved. */
  hasSaved(key: string): boolean {
    return this.#of(key).some(({ hasSaved }) => hasSaved)
  }

  /** The file before it was deleted or emptied, with what was reported since; `undefined` if it isn't known. A copy. */
  beforeEmptied(key: string, file: TrackedFile): TrackedFile | undefined {
    return this.#last(key, file)?.beforeEmptied()
  }

  /** The user has saved the file in its last seen state, so no later report is about that state. */
  settle(key: string, file: TrackedFile): void {
    this.#last(key, file)?.settleLast()
  }

  /** The user saved the text from before the file was deleted or emptied. Returns that earlier file, if known. */
  takeEmptied(key: string, file: TrackedFile): TrackedFile | undefined {
    return this.#last(key, file)?.takeEmptied()
  }

  /** Whether the file's open document doesn't contain the change yet that was seen on disk. */
  isDocumentBehind(key: string): boolean {
    return this.#of(key).at(-1)?.isBehind === true
  }

  /** The document was reloaded from disk, so the change can't come from it. */
  documentReloaded(key: string): void {
    const past = this.#of(key).at(-1)
    if (past) past.isBehind = false
  }

  /** The editor reports that the user typed this text. Returns the file if it was seen on disk before that. */
  typed(key: string, file: TrackedFile, text: string): TrackedFile | undefined {
    const past = this.#last(key, file)
    return past?.isBehind && sameButEnds(file.text, text) ? past.takeLast() : undefined
  }

  /** The user has saved the file as it is now. Returns the file if that was seen on disk before. */
  saved(key: string, file: TrackedFile, now: FileState): TrackedFile | undefined {
    return sameState(file.state, now) ? this.#last(key, file)?.takeLast() : undefined
  }

  /** Returns the file with the claim's tool call as the author of what it reports, if that was seen or saved before. */
  name(key: string, claim: Claim, file: TrackedFile, now: FileState): TrackedFile | undefined {
    const pasts = this.#of(key)
    const known = this.texts(key)
    for (const past of pasts) {
      const named = past.name(claim, file, now, known)
      if (named) return named
    }
    return pasts[0]?.nameBefore(claim, file, known)
  }

  /** The file is tracked because a tool call of `author` reports a change, so its original content is an assumption. */
  assume(key: string, file: TrackedFile, author: AgentAuthor): void {
    this.#pasts.set(key, [new FilePast(file.clone(), file, author)])
  }

  /** Whether what the file was before the turn is known only from a report. */
  isAssumed(key: string): boolean {
    return this.#of(key)[0]?.isAssumed === true
  }

  /** From now on, a difference between the start of the turn and its first report may be the user's. */
  endCorrections(key: string): void {
    for (const past of this.#of(key)) past.isFinal = true
  }

  /**
   * Sets the file's state at the start of the turn: a difference between that state and the turn's first report belongs to the turn.
   * Returns the corrected file, or `undefined` if there is no difference.
   */
  startFrom(
    key: string,
    file: TrackedFile,
    before: FileState,
    author: AgentAuthor,
    possible: AgentAuthor,
  ): TrackedFile | undefined {
    return this.#of(key)[0]?.startFrom(before, file, author, possible)
  }

  /** The file isn't tracked anymore, or the user has saved it with changes undone. */
  forget(key: string): void {
    this.#pasts.delete(key)
  }

  /** Forgets the files about which no report is expected anymore. Returns the keys of those of them that the user has saved. */
  forgetWhere(isOver: (path: string) => boolean): string[] {
    const over = [...this.#pasts].filter(([, pasts]) => isOver(pasts[0]!.path)).map(([key]) => key)
    const saved = over.filter(key => this.hasSaved(key))
    for (const key of over) this.#pasts.delete(key)
    return saved
  }

  #of(key: string): readonly FilePast[] {
    return this.#pasts.get(key) ?? []
  }

  #last(key: string, file: TrackedFile): FilePast | undefined {
    const past = this.#of(key).at(-1)
    return past?.isOf(file) ? past : undefined
  }
}
