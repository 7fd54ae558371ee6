import { sameButEnds } from '../../editor/text.ts'
import type { AgentAuthor } from './change-versions.ts'
import { type Claim, FilePast, type PastEdit } from './file-past.ts'
import { type FileState, sameState } from './file-state.ts'
import type { TrackedFile } from './tracked-file.ts'

/** Number of histories of a file that late reports can be about. */
const MAX_PASTS = 4

/** The earlier states of files with changes that a tool call may still report, by the key of the file. */
export class FilePasts {
  /** The histories of a file while turns ran; a change that isn't added to the newest history begins a new one. The newest is last. */
  readonly #pasts = new Map<string, FilePast[]>()

  /** The hashes of contents that the earlier states refer to. */
  get contents(): string[] {
    return [...this.#pasts.values()].flat().flatMap(({ contents }) => contents)
  }

  /** Adds edits to the history of a file. `original`: the tracked file before the edits, and `before` its copy from that time. */
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
      // the authors of all edits are certain, so no late report can be about them
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

  /** Whether a tool call may still report a change that the user has saved. */
  hasSaved(key: string): boolean {
    return this.#of(key).some(({ hasSaved }) => hasSaved)
  }

  /**
   * Returns a copy of the file from before it was deleted or emptied, with the changes that were reported since; `undefined` if that file
   * isn't known.
   */
  beforeEmptied(key: string, file: TrackedFile): TrackedFile | undefined {
    return this.#last(key, file)?.beforeEmptied()
  }

  /** Makes the author of the last seen change certain: the user has saved the file in this state, so no later report is about it. */
  settle(key: string, file: TrackedFile): void {
    this.#last(key, file)?.settleLast()
  }

  /** Removes the deletion or emptying of the file, since the user saved the earlier text. Returns the earlier file, if it's known. */
  takeEmptied(key: string, file: TrackedFile): TrackedFile | undefined {
    return this.#last(key, file)?.takeEmptied()
  }

  /** Whether the file's open document doesn't contain the last change yet that was seen on disk. */
  isDocumentBehind(key: string): boolean {
    return this.#of(key).at(-1)?.isBehind === true
  }

  /** Records that the document was reloaded from disk, so the last change on disk can't come from the document. */
  documentReloaded(key: string): void {
    const past = this.#of(key).at(-1)
    if (past) past.isBehind = false
  }

  /**
   * Makes the user, who typed this text, the author of the last change if the text was seen on disk before. Returns the corrected file
   * then.
   */
  typed(key: string, file: TrackedFile, text: string): TrackedFile | undefined {
    const past = this.#last(key, file)
    return past?.isBehind && sameButEnds(file.text, text) ? past.takeLast() : undefined
  }

  /**
   * Makes the user, who saved this state, the author of the last change if the state was seen on disk before. Returns the corrected file
   * then.
   */
  saved(key: string, file: TrackedFile, now: FileState): TrackedFile | undefined {
    return sameState(file.state, now) ? this.#last(key, file)?.takeLast() : undefined
  }

  /** Attributes a change that was seen or saved before to the tool call that reports it. Returns the corrected file, if any. */
  name(key: string, claim: Claim, file: TrackedFile, now: FileState): TrackedFile | undefined {
    const pasts = this.#of(key)
    const known = this.texts(key)
    for (const past of pasts) {
      const named = past.name(claim, file, now, known)
      if (named) return named
    }
    return pasts[0]?.nameBefore(claim, file, known)
  }

  /**
   * Begins the history of a file that is tracked because a tool call of `author` reports a change, so that its original content is an
   * assumption.
   */
  assume(key: string, file: TrackedFile, author: AgentAuthor): void {
    this.#pasts.set(key, [new FilePast(file.clone(), file, author)])
  }

  /** Whether the file's content before the turn is known only from a tool call's report. */
  isAssumed(key: string): boolean {
    return this.#of(key)[0]?.isAssumed === true
  }

  /** Makes the histories final: a difference between the start of the turn and its first report may be the user's now. */
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

  /** Forgets the histories of a file that isn't tracked anymore, or that the user has saved after undoing changes in it. */
  forget(key: string): void {
    this.#pasts.delete(key)
  }

  /** Forgets the files about which no report is expected anymore. Returns the keys of those files that the user has saved. */
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
