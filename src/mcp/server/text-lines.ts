/** Lines of a text that may have millions: nothing here makes a list of all, or looks for each with a call. */

const NEWLINE = 10
const RETURN = 13

/** The number of lines that begin before a position. */
export function linesIn(text: string, end = text.length): number {
  let lines = 1
  for (let at = 0; at < end; at++) if (text.charCodeAt(at) === NEWLINE) lines++
  return lines
}

/** A line, from 1; `undefined` if there are fewer. */
export function lineAt(text: string, line: number): string | undefined {
  const found = linesAt(text, [line]).get(line)
  return found && text.slice(found.start, found.end)
}

/** The positions of lines, by their numbers, without line feeds; lines after the end of the text are absent. */
export function linesAt(
  text: string,
  wanted: readonly number[],
): ReadonlyMap<number, { start: number; end: number }> {
  const lines = new Map<number, { start: number; end: number }>()
  let line = 1
  let start = 0
  for (const number of new Float64Array(wanted).sort()) {
    if (number === line && lines.size > 0) continue
    start = afterLines(text, number - line, start)
    if (start < 0) break
    line = number
    const end = text.indexOf('\n', start)
    lines.set(number, { start, end: end < 0 ? text.length : end })
  }
  return lines
}

/** The lines after the first `skipped`. */
export function* linesFrom(text: string, skipped = 0): Generator<string> {
  let start = afterLines(text, skipped)
  while (start >= 0) {
    const end = text.indexOf('\n', start)
    yield text.slice(start, end < 0 ? undefined : end)
    start = end < 0 ? -1 : end + 1
  }
}

/** The start of the line that is `count` lines after the one at `start`; -1 if there are fewer lines. */
function afterLines(text: string, count: number, start = 0): number {
  let at = start
  for (let remaining = count; remaining > 0; at++) {
    if (at >= text.length) return -1
    if (text.charCodeAt(at) === NEWLINE) remaining--
  }
  return at
}

/** The numbers of lines that differ, at most `max`; only the first one of texts with different numbers of lines. */
export function changedLines(before: string, after: string, max: number): number[] {
  const most = linesIn(before) === linesIn(after) ? max : 1
  const changed: number[] = []
  let line = 1
  let [old, now] = [0, 0]
  while (changed.length < most) {
    for (; now < after.length && after.charCodeAt(now) === before.charCodeAt(old); now++, old++)
      if (after.charCodeAt(now) === NEWLINE) line++
    if (now === after.length && old === before.length) break
    changed.push(line++)
    now = after.indexOf('\n', now) + 1
    old = before.indexOf('\n', old) + 1
    if (now === 0 || old === 0) break
  }
  return changed
}

/** Whether texts are the same, whatever their line ends are. */
export function haveSameLines(one: string, other: string): boolean {
  if (one === other) return true
  let [a, b] = [0, 0]
  for (; a < one.length && b < other.length; a++, b++) {
    const [x, y] = [one.charCodeAt(a), other.charCodeAt(b)]
    if (x === y) continue
    // after a CR in both texts, one has CR LF, a single line end, and the other two line ends
    if (one.charCodeAt(a - 1) === RETURN && other.charCodeAt(b - 1) === RETURN) return false
    if (x === RETURN && y === NEWLINE && one.charCodeAt(a + 1) === NEWLINE) a++
    else if (y === RETURN && x === NEWLINE && other.charCodeAt(b + 1) === NEWLINE) b++
    else return false
  }
  return a >= one.length && b >= other.length
}

/** Characters of a text that is shown on one line. */
const MAX_LINE = 10_000

/** The beginning of a text with spaces instead of line ends. */
export function inOneLine(text: string): string {
  const parts = text.slice(0, MAX_LINE).split('\n')
  return parts.map((part, i) => (i === 0 ? part.trimEnd() : part.trim())).join(' ')
}
