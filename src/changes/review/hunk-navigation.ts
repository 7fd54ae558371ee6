/** Finds agents' changes by line: the changes at a position, and the next change in the same file or another one. */
import type { LineRange } from '../../editor/diff-texts.ts'
import type { Hunk } from '../model/file-log.ts'

type HunkLines = Pick<Hunk, 'start' | 'after'>

/** The changes that a range of lines touches. Removed lines are found at the line that follows them. */
export function hunksAt<T extends HunkLines>(hunks: readonly T[], { start, end }: LineRange): T[] {
  const last = Math.max(start, end - 1)
  return hunks.filter(hunk => hunk.start <= last && start < hunk.start + Math.max(1, hunk.after.length))
}

/**
 * A change of the editor's quick diff, as the menu `scm/change/title` passes it to a command. Lines are 1-based; an end of 0 means no
 * lines.
 */
export interface LineChange {
  modifiedStartLineNumber: number
  modifiedEndLineNumber: number
}

/** The agents' changes that a change of the quick diff shows. */
export function hunksOfChange<T extends HunkLines>(
  hunks: readonly T[],
  { modifiedStartLineNumber: first, modifiedEndLineNumber: last }: LineChange,
): T[] {
  // for removed lines, VS Code names the line before them
  if (last === 0) return hunks.filter(hunk => hunk.after.length === 0 && hunk.start === first)
  // quick diff and Parley may position a change differently if equal lines match in several ways
  return hunks.filter(hunk => hunk.start < last && hunk.start + hunk.after.length >= first - 1)
}

/** The part of a scope of changes that {@link hunkPositions} needs. */
export interface ChangedFiles {
  list(): ReadonlyArray<{ path: string }>
  hunks(path: string): ReadonlyArray<HunkLines & { id?: number }>
}

export interface HunkPosition {
  path: string
  line: number
  /** id of the change; absent for a file without changed lines */
  id?: number
}

/** The changes in the order of review: by path, then by line. A file without changed lines has one position. */
export function hunkPositions(files: ChangedFiles): HunkPosition[] {
  const positions = files.list().flatMap(({ path }): HunkPosition[] => {
    const hunks = files.hunks(path)
    if (hunks.length === 0) return [{ path, line: 0 }]
    return hunks.map(({ start, id }) => ({ path, line: start, ...(id !== undefined && { id }) }))
  })
  return positions.sort(compare)
}

/** The next or previous change after a position; without a position, the first or last one. Wraps around. */
export function nextChange(
  positions: readonly HunkPosition[],
  from: HunkPosition | undefined,
  step: 1 | -1,
): HunkPosition | undefined {
  const next =
    from &&
    (step === 1
      ? positions.find(position => compare(position, from) > 0)
      : positions.findLast(position => compare(position, from) < 0))
  return next ?? (step === 1 ? positions[0] : positions.at(-1))
}

/** The change to review after the current one: at its line or later. Wraps around. */
export function followingChange(
  positions: readonly HunkPosition[],
  from: HunkPosition,
): HunkPosition | undefined {
  return positions.find(position => compare(position, from) >= 0) ?? positions[0]
}

/** Compares files in the order of review. */
export function compareFiles(one: { path: string }, other: { path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0
}

function compare(one: HunkPosition, other: HunkPosition): number {
  return compareFiles(one, other) || one.line - other.line
}
