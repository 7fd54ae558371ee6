import type { PathGuard } from '../../editor/path-guard.ts'
import type { PathRules } from '../../editor/path-rules.ts'
import { type CommandLine, parseCommandLine, possibleCommands } from './command-line.ts'
import { fitsCommand } from './command-pattern.ts'
import type { PermissionRule } from './rule.ts'
import type { RuleSubject } from './subject.ts'

/** A file of the question, seen from the session's roots. */
interface KnownPath {
  /** Relative to every root that it is in, with `/` between names. */
  relative: string[]
  /** What is written there decides what runs later, or what is allowed. */
  sensitive: boolean
}

export interface Judged {
  /** It is about nothing outside of the roots, as far as that can be told. Else no rule counts. */
  inside: boolean
  subject: RuleSubject
  lines: CommandLine[]
  possible: string[][]
  paths: KnownPath[]
  ignoreCase: boolean
}

/** Kinds of tools that are about files: without one that is told nobody knows where they would work. */
const ABOUT_FILES = new Set(['read', 'edit', 'delete', 'move'])
const ONLY_LOOKS = new Set(['read', 'search'])
/** More words or files than these are not looked at one by one. */
const MOST_PATHS = 200

/**
 * Looks at what the question is about: takes its commands apart, follows its paths to where they really lead. Rejects
 * as the file system does.
 */
export async function look(subject: RuleSubject, guard: PathGuard, rules: PathRules): Promise<Judged> {
  const lines = subject.commands.map(command => parseCommandLine(command, rules.platform))
  const paths: KnownPath[] = []
  let inside = subject.paths.length <= MOST_PATHS
  for (const path of subject.paths.slice(0, MOST_PATHS)) {
    const known = await guard.within(path)
    if (known)
      paths.push({ relative: known.map(one => slashes(one, rules)), sensitive: known.some(isSensitive) })
    else inside = false
  }
  if (subject.cwd !== undefined && !(await guard.within(subject.cwd))) inside = false
  if (inside && lines.length > 0) inside = await staysInside(lines, subject.cwd, guard, rules)
  return {
    inside,
    subject,
    lines,
    possible: lines.flatMap(line => possibleCommands(line, rules.platform)),
    paths,
    ignoreCase: !rules.caseSensitive,
  }
}

/** The first rule that fits. One that allows fits only what is sure; the others what is possible. */
export function decide(
  rules: readonly PermissionRule[],
  agentId: string,
  judged: Judged,
): PermissionRule | undefined {
  if (!judged.inside) return undefined
  return rules.find(rule => {
    if (rule.agent !== undefined && rule.agent !== agentId) return false
    if (rule.kinds && !rule.kinds.has(judged.subject.kind)) return false
    return rule.action === 'allow' ? allows(rule, judged) : concerns(rule, judged)
  })
}

function allows(rule: PermissionRule, { subject, lines, paths }: Judged): boolean {
  if (subject.obscure || lines.some(line => !line.sure)) return false
  if (subject.kind === 'execute' && lines.length === 0) return false
  if (ABOUT_FILES.has(subject.kind) && paths.length === 0) return false
  if (!ONLY_LOOKS.has(subject.kind) && paths.some(path => path.sensitive)) return false
  const { command, path } = rule
  if (command) {
    if (lines.length === 0) return false
    const simple = lines.flatMap(line => line.commands)
    if (
      !simple.every(({ words }) =>
        fitsCommand(
          command,
          words.map(({ text }) => text),
        ),
      )
    )
      return false
  }
  if (!path) return true
  // where a command is said to be about tells nothing of what else it does
  if (lines.length > 0 && !command) return false
  return paths.length > 0 && paths.every(({ relative }) => relative.some(path))
}

function concerns(rule: PermissionRule, { possible, paths, ignoreCase }: Judged): boolean {
  const { command, path } = rule
  if (command && !possible.some(words => fitsCommand(command, words, ignoreCase))) return false
  return !path || paths.some(({ relative }) => relative.some(path))
}

/**
 * Whether no word of the commands leads out of the roots. Every argument may be a path, also one behind an option. A
 * command that changes the directory makes the rest be looked at from there as well.
 */
async function staysInside(
  lines: readonly CommandLine[],
  cwd: string | undefined,
  guard: PathGuard,
  rules: PathRules,
): Promise<boolean> {
  const places = [rules.resolve(guard.cwd, cwd ?? '.')]
  let left = MOST_PATHS
  for (const { words } of lines.flatMap(line => line.commands)) {
    const [name, ...others] = words.map(({ text }) => text)
    for (const word of others.flatMap(pathsInWord)) {
      // a home directory; a pattern that the parent directory fits
      if (/^~|(?:^|\/)\.[*?[]/.test(word)) return false
      // no file has such a name, so it leads nowhere
      if (word.length > 255 && !/[\\/]/.test(word)) continue
      for (const place of places) {
        left -= 1
        if (left < 0) return false
        if (!(await guard.within(rules.isAbsolute(word) ? word : rules.join(place, word)))) return false
      }
    }
    if (name === 'cd' || name === 'pushd') {
      const to = others.find(word => !word.startsWith('-'))
      // home, or back to somewhere
      if (to === undefined || places.length > 8) return false
      places.push(rules.resolve(places.at(-1) ?? guard.cwd, to))
    }
  }
  return true
}

/** What of a word may be a path: the word, what stands behind a `=`, what is glued to a short option. */
function pathsInWord(word: string): string[] {
  if (word === '' || word === '-' || word === '--') return []
  if (!word.startsWith('-')) {
    const value = /^[\w.-]+=(.+)$/s.exec(word)?.[1]
    return value === undefined ? [word] : [word, value]
  }
  const value = /^--?[\w.-]+=(.+)$/s.exec(word)?.[1] ?? /^-[A-Za-z]([/~.].*)$/s.exec(word)?.[1]
  return value === undefined || value === '' ? [] : [value]
}

function slashes(path: string, rules: PathRules): string {
  const plain = rules.platform === 'win32' ? path.replaceAll('\\', '/') : path
  return plain === '' ? '.' : plain
}

/** Settings that could allow more, and what the editor or git run by themselves. */
function isSensitive(relative: string): boolean {
  return /(?:^|[/\\])(?:\.vscode|\.git)(?:[/\\]|$)|\.code-workspace$/i.test(relative)
}
