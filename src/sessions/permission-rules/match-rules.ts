import { lstat } from 'node:fs/promises'
import { isElsewhere, type PathMapping } from '../../common/path-mapping.ts'
import { foldsCase } from '../../common/platform.ts'
import type { PathGuard } from '../../editor/path-guard.ts'
import type { PathRules } from '../../editor/path-rules.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import { runsProject, unclearWord } from './command-effects.ts'
import {
  type CommandLine,
  fitsCommand,
  hasStar,
  isGlob,
  matchCommand,
  parseCommandLine,
  possibleCommands,
} from './command-line.ts'
import { pathsOfCommands } from './command-paths.ts'
import { refusedWord } from './known-words.ts'
import type { RuleSubject } from './request-subject.ts'
import { type PermissionRule, type Refusal, type RuleAction, withAnyArguments } from './rule.ts'

/** The subject of a permission request, prepared for matching rules. */
export interface AnalyzedRequest {
  /** Whether the request stays inside of the session's folders, as far as known. Otherwise no rule may allow it. */
  inside: boolean
  /** Whether the request is about files or commands of another machine, about which nothing is known. */
  isElsewhere: boolean
  /** Whether a command names a protected file, so no rule may allow the request. */
  namesProtected: boolean
  /** Whether the request's commands run directly in one of the session's roots, not in a subfolder, as far as known. */
  inRoot: boolean
  subject: RuleSubject
  lines: CommandLine[]
  possible: string[][]
  paths: KnownPath[]
  /** further paths that the request may be about */
  possiblePaths: PossiblePath[]
  platform: NodeJS.Platform
}

/** A file of the request, relative to the session's roots. */
interface KnownPath {
  /** the path relative to each root that contains the file, with `/` between names */
  relative: string[]
  protected: boolean
}

interface PossiblePath extends KnownPath {
  exists: boolean
}

/** Kinds of tools that work on files: without a reported file, their target is unknown. */
const ABOUT_FILES = new Set(['read', 'edit', 'delete', 'move'])
const ONLY_READ = new Set(['read', 'search'])
/** Kinds of tools whose target is a folder if they name no file. */
export const IN_FILES: ReadonlySet<string> = new Set([...ABOUT_FILES, 'search'])
/** Maximum number of files that are checked individually. */
const MAX_PATHS = 200

export interface AnalyzeOptions {
  guard: PathGuard
  rules: PathRules
  protectedFiles: ProtectedFiles
  /** Whether the agent's files are on another machine. */
  isRemote?: boolean
  /** If present, the agent's paths belong to another machine, except in these folders. */
  pathMappings?: readonly PathMapping[]
}

/**
 * Analyzes the subject of a request: parses its commands and resolves its paths, including links. Rejects with the file
 * system's errors.
 */
export async function analyze(subject: RuleSubject, options: AnalyzeOptions): Promise<AnalyzedRequest> {
  const { guard, rules, protectedFiles, isRemote = false, pathMappings } = options
  const isProtected = (file: Parameters<ProtectedFiles['includes']>[0]) =>
    protectedFiles.includes(file, guard.roots)
  const lines = subject.commands.map(command => parseCommandLine(command, rules.platform))
  const guessed = subject.title === undefined ? [] : [parseCommandLine(subject.title, rules.platform)]
  const paths: KnownPath[] = []
  const possiblePaths: PossiblePath[] = []
  const all = [...subject.paths, ...subject.possiblePaths]
  let inside = all.length <= MAX_PATHS
  for (const [at, path] of all.slice(0, MAX_PATHS).entries()) {
    const file = await guard.within(path)
    if (!file) {
      inside = false
      continue
    }
    const known = {
      relative: file.relative.map(one => slashes(one, rules)),
      protected: await isProtected(file),
    }
    if (at < subject.paths.length) paths.push(known)
    else possiblePaths.push({ ...known, exists: await exists(file.realPath) })
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
  const isOfDisk = all.length > 0 || subject.shown.length > 0 || IN_FILES.has(subject.kind)
  return {
    inside,
    isElsewhere:
      isOfDisk &&
      (isRemote || (pathMappings !== undefined && namesElsewhere(subject, pathMappings, guard.cwd))),
    namesProtected,
    inRoot: cwd === undefined || cwd.relative.includes(''),
    subject,
    lines,
    possible: [...lines, ...guessed].flatMap(line => possibleCommands(line, rules.platform)),
    paths,
    possiblePaths,
    platform: rules.platform,
  }
}

/** An absolute path, or a path that leaves its folder, in a command line or patch, where paths of the other machine aren't translated. */
const UNTRANSLATED = /(?:^|[^\w./\\-])(?:[/\\~$%]|[a-z]:[\\/])|\.\.[/\\]/i

/** Whether a request of an agent on another machine may be about anything outside of the mapped folders. */
function namesElsewhere(
  { commands, cwd, paths, patchPaths, possiblePaths }: RuleSubject,
  mappings: readonly PathMapping[],
  folder: string,
): boolean {
  return (
    [cwd ?? '.', ...paths, ...possiblePaths].some(path => isElsewhere(mappings, path, cwd ?? folder)) ||
    [...commands, ...patchPaths].some(text => UNTRANSLATED.test(text))
  )
}

const STRICTNESS: Readonly<Record<RuleAction, number>> = { allow: 0, ask: 1, reject: 2 }

/**
 * Returns the rule that applies: the strictest of the first matching rules of all scopes, so that a workspace can't allow what the user
 * rejects. An allowing rule matches only if the match is certain; other rules match if the match is possible.
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
export function allows(rule: PermissionRule, analyzed: AnalyzedRequest): boolean {
  return verdict(rule, analyzed) === 'allowed'
}

/** Returns the first allowing rule that matches the request but doesn't allow it, and the reason. */
export function refusingRule(
  rules: readonly PermissionRule[],
  agentId: string,
  analyzed: AnalyzedRequest,
): { rule: PermissionRule; refusal: Refusal } | undefined {
  for (const rule of rules) {
    if (rule.action !== 'allow' || (rule.agent !== undefined && rule.agent !== agentId)) continue
    const refusal = verdict(rule, analyzed)
    if (typeof refusal === 'object') return { rule, refusal }
  }
  return undefined
}

/** Returns the decision of an allowing rule about a request. `different`: the rule doesn't match. */
function verdict(rule: PermissionRule, analyzed: AnalyzedRequest): 'allowed' | 'different' | Refusal {
  const { subject, lines, paths, possiblePaths } = analyzed
  if (!matches(rule, analyzed)) return 'different'
  if (subject.leavesSandbox) return { why: 'sandbox' }
  if (analyzed.isElsewhere) return { why: 'elsewhere' }
  if (!analyzed.inside) return { why: 'outside' }
  if (ABOUT_FILES.has(subject.kind) && paths.length === 0) return 'different'
  // a move needs both the source and the target, which may be spelled in several ways
  const files = new Set(paths.map(({ relative }) => relative.join('\0')))
  if (subject.kind === 'move' && files.size < 2) return 'different'
  const onlyReads = ONLY_READ.has(subject.kind) && subject.shown.length === 0
  if (analyzed.namesProtected || (!onlyReads && [...paths, ...possiblePaths].some(one => one.protected)))
    return { why: 'protected' }
  if (subject.isUnclear || (rule.accepts && !subject.hasInput)) return { why: 'input' }
  if (lines.some(line => !line.sure)) return { why: 'unsure' }
  for (const { words } of lines.flatMap(line => line.commands)) {
    const texts = words.map(({ text }) => text)
    const open = rule.command ? matchCommand(rule.command, words) : []
    if (!open) return 'different'
    const refused = refusedIn(rule, texts, open, { globs: words.map(isGlob), platform: analyzed.platform })
    if (refused) return refused
    // in another folder, the same command runs other scripts
    if (!analyzed.inRoot && runsProject(texts)) return { why: 'subfolder' }
  }
  return 'allowed'
}

/**
 * Returns why an allowing rule doesn't allow the words of a command, although the rule matches. `open`: for each word, whether the rule
 * leaves it open. `globs`: for each word, whether the shell may replace it with file names.
 */
function refusedIn(
  { command, source }: PermissionRule,
  words: readonly string[],
  open: readonly boolean[],
  { globs, platform }: { globs: readonly boolean[]; platform: NodeJS.Platform },
): Refusal | undefined {
  // the rule has the exact command, or allows any arguments of the program
  if (command && (command.anything || !hasStar(command))) return undefined
  const refused = command ? refusedWord(words, open, false, globs) : unclearWord(words, platform, globs)
  if (refused === undefined) return undefined
  const word = words[refused] ?? words[0] ?? ''
  const instead = refused === 0 && command && !open[0] ? withAnyArguments(source) : undefined
  return instead?.command === undefined
    ? { why: 'word', word }
    : { why: 'program', program: word, instead: instead.command }
}

/** Whether the conditions of an allowing rule match the request, including all of its commands. */
function matches(
  { kinds, command, path, tool, accepts }: PermissionRule,
  { subject, lines, paths, possiblePaths }: AnalyzedRequest,
): boolean {
  // the request must show its edits
  if (accepts === 'edits' && !subject.shown.includes('edit')) return false
  // in another mode, the agent may ask for fewer permissions; a plan is for the user to read
  if (accepts && subject.isPlan) return false
  if (tool && (subject.tool === undefined || !tool(subject.tool))) return false
  // the commands of an editor task aren't known, so only a rule for the tool allows it
  if (subject.kind === 'execute' && subject.tool !== undefined && !tool) return false
  if (subject.shown.includes('execute') && lines.length === 0 && !tool) return false
  // a call that the agent reports as reading may include a command or an edit, which must be allowed, too
  if (kinds && !kinds.has(subject.kind)) return false
  if (kinds && !subject.shown.every(kind => kinds.has(kind) || (kind === 'execute' && command))) return false
  if (command) {
    const fit = lines
      .flatMap(line => line.commands)
      .map(({ words }) => matchCommand(command, words) !== undefined)
    const sure = lines.every(line => line.sure)
    if (fit.length === 0 || !(sure ? fit.every(Boolean) : fit[0])) return false
  }
  if (!path) return true
  // the files reported for a command don't limit the command
  if (lines.length > 0 && !command) return false
  const files = [...paths, ...possiblePaths.filter(one => one.exists)]
  return paths.length > 0 && files.every(({ relative }) => relative.some(path))
}

/** Whether an asking or rejecting rule matches anything that the request may be about. */
function concerns({ kinds, command, path, tool }: PermissionRule, analyzed: AnalyzedRequest): boolean {
  const { subject, possible, paths, possiblePaths, platform } = analyzed
  if (tool && (subject.tool === undefined || !tool(subject.tool))) return false
  if (kinds && !kinds.has(subject.kind) && !subject.shown.some(kind => kinds.has(kind))) return false
  if (command && !possible.some(words => fitsCommand(command, words, foldsCase(platform)))) return false
  return !path || [...paths, ...possiblePaths].some(({ relative }) => relative.some(path))
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  )
}

function slashes(path: string, rules: PathRules): string {
  const plain = rules.platform === 'win32' ? path.replaceAll('\\', '/') : path
  return plain === '' ? '.' : plain
}
