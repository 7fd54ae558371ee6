/** Finds the lines of a comment after its document changed. Lines are 1-based and inclusive. */

export interface Lines {
  startLine: number
  endLine: number
}

/** A replacement of text; positions are 0-based, as in VS Code. */
export interface TextEdit {
  start: { line: number; character: number }
  end: { line: number; character: number }
  text: string
}

/**
 * Returns the position of lines after edits, which VS Code lists from the end of the text to its start. An edit within the lines changes
 * their number; a text that replaces all of the lines takes their position.
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
 * Returns the position of lines after edits of the document whose text is now `text`. An edit that replaces all of the lines, as a
 * formatter's edit does, may move them within the replacement. Typing in a line doesn't move them, even if another line now has the old
 * text.
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

/** Whether the edit covers the lines from the start of the first line to the end of the last. */
function replaces(
  { start, end }: TextEdit,
  { startLine, endLine, quote }: Lines & { quote: string },
): boolean {
  const [first, last] = [startLine - 1, endLine - 1]
  const fromStart = start.line < first || (start.line === first && start.character === 0)
  const lastLength = quote.slice(quote.lastIndexOf('\n') + 1).length
  return fromStart && (end.line > last || (end.line === last && end.character >= lastLength))
}

/**
 * Returns the number of the line nearest to `near` at which `quote` begins in a text; `undefined` if the text doesn't contain `quote`, or
 * `quote` has no words.
 */
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

/** Returns the lines of a text, without the last line end. */
export function linesOf(text: string, { startLine, endLine }: Lines): string {
  return text
    .split(/\r?\n/)
    .slice(startLine - 1, endLine)
    .join('\n')
}
