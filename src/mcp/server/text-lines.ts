/** Lines of a text that may have millions: nothing here makes a list of all. */

/** The number of lines that begin before a position. */
export function linesIn(text: string, end = text.length): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** A line, from 1; `undefined` if there are fewer. */
export function lineOf(text: string, line: number): string | undefined {
  const [found] = linesFrom(text, line - 1)
  return found
}

/** The lines after the first `skipped`. */
export function* linesFrom(text: string, skipped = 0): Generator<string> {
  let start = 0
  for (let line = 0; line < skipped; line++) {
    const end = text.indexOf('\n', start)
    if (end < 0) return
    start = end + 1
  }
  for (;;) {
    const end = text.indexOf('\n', start)
    yield text.slice(start, end < 0 ? undefined : end)
    if (end < 0) return
    start = end + 1
  }
}

/** Characters of a text that is shown on one line. */
const MAX_LINE = 10_000

/** The beginning of a text with spaces instead of line ends. */
export function inOneLine(text: string): string {
  const parts = text.slice(0, MAX_LINE).split('\n')
  return parts.map((part, i) => (i === 0 ? part.trimEnd() : part.trim())).join(' ')
}
