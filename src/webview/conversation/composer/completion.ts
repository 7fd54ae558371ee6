import type { Command } from '../../../acp/model.ts'
import type { ChipRange } from '../../../common/draft.ts'

/** A command of the agent, or a prompt file. `source`: the prompt file's origin; `detail`: the tooltip. */
export interface CommandRow extends Command {
  source?: string | undefined
  detail?: string
}

/** The kind of completion at the cursor. */
export type Completion =
  | { kind: 'commands'; matches: readonly CommandRow[] }
  | { kind: 'mentions'; query: MentionQuery }

/** Maximum number of suggested commands. */
const MAX_COMMANDS = 200

export function completionAt(
  text: string,
  caret: number,
  chips: readonly ChipRange[],
  commands: readonly CommandRow[],
): Completion | undefined {
  const query = chips[0]?.from === 0 ? undefined : commandQuery(text, caret)
  if (query !== undefined) {
    const matches = matchCommands(commands, query).slice(0, MAX_COMMANDS)
    const done = calledCommand(commands, text)
    return matches.length === 0 || matches[0] === done ? undefined : { kind: 'commands', matches }
  }
  const mention = mentionQuery(text, caret, chips)
  return mention && { kind: 'mentions', query: mention }
}

interface MentionQuery {
  /** offset of the `@` */
  from: number
  /** offset of the cursor */
  to: number
  /** the text after the `@` */
  text: string
}

/**
 * Returns the `@` query at the cursor: from an `@` without a letter before it, up to the cursor, without white space. A chip
 * isn't a query, although its text looks the same.
 */
export function mentionQuery(
  text: string,
  caret: number,
  chips: readonly ChipRange[],
): MentionQuery | undefined {
  const line = text.slice(text.lastIndexOf('\n', caret - 1) + 1, caret)
  const match = /(?:^|[\s([{<"'`,;:])@([^\s@]{0,200})$/.exec(line)
  const typed = match?.[1]
  if (typed === undefined) return undefined
  const from = caret - typed.length - 1
  if (chips.some(chip => chip.from < caret && chip.to > from)) return undefined
  return { from, to: caret, text: typed }
}

/** Returns the part of a command's name before the cursor, if the text starts with `/` and the cursor is in the name. */
export function commandQuery(text: string, caret: number): string | undefined {
  if (!text.startsWith('/')) return undefined
  const name = /^\/\S*/.exec(text)![0]
  return caret > 0 && caret <= name.length ? name.slice(1, caret) : undefined
}

/**
 * Returns the commands that match the typed text: first names that start with the text, then names that contain it, then
 * matches in the description.
 */
export function matchCommands(commands: readonly CommandRow[], query: string): CommandRow[] {
  const low = query.toLowerCase()
  const score = (command: CommandRow) => {
    const name = command.name.toLowerCase()
    if (name.startsWith(low)) return 0
    if (name.includes(low)) return 1
    return command.description.toLowerCase().includes(low) && low.length > 1 ? 2 : -1
  }
  return commands
    .map((command, order) => ({ command, order, score: score(command) }))
    .filter(match => match.score >= 0)
    .sort((a, b) => a.score - b.score || a.order - b.order)
    .map(match => match.command)
}

/** Returns the command at the start of a text, if its name is complete. */
export function calledCommand(commands: readonly Command[], text: string): Command | undefined {
  const name = /^\/(\S+)/.exec(text)?.[1]
  return name === undefined ? undefined : commands.find(command => command.name === name)
}
