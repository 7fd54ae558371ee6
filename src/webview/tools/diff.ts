import { diffArrays, parsePatch, structuredPatch } from 'diff'
import type { FileChange } from '../../acp/model.ts'
import { likeness } from './patch-of-file.ts'

export interface DiffGroup {
  kind: 'same' | 'added' | 'removed'
  lines: string[]
}
export interface DiffHunk {
  /** 1-based first line in the new text */
  start: number
  /** 1-based first line in the old text */
  oldStart: number
  groups: DiffGroup[]
}
/** A unified diff of one file, with three lines around each change. */
export interface FileDiff {
  added: number
  removed: number
  hunks: DiffHunk[]
  /** whether too much changed in one place to compare in time, so the place has all its old lines, then all new ones */
  coarse: boolean
  /** all lines of the new text, with the unchanged lines between hunks; absent if only a patch is known */
  newLines?: readonly string[]
  /** other information in a patch: a binary file, or a changed mode */
  note?: 'binary' | { oldMode: string; newMode: string }
}

/** Time limit for a comparison, in milliseconds, since a text in which every line differs takes quadratic time. */
const TIMEOUT_MS = 40
/** Texts of a longer total length, or with too many changes, are compared in sections. Characters. */
const LONG_TEXT = 400_000
/** Number of context lines around a change. */
const CONTEXT_LINES = 3
/** Maximum number of lines that are searched in a long text until both sides are the same again. */
const MAX_LOOKAHEAD = 400
/** Maximum number of lines of a section, on both sides, that the library compares. */
const MAX_SECTION = 400

/** Returns the diff of one changed file. `patch` is used if the change doesn't contain its texts. */
export function diffOf(change: FileChange, patch?: string): FileDiff | undefined {
  if (change.newText !== undefined || change.oldText !== undefined) {
    return compare(change.oldText ?? '', change.newText ?? '')
  }
  return patch === undefined ? undefined : fromPatch(patch, change)
}

function compare(before: string, after: string): FileDiff {
  if (before.length + after.length > LONG_TEXT) return compareLong(splitForDiff(before), splitForDiff(after))
  const patch = structuredPatch('', '', unify(before), unify(after), '', '', {
    context: CONTEXT_LINES,
    timeout: TIMEOUT_MS,
  })
  if (patch) return { ...fromHunks(patch.hunks), newLines: splitForDiff(after) }
  return compareLong(splitForDiff(before), splitForDiff(after))
}

/** A section of equal lines, or of lines that replaced each other. */
interface Stretch {
  /** first lines of both sides, from 0 */
  old: number
  new: number
  removed: number
  added: number
}

/**
 * Like {@link compare}, for texts of any length: equal lines are skipped, and only the lines between them are compared,
 * whereas the library processes all lines.
 */
function compareLong(before: readonly string[], after: string[]): FileDiff {
  const diff: FileDiff = { added: 0, removed: 0, hunks: [], coarse: false, newLines: after }
  const stretches = findStretches(before, after)
  for (let i = 0; i < stretches.length; ) {
    const first = stretches[i]!
    const lead = Math.min(CONTEXT_LINES, first.old, first.new)
    const hunk: DiffHunk = { start: first.new - lead + 1, oldStart: first.old - lead + 1, groups: [] }
    pushLines(hunk, 'same', after.slice(first.new - lead, first.new))
    let end = first.new
    // nearby changes share a hunk
    for (
      ;
      i < stretches.length && (stretches[i] === first || stretches[i]!.new - end <= 2 * CONTEXT_LINES);
      i++
    ) {
      const stretch = stretches[i]!
      pushLines(hunk, 'same', after.slice(end, stretch.new))
      pushStretch(diff, hunk, stretch, before, after)
      end = stretch.new + stretch.added
    }
    pushLines(hunk, 'same', after.slice(end, end + CONTEXT_LINES))
    diff.hunks.push(hunk)
  }
  return diff
}

function pushLines(hunk: DiffHunk, kind: DiffGroup['kind'], lines: readonly string[]): void {
  if (lines.length === 0) return
  const last = hunk.groups.at(-1)
  if (last?.kind === kind) last.lines.push(...lines)
  else hunk.groups.push({ kind, lines: [...lines] })
}

/** Adds the lines of a section to a hunk. Equal lines within a short section are detected. */
function pushStretch(
  diff: FileDiff,
  hunk: DiffHunk,
  stretch: Stretch,
  before: readonly string[],
  after: readonly string[],
): void {
  const removed = before.slice(stretch.old, stretch.old + stretch.removed)
  const added = after.slice(stretch.new, stretch.new + stretch.added)
  const parts =
    removed.length > 0 && added.length > 0 && removed.length + added.length <= MAX_SECTION
      ? diffArrays(removed, added, { timeout: TIMEOUT_MS })
      : undefined
  if (parts) {
    for (const { value, added: isAdded, removed: isRemoved } of parts) {
      if (isAdded) diff.added += value.length
      if (isRemoved) diff.removed += value.length
      pushLines(hunk, isAdded ? 'added' : isRemoved ? 'removed' : 'same', value)
    }
    return
  }
  diff.coarse ||= removed.length > 0 && added.length > 0
  diff.removed += removed.length
  diff.added += added.length
  pushLines(hunk, 'removed', removed)
  pushLines(hunk, 'added', added)
}

/** Returns the sections in which the sides differ, in order. */
function findStretches(before: readonly string[], after: readonly string[]): Stretch[] {
  let oldEnd = before.length
  let newEnd = after.length
  let at = 0
  while (at < oldEnd && at < newEnd && before[at] === after[at]) at++
  while (oldEnd > at && newEnd > at && before[oldEnd - 1] === after[newEnd - 1]) {
    oldEnd--
    newEnd--
  }
  const stretches: Stretch[] = []
  for (let i = at, j = at; i < oldEnd || j < newEnd; ) {
    const [removed, added] = untilSame(before, after, i, j, oldEnd, newEnd)
    stretches.push({ old: i, new: j, removed, added })
    i += removed
    j += added
    while (i < oldEnd && j < newEnd && before[i] === after[j]) {
      i++
      j++
    }
  }
  return stretches
}

/** Returns the number of lines on each side until both are the same again; all remaining lines if they stay different for long. */
function untilSame(
  before: readonly string[],
  after: readonly string[],
  old: number,
  fresh: number,
  oldEnd: number,
  newEnd: number,
): [removed: number, added: number] {
  for (let distance = 1; distance <= MAX_LOOKAHEAD; distance++) {
    for (let added = 0; added <= distance; added++) {
      const removed = distance - added
      if (isSame(before, after, old + removed, fresh + added, oldEnd, newEnd)) return [removed, added]
    }
  }
  return [oldEnd - old, newEnd - fresh]
}

/** Whether enough of the next lines are the same on both sides. */
function isSame(
  before: readonly string[],
  after: readonly string[],
  old: number,
  fresh: number,
  oldEnd: number,
  newEnd: number,
): boolean {
  if (old > oldEnd || fresh > newEnd) return false
  if (old === oldEnd || fresh === newEnd) return old === oldEnd && fresh === newEnd
  for (let i = 0; i < CONTEXT_LINES; i++) {
    if (old + i >= oldEnd || fresh + i >= newEnd) return true
    if (before[old + i] !== after[fresh + i]) return false
  }
  return true
}

/** Unifies line ends, since a change of line ends would mark every line. */
function unify(text: string): string {
  return text.replace(/\r\n/g, '\n')
}

function splitForDiff(text: string): string[] {
  if (text === '') return []
  return unify(text).replace(/\n$/, '').split('\n')
}

function fromPatch(text: string, change: FileChange): FileDiff | undefined {
  try {
    const files = parsePatch(text)
    const rated = files.map(one => ({
      one,
      rate: Math.max(
        likeness(one.newFileName, change.path),
        likeness(one.oldFileName, change.oldPath ?? change.path),
      ),
    }))
    const best = rated.reduce((found, next) => (next.rate > found.rate ? next : found), {
      one: files[0],
      rate: 0,
    })
    const file = best.rate > 0 || files.length === 1 ? best.one : undefined
    const diff = file && fromHunks(file.hunks)
    if (!diff) return undefined
    if (file.isBinary) diff.note = 'binary'
    else if (file.oldMode && file.newMode && file.oldMode !== file.newMode)
      diff.note = { oldMode: file.oldMode, newMode: file.newMode }
    return diff.added + diff.removed > 0 || diff.note || file.isRename || file.isCopy ? diff : undefined
  } catch {
    // the library can't parse the patch: show its text instead
    return undefined
  }
}

function fromHunks(hunks: ReadonlyArray<{ oldStart: number; newStart: number; lines: string[] }>): FileDiff {
  const diff: FileDiff = { added: 0, removed: 0, hunks: [], coarse: false }
  for (const hunk of hunks) {
    const groups: DiffGroup[] = []
    for (const line of hunk.lines) {
      const kind =
        line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : line[0] === '\\' ? undefined : 'same'
      if (!kind) continue
      if (kind === 'added') diff.added++
      if (kind === 'removed') diff.removed++
      const last = groups.at(-1)
      if (last?.kind === kind) last.lines.push(line.slice(1))
      else groups.push({ kind, lines: [line.slice(1)] })
    }
    diff.hunks.push({ start: hunk.newStart, oldStart: hunk.oldStart, groups })
  }
  return diff
}
