/** The most that is kept of one terminal's output, in UTF-16 units (about 1 MiB of plain text). */
export const TERMINAL_KEEP = 1024 * 1024

/** How far a cut looks for the start of a line before it cuts inside one. */
const LINE_SEARCH = 64 * 1024

/**
 * The end of `text`, at most `length` units of it: from the start of a line where one is near, and never from the
 * middle of a surrogate pair.
 */
export function tail(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.length - length
  if (text.charCodeAt(start - 1) === NEWLINE) return text.slice(start)
  const newline = text.indexOf('\n', start)
  // A line that ends where the text ends would leave nothing.
  if (newline !== -1 && newline - start < LINE_SEARCH && newline + 1 < text.length)
    return text.slice(newline + 1)
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start)
}

/**
 * `text` with `more` behind it, within `keep`. What runs over is cut to the half, so that a cut comes once in half of
 * `keep` and the cost of one piece stays the same however much came before it.
 */
export function appendBounded(
  text: string,
  more: string,
  keep = TERMINAL_KEEP,
): { text: string; cut: boolean } {
  if (text.length + more.length <= keep) return { text: text + more, cut: false }
  const half = Math.floor(keep / 2)
  const kept = more.length >= half ? tail(more, half) : tail(text + more, half)
  return { text: kept, cut: true }
}

const NEWLINE = 10

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
