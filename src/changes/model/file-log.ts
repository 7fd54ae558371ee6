/**
 * Records who changed which lines of a file: agents' changes, which can be kept and undone one by one, and the user's lines between them.
 * The user's edits outside of agents' changes are part of the original text as well, so undoing agents' changes never reverts these edits.
 */

import { type LineEdit, lineEdits, mergeLines, sameLines, splitLines } from '../../editor/line-edits.ts'
import {
  type AgentAuthor,
  type Author,
  type Matches,
  normalized,
  sharesTurn,
  type Versions,
  without,
  withUserAsAuthor,
} from './change-versions.ts'

/** Lines that no agent has changed. */
interface Plain {
  lines: string[]
}
/** Lines that an agent changed; the last version is the current one. */
interface Changed {
  id: number
  versions: Versions<string[]>
}
type Segment = Plain | Changed

/** A change that an agent made to some lines. */
export interface Hunk {
  id: number
  /** The first line in the current text, 0-based. */
  start: number
  /** the lines that undoing the change restores */
  before: string[]
  /** the current lines */
  after: string[]
  authors: AgentAuthor[]
  /** Undoing the hunk would lose a later change of this author. */
  conflict?: 'user' | 'agent'
}

/** The stored form of a segment: a number is that of lines that no agent has changed, which the file's current text contains. */
export type StoredSegment = number | Changed

/** If one change of the text consists of more edits, they're treated as one edit. */
const MAX_EDITS = 1000

/**
 * The last comparison of two texts. The same edits are applied to a file, its history and its stored state in succession, so the result is
 * reused.
 */
let lastEdits: { lines: readonly string[]; after: string; edits: readonly LineEdit[] } | undefined

export class FileLog {
  readonly #segments: Segment[]
  #seq: number
  #nextId: number
  #text: string | undefined
  /** The segments before an agent's edit that emptied the file; absent after the next edit. */
  #emptied: { segments: Segment[]; by: AgentAuthor } | undefined

  readonly #everyTurn: boolean

  private constructor(segments: Segment[], everyTurn = false) {
    this.#segments = segments
    this.#everyTurn = everyTurn
    const changes = segments.filter(isChanged)
    this.#seq = Math.max(0, ...changes.flatMap(({ versions }) => versions.map(({ seq }) => seq)))
    this.#nextId = 1 + Math.max(0, ...changes.map(({ id }) => id))
  }

  /** Creates the log of a file without changes by agents. `everyTurn`: see `normalized`. */
  static of(text: string, everyTurn?: boolean): FileLog {
    return new FileLog([{ lines: splitLines(text) }], everyTurn)
  }

  /** Restores a stored log; `undefined` if its lines differ from those of the text. */
  static restore(text: string, stored: readonly StoredSegment[], everyTurn?: boolean): FileLog | undefined {
    const lines = splitLines(text)
    const segments: Segment[] = []
    let at = 0
    for (const part of stored) {
      if (typeof part === 'number') {
        segments.push({ lines: lines.slice(at, at + part) })
        at += part
        continue
      }
      const now = current(part)
      if (!sameLines(lines.slice(at, at + now.length), now)) return undefined
      segments.push(part)
      at += now.length
    }
    return at === lines.length ? new FileLog(segments, everyTurn) : undefined
  }

  store(): StoredSegment[] {
    return this.#segments.flatMap(segment => {
      if (isChanged(segment)) return { id: segment.id, versions: [...segment.versions] }
      return segment.lines.length > 0 ? segment.lines.length : []
    })
  }

  clone(): FileLog {
    const copy = new FileLog(copied(this.#segments), this.#everyTurn)
    copy.#nextId = this.#nextId
    copy.#seq = this.#seq
    copy.#emptied = this.#emptied
    return copy
  }

  get text(): string {
    this.#text ??= this.lines.join('')
    return this.#text
  }

  get lines(): readonly string[] {
    return concatenated(this.#segments.map(current))
  }

  /** The text without any agent's changes. */
  get base(): string {
    return this.#join(({ versions }) => versions[0]!.value)
  }

  get hasChanges(): boolean {
    return this.#segments.some(isChanged)
  }

  /** The size of all versions, in UTF-16 units. */
  get size(): number {
    let size = 0
    const add = (lines: readonly string[]) => {
      for (const line of lines) size += line.length
    }
    for (const segment of this.#segments) {
      if (isChanged(segment)) for (const { value } of segment.versions) add(value)
      else add(segment.lines)
    }
    return size
  }

  /** The text without the matching changes and without later changes on top of them. */
  without(matches: Matches): string {
    return this.#join(change => linesWithout(change, matches))
  }

  /** The lines of {@link without}. */
  linesWithout(matches: Matches): readonly string[] {
    return concatenated(this.#segments.map(one => (isChanged(one) ? linesWithout(one, matches) : one.lines)))
  }

  /** The matching changes, in the order of their lines. */
  hunks(matches: Matches): Hunk[] {
    const hunks: Hunk[] = []
    let start = 0
    for (const segment of this.#segments) {
      if (!isChanged(segment)) {
        start += segment.lines.length
        continue
      }
      const { id, versions } = segment
      const after = current(segment)
      const authors = versions.flatMap(({ by }) => (by !== 'user' && matches(by) ? by : []))
      if (authors.length > 0) {
        const { versions: rest, conflict } = without(versions, matches, mergeLines)
        const before = rest.at(-1)!.value
        hunks.push({ id, start, before, after, authors, ...(conflict && { conflict }) })
      }
      start += after.length
    }
    return hunks
  }

  /** Changes the text to `text`. Returns false if the text is already the same. */
  edit(text: string, by: Author): boolean {
    if (text === this.text) return false
    if (by !== 'user') this.#refill(by)
    this.#emptied = by !== 'user' && text === '' ? { segments: copied(this.#segments), by } : undefined
    const edits = this.#editsTo(text)
    this.#seq++
    // in reverse order, so that the line numbers of earlier edits stay valid
    for (const edit of edits.toReversed()) this.#apply(edit, by)
    this.#tidy()
    return true
  }

  #editsTo(after: string): readonly LineEdit[] {
    const { lines } = this
    if (lastEdits?.after === after && sameLines(lastEdits.lines, lines)) return lastEdits.edits
    const edits = lineEdits(lines, splitLines(after))
    lastEdits = { lines, after, edits: edits.length > MAX_EDITS ? [joined(lines, edits)] : edits }
    return lastEdits.edits
  }

  /** Makes the user the author of the matching changes with these ids. */
  keep(matches: Matches, ids?: ReadonlySet<number>): void {
    this.#emptied = undefined
    for (const change of this.#segments.filter(isChanged)) {
      if (!ids || ids.has(change.id)) change.versions = withUserAsAuthor(change.versions, matches)
    }
    this.#tidy()
  }

  /**
   * Undoes the matching changes with these ids. A change with later changes on top stays, unless the later changes are the user's and
   * `force` is set.
   */
  undo(matches: Matches, options: { ids?: ReadonlySet<number>; force?: boolean } = {}): void {
    this.#emptied = undefined
    for (const change of this.#segments.filter(isChanged)) {
      if (options.ids && !options.ids.has(change.id)) continue
      const result = without(change.versions, matches, mergeLines)
      change.versions = (options.force && result.forced) || (result.partial ?? result.versions)
    }
    this.#tidy()
  }

  /**
   * Restores the segments from before the file was emptied. Programs empty a file before they write it, so an empty file that was seen
   * during the same turn isn't a separate change.
   */
  #refill(by: AgentAuthor): void {
    const emptied = this.#emptied
    if (!emptied || !sharesTurn(emptied.by, by)) return
    this.#segments.splice(0, this.#segments.length, ...copied(emptied.segments))
    this.#text = undefined
  }

  #join(of: (change: Changed) => string[]): string {
    let text = ''
    for (const segment of this.#segments) text += (isChanged(segment) ? of(segment) : segment.lines).join('')
    return text
  }

  #apply(edit: LineEdit, by: Author): void {
    const remaining = this.#restoreRemoved(edit, by)
    if (remaining) {
      for (const one of remaining) if (one.start < one.end || one.lines.length > 0) this.#apply(one, by)
    } else if (by === 'user') this.#editByUser(edit)
    else this.#change(edit, by)
  }

  /**
   * Adds removed lines that reappear in their place, as with the editor's undo, to the change that removed them. Returns the remaining
   * parts of the edit, last part first; `undefined` if all of it remains.
   */
  #restoreRemoved({ start, end, lines }: LineEdit, by: Author): LineEdit[] | undefined {
    let at = 0
    for (const segment of this.#segments) {
      if (at > end) break
      const size = current(segment).length
      const back =
        isChanged(segment) && size === 0 && (at === start || at === end)
          ? withRestored(segment.versions, lines, by)
          : undefined
      if (isChanged(segment) && back) {
        const { value, indexes } = back
        segment.versions = this.#pushed(segment.versions, value, by)
        const first = indexes[0]!
        const last = indexes.at(-1)! + 1
        const remaining: LineEdit[] = [
          { start: at + value.length, end: end + value.length, lines: lines.slice(last) },
          { start, end: at, lines: lines.slice(0, first) },
        ]
        for (let i = 1; i < indexes.length; i++) {
          const between = lines.slice(indexes[i - 1]! + 1, indexes[i])
          remaining.splice(1, 0, { start: at + i, end: at + i, lines: between })
        }
        return remaining
      }
      if (isChanged(segment) && size > 0 && by === 'user' && (at === end || at + size === start)) {
        const isBefore = at === end
        const indexes = givenBackBeside(segment.versions, lines, isBefore)
        if (indexes.length > 0) {
          const now = current(segment)
          const first = indexes[0]!
          const last = indexes.at(-1)! + 1
          const value = isBefore ? [...lines.slice(first), ...now] : [...now, ...lines.slice(0, last)]
          segment.versions = this.#pushed(segment.versions, value, by)
          return isBefore
            ? [{ start, end, lines: lines.slice(0, first) }]
            : [{ start: start + last, end: end + last, lines: lines.slice(last) }]
        }
      }
      at += size
    }
    return undefined
  }

  /**
   * Applies an edit of the user. Outside of agents' changes, the edit isn't a change to review: it becomes part of the original text, too.
   */
  #editByUser(edit: LineEdit): void {
    const touched = this.#overlapped(edit)
    if (edit.lines.length === 0) {
      // removed lines need no position: each segment loses its own lines
      let at = this.#startOf(touched.first)
      const pieces = this.#segments.splice(touched.first, touched.count)
      const remaining = pieces.map(piece => {
        const from = Math.max(0, edit.start - at)
        const lines = current(piece)
        const to = Math.min(lines.length, edit.end - at)
        at += lines.length
        const rest = from < to ? [...lines.slice(0, from), ...lines.slice(to)] : lines
        if (!isChanged(piece)) return { lines: rest }
        return rest === lines ? piece : { ...piece, versions: this.#pushed(piece.versions, rest, 'user') }
      })
      this.#segments.splice(touched.first, 0, ...remaining)
      return
    }
    if (touched.hasChanges) {
      this.#change(edit, 'user')
      return
    }
    const { before, after } = this.#cut(touched, edit)
    const inserted: Plain = { lines: [...before, ...edit.lines, ...after] }
    this.#segments.splice(touched.first, touched.count, inserted)
  }

  /** Merges the segments that the edit touches into one change with all of their versions. */
  #change(edit: LineEdit, by: Author): void {
    const touched = this.#overlapped(edit)
    const { before, pieces, after, offset } = this.#cut(touched, edit)
    const now = pieces.flatMap(current)
    const value = [...now.slice(0, offset), ...edit.lines, ...now.slice(offset + edit.end - edit.start)]
    const ids = pieces.filter(isChanged).map(({ id }) => id)
    const change: Changed = {
      id: ids[0] ?? this.#nextId++,
      versions: this.#pushed(joinedVersions(pieces), value, by),
    }
    const parts: Segment[] = [{ lines: before }, change, { lines: after }]
    this.#segments.splice(touched.first, touched.count, ...parts)
  }

  #pushed(versions: Versions<string[]>, value: string[], by: Author): Versions<string[]> {
    return [...versions, { value, by, seq: this.#seq }]
  }

  /** The segments that an edit touches. An edit next to a change doesn't touch it. */
  #overlapped({ start, end }: LineEdit): { first: number; count: number; hasChanges: boolean } {
    let first = -1
    let count = 0
    let hasChanges = false
    let at = 0
    let i = 0
    for (; i < this.#segments.length && at <= end; i++) {
      const segment = this.#segments[i]!
      const to = at + current(segment).length
      const inside =
        start === end ? at < start && start < to : at === to ? start < at && at < end : start < to && at < end
      if (inside) {
        if (first < 0) first = i
        count = i - first + 1
        if (isChanged(segment)) hasChanges = true
      } else if (first < 0 && at >= start && start === end) break
      at = to
    }
    if (first >= 0) return { first, count, hasChanges }
    return { first: i, count: 0, hasChanges: false }
  }

  #startOf(index: number): number {
    let at = 0
    for (let i = 0; i < index; i++) at += current(this.#segments[i]!).length
    return at
  }

  /** Splits the user's lines that the edit doesn't touch from the touched segments at both ends. */
  #cut(
    { first, count }: { first: number; count: number },
    { start, end }: LineEdit,
  ): { before: string[]; pieces: Segment[]; after: string[]; offset: number } {
    const pieces = this.#segments.slice(first, first + count)
    let from = this.#startOf(first)
    const to = from + pieces.reduce((sum, piece) => sum + current(piece).length, 0)
    let before: string[] = []
    let after: string[] = []
    const head = pieces[0]
    if (head && !isChanged(head) && start > from) {
      before = head.lines.slice(0, start - from)
      pieces[0] = { lines: head.lines.slice(start - from) }
      from = start
    }
    const tail = pieces.at(-1)
    if (tail && !isChanged(tail) && end < to) {
      const length = tail.lines.length - (to - end)
      after = tail.lines.slice(length)
      pieces[pieces.length - 1] = { lines: tail.lines.slice(0, length) }
    }
    return { before, pieces, after, offset: start - from }
  }

  /** Reduces the segments to the fewest possible: none is empty, and no two adjacent ones are the user's. */
  #tidy(): void {
    this.#text = undefined
    const tidy: Segment[] = []
    for (const next of this.#segments.flatMap(segment => normalizedSegment(segment, this.#everyTurn))) {
      const last = tidy.at(-1)
      if (isChanged(next)) tidy.push(next)
      else if (last && !isChanged(last)) tidy[tidy.length - 1] = { lines: last.lines.concat(next.lines) }
      else if (next.lines.length > 0) tidy.push(next)
    }
    this.#segments.splice(0, this.#segments.length, ...tidy)
  }
}

/** Copies the segments, since segments are changed in place. */
function copied(segments: readonly Segment[]): Segment[] {
  return segments.map(segment => ({ ...segment }))
}

function isChanged(segment: Segment): segment is Changed {
  return 'versions' in segment
}

function current(segment: Segment): string[] {
  return isChanged(segment) ? segment.versions.at(-1)!.value : segment.lines
}

/** Joins arrays of lines, many times as fast as `flat`. */
function concatenated(parts: string[][]): readonly string[] {
  return parts.length === 1 ? parts[0]! : ([] as string[]).concat(...parts)
}

function linesWithout({ versions }: Changed, matches: Matches): string[] {
  return without(versions, matches, mergeLines).versions.at(-1)!.value
}

/**
 * The version of a change after the user has brought back removed lines that an earlier version contained. `indexes`: their positions in
 * `lines`. The user may restore only some of the lines or type between them. An agent's text around them is a single change, undone as one.
 */
function withRestored(
  versions: Versions<string[]>,
  lines: readonly string[],
  by: Author,
): { value: string[]; indexes: number[] } | undefined {
  let part: number[] = []
  for (const { value } of versions.toReversed()) {
    if (value.length === 0) continue
    const indexes = commonLines(value, lines)
    const isWhole = indexes.length === value.length
    if (by !== 'user') {
      if (isWhole && value.length === lines.length) return { value, indexes }
    } else if (isWhole) return { value, indexes }
    // a line with only a bracket doesn't count, since it occurs in many places
    else if (indexes.some(i => /\w/.test(lines[i]!)) && indexes.length > part.length) part = indexes
  }
  const first = part[0]
  if (first === undefined) return undefined
  const value = lines.slice(first, part.at(-1)! + 1)
  return { value, indexes: value.map((_, i) => first + i) }
}

/** The indexes of lines that an earlier version of the change contained, among lines written directly before or after the change. */
function givenBackBeside(
  versions: Versions<string[]>,
  lines: readonly string[],
  isBefore: boolean,
): number[] {
  const now = versions.at(-1)!.value
  const all = isBefore ? [...lines, ...now] : [...now, ...lines]
  const own = isBefore ? 0 : now.length
  let most: number[] = []
  for (const { value } of versions.slice(0, -1)) {
    const indexes = commonLines(value, all)
      .map(i => i - own)
      .filter(i => i >= 0 && i < lines.length)
    if (indexes.length > most.length && indexes.some(i => /\w/.test(lines[i]!))) most = indexes
  }
  return most
}

/** The positions in the other text of the lines that both texts have. */
function commonLines(one: readonly string[], other: readonly string[]): number[] {
  const indexes: number[] = []
  let shift = 0
  let at = 0
  const until = (end: number) => {
    for (; at < end; at++) indexes.push(at + shift)
  }
  for (const { start, end, lines } of lineEdits(one, other)) {
    until(start)
    at = end
    shift += lines.length - (end - start)
  }
  until(one.length)
  return indexes
}

function joined(lines: readonly string[], edits: readonly LineEdit[]): LineEdit {
  const start = edits[0]!.start
  const end = edits.at(-1)!.end
  const result: string[] = []
  let at = start
  for (const edit of edits) {
    result.push(...lines.slice(at, edit.start), ...edit.lines)
    at = edit.end
  }
  return { start, end, lines: result.concat(lines.slice(at, end)) }
}

/** Joins the versions of adjacent segments, oldest first. */
function joinedVersions(pieces: readonly Segment[]): Versions<string[]> {
  const times = new Map<number, Author>()
  for (const piece of pieces.filter(isChanged)) {
    for (const { seq, by } of piece.versions.slice(1)) times.set(seq, by)
  }
  const at = (seq: number) =>
    pieces.flatMap(piece =>
      isChanged(piece)
        ? piece.versions.findLast((version, i) => i === 0 || version.seq <= seq)!.value
        : piece.lines,
    )
  const base: Versions<string[]> = [{ value: at(0), by: 'user', seq: 0 }]
  return base.concat([...times].sort(([a], [b]) => a - b).map(([seq, by]) => ({ value: at(seq), by, seq })))
}

/** Normalizes the versions of a segment. Returns several segments, or unchanged lines, if a smaller part is the agent's now. */
function normalizedSegment(segment: Segment, everyTurn: boolean): Segment[] {
  if (!isChanged(segment)) return [segment]
  segment.versions = normalized(segment.versions, sameLines, everyTurn)
  return segment.versions.length === 1 ? [{ lines: current(segment) }] : trimmed(segment)
}

/** Splits a change from the lines that all of its versions start and end with. */
function trimmed({ id, versions }: Changed): Segment[] {
  const [{ value: first }] = versions as [Versions<string[]>[number]]
  const most = Math.min(...versions.map(({ value }) => value.length))
  let head = 0
  while (head < most && versions.every(({ value }) => value[head] === first[head])) head++
  let tail = 0
  const last = (value: string[]) => value[value.length - 1 - tail]
  while (tail < most - head && versions.every(({ value }) => last(value) === last(first))) tail++
  if (head === 0 && tail === 0) return [{ id, versions }]
  const cut = versions.map(version => ({
    ...version,
    value: version.value.slice(head, version.value.length - tail),
  }))
  return [{ lines: first.slice(0, head) }, { id, versions: cut }, { lines: first.slice(first.length - tail) }]
}
