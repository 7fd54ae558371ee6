/**
 * One file that agents changed. Besides the changes to review, it contains the file's history: the same edits, in which kept changes are
 * still the agent's, so that a checkpoint can be restored.
 */

import { mergeLines, splitLines } from '../../editor/line-edits.ts'
import type { AgentAuthor, Author, Matches } from './change-versions.ts'
import { EditedFile, type StoredChanges } from './edited-file.ts'
import { FileLog } from './file-log.ts'
import { ABSENT, type FileState, sameAttributes, sameState } from './file-state.ts'

/** A tracked file as it is stored. */
export interface StoredFile extends StoredChanges {
  /** absolute real path */
  path: string
  /** the current text; empty for binary files */
  text: string
  gone?: boolean
  /** the changes as if the user had kept none; absent if they were dropped */
  history?: StoredHistory
  /** earlier versions from before another program removed agents' changes, newest first */
  earlier?: Array<Omit<StoredFile, 'earlier'>>
}

interface StoredHistory extends StoredChanges {
  /** when an agent last changed the file, in milliseconds since the epoch */
  at: number
}

/** The effect of restoring a checkpoint on a file. */
export interface Rewound {
  file: TrackedFile
  /** Changes stay because this author changed the same lines later. */
  conflict?: 'user' | 'agent'
}

/** Number of earlier versions of a file that are kept in case a program brings agents' changes back. */
const MAX_EARLIER = 5

export class TrackedFile extends EditedFile {
  /** The file as if no change had been kept; absent if agents haven't changed the file since its checkpoints were dropped. */
  #history: { file: EditedFile; at: number } | undefined

  /**
   * Versions from before another program removed agents' changes, newest first: `git stash` or a checkout may restore them. These versions
   * aren't edited.
   */
  #earlier: readonly TrackedFile[] = []

  /** Creates a tracked file without changes by agents. */
  static of(path: string, { text, attributes }: FileState): TrackedFile {
    return new TrackedFile(path, FileLog.of(text), [{ value: attributes, by: 'user', seq: 0 }])
  }

  /** Restores a stored file; `undefined` if the stored data is inconsistent. */
  static restore({ history, earlier, ...stored }: StoredFile): TrackedFile | undefined {
    const { path, text, segments, attributes, gone = false } = stored
    const log = FileLog.restore(text, segments)
    if (!log || attributes.length === 0) return undefined
    const file = new TrackedFile(path, log, attributes, gone)
    const restored = history && EditedFile.restoreHistory(path, text, history, gone)
    if (restored) file.#history = { file: restored, at: history.at }
    file.#earlier = earlier?.flatMap(one => TrackedFile.restore(one) ?? []) ?? []
    return file
  }

  store(path = this.path): StoredFile {
    const history = this.#history
    return {
      path,
      text: this.text,
      ...this.storeChanges(),
      ...(this.gone && { gone: true }),
      ...(history && { history: { ...history.file.storeChanges(), at: history.at } }),
      ...(this.#earlier.length > 0 && { earlier: this.#earlier.map(one => one.store(path)) }),
    }
  }

  clone(path = this.path): TrackedFile {
    const copy = TrackedFile.of(path, ABSENT)
    copy.copyFrom(this)
    if (this.#history) {
      const file = EditedFile.history(path, ABSENT)
      file.copyFrom(this.#history.file)
      copy.#history = { file, at: this.#history.at }
    }
    copy.#earlier = this.#earlier
    return copy
  }

  /** Whether the file has changes to review or a checkpoint to restore. */
  get isKnown(): boolean {
    return this.hasChanges || this.historyAt !== undefined
  }

  /** When an agent last changed the file, in milliseconds since the epoch; absent if no checkpoint includes the file. */
  get historyAt(): number | undefined {
    const times = [this.#history?.at, ...this.#earlier.map(one => one.historyAt)]
    const known = times.filter(at => at !== undefined)
    return known.length > 0 ? Math.max(...known) : undefined
  }

  /** The approximate size of the file's history on disk. Bytes. */
  get historyBytes(): number {
    return this.#earlier.reduce((sum, one) => sum + one.historyBytes, this.#history?.file.bytes ?? 0)
  }

  /** The hashes of all contents in the store that the file and its history refer to. */
  override get contents(): string[] {
    const earlier = this.#earlier.flatMap(one => one.contents)
    return [...super.contents, ...(this.#history?.file.contents ?? []), ...earlier]
  }

  /** Authors whose changes can be restored from the file's history. */
  historyAuthors(matches: Matches): AgentAuthor[] {
    const file = this.#history?.file
    if (!file) return []
    return [
      ...file.hunks(matches).flatMap(({ authors }) => authors),
      ...file.attributeAuthors(matches),
    ].filter(matches)
  }

  /** Drops the matching changes from the history. */
  forgetHistory(matches: Matches = () => true): void {
    const file = this.#history?.file
    file?.keep(matches)
    if (!file?.hasChanges) this.#history = undefined
    this.#earlier = this.#earlier.flatMap(one => {
      const remaining = one.clone()
      remaining.keep(matches)
      remaining.forgetHistory(matches)
      return remaining.isKnown ? remaining : []
    })
  }

  /**
   * Changes the file to this state. Returns false if the file is already in this state. `historyBy`: the author in the history, if
   * different.
   */
  edit(state: FileState, by: Author, historyBy = by): boolean {
    this.#inHistory(historyBy, file => file.apply(state, historyBy))
    return this.apply(state, by)
  }

  /** Whether another program has removed agents' changes from the file. */
  get hasEarlier(): boolean {
    return this.#earlier.length > 0
  }

  /**
   * Changes the file to a state that was found on disk and that no tool call reported. If another program had removed agents' changes and
   * has restored them, they belong to these agents again. `mayBringBack`: the change may be such a restoration.
   */
  editOnDisk(state: FileState, by: Author, mayBringBack = true): boolean {
    const back = mayBringBack && this.#earlier.find(one => one.#isBackIn(state, this))
    if (back) {
      this.#becomeAgain(back, state)
      return true
    }
    const before = this.clone()
    if (!this.edit(state, by)) return false
    const ids = new Set(this.hunks(() => true).map(({ id }) => id))
    const isLost =
      before.hunks(() => true).some(({ id }) => !ids.has(id)) ||
      before.attributeChanges > this.attributeChanges
    if (isLost && !this.gone) {
      before.#earlier = []
      this.#earlier = [before, ...this.#earlier].slice(0, MAX_EARLIER)
    }
    return true
  }

  /** Whether the difference between `now` and `state` consists of the agents' changes in this earlier version. */
  #isBackIn(state: FileState, now: TrackedFile): boolean {
    if (!this.hasChanges || sameState(state, now.state)) return false
    if (sameState(state, this.state)) return true
    if (state.attributes.type !== 'text' || this.attributes.type !== 'text' || now.gone) return false
    if (!sameAttributes(state.attributes, this.attributes)) return false
    const base = splitLines(this.base.text)
    return mergeLines(base, splitLines(this.text), splitLines(now.text))?.join('') === state.text
  }

  #becomeAgain(earlier: TrackedFile, state: FileState): void {
    const file = earlier.clone()
    file.edit(state, 'user')
    this.copyFrom(file, Math.max(this.version, file.version) + 1)
    this.#history = file.#history
    this.#earlier = this.#earlier.filter(one => one !== earlier)
  }

  /** Repeats an edit of the file in its history, which starts with an agent's first change. */
  #inHistory(by: Author, work: (file: EditedFile) => void): void {
    if (!this.#history && by === 'user') return
    this.#history ??= { file: EditedFile.history(this.path, this.gone ? ABSENT : this.state), at: 0 }
    work(this.#history.file)
    if (by !== 'user') this.#history.at = Date.now()
    if (!this.#history.file.hasChanges) this.#history = undefined
  }

  /** Changes only the text of the file. */
  editText(text: string, by: Author): boolean {
    this.#inHistory(by, file => file.applyText(text, by))
    return this.applyText(text, by)
  }

  /** Undoes changes where possible. Returns the authors whose later changes prevented the rest. */
  undo(
    matches: Matches,
    options: { ids?: ReadonlySet<number>; force?: boolean } = {},
  ): 'user' | 'agent' | undefined {
    const conflict = this.revert(matches, options)
    const { state } = this
    this.#inHistory('user', file => {
      // undoing everything yields the original; only a file to remove must be distinguished from one that the user deleted
      if (state.attributes.type === 'absent') file.revert(matches, { force: true })
      file.become(state)
    })
    return conflict
  }

  /**
   * The file without the matching changes, kept or not; `undefined` if there are no such changes. `force`: discards the user's later
   * changes.
   */
  rewound(matches: Matches, options: { force?: boolean } = {}): Rewound | undefined {
    if (this.gone || this.historyAuthors(matches).length === 0) return undefined
    const target = this.clone()
    const history = target.#history!.file
    const conflict = history.revert(matches, options)
    const { state } = history
    target.revert(matches, options)
    target.become(state)
    if (!history.hasChanges) target.#history = undefined
    return { file: target, ...(conflict && { conflict }) }
  }
}
