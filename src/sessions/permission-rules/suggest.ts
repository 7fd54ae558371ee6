import { EDITOR_SERVER, isReadingTool } from '../../common/editor-tool-names.ts'
import { taskStart } from './command-effects.ts'
import { knownStart } from './known-words.ts'
import { type AnalyzedRequest, allows } from './match-rules.ts'
import { readPermissionRules, ruleText } from './read-rules.ts'
import type { PermissionRuleSetting } from './rule.ts'

/** A rule that would have allowed a request. */
export interface RuleSuggestion {
  /** a short description of the matches */
  text: string
  rule: PermissionRuleSetting
}

/** Returns rules for this agent that would allow the request, the narrowest first; empty if no rule may allow it. */
export function suggestRules(agentId: string, analyzed: AnalyzedRequest): RuleSuggestion[] {
  const { subject, lines, paths, platform } = analyzed
  const settings: PermissionRuleSetting[] = []
  // a rule for a tool that acts would allow whatever it's used for next: another task, program or expression
  if (subject.tool !== undefined && reads(subject.tool))
    settings.push({ agent: agentId, tool: subject.tool, action: 'allow' })
  if (lines.length > 0) {
    const commands = lines.flatMap(line => line.commands).map(({ words }) => words.map(({ text }) => text))
    for (const command of new Set([exactly(commands, platform), prefixed(commands, platform)])) {
      if (command !== undefined) settings.push({ agent: agentId, command, action: 'allow' })
    }
  } else {
    const base = { agent: agentId, kind: subject.kind }
    const globs = paths.length > 0 ? globsFor(paths.map(path => path.relative[0] ?? '.')) : [undefined]
    for (const path of globs) {
      if (path !== undefined || ['fetch', 'search', 'think'].includes(subject.kind))
        settings.push({ ...base, ...(path !== undefined && { path }), action: 'allow' })
    }
  }
  // suggest only rules that would really allow the request
  return settings.flatMap(setting => {
    const [rule] = readPermissionRules([{ scope: 'user', value: [setting] }], platform).rules
    return rule && allows(rule, analyzed) ? [{ text: ruleText(setting), rule: setting }] : []
  })
}

/** Whether `vscode.hover` is a tool of the editor that only reads. */
function reads(tool: string): boolean {
  const prefix = `${EDITOR_SERVER}.`
  return tool.startsWith(prefix) && isReadingTool(tool.slice(prefix.length))
}

function exactly(commands: readonly string[][], platform: NodeJS.Platform): string | undefined {
  return same(commands.map(words => words.map(word => quoted(word, platform)).join(' ')))
}

/**
 * The words that determine what runs, followed by `*` if harmless arguments are known, or by `**` for tests and builds of the project.
 * `undefined` for other commands.
 */
function prefixed(commands: readonly string[][], platform: NodeJS.Platform): string | undefined {
  return same(
    commands.map(words => {
      const known = knownStart(words)
      const count = known ?? taskStart(words, platform)
      return count === undefined
        ? undefined
        : `${exactly([words.slice(0, count)], platform)} ${known === undefined ? '**' : '*'}`
    }),
  )
}

/** Returns the pattern if all are the same, since a single rule must match all commands of a line. */
function same(patterns: ReadonlyArray<string | undefined>): string | undefined {
  return patterns.every(pattern => pattern === patterns[0]) ? patterns[0] : undefined
}

/** Returns patterns for the file, for the common folder of all files, and for all files. */
function globsFor(files: readonly string[]): string[] {
  const [first = '.'] = files
  if (files.includes('.')) return ['**']
  const names = first.split('/').slice(0, -1)
  let folder = names
  for (const file of files) {
    const other = file.split('/').slice(0, -1)
    const differs = folder.findIndex((name, at) => name !== other[at])
    if (differs >= 0) folder = folder.slice(0, differs)
  }
  const exact = files.every(file => file === first) ? [escapeGlob(first)] : []
  const below = folder.length > 0 ? [`${escapeGlob(folder.join('/'))}/**`] : []
  return [...exact, ...below, '**']
}

/** Returns a word escaped for a pattern. On Windows, single quotes don't quote, and a backslash is part of a path. */
function quoted(word: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return /[\s*?[\]#&|<>(){}~]/.test(word) ? `"${word}"` : word
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `'${word.replaceAll("'", "'\\''")}'`
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}()!+@|\\]/g, '\\$&')
}
