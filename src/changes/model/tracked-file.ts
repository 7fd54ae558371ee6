/**
 * One file that agents changed: who changed its lines, its mode, and so on. Besides the changes to review, it contains
 * the file's history: the same edits, in which kept changes are still the agent's, so that a checkpoint can be restored.
 */

import { mergeLines, sameLines, splitLines } from '../../editor/line-edits.ts'
import {
  type AgentAuthor,
  type Author,
  type Matches,
  normalized,
  type Versions,
  without,
  withUserAsAuthor,
} from './change-versions.ts'
import { contentsOf } from './content-use.ts'
import { FileLog, type Hunk, type StoredSegment } from './file-log.ts'
import {
  ABSENT,
  type FileAttributes,
  type FileState,
  NEW_TEXT,
  sameAttributes,
  sameState,
} from './file-state.ts'

/** A tracked file as it is stored. */
export interface StoredFile {
  /** absolute real path */
  path: string
  /** the current text; empty for binary files */
  text: string
  segments: StoredSegment[]
  attributes: Versions<FileAttributes>
  gone?: boolean
  /** as if the user had kept nothing; absent if it was dropped */
  history?: StoredHistory
  /** earlier versions from before another program removed agents' changes, newest first */
  earlier?: Array<Omit<StoredFile, 'earlier'>>
}

interface StoredHistory {
  segments: StoredSegment[]
  attributes: Versions<FileAttributes>
  /** when an agent changed the file last, milliseconds since the epoch */
  at: number
}

/** The effect of restoring a checkpoint on a file. */
export interface Rewound {
  file: TrackedFile
  /** Later changes by these authors stay, together with the changes they build on. */
  conflict?: 'user' | 'agent'
}

/** How many earlier versions of a file are kept in case a program brings agents' changes back. */
const MAX_EARLIER = 5

export class TrackedFile {
  readonly path: string
  #log: FileLog
  #attributes: Versions<FileAttributes>
  #seq: number
  #gone: boolean
  #version = 0
  #sessions: { version: number; sessions: string[] } | undefined
  /** The history: the file as if no change had been kept; absent if agents haven't changed the file since its checkpoints were dropped. */
  #history: { file: TrackedFile; at: number; size?: { version: number; bytes: number } } | undefined

  /**
   * Versions from before another program removed agents' changes, newest first: `git stash` or a checkout may restore them. These versions
   * aren't edited.
   */
  #earlier: readonly TrackedFile[] = []

  /** Whether this is the history of a file. */
  readonly #isHistory: boolean

  private constructor(
    path: string,
    log: FileLog,
    attributes: Versions<FileAttributes>,
    gone: boolean,
    isHistory = false,
  ) {
    this.path = path
    this.#isHistory = isHistory
    this.#log = log
    this.#attributes = attributes
    this.#seq = Math.max(...attributes.map(({ seq }) => seq))
    this.#gone = gone
  }

  /** A file that is entirely the user's. */
  static of(path: string, state: FileState, isHistory = false): TrackedFile {
    const attributes: Versions<FileAttributes> = [{ value: state.attributes, by: 'user', seq: 0 }]
    return new TrackedFile(path, FileLog.of(state.text, isHistory), attributes, false, isHistory)
  }

  /** `undefined` if the stored data is inconsistent. */
  static restore({ history, earlier, ...stored }: StoredFile, isHistory = false): TrackedFile | undefined {
    const { path, text, segments, attributes, gone } = stored
    const log = FileLog.restore(text, segments, isHistory)
    if (!log || attributes.length === 0) return undefined
    const file = new TrackedFile(path, log, attributes, gone ?? false, isHistory)
    const restored = history && TrackedFile.restore({ ...stored, ...history }, true)
    if (restored) file.#history = { file: restored, at: history.at }
    file.#earlier = earlier?.flatMap(one => TrackedFile.restore(one) ?? []) ?? []
    return file
  }

  store(path = this.path): StoredFile {
    const history = this.#history
    return {
      path,
      text: this.#log.text,
      segments: this.#log.store(),
      attributes: [...this.#attributes],
      ...(this.#gone && { gone: true }),
      ...(history && {
        history: {
          segments: history.file.#log.store(),
          attributes: [...history.file.#attributes],
          at: history.at,
        },
      }),
      ...(this.#earlier.length > 0 && { earlier: this.#earlier.map(one => one.store(path)) }),
    }
  }

  clone(path = this.path): TrackedFile {
    const copy = new TrackedFile(path, this.#log.clone(), [...this.#attributes], this.#gone, this.#isHistory)
    copy.#seq = this.#seq
    copy.#version = this.#version
    if (this.#history) copy.#history = { file: this.#history.file.clone(path), at: this.#history.at }
    copy.#earlier = this.#earlier
    return copy
  }

  /** Whether anything can be reviewed or restored. */
  get isKnown(): boolean {
    return this.hasChanges || this.historyAt !== undefined
  }

  /** When an agent last changed it, in milliseconds since the epoch; absent if no checkpoint includes the file. */
  get historyAt(): number | undefined {
    const times = [this.#history?.at, ...this.#earlier.map(one => one.historyAt)]
    const known = times.filter(at => at !== undefined)
    return known.length > 0 ? Math.max(...known) : undefined
  }

  /** Approximate size of its history on disk. Bytes. */
  get historyBytes(): number {
    const history = this.#history
    const earlier = this.#earlier.reduce((sum, one) => sum + one.historyBytes, 0)
    if (!history) return earlier
    const { file } = history
    if (history.size?.version !== file.#version) {
      const binaries = file.#attributes.map(({ value }) => (value.type === 'binary' ? value.size : 0))
      const bytes = binaries.reduce((sum, size) => sum + size, file.#log.size)
      history.size = { version: file.#version, bytes }
    }
    return history.size.bytes + earlier
  }

  /** The hashes of all contents in the store that it refers to. */
  get contents(): string[] {
    const others = [...(this.#history ? [this.#history.file] : []), ...this.#earlier]
    return [...contentsOf(this.#attributes), ...others.flatMap(one => one.contents)]
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

  /** Increases with every change. */
  get version(): number {
    return this.#version
  }

  /** The user deleted the file. If it reappears, it's the same file again. */
  get gone(): boolean {
    return this.#gone
  }

  get lines(): readonly string[] {
    return this.#log.lines
  }

  get text(): string {
    return this.#log.text
  }

  get attributes(): FileAttributes {
    return this.#attributes.at(-1)!.value
  }

  /** The encoding of the text, determined at the first read; `binary` if there was no text. */
  get encoding(): string | undefined {
    for (const { value } of this.#attributes.toReversed()) {
      if (value.type === 'text') return value.encoding
      if (value.type === 'binary') return value.type
    }
    return undefined
  }

  get state(): FileState {
    return { text: this.text, attributes: this.attributes }
  }

  /** The file without agents' changes. */
  get base(): FileState {
    return { text: this.#log.base, attributes: this.#attributes[0]!.value }
  }

  /** The authors of its changes. */
  get sessions(): readonly string[] {
    if (this.#sessions?.version !== this.#version) {
      const all = () => true
      const authors = [...this.#log.hunks(all).flatMap(hunk => hunk.authors), ...this.attributeAuthors(all)]
      const sessions = authors.flatMap(({ turns }) => turns.map(({ session }) => session))
      this.#sessions = { version: this.#version, sessions: [...new Set(sessions)] }
    }
    return this.#sessions.sessions
  }

  get hasChanges(): boolean {
    return this.#log.hasChanges || this.#attributes.length > 1
  }

  /** The file without the matching changes and later changes on top of them. */
  without(matches: Matches): FileState {
    return { text: this.#log.without(matches), attributes: this.attributesWithout(matches) }
  }

  /** The lines of {@link without}. */
  linesWithout(matches: Matches): readonly string[] {
    return this.#log.linesWithout(matches)
  }

  /** Like {@link without}, except for the text. */
  attributesWithout(matches: Matches): FileAttributes {
    return without(this.#attributes, matches, () => undefined).versions.at(-1)!.value
  }

  /**
   * Omits lines that one agent changed and another changed back, except in the history: nothing is left to review, unless undoing the
   * change would restore lines of the user or of another agent.
   */
  hunks(matches: Matches): Hunk[] {
    const hunks = this.#log.hunks(matches)
    if (this.#isHistory) return hunks
    return hunks.filter(({ before, after, conflict }) => conflict || !sameLines(before, after))
  }

  /** Matching authors of changes other than to the text. */
  attributeAuthors(matches: Matches): Exclude<Author, 'user'>[] {
    return this.#attributes.flatMap(({ by }) => (by !== 'user' && matches(by) ? by : []))
  }

  /** Whether undoing the matching changes would lose later ones. */
  attributeConflict(matches: Matches): 'user' | 'agent' | undefined {
    return without(this.#attributes, matches, () => undefined).conflict
  }

  /** The file changed to this state. Returns false if it's the same. `historyBy`: the author in the history, if different. */
  edit(state: FileState, by: Author, historyBy = by): boolean {
    this.#inHistory(historyBy, file => file.#edit(state, historyBy))
    return this.#edit(state, by)
  }

  /** Whether another program has removed agents' changes from the file. */
  get hasEarlier(): boolean {
    return this.#earlier.length > 0
  }

  /**
   * The file was found in this state on disk, and no tool call reported the change. If another program removed agents' changes and has
   * restored them, they belong to these agents again. `mayBringBack`: the change may be such a restoration.
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
      before.#attributes.length > this.#attributes.length
    if (isLost && !this.#gone) {
      before.#earlier = []
      this.#earlier = [before, ...this.#earlier].slice(0, MAX_EARLIER)
    }
    return true
  }

  /** Whether the difference between `now` and the state is what agents did to this file. */
  #isBackIn(state: FileState, now: TrackedFile): boolean {
    if (!this.hasChanges || sameState(state, now.state)) return false
    if (sameState(state, this.state)) return true
    if (state.attributes.type !== 'text' || this.attributes.type !== 'text' || now.#gone) return false
    if (!sameAttributes(state.attributes, this.attributes)) return false
    const base = splitLines(this.base.text)
    return mergeLines(base, splitLines(this.text), splitLines(now.text))?.join('') === state.text
  }

  #becomeAgain(earlier: TrackedFile, state: FileState): void {
    const file = earlier.clone()
    file.edit(state, 'user')
    this.#log = file.#log
    this.#attributes = file.#attributes
    this.#history = file.#history
    this.#gone = file.#gone
    this.#seq = file.#seq
    this.#version = Math.max(this.#version, file.#version) + 1
    this.#earlier = this.#earlier.filter(one => one !== earlier)
  }

  /** Repeats in the history what is done to the file, starting with an agent's first change. */
  #inHistory(by: Author, work: (file: TrackedFile) => void): void {
    if (!this.#history && by === 'user') return
    this.#history ??= { file: TrackedFile.of(this.path, this.#gone ? ABSENT : this.state, true), at: 0 }
    work(this.#history.file)
    if (by !== 'user') this.#history.at = Date.now()
    if (!this.#history.file.hasChanges) this.#history = undefined
  }

  #edit(state: FileState, by: Author): boolean {
    const absent = state.attributes.type === 'absent'
    if (by === 'user' && absent && this.attributes.type !== 'absent') {
      if (this.#gone) return false
      this.#gone = true
      this.#version++
      return true
    }
    if (this.#gone) {
      if (absent && by === 'user') return false
      this.#gone = false
      // a change after the user's deletion creates a new file
      if (by !== 'user') {
        this.#log = FileLog.of('', this.#isHistory)
        this.#attributes = [{ value: { type: 'absent' }, by: 'user', seq: 0 }]
      }
      this.#version++
    }
    const text = this.#log.edit(state.text, by)
    const attributes = !sameAttributes(this.attributes, state.attributes)
    if (attributes)
      this.#setAttributes([...this.#attributes, { value: state.attributes, by, seq: ++this.#seq }])
    if (text || attributes) this.#version++
    return text || attributes
  }

  /** Changes only the text. */
  editText(text: string, by: Author): boolean {
    this.#inHistory(by, file => file.#editText(text, by))
    return this.#editText(text, by)
  }

  #editText(text: string, by: Author): boolean {
    const changed = this.#log.edit(text, by)
    if (changed) this.#version++
    return changed
  }

  keep(matches: Matches, ids?: ReadonlySet<number>): void {
    this.#log.keep(matches, ids)
    // keeping the last line of a new file keeps the file
    if (!ids || this.hunks(matches).length === 0)
      this.#setAttributes(withUserAsAuthor(this.#attributes, matches))
    // keeping a deletion also settles the changes of its lines
    if (this.#attributes.length === 1 && this.attributes.type !== 'text') this.#log.keep(() => true)
    this.#version++
  }

  /** Undoes changes where possible. Returns the authors whose later changes prevented the rest. */
  undo(
    matches: Matches,
    options: { ids?: ReadonlySet<number>; force?: boolean } = {},
  ): 'user' | 'agent' | undefined {
    const conflict = this.#undo(matches, options)
    const { state } = this
    this.#inHistory('user', file => {
      // undoing everything yields the original; only a file that is to be removed must be distinguished from a deleted one
      if (state.attributes.type === 'absent') file.#undo(matches, { force: true })
      file.#become(state)
    })
    return conflict
  }

  /**
   * The file without the matching changes, kept or not; `undefined` if there are none. `force`: discards the user's later
   * changes.
   */
  rewound(matches: Matches, options: { force?: boolean } = {}): Rewound | undefined {
    if (this.#gone || this.historyAuthors(matches).length === 0) return undefined
    const target = this.clone()
    const history = target.#history!.file
    const conflict = history.#undo(matches, options)
    const { state } = history
    target.#undo(matches, options)
    target.#become(state)
    target.#version++
    if (!history.hasChanges) target.#history = undefined
    return { file: target, ...(conflict && { conflict }) }
  }

  /** The remaining differences are the user's. */
  #become(state: FileState): void {
    if (sameState(this.state, state)) return
    if (state.attributes.type !== 'absent') {
      this.#edit(state, 'user')
      return
    }
    // the author who removed all of its lines removed the file
    const authors = this.#log.text === '' ? this.#log.hunks(() => true).flatMap(hunk => hunk.authors) : []
    const by = authors.at(-1)
    if (by) {
      this.#setAttributes([...this.#attributes, { value: state.attributes, by, seq: ++this.#seq }])
      return
    }
    this.#log = FileLog.of('', this.#isHistory)
    this.#attributes = [{ value: state.attributes, by: 'user', seq: 0 }]
    this.#gone = false
  }

  #undo(
    matches: Matches,
    options: { ids?: ReadonlySet<number>; force?: boolean } = {},
  ): 'user' | 'agent' | undefined {
    const before = { log: this.#log.clone(), attributes: this.#attributes }
    const isWhole = !options.ids || this.attributes.type !== 'text'
    this.#log.undo(matches, { ...options, ...(isWhole && { ids: undefined }) })
    const remaining = this.hunks(matches)
    this.#version++
    let conflict = remaining.find(
      hunk => hunk.conflict && (!options.ids || options.ids.has(hunk.id)),
    )?.conflict
    if (isWhole || remaining.length === 0) {
      const result = without(this.#attributes, matches, () => undefined)
      const forced = options.force && result.forced
      const next = (forced || result.versions).at(-1)!.value
      if (next.type === 'absent' && this.#log.text !== '') {
        // other authors' lines stay, so the file stays, too
        if (this.#log.hunks(author => !matches(author)).length > 0) conflict ??= 'agent'
        else if (remaining.length === 0) this.#setAttributes(withUserAsAuthor(this.#attributes, matches))
      } else {
        this.#setAttributes(forced || (result.partial ?? result.versions))
        if (!forced) conflict ??= result.conflict
      }
    }
    if (this.attributes.type !== 'text' && this.#log.text !== '') {
      const isOthers = ({ by }: { by: Author }) => by !== 'user' && !matches(by)
      if (this.#attributes.some(isOthers)) {
        // the restored lines are in a file that another agent deleted or replaced
        this.#log = before.log
        this.#attributes = before.attributes
        return 'agent'
      }
      // the user's lines restore the file
      const known = before.attributes.findLast(({ value }) => value.type === 'text')?.value
      this.#attributes = [{ value: known ?? NEW_TEXT, by: 'user', seq: 0 }]
    }
    return conflict
  }

  #setAttributes(versions: Versions<FileAttributes>): void {
    this.#attributes = normalized(versions, sameAttributes, this.#isHistory)
  }
}
