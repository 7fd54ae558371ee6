import type { Position, TextChange } from './editor-features.ts'

/** A text with changes applied, whose positions are all in the text as it was. Throws if they overlap. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  const starts = lineStarts(text, changes)
  const edits = changes
    .map(({ start, end, text: inserted }, order) => ({
      from: offsetAt(text, starts, start),
      to: offsetAt(text, starts, end),
      inserted,
      order,
    }))
    .sort((a, b) => a.from - b.from || a.to - b.to || a.order - b.order)
  let result = ''
  let done = 0
  for (const { from, to, inserted } of edits) {
    if (from < done) throw new Error('Changes of a text overlap.')
    result += text.slice(done, from) + inserted
    done = to
  }
  return result + text.slice(done)
}

/** Where the lines of changes begin, by their numbers; those after the end of the text are absent. */
function lineStarts(text: string, changes: readonly TextChange[]): ReadonlyMap<number, number> {
  const lines = [...new Set(changes.flatMap(({ start, end }) => [start.line, end.line]))].sort(
    (a, b) => a - b,
  )
  const starts = new Map<number, number>()
  let line = 1
  let start = 0
  for (const wanted of lines) {
    for (; line < wanted; line++) {
      start = text.indexOf('\n', start) + 1
      if (start === 0) return starts
    }
    starts.set(wanted, start)
  }
  return starts
}

function offsetAt(text: string, starts: ReadonlyMap<number, number>, { line, column }: Position): number {
  const start = starts.get(line)
  if (start === undefined) return text.length
  const newline = text.indexOf('\n', start)
  let end = newline < 0 ? text.length : newline
  if (end > start && newline >= 0 && text[end - 1] === '\r') end -= 1
  return Math.min(start + column - 1, end)
}
