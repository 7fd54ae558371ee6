import { sameLines } from '../../editor/line-edits.ts'
import {
  type Author,
  type Matches,
  normalized,
  type Versions,
  without,
  withUserAsAuthor,
} from './change-versions.ts'
import { contentsOf } from './content-use.ts'
import { FileLog, type Hunk, type StoredSegment } from './file-log.ts'
import { type FileAttributes, type FileState, NEW_TEXT, sameAttributes, sameState } from './file-state.ts'

/** The stored form of a file's changes, without the file's text. */
export interface StoredChanges {
  segments: StoredSegment[]
  attributes: Versions<FileAttributes>
}

/** The changes that agents and the user made to a file: who changed its lines, its mode, and so on. */
export class EditedFile {
  readonly path: string
  #log: FileLog
  #attributes: Versions<FileAttributes>
  #seq: number
  #gone: boolean
  #version = 0
  #sessions: { version: number; sessions: string[] } | undefined
  #size: { version: number; bytes: number } | undefined
  /** The object is the history of a file, in which no change is left out even if it was kept. */
  readonly #isHistory: boolean

  constructor(
    path: string,
    log: FileLog,
    attributes: Versions<FileAttributes>,
    gone = false,
    isHistory = false,
  ) {
    this.path = path
    this.#log = log
    this.#attributes = attributes
    this.#seq = Math.max(...attributes.map(({ seq }) => seq))
    this.#gone = gone
    this.#isHistory = isHistory
  }

  /** Creates an empty history of a file. */
  static history(path: string, { text, attributes }: FileState): EditedFile {
    return new EditedFile(path, FileLog.of(text, true), users(attributes), false, true)
  }

  /** Restores the history of a file whose text was stored at the same time; `undefined` if the stored data is inconsistent. */
  static restoreHistory(
    path: string,
    text: string,
    { segments, attributes }: StoredChanges,
    gone: boolean,
  ): EditedFile | undefined {
    const log = FileLog.restore(text, segments, true)
    return log && attributes.length > 0 ? new EditedFile(path, log, attributes, gone, true) : undefined
  }

  storeChanges(): StoredChanges {
    return { segments: this.#log.store(), attributes: [...this.#attributes] }
  }

  /** Takes over everything from another file except the path. */
  copyFrom(other: EditedFile, version = other.#version): void {
    this.#log = other.#log.clone()
    this.#attributes = [...other.#attributes]
    this.#seq = other.#seq
    this.#gone = other.#gone
    this.#version = version
  }

  /** The approximate size of the stored file on disk. Bytes. */
  get bytes(): number {
    if (this.#size?.version !== this.#version) {
      const binaries = this.#attributes.map(({ value }) => (value.type === 'binary' ? value.size : 0))
      this.#size = {
        version: this.#version,
        bytes: binaries.reduce((sum, size) => sum + size, this.#log.size),
      }
    }
    return this.#size.bytes
  }

  /** The hashes of all contents in the store that the file refers to. */
  get contents(): string[] {
    return contentsOf(this.#attributes)
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version
  }

  /** Whether the user deleted the file. If the user brings it back, it has its changes again. */
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

  /** The encoding of the text, determined when the file was first read; `binary` if it never was a text. */
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

  /** The sessions that made changes in the file. */
  get sessions(): readonly string[] {
    if (this.#sessions?.version !== this.#version) {
      const all = () => true
      const authors = [...this.#log.hunks(all).flatMap(hunk => hunk.authors), ...this.attributeAuthors(all)]
      const sessions = authors.flatMap(({ turns }) => turns.map(({ session }) => session))
      this.#sessions = { version: this.#version, sessions: [...new Set(sessions)] }
    }
    return this.#sessions.sessions
  }

  /** How often the attributes changed. */
  get attributeChanges(): number {
    return this.#attributes.length - 1
  }

  get hasChanges(): boolean {
    return this.#log.hasChanges || this.#attributes.length > 1
  }

  /** The file's state without the matching changes and without later changes on top of them. */
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
   * The matching changes of lines. Omits lines that one agent changed and another changed back, except in the history: nothing is left to
   * review, unless undoing the change would restore lines of the user or of another agent.
   */
  hunks(matches: Matches): Hunk[] {
    const hunks = this.#log.hunks(matches)
    if (this.#isHistory) return hunks
    return hunks.filter(({ before, after, conflict }) => conflict || !sameLines(before, after))
  }

  /** The matching authors of changes of the attributes. */
  attributeAuthors(matches: Matches): Exclude<Author, 'user'>[] {
    return this.#attributes.flatMap(({ by }) => (by !== 'user' && matches(by) ? by : []))
  }

  /** Whose later changes of the attributes would be lost by undoing the matching changes; `undefined` if there are none. */
  attributeConflict(matches: Matches): 'user' | 'agent' | undefined {
    return without(this.#attributes, matches, () => undefined).conflict
  }

  /** Changes the file to this state, without regard to the history. Returns false if the file is already in this state. */
  apply(state: FileState, by: Author): boolean {
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
        this.#attributes = users({ type: 'absent' })
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

  /** Like `apply`, but changes only the text. */
  applyText(text: string, by: Author): boolean {
    const changed = this.#log.edit(text, by)
    if (changed) this.#version++
    return changed
  }

  keep(matches: Matches, ids?: ReadonlySet<number>): void {
    this.#log.keep(matches, ids)
    // keeping the last line of a new file keeps the file
    if (!ids || this.hunks(matches).length === 0)
      this.#setAttributes(withUserAsAuthor(this.#attributes, matches))
    // keeping the deletion of a file also keeps the changes of its lines
    if (this.#attributes.length === 1 && this.attributes.type !== 'text') this.#log.keep(() => true)
    this.#version++
  }

  /** Changes the file to this state. The differences from its present state are the user's. */
  become(state: FileState): void {
    if (sameState(this.state, state)) return
    if (state.attributes.type !== 'absent') {
      this.apply(state, 'user')
      return
    }
    // the author who removed all lines of the file removed the file
    const authors = this.#log.text === '' ? this.#log.hunks(() => true).flatMap(hunk => hunk.authors) : []
    const by = authors.at(-1)
    if (by) {
      this.#setAttributes([...this.#attributes, { value: state.attributes, by, seq: ++this.#seq }])
      return
    }
    this.#log = FileLog.of('', this.#isHistory)
    this.#attributes = users(state.attributes)
    this.#gone = false
  }

  /** Undoes changes where possible, without regard to the history. Returns the authors whose later changes prevented the rest. */
  revert(
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
      this.#attributes = users(known ?? NEW_TEXT)
    }
    return conflict
  }

  #setAttributes(versions: Versions<FileAttributes>): void {
    this.#attributes = normalized(versions, sameAttributes, this.#isHistory)
  }
}

function users(attributes: FileAttributes): Versions<FileAttributes> {
  return [{ value: attributes, by: 'user', seq: 0 }]
}
