import type { Command } from '../../../acp/model.ts'
import type { DraftMark } from '../../../common/draft.ts'
import { calledCommand, commandQuery, matchCommands } from './command-query.ts'
import { type MentionQuery, mentionQuery } from './mention-query.ts'

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
