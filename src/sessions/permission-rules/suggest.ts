import type { Judged } from './judge.ts'
import { ruleText } from './read-rules.ts'
import type { PermissionRuleSetting } from './rule.ts'

/** A rule that would have allowed a question. */
export interface RuleSuggestion {
  /** what it fits, in short */
  text: string
  rule: PermissionRuleSetting
}

/** Programs that do whatever their arguments say: no rule is offered for all they can do. */
const ANYTHING =
  /^(?:.*[\\/])?(?:(?:ba|z|da|k|fi)?sh|cmd|powershell|pwsh|sudo|doas|su|env|exec|eval|xargs|nohup|time|timeout|watch|find|parallel|ssh|scp|curl|wget|nc|rm|rmdir|del|dd|mv|cp|ln|chmod|chown|kill|killall|mkfs|python[\d.]*|node|deno|bun|ruby|perl|php|npx|pnpx|bunx|uvx|osascript|awk|sed|tee|source|\.)(?:\.exe)?$/i

/** The narrowest first, for this agent alone. None for what no rule may allow. */
export function suggestRules(agentId: string, { subject, lines, paths, inside }: Judged): RuleSuggestion[] {
  if (!inside || subject.obscure || lines.some(line => !line.sure)) return []
  if (lines.length > 0) {
    const commands = lines.flatMap(line => line.commands).map(({ words }) => words.map(({ text }) => text))
    const patterns = [exactly(commands), prefixed(commands, 2), prefixed(commands, 1)]
    return patterns.flatMap((command, at) =>
      command === undefined || patterns.indexOf(command) !== at
        ? []
        : [suggestion({ agent: agentId, command, action: 'allow' })],
    )
  }
  if (subject.kind === 'execute') return []
  const base = { agent: agentId, kind: subject.kind }
  if (paths.length === 0) {
    const free = ['fetch', 'search', 'think'].includes(subject.kind)
    return free ? [suggestion({ ...base, action: 'allow' })] : []
  }
  const onlyLooks = subject.kind === 'read' || subject.kind === 'search'
  if (!onlyLooks && paths.some(path => path.sensitive)) return []
  const globs = globsFor(paths.map(path => path.relative[0] ?? '.'))
  return globs.map(path => suggestion({ ...base, path, action: 'allow' }))
}

function suggestion(rule: PermissionRuleSetting): RuleSuggestion {
  return { text: ruleText(rule), rule }
}

function exactly(commands: readonly string[][]): string | undefined {
  return same(commands.map(words => words.map(quoted).join(' ')))
}

/** The first words and whatever follows; `undefined` when that would be too much. */
function prefixed(commands: readonly string[][], count: number): string | undefined {
  const patterns: string[] = []
  for (const words of commands) {
    const [name = '', second = ''] = words
    if (ANYTHING.test(name)) return undefined
    if (count === 2 && (words.length < 2 || second.startsWith('-'))) return undefined
    patterns.push(`${words.slice(0, count).map(quoted).join(' ')} *`)
  }
  return same(patterns)
}

/** One rule has to fit every command of a line. */
function same(patterns: readonly string[]): string | undefined {
  return patterns.every(pattern => pattern === patterns[0]) ? patterns[0] : undefined
}

/** The file itself, the folder that all files are in, everything. */
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

/** A word as a pattern takes it literally. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `'${word.replaceAll("'", "'\\''")}'`
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}()!+@|\\]/g, '\\$&')
}
