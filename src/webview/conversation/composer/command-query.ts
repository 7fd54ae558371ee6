import type { Command } from '../../../acp/model.ts'

/** The part of a command's name typed so far, when the caret is in it: `/` must be the first character. */
export function commandQuery(text: string, caret: number): string | undefined {
  if (!text.startsWith('/')) return undefined
  const name = /^\/\S*/.exec(text)![0]
  return caret > 0 && caret <= name.length ? name.slice(1, caret) : undefined
}

/** The commands that fit what was typed: those that begin with it, then those that contain it, then by description. */
export function matchCommands(commands: readonly Command[], query: string): Command[] {
  const low = query.toLowerCase()
  const score = (command: Command) => {
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

/** The command that a text calls, when its name is complete. */
export function calledCommand(commands: readonly Command[], text: string): Command | undefined {
  const name = /^\/(\S+)/.exec(text)?.[1]
  return name === undefined ? undefined : commands.find(command => command.name === name)
}
