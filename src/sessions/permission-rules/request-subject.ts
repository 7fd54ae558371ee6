/** Reads the subject of a permission request. An unknown field may contain the real effect of the call, so it makes the request unclear. */
import type { PermissionRequest } from '../../acp/model.ts'
import { CHANGES_FIELDS, fieldName, isCwdField, isPathField, URL_FIELDS } from '../../common/field-name.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import {
  ARGUMENT_FIELDS,
  COMMAND_FIELDS,
  COMMAND_LIST_FIELDS,
  type CommandsOfInput,
  commandsOfInput,
  isEnvironmentField,
  titleAsCommand,
} from '../../conversation/tool-command.ts'
import { windowsScriptOf } from '../../conversation/windows-script.ts'
import { filesOfPatch } from './patch-files.ts'

/** The subject of a permission request, as far as the agent reported it. */
export interface RuleSubject {
  kind: string
  /** the name of the editor tool, such as `vscode.rename_symbol` */
  tool?: string
  /** kinds that the call's content shows, whatever kind is reported: `execute` for a command, `edit` for a diff, `delete` for a deletion */
  shown: string[]
  /** all reported command lines, nearly always a single one */
  commands: string[]
  /** the title, if it may be a command: sufficient to reject, never to allow */
  title?: string
  /** the reported directory of the command, if any */
  cwd?: string
  /** all reported files, as the agent spells them */
  paths: string[]
  /** further files that the request may be about, because programs read names in patches differently */
  possiblePaths: string[]
  /** files of `paths` and `possiblePaths` that a patch names: the paths in a patch aren't translated for agents on another machine */
  patchPaths: string[]
  /** Whether the call reports an input, a command or a file. Otherwise, only the call's title and text describe it. */
  hasInput: boolean
  /** Whether the request is about a plan or a change of the mode. */
  isPlan: boolean
  /** Whether the request contains something that rules don't check, so no rule may allow it. */
  isUnclear: boolean
  /** Whether the request asks to run outside of the agent's sandbox, so no rule may allow it. */
  leavesSandbox: boolean
}

const NO_COMMANDS: CommandsOfInput = { commands: [], alternatives: [], environment: [], unreadable: false }

export function subjectOf(
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
  platform: NodeJS.Platform,
): RuleSubject | undefined {
  const { subject } = request
  if (subject.type !== 'command' && (subject.type !== 'tool_call' || !tool)) return undefined
  const input = tool
    ? commandsOfInput(tool.rawInput, platform === 'win32' ? windowsScriptOf : undefined)
    : NO_COMMANDS
  const own = subject.type === 'command' ? [subject.command] : []
  const commands = [...new Set([...own, ...input.commands, ...input.alternatives])]
  const isCommand = subject.type === 'command' || tool?.toolKind === 'execute' || commands.length > 0
  const cwd = (subject.type === 'command' ? subject.cwd : undefined) ?? input.cwd
  const title = commands.length === 0 && tool?.toolKind === 'execute' ? titleAsCommand(tool.title) : undefined
  const kind = subject.type === 'command' ? 'execute' : (tool?.toolKind ?? 'other')
  const fields = new InputFields(kind, commands.length > 0)
  if (tool) fields.readTool(tool)
  return {
    kind,
    ...(request.editorTool !== undefined && { tool: request.editorTool }),
    shown: [
      ...(isCommand || fields.runs ? ['execute'] : []),
      ...(fields.edits ? ['edit'] : []),
      ...(fields.deletes ? ['delete'] : []),
    ],
    commands,
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    paths: [...fields.paths],
    possiblePaths: [...fields.possiblePaths].filter(path => !fields.paths.has(path)),
    patchPaths: [...fields.patchPaths],
    hasInput: tool?.rawInput !== undefined || commands.length > 0 || fields.paths.size > 0,
    isPlan: kind === 'switch_mode' || fields.isPlan,
    isUnclear:
      fields.isUnclear ||
      input.environment.length > 0 ||
      input.unreadable ||
      // with several commands, the folder of each would have to be known
      (own.length > 0 && input.cwd !== undefined && cwd !== input.cwd),
    leavesSandbox: fields.leavesSandbox,
  }
}

/** Fields with a file name pattern, which could match files outside of the folder. */
const GLOB_FIELDS = new Set(
  'glob globs include includes exclude excludes filepattern filepatterns includepattern excludepattern'.split(
    ' ',
  ),
)
/** Fields with a search pattern, which some tools use as a file name pattern. */
const PATTERN_FIELDS = new Set(
  'pattern patterns regex query queries search searchterm searchstring keyword keywords'.split(' '),
)
/** Fields with the new or old text of a file. */
const EDIT_FIELDS = new Set(
  'content contents newcontent oldcontent newstring oldstring newstr oldstr newtext oldtext filetext newfilecontents newsource newcode replacement aiproposedcontent'.split(
    ' ',
  ),
)
const PATCH_FIELDS = new Set(['patch', 'diff', 'patchtext', 'patchcontent', 'unifieddiff', 'input'])
/** Fields with text for the user. */
const PLAIN_FIELDS = new Set(
  'description explanation reason justification title summary instruction purpose thought thoughts thinking plan risklevelreason displayname userfacingdescription'.split(
    ' ',
  ),
)
/** Fields with a word that selects one of several ways to do the same thing. */
const WORD_FIELDS = new Set(
  'type outputmode format mode variant kind language lang encoding subagenttype agenttype celltype editmode model risklevel status op operation tool toolname server name sort order timeout delay safetoautorun viewrange'.split(
    ' ',
  ),
)
/** Fields that agents report besides the call: their plan, their parsing of the command, the possible answers. */
const EXTRA_FIELDS = new Set(
  'todos oldtodos newtodos parsedcmd parsedcommand commandactions availabledecisions proposedexecpolicyamendment prefixrule alloweddomains blockeddomains allowedprompts'.split(
    ' ',
  ),
)
/** Values of an operation that deletes a file. */
const DELETES = /^(?:delete|remove)(?:d|_?file)?$/i
/** Fields that name the operation on the files. */
const OPERATION_FIELDS = new Set(['operation', 'op'])
const EDITS =
  /^(?:add|append|create|edit|insert|modify|overwrite|replace|set|update|write|str_?replace)(?:_?(?:file|text|lines?))?$/i
/** The usual spellings of a deletion in a patch. Other spellings make the patch unsure. */
const PATCH_DELETES = /^(?:\*\*\* Delete File: |\+\+\+ \/dev\/null|deleted file mode )/m
const SHELL = /^(?:(?:ba|z|da|fi)?sh|powershell|pwsh|cmd)$/
const MAX_DEPTH = 6
/** Maximum number of fields that are read. */
const MAX_FIELDS = 2000

/** Whether a field asks to leave the agent's sandbox, or for permissions that the user doesn't see. */
function leavesSandbox(name: string, value: unknown): boolean {
  if (/^(?:use|in|is)?sandbox(?:ed|mode|policy|type|enabled)?$/.test(name))
    return (
      value === false ||
      (typeof value === 'string' && /danger|full|none|off|no\b|disable|escalat/i.test(value))
    )
  if (
    !/sandbox|escalat|danger|bypass|elevat|privilege|grantroot|skippermission|autoapprove|additionalpermissions/.test(
      name,
    )
  )
    return false
  if (
    value === false ||
    /^(?:|false|no|none|use_?default|default)$/i.test(typeof value === 'string' ? value : '-')
  )
    return false
  return value !== null && value !== undefined && (typeof value !== 'object' || Object.keys(value).length > 0)
}

/** Reads the content and the raw input of a tool call. An unknown field that contains text makes the request unclear. */
class InputFields {
  readonly paths = new Set<string>()
  readonly possiblePaths = new Set<string>()
  readonly patchPaths = new Set<string>()
  edits = false
  isPlan = false
  /** whether the content has a terminal: the call runs a command, whatever kind is reported */
  runs = false
  isUnclear = false
  leavesSandbox = false
  #deletes = false
  /** Whether an operation other than an edit is reported. */
  #doesOther = false
  readonly #kind: string
  readonly #hasCommand: boolean
  #remaining = MAX_FIELDS

  constructor(kind: string, hasCommand: boolean) {
    this.#kind = kind
    this.#hasCommand = hasCommand
  }

  /** Whether the call deletes the file, or may delete it because the kind of edit isn't known. */
  get deletes(): boolean {
    return this.#deletes || (this.#doesOther && (this.edits || this.#kind === 'edit'))
  }

  readTool(tool: ToolCallEntry): void {
    for (const { path } of tool.locations) this.#add(path)
    for (const content of tool.content) {
      if (content.type === 'unknown') this.isUnclear = true
      if (content.type === 'terminal') this.runs = true
      if (content.type !== 'diff') continue
      this.edits = true
      for (const { operation, path, oldPath } of content.changes) {
        this.#deletes ||= operation === 'delete'
        this.#add(path)
        if (oldPath !== undefined) this.#add(oldPath)
      }
    }
    const { rawInput } = tool
    if (typeof rawInput === 'string') this.#patch(rawInput, true)
    else if (Array.isArray(rawInput)) this.#list('', '', rawInput, 1)
    else if (typeof rawInput === 'object' && rawInput !== null) this.#object(rawInput, 1)
  }

  #object(value: object, depth: number): void {
    if (depth > MAX_DEPTH) this.isUnclear = true
    else {
      for (const key in value) {
        this.#remaining -= 1
        if (this.#remaining < 0) {
          this.isUnclear = true
          return
        }
        this.#field(key, (value as Record<string, unknown>)[key], depth)
      }
    }
  }

  #field(key: string, value: unknown, depth: number): void {
    const name = fieldName(key)
    if (leavesSandbox(name, value)) this.leavesSandbox = true
    if (value && DELETES.test(name)) this.#deletes = true
    if (value === undefined || value === null || value === '') return
    if (typeof value === 'boolean' || typeof value === 'number') return
    if (EXTRA_FIELDS.has(name)) return
    if (name === 'plan') this.isPlan = true
    if (isEnvironmentField(name))
      this.isUnclear ||= typeof value !== 'object' || Object.keys(value).length > 0
    else if (this.#isCommand(name, value)) return
    else if (typeof value === 'string') this.#text(key, name, value)
    else if (Array.isArray(value)) this.#list(key, name, value, depth)
    else if (CHANGES_FIELDS.has(name)) {
      this.edits = true
      for (const [path, change] of Object.entries(value).slice(0, MAX_FIELDS)) {
        this.#add(path)
        if (typeof change === 'object' && change !== null) this.#object(change, depth + 1)
        else if (typeof change === 'string') this.#text('', 'content', change)
      }
    } else this.#object(value as object, depth + 1)
  }

  /** Whether {@link commandsOfInput} reads and checks the field. */
  #isCommand(name: string, value: unknown): boolean {
    if (!this.#hasCommand) return false
    if (COMMAND_FIELDS.has(name) || COMMAND_LIST_FIELDS.has(name)) return true
    if (isCwdField(name)) return true
    return ARGUMENT_FIELDS.has(name) && (typeof value !== 'object' || Array.isArray(value))
  }

  #list(key: string, name: string, values: readonly unknown[], depth: number): void {
    for (const value of values) {
      this.#remaining -= 1
      if (this.#remaining < 0) this.isUnclear = true
      if (this.isUnclear) return
      if (typeof value === 'string' && value !== '') this.#text(key, name, value)
      else if (Array.isArray(value)) this.isUnclear = true
      else if (typeof value === 'object' && value !== null) this.#object(value, depth + 1)
    }
  }

  #text(key: string, name: string, value: string): void {
    if (URL_FIELDS.has(name)) this.#url(value)
    else if (PATCH_FIELDS.has(name)) this.#patch(value, name === 'input')
    else if (EDIT_FIELDS.has(name)) this.edits = true
    else if (GLOB_FIELDS.has(name)) this.isUnclear ||= leadsElsewhere(value) || /:\/\/|^[$%]/.test(value)
    else if (PATTERN_FIELDS.has(name)) this.isUnclear ||= leadsElsewhere(value)
    else if (isPathField(key)) this.#path(value)
    else if (PLAIN_FIELDS.has(name)) return
    else if (name === 'prompt') this.isUnclear ||= this.#kind !== 'fetch' && this.#kind !== 'think'
    // here, a sandbox option doesn't leave the sandbox: `leavesSandbox` finds the others
    else if (name.includes('sandbox')) return
    else if (name === 'shell') this.isUnclear ||= !SHELL.test(value)
    else if (WORD_FIELDS.has(name) || name.endsWith('id')) {
      this.#deletes ||= DELETES.test(value)
      this.#doesOther ||= OPERATION_FIELDS.has(name) && !EDITS.test(value)
      this.isUnclear ||= !/^[\w:-]{1,200}$/.test(value)
    } else this.isUnclear = true
  }

  #add(path: string): void {
    // the agent may expand `~` or a variable
    if (/^[~$%]/.test(path)) this.isUnclear = true
    // Git quotes and escapes a name with special characters
    if (path.startsWith('"')) this.isUnclear = true
    // the agent may trim the path
    if (path !== path.trim()) this.isUnclear = true
    this.paths.add(path)
  }

  #path(value: string): void {
    if (/^[a-z][\w+.-]+:/i.test(value) && !/^[a-z]:[\\/]/i.test(value)) this.#url(value)
    else this.#add(value)
  }

  #url(value: string): void {
    const isRemote = /^https?:\/\//i.test(value) || /^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]|$)/.test(value)
    if (this.#kind === 'fetch' && isRemote) return
    if (/^file:\/\//i.test(value) || !/^[a-z][\w+.-]+:/i.test(value)) this.#add(value)
    else this.isUnclear = true
  }

  #patch(patch: string, mayBeOther: boolean): void {
    const { paths, possible, unsure, isPatch } = filesOfPatch(patch)
    for (const path of paths) this.#add(path)
    for (const path of possible) this.possiblePaths.add(path)
    for (const path of [...paths, ...possible]) this.patchPaths.add(path)
    // text that isn't a patch
    if (unsure || (mayBeOther && !isPatch && patch.trim() !== '')) this.isUnclear = true
    this.edits = true
    this.#deletes ||= PATCH_DELETES.test(patch)
  }
}

/** Whether a pattern may match files outside of its folder. */
function leadsElsewhere(pattern: string): boolean {
  return /^(?:[/\\~]|[a-z]:[\\/]|file:)|(?:^|[/\\{,(|])\.\.(?:[/\\},)|]|$)|[{,(|](?:[/~]|[a-z]:[\\/])/i.test(
    pattern,
  )
}
