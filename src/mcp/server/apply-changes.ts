import type { Position, TextChange } from './editor-features.ts'
import { linesAt } from './text-lines.ts'

/** Applies changes to a text. All positions refer to the original text. Throws if changes overlap. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  const lines = linesAt(
    text,
    changes.flatMap(({ start, end }) => [start.line, end.line]),
  )
  const edits = changes
    .map(({ start, end, text: inserted }, order) => ({
      from: offsetAt(text, lines, start),
      to: offsetAt(text, lines, end),
      inserted,
      order,
    }))
    .sort((a, b) => a.from - b.from || a.to - b.to || a.order - b.order)
  const parts: string[] = []
  let done = 0
  for (const { from, to, inserted } of edits) {
    if (from < done) throw new Error('Changes of a text overlap.')
    parts.push(text.slice(done, from), inserted)
    done = to
  }
  return parts.join('') + text.slice(done)
}

function offsetAt(text: string, lines: ReturnType<typeof linesAt>, { line, column }: Position): number {
  const found = lines.get(line)
  if (!found) return text.length
  const { start, end } = found
  const hasReturn = end > start && end < text.length && text[end - 1] === '\r'
  return Math.min(start + column - 1, hasReturn ? end - 1 : end)
}
