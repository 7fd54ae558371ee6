import type { Command } from '../../../acp/model.ts'
import type { DraftMark } from '../../../common/draft.ts'
import { calledCommand, commandQuery, matchCommands } from './command-query.ts'

/** What is being completed at the cursor. */
export type Completion =
  | { kind: 'commands'; matches: readonly Command[] }
  | { kind: 'mentions'; query: MentionQuery }

/** So many commands are offered at most. */
const mostCommands = 200

export function completionAt(
  text: string,
  caret: number,
  marks: readonly DraftMark[],
  commands: readonly Command[],
): Completion | undefined {
  const query = commandQuery(text, caret)
  if (query !== undefined) {
    const matches = matchCommands(commands, query).slice(0, mostCommands)
    const done = calledCommand(commands, text)
    return matches.length === 0 || matches[0] === done ? undefined : { kind: 'commands', matches }
  }
  const mention = mentionQuery(text, caret, marks)
  return mention && { kind: 'mentions', query: mention }
}

interface MentionQuery {
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
