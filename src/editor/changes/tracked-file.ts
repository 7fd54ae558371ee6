/** What is known of one file that agents changed: its lines, and all else of it, each with who changed it. */
import { type Author, kept, type Matches, normalized, type Versions, without } from './change-versions.ts'
import { FileLog, type Hunk, type StoredSegment } from './file-log.ts'
import { type FileAttributes, type FileState, sameAttributes } from './file-state.ts'

/** A tracked file as it is stored. */
export interface StoredFile {
  /** absolute, where it really is */
  path: string
  /** the text now, empty when it is no text */
  text: string
  segments: StoredSegment[]
  attributes: Versions<FileAttributes>
  gone?: boolean
}

export class TrackedFile {
  readonly path: string
  #log: FileLog
  #attributes: Versions<FileAttributes>
  #seq: number
  #gone: boolean
  #version = 0
  #sessions: { version: number; sessions: string[] } | undefined

  private constructor(path: string, log: FileLog, attributes: Versions<FileAttributes>, gone: boolean) {
    this.path = path
    this.#log = log
    this.#attributes = attributes
    this.#seq = Math.max(...attributes.map(({ seq }) => seq))
    this.#gone = gone
  }

  /** A file in which everything is the user's. */
  static of(path: string, state: FileState): TrackedFile {
    const attributes: Versions<FileAttributes> = [{ value: state.attributes, by: 'user', seq: 0 }]
    return new TrackedFile(path, FileLog.of(state.text), attributes, false)
  }

  /** `undefined`: what was stored does not fit together. */
  static restore({ path, text, segments, attributes, gone }: StoredFile): TrackedFile | undefined {
    const log = FileLog.restore(text, segments)
    return log && attributes.length > 0 ? new TrackedFile(path, log, attributes, gone ?? false) : undefined
  }

  store(path = this.path): StoredFile {
    return {
      path,
      text: this.#log.text,
      segments: this.#log.store(),
      attributes: [...this.#attributes],
      ...(this.#gone && { gone: true }),
    }
  }

  clone(path = this.path): TrackedFile {
    const copy = new TrackedFile(path, this.#log.clone(), [...this.#attributes], this.#gone)
    copy.#seq = this.#seq
    copy.#version = this.#version
    return copy
  }

  /** Another number after every change. */
  get version(): number {
    return this.#version
  }

  /** The user took the file away. Should it come back, it is what it was. */
  get gone(): boolean {
    return this.#gone
  }

  get text(): string {
    return this.#log.text
  }

  get attributes(): FileAttributes {
    return this.#attributes.at(-1)!.value
  }

  get state(): FileState {
    return { text: this.text, attributes: this.attributes }
  }

  /** The file without what agents did. */
  get base(): FileState {
    return { text: this.#log.base, attributes: this.#attributes[0]!.value }
  }

  /** Whose changes are in it. */
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

  /** The file without what `matches` and what came on top of it. */
  without(matches: Matches): FileState {
    return { text: this.#log.without(matches), attributes: this.attributesWithout(matches) }
  }

  /** All but the text of {@link without}. */
  attributesWithout(matches: Matches): FileAttributes {
    return without(this.#attributes, matches, () => undefined).versions.at(-1)!.value
  }

  hunks(matches: Matches): Hunk[] {
    return this.#log.hunks(matches)
  }

  /** Who changed more than the text, as far as it `matches`. */
  attributeAuthors(matches: Matches): Exclude<Author, 'user'>[] {
    return this.#attributes.flatMap(({ by }) => (by !== 'user' && matches(by) ? by : []))
  }

  /** Something on top of it would be lost if what matches were undone. */
  attributeConflict(matches: Matches): 'user' | 'agent' | undefined {
    return without(this.#attributes, matches, () => undefined).conflict
  }

  /** The file became so. False: it was so already. */
  edit(state: FileState, by: Author): boolean {
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
      // what comes after the user took the file away is made anew
      if (by !== 'user') {
        this.#log = FileLog.of('')
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

  /** The text became so, and nothing else. */
  editText(text: string, by: Author): boolean {
    const changed = this.#log.edit(text, by)
    if (changed) this.#version++
    return changed
  }

  keep(matches: Matches, ids?: ReadonlySet<number>): void {
    this.#log.keep(matches, ids)
    // with the last of its lines kept, a new file is kept
    if (!ids || this.#log.hunks(matches).length === 0) this.#setAttributes(kept(this.#attributes, matches))
    this.#version++
  }

  /** Takes back what it can. Answers with what stayed because something came on top of it. */
  undo(
    matches: Matches,
    options: { ids?: ReadonlySet<number>; force?: boolean } = {},
  ): 'user' | 'agent' | undefined {
    const isWhole = !options.ids || this.attributes.type !== 'text'
    this.#log.undo(matches, { ...options, ...(isWhole && { ids: undefined }) })
    const left = this.#log.hunks(matches)
    this.#version++
    let conflict = left.find(hunk => hunk.conflict && (!options.ids || options.ids.has(hunk.id)))?.conflict
    if (isWhole || left.length === 0) {
      const result = without(this.#attributes, matches, () => undefined)
      const next = result.versions.at(-1)!.value
      if (next.type === 'absent' && this.#log.text !== '') {
        // the user's own lines stay, and with them the file
        if (left.length === 0) this.#setAttributes(kept(this.#attributes, matches))
      } else if (!result.conflict || (options.force && result.conflict === 'user')) {
        this.#setAttributes(result.versions)
      } else {
        if (result.partial) this.#setAttributes(result.partial)
        conflict ??= result.conflict
      }
    }
    return conflict
  }

  #setAttributes(versions: Versions<FileAttributes>): void {
    this.#attributes = normalized(versions, sameAttributes)
  }
}
