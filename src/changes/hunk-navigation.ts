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

export interface FileHunks {
  path: string
  hunks: readonly Placed[]
}

export interface Place {
  path: string
  line: number
}

/** The next or previous change from a position, or from outside of all files. Wraps around. */
export function nextChange(
  files: readonly FileHunks[],
  from: Place | undefined,
  step: 1 | -1,
): Place | undefined {
  const places = files.flatMap(({ path, hunks }) =>
    hunks.length > 0 ? hunks.map(({ start }) => ({ path, line: start })) : [{ path, line: 0 }],
  )
  if (places.length === 0) return undefined
  const before = (place: Place) =>
    from !== undefined && (place.path < from.path || (place.path === from.path && place.line < from.line))
  const at = (place: Place) => place.path === from?.path && place.line === from.line
  const sorted = places.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line))
  if (!from) return step === 1 ? sorted[0] : sorted.at(-1)
  const next =
    step === 1 ? sorted.find(place => !before(place) && !at(place)) : sorted.findLast(place => before(place))
  return next ?? (step === 1 ? sorted[0] : sorted.at(-1))
}
