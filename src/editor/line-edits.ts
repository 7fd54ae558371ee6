/** Computes line differences between texts, and merges two authors' edits of one text. */
import { diffArrays } from 'diff'
import { lineEnd, withLineEnd } from './text.ts'

/** An edit that replaces the lines from `start` to `end` (exclusive, 0-based) by `lines`. */
export interface LineEdit {
  start: number
  end: number
  lines: string[]
}

/** Time limit for a comparison, in milliseconds; beyond it, the result is one edit for everything that differs. */
const MAX_COMPARE_MS = 25
/**
 * Maximum number of lines of a comparison without a time limit: it ends soon anyway, and its result doesn't depend on the machine's load.
 */
const MAX_UNLIMITED = 200
/** Maximum number of lines that are searched for without an index of all lines. */
const MAX_SEARCHED = 8

/**
 * Returns the lines of a text, each with its line end (`
 * `). An empty text has no lines.
 */
export function splitLines(text: string): string[] {
  const lines: string[] = []
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    lines.push(text.slice(start, at + 1))
    start = at + 1
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/** Returns the numbers of equal lines at the start and at the end. */
function sameEnds(before: readonly string[], after: readonly string[]): { head: number; tail: number } {
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  return { head, tail }
}

export interface LineCounts {
  added: number
  removed: number
}

/** Returns how many lines the edits from `before` to `after` add and remove, without computing the edits if possible. */
export function countChanges(before: readonly string[], after: readonly string[]): LineCounts {
  const { head, tail } = sameEnds(before, after)
  const removed = before.length - head - tail
  const added = after.length - head - tail
  if (removed === 0 || added === 0) return { added, removed }
  const was = before.slice(head, before.length - tail)
  const is = after.slice(head, after.length - tail)
  const replaced = countReplaced(was, is)
  if (replaced !== undefined) return { added: replaced, removed: replaced }
  // compare only lines that occur on both sides, since the other lines are changed in any case
  const common = commonLines(only(was, is), only(is, was))
  return { added: added - common, removed: removed - common }
}

/** Returns the number of replaced lines, if lines were only replaced by new lines at the same positions; `undefined` otherwise. */
function countReplaced(was: readonly string[], is: readonly string[]): number | undefined {
  if (was.length !== is.length) return undefined
  const changed: number[] = []
  for (let i = 0; i < was.length && changed.length <= MAX_SEARCHED; i++) if (was[i] !== is[i]) changed.push(i)
  if (changed.length > MAX_SEARCHED) return undefined
  const isElsewhere = changed.some(i => is.includes(was[i]!) || was.includes(is[i]!))
  return isElsewhere ? undefined : changed.length
}

function only(lines: readonly string[], known: readonly string[]): string[] {
  const set = new Set(known)
  return lines.filter(line => set.has(line))
}

/** Compares two lists of lines; returns `undefined` if the comparison takes too long. */
function compared(one: readonly string[], other: readonly string[]) {
  if (one.length + other.length <= MAX_UNLIMITED) return diffArrays([...one], [...other])
  return diffArrays([...one], [...other], { timeout: MAX_COMPARE_MS })
}

/** Returns the number of lines that the shortest edits leave unchanged. */
function commonLines(one: readonly string[], other: readonly string[]): number {
  if (sameLines(one, other)) return one.length
  const parts = compared(one, other) ?? []
  return parts.reduce((sum, { added, removed, value }) => (added || removed ? sum : sum + value.length), 0)
}

/** Returns the edits from `before` to `after`, in order; they neither overlap nor touch. */
export function lineEdits(before: readonly string[], after: readonly string[]): LineEdit[] {
  const { head, tail } = sameEnds(before, after)
  const middle = before.slice(head, before.length - tail)
  const lines = after.slice(head, after.length - tail)
  if (middle.length === 0 && lines.length === 0) return []
  const whole = [{ start: head, end: head + middle.length, lines }]
  if (middle.length === 0 || lines.length === 0) return whole
  // one line is replaced by another, which is the most frequent change
  if (middle.length === 1 && lines.length === 1) return whole
  const parts = compared(middle, lines)
  if (!parts) return whole
  const edits: LineEdit[] = []
  let at = head
  let open: LineEdit | undefined
  for (const part of parts) {
    if (!part.added && !part.removed) {
      at += part.value.length
      open = undefined
      continue
    }
    if (!open) {
      open = { start: at, end: at, lines: [] }
      edits.push(open)
    }
    if (part.added) open.lines.push(...part.value)
    else {
      at += part.value.length
      open.end = at
    }
  }
  return edits
}

/**
 * Returns `base` with the edits of both `one` and `other`. Returns `undefined` if edits overlap, or if one side inserts lines next to the
 * other's edit, since their order is then ambiguous.
 */
export function mergeLines(
  base: readonly string[],
  one: readonly string[],
  other: readonly string[],
): string[] | undefined {
  const edits = [...lineEdits(base, one), ...lineEdits(base, other)].sort(
    (a, b) => a.start - b.start || a.end - b.end,
  )
  const merged: string[] = []
  let at = 0
  let last: LineEdit | undefined
  for (const edit of edits) {
    if (last && meet(last, edit)) {
      if (edit.start !== last.start || edit.end !== last.end || !sameLines(edit.lines, last.lines))
        return undefined
      continue
    }
    merged.push(...base.slice(at, edit.start), ...edit.lines)
    at = edit.end
    last = edit
  }
  merged.push(...base.slice(at))
  return merged
}

/** Whether two edits, given in order, overlap or insert at the same position. */
function meet(first: LineEdit, second: LineEdit): boolean {
  if (second.start !== first.end) return second.start < first.end
  return first.start === first.end || second.start === second.end
}

/** Returns `text`, which has uniform line ends as in an editor, with the line ends of the same lines in `model`. */
export function withLineEndsOf(text: string, model: string): string {
  const bare = (line: string) => line.replace(/\r?\n$/, '')
  const lines = splitLines(text)
  const theirs = splitLines(model)
  const result: string[] = []
  let at = 0
  for (const { start, end, lines: given } of lineEdits(theirs.map(bare), lines.map(bare))) {
    result.push(...theirs.slice(at, start))
    result.push(...lines.slice(result.length, result.length + given.length))
    at = end
  }
  result.push(...theirs.slice(at))
  // only the last line may lack a line end; whether it does depends on `text`
  const last = lines.length - 1
  if (last >= 0 && /\n$/.test(lines[last]!) !== /\n$/.test(result[last]!)) result[last] = lines[last]!
  return result.join('')
}

/**
 * Returns an agent's text with the line ends of the file (`model`), since the agent may have normalized them. In a file with mixed line
 * ends, unchanged lines keep their line ends, and other lines get the most frequent kind.
 */
export function adaptLineEnds(text: string, model: string): string {
  const end = lineEnd(model)
  if (end) return withLineEnd(text, end)
  // the file has no line ends, or the agent kept them
  if (!model.includes('\n') || !lineEnd(text)) return text
  const lines = splitLines(model)
  const isMostlyCrlf = lines.filter(line => line.endsWith('\r\n')).length * 2 > lines.length
  return withLineEndsOf(withLineEnd(text, isMostlyCrlf ? '\r\n' : '\n'), model)
}

export function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, i) => line === other[i])
}
