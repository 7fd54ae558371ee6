import type { PermissionRequest } from '../../acp/model.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { type CommandsOfInput, commandsOfInput, titleAsCommand } from '../../conversation/tool-command.ts'
import type { PathGuard } from '../../editor/path-guard.ts'
import type { PathRules } from '../../editor/path-rules.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import {
  type CommandLine,
  fitsCommand,
  matchCommand,
  parseCommandLine,
  possibleCommands,
} from './command-line.ts'
import { pathsOfCommands } from './command-paths.ts'
import { refusedWord, runsProject } from './known-words.ts'
import type { PermissionRule, RuleAction } from './rule.ts'

/** The subject of a permission request, prepared for matching rules. */
export interface AnalyzedRequest {
  /** It concerns nothing outside of the session's folders, as far as known. Otherwise no rule may allow it. */
  inside: boolean
  /** A command names a protected file, so no rule may allow it. */
  namesProtected: boolean
  /** Its commands run in one of the session's folders itself, as far as known. */
  inRoot: boolean
  subject: RuleSubject
  lines: CommandLine[]
  possible: string[][]
  paths: KnownPath[]
  ignoreCase: boolean
}

/** A file of the request, relative to the session's roots. */
interface KnownPath {
  /** relative to each root that contains it, with `/` between names */
  relative: string[]
  protected: boolean
}

/** Kinds of tools that work on files: without a reported file, their target is unknown. */
const ABOUT_FILES = new Set(['read', 'edit', 'delete', 'move'])
const ONLY_LOOKS = new Set(['read', 'search'])
/** Maximum number of files that are checked individually. */
const MAX_PATHS = 200

export interface AnalyzeOptions {
  guard: PathGuard
  rules: PathRules
  protectedFiles: ProtectedFiles
}

/**
 * Analyzes the subject of a request: parses its commands and resolves its paths, including links. Rejects with the file
 * system's errors.
 */
export async function analyze(subject: RuleSubject, options: AnalyzeOptions): Promise<AnalyzedRequest> {
  const { guard, rules, protectedFiles } = options
  const isProtected = (file: Parameters<ProtectedFiles['includes']>[0]) =>
    protectedFiles.includes(file, guard.roots)
  const lines = subject.commands.map(command => parseCommandLine(command, rules.platform))
  const guessed = subject.title === undefined ? [] : [parseCommandLine(subject.title, rules.platform)]
  const paths: KnownPath[] = []
  let inside = subject.paths.length <= MAX_PATHS
  for (const path of subject.paths.slice(0, MAX_PATHS)) {
    const file = await guard.within(path)
    if (file)
      paths.push({
        relative: file.relative.map(one => slashes(one, rules)),
        protected: await isProtected(file),
      })
    else inside = false
  }
  let namesProtected = false
  const cwd = subject.cwd === undefined ? undefined : await guard.within(subject.cwd)
  if (subject.cwd !== undefined && !cwd) inside = false
  else if (cwd) namesProtected = await isProtected(cwd)
  if (inside && lines.length > 0) {
    const found = await pathsOfCommands(lines, subject.cwd, { guard, rules, isProtected })
    inside = found.inside
    namesProtected ||= found.protected
  }
  return {
    inside,
    namesProtected,
    inRoot: cwd === undefined || cwd.relative.includes(''),
    subject,
    lines,
    possible: [...lines, ...guessed].flatMap(line => possibleCommands(line, rules.platform)),
    paths,
    ignoreCase: !rules.caseSensitive,
  }
}

const STRICTNESS: Readonly<Record<RuleAction, number>> = { allow: 0, ask: 1, reject: 2 }

/**
 * The rule that applies: the first match of each scope, and the strictest of those, so that a workspace can't allow what
 * the user rejects. A rule that allows matches only what is certain, the others what is possible.
 */
export function applicableRule(
  rules: readonly PermissionRule[],
  agentId: string,
  analyzed: AnalyzedRequest,
): PermissionRule | undefined {
  const byScope = new Map<string, PermissionRule>()
  for (const rule of rules) {
    const scope = `${rule.scope} ${rule.folder ?? ''}`
    if (!byScope.has(scope) && fits(rule, agentId, analyzed)) byScope.set(scope, rule)
  }
  return [...byScope.values()].reduce<PermissionRule | undefined>(
    (strictest, rule) =>
      strictest && STRICTNESS[strictest.action] >= STRICTNESS[rule.action] ? strictest : rule,
    undefined,
  )
}

function fits(rule: PermissionRule, agentId: string, analyzed: AnalyzedRequest): boolean {
  if (rule.agent !== undefined && rule.agent !== agentId) return false
  return rule.action === 'allow' ? allows(rule, analyzed) : concerns(rule, analyzed)
}

/** Whether an allowing rule matches, and everything about the request is certain. */
export function allows({ kinds, command, path }: PermissionRule, analyzed: AnalyzedRequest): boolean {
  const { subject, lines, paths } = analyzed
  if (!analyzed.inside || analyzed.namesProtected || subject.obscure) return false
  if (lines.some(line => !line.sure)) return false
  const isCommand = subject.shown.includes('execute')
  if (isCommand && lines.length === 0) return false
  // a call that the agent reports as reading may include a command or an edit, which must be allowed, too
  if (kinds && !kinds.has(subject.kind)) return false
  if (kinds && !subject.shown.every(kind => kinds.has(kind) || (kind === 'execute' && command))) return false
  if (ABOUT_FILES.has(subject.kind) && paths.length === 0) return false
  // both where from and where to, each however often it's spelled
  const files = new Set(paths.map(({ relative }) => relative.join('\0')))
  if (subject.kind === 'move' && files.size < 2) return false
  const onlyLooks = ONLY_LOOKS.has(subject.kind) && subject.shown.length === 0
  if (!onlyLooks && paths.some(one => one.protected)) return false
  if (command && lines.length === 0) return false
  for (const { words } of lines.flatMap(line => line.commands)) {
    const texts = words.map(({ text }) => text)
    const open = command ? matchCommand(command, texts) : texts.map(() => true)
    if (!open || refusedWord(texts, open) !== undefined) return false
    // in another folder, these run other scripts
    if (!analyzed.inRoot && runsProject(texts)) return false
  }
  if (!path) return true
  // the files reported for a command don't limit what it does
  if (lines.length > 0 && !command) return false
  return paths.length > 0 && paths.every(({ relative }) => relative.some(path))
}

/** Whether an asking or rejecting rule matches anything that the request may be about. */
function concerns({ kinds, command, path }: PermissionRule, analyzed: AnalyzedRequest): boolean {
  const { subject, possible, paths, ignoreCase } = analyzed
  if (kinds && !kinds.has(subject.kind) && !subject.shown.some(kind => kinds.has(kind))) return false
  if (command && !possible.some(words => fitsCommand(command, words, ignoreCase))) return false
  return !path || paths.some(({ relative }) => relative.some(path))
}

function slashes(path: string, rules: PathRules): string {
  const plain = rules.platform === 'win32' ? path.replaceAll('\\', '/') : path
  return plain === '' ? '.' : plain
}

/** What a permission request is about, as far as the agent reported. */
interface RuleSubject {
  kind: string
  /** kinds that its content shows, regardless of the reported kind: a command is `execute`, a diff `edit` */
  shown: string[]
  /** all reported command lines, nearly always one */
  commands: string[]
  /** the title, if it may be a command: sufficient to reject, never to allow */
  title?: string
  /** the reported directory of the command, if any */
  cwd?: string
  /** all reported files, as the agent spells them */
  paths: string[]
  /** It contains something that rules don't check, so no rule may allow it. */
  obscure: boolean
}

/**
 * The last word of the fields where agents put the files of a tool: `path`, `newPath`, `target_file`, `dest_dir`. Agents
 * may report only the source as a location.
 */
const PATH_KEY =
  /(?:^|[_-])(?:(?:file)?paths?|files?|filenames?|sources?|src|destinations?|dest|dst|targets?|director(?:y|ies)|dirs?|folders?)$|^(?:from|to|file_name)$/
/** How deep such fields are looked for in the raw input. */
const MAX_DEPTH = 4
const PATCH_KEYS = ['input', 'patch', 'diff'] as const

export function subjectOf(
  request: PermissionRequest,
  tool: ToolCallEntry | undefined,
): RuleSubject | undefined {
  const { subject } = request
  if (subject.type !== 'command' && (subject.type !== 'tool_call' || !tool)) return undefined
  const input = tool ? commandsOfInput(tool.rawInput) : NO_COMMANDS
  const own = subject.type === 'command' ? [subject.command] : []
  const commands = [...new Set([...own, ...input.commands, ...input.alternatives])]
  const isCommand = subject.type === 'command' || tool?.toolKind === 'execute' || commands.length > 0
  const cwd = (subject.type === 'command' ? subject.cwd : undefined) ?? input.cwd
  const title = commands.length === 0 && tool?.toolKind === 'execute' ? titleAsCommand(tool.title) : undefined
  const edits = tool?.content.some(({ type }) => type === 'diff')
  return {
    kind: subject.type === 'command' ? 'execute' : (tool?.toolKind ?? 'other'),
    shown: [...(isCommand ? ['execute'] : []), ...(edits ? ['edit'] : [])],
    commands,
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    paths: tool ? pathsOf(tool, isCommand) : [],
    obscure:
      input.environment.length > 0 ||
      input.unreadable ||
      // with several commands, each would need its own folder to know what it does
      (own.length > 0 && input.cwd !== undefined && cwd !== input.cwd) ||
      (tool?.content.some(content => content.type === 'unknown') ?? false),
  }
}

const NO_COMMANDS: CommandsOfInput = { commands: [], alternatives: [], environment: [], unreadable: false }

function inputOf(tool: ToolCallEntry): Record<string, unknown> {
  const { rawInput } = tool
  return typeof rawInput === 'object' && rawInput !== null ? (rawInput as Record<string, unknown>) : {}
}

/** The files that a tool call reports: its locations, its diffs, its raw input. */
function pathsOf(tool: ToolCallEntry, isCommand: boolean): string[] {
  const paths = new Set<string>()
  for (const { path } of tool.locations) paths.add(path)
  for (const content of tool.content) {
    if (content.type !== 'diff') continue
    for (const { path, oldPath } of content.changes) {
      paths.add(path)
      if (oldPath !== undefined) paths.add(oldPath)
    }
  }
  const input = inputOf(tool)
  for (const key of PATCH_KEYS) for (const path of pathsOfPatch(input[key])) paths.add(path)
  if (typeof tool.rawInput === 'string') for (const path of pathsOfPatch(tool.rawInput)) paths.add(path)
  if (tool.toolKind === 'fetch' || isCommand) return [...paths]
  addPathsOf(input, paths)
  return [...paths]
}

/** Adds the texts in all fields that may name a file. */
function addPathsOf(value: object, paths: Set<string>, depth = 1): void {
  for (const [key, field] of Object.entries(value)) {
    const isPath = PATH_KEY.test(key.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase())
    for (const one of Array.isArray(field) ? field : [field]) {
      if (typeof one === 'object' && one !== null && depth < MAX_DEPTH) addPathsOf(one, paths, depth + 1)
      else if (isPath && typeof one === 'string' && one !== '' && !/^[a-z][\w+.-]+:\/\/(?!\/)/i.test(one))
        paths.add(one)
    }
  }
}

/** Files that a patch in the raw input changes: `*** Update File: x`, `+++ b/x`. */
function pathsOfPatch(patch: unknown): string[] {
  if (typeof patch !== 'string') return []
  const paths: string[] = []
  for (const line of patch.matchAll(
    /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:\+\+\+|---) (?:[abciwo]\/)?|rename (?:from|to) )([^\t\r\n]+)/gm,
  )) {
    const [, path = ''] = line
    if (path !== '/dev/null' && path !== '') paths.push(path)
  }
  return paths
}
