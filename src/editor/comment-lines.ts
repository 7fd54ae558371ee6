/** Where the lines of a comment are after its document changed. Lines are 1-based and inclusive. */

export interface Lines {
  startLine: number
  endLine: number
}

/** Replaces text; positions are 0-based, as in VS Code. */
export interface TextEdit {
  start: { line: number; character: number }
  end: { line: number; character: number }
  text: string
}

/**
 * The position of lines after edits, which VS Code lists from the end of the text to its start. An edit within the lines changes their
 * number; a replacement of all the lines takes their place.
 */
export function moveLines({ startLine, endLine }: Lines, edits: readonly TextEdit[]): Lines {
  let [first, last] = [startLine - 1, endLine - 1]
  for (const { start, end, text } of edits) {
    const added = text.split('\n').length - 1
    const delta = added - (end.line - start.line)
    const isBefore = end.line < first || (end.line === first && end.character === 0)
    if (isBefore && (start.line < first || delta > 0)) {
      first += delta
      last += delta
    } else if (!isBefore && start.line <= last) {
      if (start.line < first) first = start.line
      last = end.line <= last ? last + delta : start.line + added
    }
    first = Math.max(0, first)
    last = Math.max(first, last)
  }
  return { startLine: first + 1, endLine: last + 1 }
}

/**
 * The position of lines after edits of the document whose text is now `text`. An edit that replaces all of the lines, as a formatter does,
 * may move them within the replacement. Typing in a line doesn't, even if another line now has the old text.
 */
export function linesAfter(
  lines: Lines & { quote: string },
  edits: readonly TextEdit[],
  text: string,
): Lines {
  const { quote } = lines
  const moved = moveLines(lines, edits)
  const isElsewhere = edits.some(
    edit => replaces(edit, lines) && findLines(edit.text, quote, 1) !== undefined,
  )
  const found = isElsewhere ? findLines(text, quote, moved.startLine) : undefined
  if (found !== undefined) return { startLine: found, endLine: found + quote.split('\n').length - 1 }
  const last = Math.min(moved.endLine, text.split('\n').length)
  return { startLine: Math.min(moved.startLine, last), endLine: last }
}

/** Whether the edit covers the lines from the start of the first to the end of the last. */
function replaces(
  { start, end }: TextEdit,
  { startLine, endLine, quote }: Lines & { quote: string },
): boolean {
  const [first, last] = [startLine - 1, endLine - 1]
  const fromStart = start.line < first || (start.line === first && start.character === 0)
  const lastLength = quote.slice(quote.lastIndexOf('\n') + 1).length
  return fromStart && (end.line > last || (end.line === last && end.character >= lastLength))
}

/** The line where `quote` begins in a text, the nearest to `near`; `undefined` if it isn't there, or has no words. */
export function findLines(text: string, quote: string, near: number): number | undefined {
  if (quote.trim() === '') return undefined
  const lines = text.split(/\r?\n/)
  const wanted = quote.split(/\r?\n/)
  const isAt = (at: number) => wanted.every((line, i) => lines[at + i] === line)
  for (let away = 0; away < lines.length; away++) {
    if (near - 1 - away >= 0 && isAt(near - 1 - away)) return near - away
    if (isAt(near - 1 + away)) return near + away
    if (near - 1 - away < 0 && near - 1 + away >= lines.length) return undefined
  }
  return undefined
}

/** The lines of a text, without the last line end. */
export function linesOf(text: string, { startLine, endLine }: Lines): string {
  return text
    .split(/\r?\n/)
    .slice(startLine - 1, endLine)
    .join('\n')
}
