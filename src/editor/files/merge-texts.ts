/** Merges the user's and an agent's versions of the same text without losing lines of either. */
import { type LineEdit, lineEdits, sameLines, splitLines } from '../line-edits.ts'
import { lineEnd } from '../text.ts'

/** Lines that both sides changed differently. An empty text means that the side deleted the lines. */
export interface MergeConflict {
  /** 1-based line in the merged text with the user's lines */
  line: number
  mine: string
  theirs: string
}

export interface MergedTexts {
  /** the merged text with the user's lines in conflicts */
  mine: string
  /** the merged text with the agent's lines in conflicts */
  theirs: string
  /** the agent's text, with the original lines in conflicts */
  withoutConflicts: string
  conflicts: MergeConflict[]
}

/** Whether two merges have the same conflicts, in the same order. */
export function sameConflicts(one: MergedTexts, other: MergedTexts): boolean {
  const of = ({ conflicts }: MergedTexts) =>
    JSON.stringify(conflicts.map(({ mine, theirs }) => [mine, theirs]))
  return of(one) === of(other)
}

/**
 * Merges three versions of a text by lines. Changes of neighboring lines don't conflict, and if both sides insert lines at the same
 * position, all of them stay, the user's first. `mine` determines the line ends that are added between lines.
 */
export function mergeTexts(base: string, mine: string, theirs: string): MergedTexts {
  const was = splitLines(base)
  const regions = regionsOf(lineEdits(was, splitLines(mine)), lineEdits(was, splitLines(theirs)))
  const end = lineEnd(mine) ?? '\n'
  const merged = { mine: new Lines(end), theirs: new Lines(end) }
  const withoutConflicts = new Lines(end)
  const conflicts: MergeConflict[] = []
  let at = 0
  for (const { start, stop, own, other } of regions) {
    const common = was.slice(at, start)
    at = stop
    const both = [applied(was, start, stop, own), applied(was, start, stop, other)] as const
    const together = own.length === 0 ? both[1] : other.length === 0 ? both[0] : joined(both, stop > start)
    const isInEmpty = was.length === 0 && own.length > 0 && other.length > 0 && !sameLines(...both)
    withoutConflicts.push(...common)
    if (together && !isInEmpty) {
      withoutConflicts.push(...both[1])
      for (const lines of Object.values(merged)) lines.push(...common, ...together)
      continue
    }
    for (const lines of Object.values(merged)) lines.push(...common)
    withoutConflicts.push(...was.slice(start, stop))
    conflicts.push({ line: merged.mine.count + 1, mine: both[0].join(''), theirs: both[1].join('') })
    merged.mine.push(...both[0])
    merged.theirs.push(...both[1])
  }
  for (const lines of [...Object.values(merged), withoutConflicts]) lines.push(...was.slice(at))
  const { mine: own, theirs: other } = merged
  return { mine: own.text, theirs: other.text, withoutConflicts: withoutConflicts.text, conflicts }
}

/** A text made of lines. Only its last line may lack a line end. */
class Lines {
  readonly #lines: string[] = []
  readonly #end: string

  constructor(end: string) {
    this.#end = end
  }

  get count(): number {
    return this.#lines.length
  }

  get text(): string {
    return this.#lines.join('')
  }

  push(...lines: readonly string[]): void {
    for (const line of lines) {
      const last = this.#lines.at(-1)
      if (last !== undefined && !last.endsWith('\n')) this.#lines[this.#lines.length - 1] = last + this.#end
      this.#lines.push(line)
    }
  }
}

/** Lines of the base that edits of one or both sides change, from `start` to `stop` (exclusive). */
interface Region {
  start: number
  stop: number
  own: LineEdit[]
  other: LineEdit[]
}

/** Joins edits that change the same lines. */
function regionsOf(own: readonly LineEdit[], other: readonly LineEdit[]): Region[] {
  const all = [
    ...own.map(edit => ({ edit, isOwn: true })),
    ...other.map(edit => ({ edit, isOwn: false })),
  ].sort((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end)
  const regions: Region[] = []
  for (const { edit, isOwn } of all) {
    let region = regions.at(-1)
    // two insertions at the same position, or lines that both sides change
    const isShared =
      region && (edit.start < region.stop || (region.start === edit.end && region.stop === edit.start))
    if (!region || !isShared) {
      region = { start: edit.start, stop: edit.end, own: [], other: [] }
      regions.push(region)
    }
    region.stop = Math.max(region.stop, edit.end)
    region[isOwn ? 'own' : 'other'].push(edit)
  }
  return regions
}

function applied(base: readonly string[], start: number, stop: number, edits: readonly LineEdit[]): string[] {
  const lines: string[] = []
  let at = start
  for (const edit of edits) {
    lines.push(...base.slice(at, edit.start), ...edit.lines)
    at = edit.end
  }
  lines.push(...base.slice(at, stop))
  return lines
}

/** Merges both sides' results for a region; returns `undefined` if they conflict. */
function joined(
  [mine, theirs]: readonly [readonly string[], readonly string[]],
  isReplaced: boolean,
): readonly string[] | undefined {
  if (sameLines(mine, theirs)) return mine
  if (isReplaced) return undefined
  if (contains(theirs, mine)) return theirs
  return contains(mine, theirs) ? mine : [...mine, ...theirs]
}

/** Whether `all` contains the lines, in this order. */
function contains(all: readonly string[], lines: readonly string[]): boolean {
  let at = 0
  for (const line of all) if (line === lines[at]) at++
  return at === lines.length
}

/** Returns the number of lines in which two texts differ. */
export function changedLines(one: string, other: string): number {
  const edits = lineEdits(splitLines(one), splitLines(other))
  return edits.reduce((sum, { start, end, lines }) => sum + Math.max(end - start, lines.length), 0)
}
