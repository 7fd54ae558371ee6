import type { ToolCallEntry } from './state.ts'

/** The command a tool call wants to run, in full, and where, as far as the agent told. */
export interface ToolCommand {
  command: string
  cwd?: string
}

/**
 * Agents put a command into the raw input, as a text with or without arguments or as a list, or only into the title.
 * A shell that is given a script (`bash -lc "npm test"`) is left out: the script is what runs.
 */
export function commandOf(tool: ToolCallEntry): ToolCommand | undefined {
  const input = tool.rawInput
  if (typeof input === 'object' && input !== null) {
    const fields = input as Record<string, unknown>
    const parts = argv(fields.command ?? fields.cmd, fields.args)
    const cwd = [fields.cwd, fields.workdir, fields.directory].find(
      (value): value is string => typeof value === 'string' && value !== '',
    )
    if (parts) return { command: scriptOf(parts) ?? parts.map(quoted).join(' '), cwd }
  }
  const title = tool.title.replace(/^`([^`]+)`$/s, '$1').trim()
  return title === '' ? undefined : { command: title }
}

/** The program and its arguments; a single text is a whole command line and stays one. */
function argv(command: unknown, args: unknown): Part[] | undefined {
  const more = isTexts(args) ? args.map(text => ({ text, whole: false })) : []
  if (typeof command === 'string' && command !== '') return [{ text: command, whole: true }, ...more]
  if (isTexts(command) && command.length > 0)
    return [...command.map(text => ({ text, whole: false })), ...more]
  return undefined
}

interface Part {
  text: string
  /** a command line already: nothing to quote */
  whole: boolean
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

function scriptOf(parts: readonly Part[]): string | undefined {
  const [shell, flag, script, ...more] = parts.map(part => part.text)
  if (script === undefined || more.length > 0) return undefined
  return /(?:^|\/)(?:ba|z|da)?sh$/.test(shell!) && /^-l?c$/.test(flag!) ? script : undefined
}

function quoted({ text, whole }: Part): string {
  if (whole || /^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Whether a text says nothing but the command, as agents put it into a code block beside the raw input. */
export function repeatsCommand(text: string, command: string): boolean {
  const bare = text
    .trim()
    .replace(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1$/, '$2')
    .replace(/^`([^`]+)`$/, '$1')
    .replace(/^\$ /, '')
  return bare.trim() === command.trim()
}
