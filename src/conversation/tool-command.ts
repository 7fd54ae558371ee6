import type { ToolCallEntry } from './state.ts'

/** The command a tool call wants to run, in full, and where, as far as the agent reported. */
export interface ToolCommand {
  command: string
  cwd?: string
  /** variables that the agent sets for it: `NAME=value` */
  environment?: string[]
}

/** Every command line that a tool's raw input holds. */
export interface CommandsOfInput {
  commands: string[]
  cwd?: string
  /** variables of the environment that the input sets: `NAME=value` */
  environment: string[]
  /** A field for a command holds something else than text. */
  unreadable: boolean
}

/** Where agents put a command: one line, a program with its arguments, or in `commands` several. */
const COMMAND_KEYS = [
  'command',
  'cmd',
  'script',
  'code',
  'commandLine',
  'command_line',
  'shell_command',
] as const
const LIST_KEYS = ['commands', 'cmds', 'scripts'] as const
const CWD_KEYS = ['cwd', 'workdir', 'directory', 'working_directory', 'workingDirectory'] as const
const ENVIRONMENT_KEYS = ['env', 'environment', 'envs', 'env_vars', 'environmentVariables'] as const
/** Where agents put the input of a tool within the input. */
const NESTED_KEYS = ['input', 'arguments', 'args', 'params', 'parameters'] as const
const MAX_DEPTH = 4

/** Reads every command of a raw input, in any of the fields that agents use; there may be several. */
export function commandsOfInput(rawInput: unknown): CommandsOfInput {
  const found: CommandsOfInput = { commands: [], environment: [], unreadable: false }
  readInput(rawInput, found, 0)
  found.commands = [...new Set(found.commands)]
  return found
}

function readInput(value: unknown, found: CommandsOfInput, depth: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  if (depth > MAX_DEPTH) {
    found.unreadable = true
    return
  }
  const fields = value as Record<string, unknown>
  for (const key of COMMAND_KEYS) {
    const command = fields[key]
    if (command === undefined || command === null || command === '') continue
    const line = lineOf(command, fields.args)
    if (line === undefined) found.unreadable = true
    else found.commands.push(line)
  }
  for (const key of LIST_KEYS) readList(fields[key], found, depth)
  found.cwd ??= CWD_KEYS.map(key => fields[key]).find(
    (cwd): cwd is string => typeof cwd === 'string' && cwd !== '',
  )
  for (const key of ENVIRONMENT_KEYS) found.environment.push(...variablesIn(fields[key]))
  for (const key of NESTED_KEYS) readInput(fields[key], found, depth + 1)
}

/** Variables as an object, as ACP's `{name, value}`, or as text. */
function variablesIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  if (!Array.isArray(value)) return Object.entries(value).map(([name, one]) => `${name}=${String(one)}`)
  return value.map(one => {
    if (typeof one !== 'object' || one === null) return String(one)
    const { name, value: text } = one as Record<string, unknown>
    return name === undefined ? JSON.stringify(one) : `${String(name)}=${String(text)}`
  })
}

function readList(list: unknown, found: CommandsOfInput, depth: number): void {
  if (list === undefined || list === null) return
  const all = Array.isArray(list) ? list : [list]
  for (const one of all) {
    const line = lineOf(one, undefined)
    if (line !== undefined) found.commands.push(line)
    else if (typeof one === 'object' && one !== null && !Array.isArray(one)) readInput(one, found, depth + 1)
    else found.unreadable = true
  }
}

/**
 * What to show as the command of a tool call. Without one in its raw input, the title is used: good to read,
 * not to be held against a rule.
 */
export function commandOf(tool: ToolCallEntry): ToolCommand | undefined {
  const { commands, cwd, environment } = commandsOfInput(tool.rawInput)
  if (commands.length > 0)
    return { command: commands.join('\n'), cwd, ...(environment.length > 0 && { environment }) }
  const command = titleAsCommand(tool.title)
  return command === undefined ? undefined : { command }
}

/** A title without the backticks around it; `undefined` if it's empty. */
export function titleAsCommand(title: string): string | undefined {
  return title.replace(/^`([^`]+)`$/s, '$1').trim() || undefined
}

/**
 * A program and its arguments as one line; a single text is a line already. A shell that is given a script
 * (`bash -lc "npm test"`) is left out: the script is what runs. `undefined` if it isn't a command.
 */
function lineOf(command: unknown, args: unknown): string | undefined {
  const more = isTexts(args) ? args.map(text => ({ text, whole: false })) : []
  const parts =
    typeof command === 'string' && command !== ''
      ? [{ text: command, whole: true }, ...more]
      : isTexts(command) && command.length > 0
        ? [...command.map(text => ({ text, whole: false })), ...more]
        : undefined
  return parts && (scriptOf(parts) ?? parts.map(quoted).join(' '))
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

/** Whether a text contains only the command, which agents repeat in a code block next to the raw input. */
export function repeatsCommand(text: string, command: string): boolean {
  const bare = text
    .trim()
    .replace(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1$/, '$2')
    .replace(/^`([^`]+)`$/, '$1')
    .replace(/^\$ /, '')
  return bare.trim() === command.trim()
}
