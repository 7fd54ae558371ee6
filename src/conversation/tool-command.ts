import { fieldName, isCwdField } from '../common/field-name.ts'
import type { ToolCallEntry } from './state.ts'

/** The command a tool call wants to run, in full, and where, as far as the agent reported. */
export interface ToolCommand {
  command: string
  cwd?: string
  /** variables that the agent sets for the command: `NAME=value` */
  environment?: string[]
}

/** Every command line in a tool's raw input. */
export interface CommandsOfInput {
  commands: string[]
  /** other readings of the same fields: a program with its arguments for a list of lines, and vice versa */
  alternatives: string[]
  cwd?: string
  /** variables of the environment that the input sets: `NAME=value` */
  environment: string[]
  /** The commands aren't certain: a field contains something other than text, or two fields name different arguments or folders. */
  unreadable: boolean
}

/** Fields with a command: one line, a program with its arguments, or several commands in `commands`. */
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
/** Where they put the arguments of a program, or the input of a tool within the input. */
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
/** Fields for a program's standard input. `input` may also be the input of a tool. */
const STDIN_FIELDS: ReadonlySet<string> = new Set(['stdin', 'input'])

export function isEnvironmentField(name: string): boolean {
  return /^env(?!elope|oy)|env(?:s|vars?|variables|ironment|ironmentvariables)?$/.test(name)
}

const MAX_DEPTH = 4
/** Maximum number of fields in an object that are read. */
const MAX_FIELDS = 500

/**
 * Reads every command of a raw input, in any of the fields that agents use; there may be several. `scriptOf`: reads the script of further
 * shells, of a program and its arguments. Rules may be applied to a script for Windows only where lines are parsed as all of its shells do.
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

/** A list or a text. Under the same names, an object is the whole input of the tool instead. */
function isArguments(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value.trim() !== ''
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

/** Adds the command of a field. Returns false if it isn't one. */
function addCommand(command: unknown, args: unknown, found: Reading): boolean {
  const line = lineOf(command, args, found)
  if (line === undefined) return false
  found.commands.push(line)
  if (isTexts(command) && !mayBeProgram(command[0])) for (const one of command) found.alternatives.push(one)
  return true
}

/** Whether the first text of a list may be a program, and the others its arguments: `git push` is a line. */
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

/** Names of tools that run commands, which some agents send as the title of a request. */
const SHELL_TOOL =
  /^(?:(?:execute|run|exec)?[_ -]?(?:bash|shell|terminal|command|cmd)(?:[_ -](?:command|tool))?|execute|exec)$/i

/**
 * The command to show for a tool call. Without a command in the raw input, the title is used, which is good enough to show but never
 * matched against rules. Before the call runs, its content is used if the title is only a name or was cut.
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

/** A title without the backticks around it; `undefined` if it's empty. */
export function titleAsCommand(title: string): string | undefined {
  return title.replace(/^`([^`]+)`$/s, '$1').trim() || undefined
}

/** A shell by name or in a system folder; a file in another folder may be any program. */
const SHELL =
  /^(?:\/(?:usr\/(?:local\/)?|opt\/homebrew\/|run\/current-system\/sw\/|nix\/store\/[\w.+-]+\/)?bin\/)?(?:ba|z|da)?sh$/

/**
 * A program and its arguments as one line; a single text is already a line. For a shell with a script (`bash -lc "npm test"`), only the
 * script, since that is the actual command. `undefined` if the value isn't a command.
 */
function lineOf(command: unknown, args: unknown, reading: Reading): string | undefined {
  // arguments in a single text are part of a command line, so they aren't quoted
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
  /** the text is already a command line, so it isn't quoted */
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

/** Whether a text contains only the command, which agents repeat in a code block next to the raw input. */
export function repeatsCommand(text: string, command: string): boolean {
  return bareCommand(text) === command.trim()
}

/** Text that some agents add to a command about its folder. */
const FOLDER = /\[(?:current working directory|in) ([^[\]]+)\]/

/** The folder of a command, if a text says only that. */
export function folderIn(text: string): string | undefined {
  const found = FOLDER.exec(text)
  return found?.[0] === text.trim() ? found[1] : undefined
}

/**
 * The part of a title that isn't the command or its folder. Some agents repeat the command in the title, cut or after the name of their
 * tool; for `execute_bash: npm test` the result is empty.
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

/** The command follows the name of a tool or a verb. Characters; without a limit, a title could take quadratic time. */
const MAX_BEFORE = 200

/** A shorter beginning of a command may be another word. Characters. */
const MIN_CUT = 8

/** Nothing if only the name of a tool or a verb is left, as in `Execute`, `execute_bash:` and `Run command:`. */
function withoutVerb(text: string): string {
  // looking behind keeps it from trying each character of a long run
  const rest = text.replace(/^[\s:()[\]–—-]+|(?<![\s:()[\]–—-])[\s:()[\]–—-]+$/g, '')
  return /^\w*(?: command| tool)?$/.test(rest) ? '' : rest
}

/** A command without the code block, the backticks or the prompt around it. */
function bareCommand(text: string): string {
  return text
    .trim()
    .replace(/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1$/, '$2')
    .replace(/^`([^`]+)`$/, '$1')
    .replace(/^\$ /, '')
    .trim()
}
