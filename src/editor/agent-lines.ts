import type { FileChange } from '../acp/model.ts'
import { fragmentLine } from './changes/diff-texts.ts'
import { lineEdits, splitLines } from './changes/line-edits.ts'

/** Lines of a text, 0-based; `end` is exclusive. */
export interface LineRange {
  start: number
  end: number
}

/**
 * The lines of a file's text that a change wrote; where it only removed lines, the one after them. None while the text
 * doesn't contain the change, or contains it more than once.
 */
export function editedLines(change: FileChange, text: string): LineRange[] {
  const { oldText = '', newText } = change
  if (newText === undefined) return []
  const first = fragmentLine({ ...change, oldText: undefined }, text)
  if (first === undefined) return []
  const bare = (line: string) => line.replace(/\r?\n$/, '')
  const after = splitLines(newText).map(bare)
  let shift = first - 1
  return lineEdits(splitLines(oldText).map(bare), after).map(({ start, end, lines }) => {
    const from = start + shift
    shift += lines.length - (end - start)
    return { start: from, end: from + Math.max(1, lines.length) }
  })
}
