import { fieldName, isCwdField } from '../common/field-name.ts'
import type { ToolCallEntry } from './state.ts'

/** The full command that a tool call runs, with its folder and variables as far as the agent reported them. */
export interface ToolCommand {
  command: string
  cwd?: string
  /** variables that the agent sets for the command: `NAME=value` */
  environment?: string[]
}

/** The command lines in a tool's raw input. */
export interface CommandsOfInput {
  commands: string[]
  /** other readings of the same fields: a list read as a program with its arguments instead of as lines, and vice versa */
  alternatives: string[]
  cwd?: string
  /** environment variables that the input sets: `NAME=value` */
  environment: string[]
  /** Set if the commands aren't certain: a field contains something other than text, or two fields name different arguments or folders. */
  unreadable: boolean
}

/** Names of fields that contain a command: one line, a program with its arguments, or, in `commands`, several commands. */
export const COMMAND_FIELDS: ReadonlySet<string> = new Set([
  'command',
  'cmd',
  'script',
  'code',
  'commandline',
  'shellcommand',
  'bashcommand',
])
export const COMMAND_LIST_FIELDS: ReadonlySet<string> = new Set(['commands', 'cmds', 'scripts'])
/** Names of fields in which agents put the arguments of a program, or a tool's input within the raw input. */
export const ARGUMENT_FIELDS: ReadonlySet<string> = new Set([
  'args',
  'arguments',
  'argv',
  'params',
  'parameters',
  'toolinput',
  'toolargs',
  'toolarguments',
])
/** Names of fields that contain a program's standard input. `input` may also contain the input of a tool. */
const STDIN_FIELDS: ReadonlySet<string> = new Set(['stdin', 'input'])

export function isEnvironmentField(name: string): boolean {
  return /^env(?!elope|oy)|env(?:s|vars?|variables|ironment|ironmentvariables)?$/.test(name)
}

const MAX_DEPTH = 4
/** Maximum number of fields of an object that are read. */
const MAX_FIELDS = 500

/**
 * Reads every command of a raw input, in any of the fields that agents use; there may be several. `scriptOf`: returns the script that other
 * shells run, given a program and its arguments. Rules may be applied to a script for Windows only where lines are parsed as all of its
 * shells parse them.
 */
export function commandsOfInput(rawInput: unknown, scriptOf?: Reading['scriptOf']): CommandsOfInput {
  const found: Reading = { commands: [], alternatives: [], environment: [], unreadable: false, scriptOf }
  readInput(rawInput, found, 0)
  found.commands = [...new Set(found.commands)]
  return found
}

interface Reading extends CommandsOfInput {
  readonly scriptOf: ((words: readonly string[]) => string | undefined) | undefined
}

function readInput(value: unknown, found: Reading, depth: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  if (depth > MAX_DEPTH) {
    found.unreadable = true
    return
  }
  const fields: { name: string; field: unknown }[] = []
  for (const key in value) {
    if (fields.length >= MAX_FIELDS) {
      found.unreadable = true
      break
    }
    fields.push({ name: fieldName(key), field: (value as Record<string, unknown>)[key] })
  }
  const given = fields.filter(({ field }) => !isEmpty(field))
  const [args, ...otherArgs] = given.filter(
    ({ name, field }) => ARGUMENT_FIELDS.has(name) && isArguments(field),
  )
  const hasStdin = given.some(({ name, field }) => STDIN_FIELDS.has(name) && typeof field === 'string')
  for (const { field } of given.filter(({ name }) => COMMAND_FIELDS.has(name))) {
    if (!addCommand(field, args?.field, found) || otherArgs.length > 0 || hasStdin) found.unreadable = true
  }
  for (const { name, field } of given) {
    if (COMMAND_LIST_FIELDS.has(name)) readList(field, found, depth)
    if (isCwdField(name)) {
      if (typeof field !== 'string' || (found.cwd !== undefined && found.cwd !== field))
        found.unreadable = true
      else found.cwd = field
    }
    if (isEnvironmentField(name)) found.environment.push(...variablesIn(field))
    if (ARGUMENT_FIELDS.has(name) || STDIN_FIELDS.has(name)) readInput(field, found, depth + 1)
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** Whether a value of an argument field is a list or a text. An object in such a field is the whole input of the tool instead. */
function isArguments(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value.trim() !== ''
}

/** Reads variables from an object, from a list of ACP's `{name, value}`, or from a text. */
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

/** Adds the command of a field. Returns false if the field's value isn't a command. */
function addCommand(command: unknown, args: unknown, found: Reading): boolean {
  const line = lineOf(command, args, found)
  if (line === undefined) return false
  found.commands.push(line)
  if (isTexts(command) && !mayBeProgram(command[0])) for (const one of command) found.alternatives.push(one)
  return true
}

/** Whether the first text of a list may be a program, and the other texts its arguments: `git push` is a whole line instead. */
function mayBeProgram(first = ''): boolean {
  return /^(?:\S+$|\S*[\\/])/.test(first)
}

function readList(list: unknown, found: Reading, depth: number): void {
  if (list === undefined || list === null) return
  const all = Array.isArray(list) ? list : [list]
  const program =
    all.length > 1 && isTexts(all) && mayBeProgram(all[0]) ? lineOf(all, undefined, found) : undefined
  if (program !== undefined) found.alternatives.push(program)
  for (const one of all) {
    if (addCommand(one, undefined, found)) continue
    if (typeof one === 'object' && one !== null && !Array.isArray(one)) readInput(one, found, depth + 1)
    else found.unreadable = true
  }
}

/** Matches names of tools that run commands, which some agents send as the title of a request. */
const SHELL_TOOL =
  /^(?:(?:execute|run|exec)?[_ -]?(?:bash|shell|terminal|command|cmd)(?:[_ -](?:command|tool))?|execute|exec)$/i

/**
 * Returns the command to show for a tool call. If the raw input contains no command, the title is used, which is good enough to show but
 * never matched against rules. Before the call runs, its content is used if the title is only a name or was cut.
 */
export function commandOf(tool: ToolCallEntry): ToolCommand | undefined {
  const { commands, cwd, environment } = commandsOfInput(tool.rawInput)
  if (commands.length > 0)
    return { command: commands.join('\n'), cwd, ...(environment.length > 0 && { environment }) }
  const title = titleAsCommand(tool.title)
  if (title === undefined) return undefined
  const isName = SHELL_TOOL.test(title) || title === tool.toolName
  const start = /^(.+?)\s*(?:…|\.\.\.)$/s.exec(title)?.[1]
  if (!isName && start === undefined) return { command: title }
  const contents =
    tool.status === 'pending'
      ? tool.content.flatMap(part =>
          part.type === 'content' && part.content.type === 'text' ? [bareCommand(part.content.text)] : [],
        )
      : []
  const command = contents.find(text => text !== '' && (isName || text.startsWith(start ?? '')))
  if (command !== undefined) return { command }
  return isName ? undefined : { command: title }
}

/** Returns a title without the backticks around it; `undefined` if the title is empty. */
export function titleAsCommand(title: string): string | undefined {
  return title.replace(/^`([^`]+)`$/s, '$1').trim() || undefined
}

/** Matches a shell by name or in a system folder; a file in another folder may be any program. */
const SHELL =
  /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/|run\/current-system\/sw\/|nix\/store\/[\w.+-]+\/)?bin\/)?(?:ba|z|da)?sh$/

/**
 * Returns a program and its arguments as one line; a single text is already a line. For a shell with a script (`bash -lc "npm test"`),
 * returns only the script, since it is the actual command. Returns `undefined` if the value isn't a command.
 */
function lineOf(command: unknown, args: unknown, reading: Reading): string | undefined {
  // arguments given as a single text are part of a command line, so they aren't quoted
  const words = typeof args === 'string' ? [{ text: args, whole: true }] : undefined
  const more = words ?? (isTexts(args) ? args.map(text => ({ text, whole: false })) : undefined)
  if (!more) return args === undefined ? lineOf(command, [], reading) : undefined
  const parts =
    typeof command === 'string' && command !== ''
      ? [{ text: command, whole: true }, ...more]
      : isTexts(command) && command.length > 0
        ? [...command.map(text => ({ text, whole: false })), ...more]
        : undefined
  if (!parts) return undefined
  const script = scriptOf(parts) ?? reading.scriptOf?.(parts.map(part => part.text))
  return script ?? parts.map(quoted).join(' ')
}

interface Part {
  text: string
  /** whether the text is already a command line, so it isn't quoted */
  whole: boolean
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

function scriptOf(parts: readonly Part[]): string | undefined {
  const [shell, flag, script, ...more] = parts.map(part => part.text)
  if (script === undefined || more.length > 0) return undefined
  return SHELL.test(shell!) && /^-l?c$/.test(flag!) ? script : undefined
}

function quoted({ text, whole }: Part): string {
  if (whole || /^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Whether a text contains only this command, which agents repeat in a code block next to the raw input. */
export function repeatsCommand(text: string, command: string): boolean {
  return bareCommand(text) === command.trim()
}

/** Matches the text about a command's folder that some agents add to the command. */
const FOLDER = /\[(?:current working directory|in) ([^[\]]+)\]/

/** Returns the folder of a command, if a text contains nothing else. */
export function folderIn(text: string): string | undefined {
  const found = FOLDER.exec(text)
  return found?.[0] === text.trim() ? found[1] : undefined
}

/**
 * Returns the part of a title that isn't the command or its folder. Some agents repeat the command in the title, shortened or after the
 * name of their tool; for `execute_bash: npm test` the result is empty.
 */
export function besideCommand(title: string, command: string): string {
  const plain = (text: string) => text.replaceAll('`', '').replace(/\s+/g, ' ').trim()
  const said = plain(title.replace(FOLDER, ' '))
  const whole = plain(command)
  if (whole.includes(said)) return ''
  const firstLine = plain(command.trim().split('\n', 1)[0]!)
  const repeated = [whole, firstLine].find(text => text !== '' && said.includes(text))
  if (repeated !== undefined) return withoutVerb(said.replace(repeated, () => ' '))
  const cut = /^(.*?)\s*(?:…|\.\.\.)$/.exec(said)?.[1]
  if (cut === undefined) return said
  for (let at = cut.indexOf(whole[0]!); at >= 0 && at <= MAX_BEFORE; at = cut.indexOf(whole[0]!, at + 1))
    if (cut.length - at >= MIN_CUT && whole.startsWith(cut.slice(at))) return withoutVerb(cut.slice(0, at))
  return said
}

/**
 * How far into a title a command may begin, after the name of a tool or a verb. Characters; without a limit, a title could take quadratic
 * time.
 */
const MAX_BEFORE = 200

/** Minimum length of the beginning of a command that is recognized in a title; a shorter one may be another word. Characters. */
const MIN_CUT = 8

/** Returns the text, or '' if only the name of a tool or a verb is left, as in `Execute`, `execute_bash:` and `Run command:`. */
function withoutVerb(text: string): string {
  // the lookbehind keeps the expression from trying each character of a long run
  const rest = text.replace(/^[\s:()[\]–—-]+|(?<![\s:()[\]–—-])[\s:()[\]–—-]+$/g, '')
  return /^\w*(?: command| tool)?$/.test(rest) ? '' : rest
}

/** Returns a command without the code block, the backticks or the prompt around it. */
function bareCommand(text: string): string {
  return text
    .trim()
    .replace(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1$/, '$2')
    .replace(/^`([^`]+)`$/, '$1')
    .replace(/^\$ /, '')
    .trim()
}
