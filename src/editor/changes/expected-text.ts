import type { FileChange } from '../../acp/model.ts'
import { lineEnd, withLineEnd } from '../text.ts'
import { diffTexts } from './diff-texts.ts'
import { lineEdits, mergeLines, splitLines } from './line-edits.ts'

/** What a file becomes by a change that an agent tells of; `undefined` where that cannot be told. */
export function expectedText(
  change: FileChange,
  current: string,
  patch: { format: string; text: string } | undefined,
): string | undefined {
  if (change.operation === 'delete') return ''
  const { oldText, newText } = change
  if (change.operation === 'add' && oldText === undefined) return newText
  const end = lineEnd(current)
  const adapt = (text: string) => (end ? withLineEnd(text, end) : text)
  if (oldText !== undefined && newText !== undefined && adapt(oldText) === current) return adapt(newText)
  const texts = diffTexts(change, { current, ...(patch && { patch }) })
  return texts && texts.oldText === current && texts.newText !== current ? texts.newText : undefined
}

/**
 * Parts what happened to a text between two looks at it: `expected` is what one author was to make of `before`. Answers
 * with the text as the others made it, before that author's part: `after` itself where that part is not there, and
 * `undefined` where the two cannot be parted.
 */
export function othersPart(before: string, expected: string, after: string): string | undefined {
  const was = splitLines(before)
  const meant = splitLines(expected)
  const others = mergeLines(meant, was, splitLines(after))?.join('')
  if (others !== undefined) return others
  // each piece of it is to be found: lines that were not there, or that are no longer there
  const isThere = lineEdits(was, meant).every(({ start, end, lines }) => {
    const given = lines.join('')
    const gone = was.slice(start, end).join('')
    return given === '' ? !after.includes(gone) : after.includes(given) && !before.includes(given)
  })
  return isThere ? undefined : after
}
