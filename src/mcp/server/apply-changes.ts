import type { Position, TextChange } from './editor-features.ts'

/** A text with changes applied, whose positions are all in the text as it was. Throws if they overlap. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  const starts = lineStarts(text)
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

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function offsetAt(text: string, starts: readonly number[], { line, column }: Position): number {
  const start = starts[line - 1]
  if (start === undefined) return text.length
  let end = line < starts.length ? starts[line]! - 1 : text.length
  if (end > start && line < starts.length && text[end - 1] === '\r') end -= 1
  return Math.min(start + column - 1, end)
}
