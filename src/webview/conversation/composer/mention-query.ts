import type { DraftMark } from '../../../common/draft.ts'

export interface MentionQuery {
  /** where its `@` is */
  from: number
  /** where the cursor is */
  to: number
  /** what was typed behind the `@` */
  text: string
}

/**
 * What is being looked for with `@` at the cursor: from an `@` that no letter stands before, up to the cursor, without
 * white space. A chip is no query, though it is written alike.
 */
export function mentionQuery(
  text: string,
  caret: number,
  marks: readonly DraftMark[],
): MentionQuery | undefined {
  const line = text.slice(text.lastIndexOf('\n', caret - 1) + 1, caret)
  const match = /(?:^|[\s([{<"'`,;:])@([^\s@]{0,200})$/.exec(line)
  const typed = match?.[1]
  if (typed === undefined) return undefined
  const from = caret - typed.length - 1
  if (marks.some(mark => mark.from < caret && mark.to > from)) return undefined
  return { from, to: caret, text: typed }
}
