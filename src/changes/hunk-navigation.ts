/** Finds agents' changes by lines: those at a position, and the next one in the file or the files after it. */
import type { LineRange } from '../editor/diff-texts.ts'
import type { Hunk } from './file-log.ts'

type Placed = Pick<Hunk, 'start' | 'after'>

/** The changes that a range of lines touches. Lines that an agent removed are found at the line that follows them. */
export function hunksAt<T extends Placed>(hunks: readonly T[], { start, end }: LineRange): T[] {
  const last = Math.max(start, end - 1)
  return hunks.filter(hunk => hunk.start <= last && start < hunk.start + Math.max(1, hunk.after.length))
}

/** A change of the editor's quick diff, as `scm/change/title` passes it. Lines are 1-based; an end of 0 means no lines. */
export interface LineChange {
  modifiedStartLineNumber: number
  modifiedEndLineNumber: number
}

/** The agent's change that a quick diff change shows. */
export function hunksOfChange<T extends Placed>(
  hunks: readonly T[],
  { modifiedStartLineNumber: first, modifiedEndLineNumber: last }: LineChange,
): T[] {
  // removed lines follow the line that it names
  if (last === 0) return hunks.filter(hunk => hunk.after.length === 0 && hunk.start === first)
  // quick diff and Parley may place a change differently if equal lines match in several ways
  return hunks.filter(hunk => hunk.start < last && hunk.start + hunk.after.length >= first - 1)
}

/** What {@link placesOf} needs of a scope of changes. */
export interface ChangedFiles {
  list(): ReadonlyArray<{ path: string }>
  hunks(path: string): ReadonlyArray<Placed & { id?: number }>
}

export interface Place {
  path: string
  line: number
  /** of the change; absent for a file without changed lines */
  id?: number
}

/** The changes in the order of review: by path, then by line. A file without changed lines has one place. */
export function placesOf(files: ChangedFiles): Place[] {
  const places = files.list().flatMap(({ path }): Place[] => {
    const hunks = files.hunks(path)
    if (hunks.length === 0) return [{ path, line: 0 }]
    return hunks.map(({ start, id }) => ({ path, line: start, ...(id !== undefined && { id }) }))
  })
  return places.sort(compare)
}

/** The next or previous change from a position, or from outside of all files. Wraps around. */
export function nextChange(
  places: readonly Place[],
  from: Place | undefined,
  step: 1 | -1,
): Place | undefined {
  const next =
    from &&
    (step === 1
      ? places.find(place => compare(place, from) > 0)
      : places.findLast(place => compare(place, from) < 0))
  return next ?? (step === 1 ? places[0] : places.at(-1))
}

/** The change to review after the one that was here: at this line or after it. Wraps around. */
export function followingChange(places: readonly Place[], from: Place): Place | undefined {
  return places.find(place => compare(place, from) >= 0) ?? places[0]
}

function compare(one: Place, other: Place): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : one.line - other.line
}
