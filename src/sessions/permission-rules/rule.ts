import * as l10n from '@vscode/l10n'
import { type CommandPattern, hasStar, parseCommandPattern } from './command-line.ts'
import { isKnownStart } from './known-words.ts'

export type RuleAction = 'allow' | 'ask' | 'reject'
export const ruleActions = ['allow', 'ask', 'reject'] as const

/** A rule as written in the settings. */
export interface PermissionRuleSetting {
  agent?: string
  kind?: string | string[]
  command?: string
  path?: string
  /** an editor tool, or a pattern for several: `vscode.rename_symbol`, `vscode.*` */
  tool?: string
  action: RuleAction
}

/** A parsed rule. An absent condition matches everything. */
export interface PermissionRule {
  action: RuleAction
  /** the agent's id */
  agent?: string
  kinds?: ReadonlySet<string>
  command?: CommandPattern
  /** matches a path relative to a root, with `/` between names */
  path?: (relative: string) => boolean
  /** matches the name of one of the editor tools */
  tool?: (name: string) => boolean
  /** `session`: for one session, not in the settings */
  scope: 'user' | 'workspace' | 'folder' | 'session'
  folder?: string
  /** the rule's position in the array of its scope */
  position: number
  /** as written in the settings */
  source: PermissionRuleSetting
  /** the rule's conditions in short: `npm test *`, `edit src/**` */
  text: string
  /** set if the rule represents the permission level that the user chose at the composer */
  accepts?: 'edits' | 'everything'
}

/** Why a matching rule doesn't allow a request. */
export type Refusal =
  | { why: 'sandbox' | 'elsewhere' | 'outside' | 'protected' | 'input' | 'unsure' | 'subfolder' }
  /** a word that the rule leaves open and that may be harmful */
  | { why: 'word'; word: string }
  /** the rule leaves arguments of a program open whose effects aren't known; `instead`: the rule with `**` */
  | { why: 'program'; program: string; instead: string }

/** Returns the reason as a sentence for the user. `rule`: the rule in short. */
export function refusalText(rule: string, refusal: Refusal): string {
  switch (refusal.why) {
    case 'sandbox':
      return l10n.t("The rule “{0}” doesn't allow leaving the agent's sandbox.", rule)
    case 'elsewhere':
      return l10n.t(
        "The rule “{0}” doesn't allow this, because the agent works on another machine, whose files Parley doesn't know.",
        rule,
      )
    case 'outside':
      return l10n.t("The rule “{0}” doesn't allow anything outside of the session's folders.", rule)
    case 'protected':
      return l10n.t("The rule “{0}” doesn't allow commands with protected files, or changes to them.", rule)
    case 'input':
      return l10n.t("The rule “{0}” doesn't allow this, because Parley doesn't know all of its fields.", rule)
    case 'unsure':
      return l10n.t("The rule “{0}” doesn't allow command lines that can't be analyzed reliably.", rule)
    case 'subfolder':
      return l10n.t("The rule “{0}” doesn't allow running scripts in a subfolder.", rule)
    case 'word':
      return l10n.t(
        "The rule “{0}” doesn't allow “{1}”, which could read, change or run something else.",
        rule,
        refusal.word,
      )
    case 'program':
      return l10n.t(
        "The rule “{0}” allows nothing: Parley doesn't know which arguments of {1} do no harm. Write “{2}” to allow anything {1} can do, or the whole command.",
        rule,
        refusal.program,
        refusal.instead,
      )
  }
}

/**
 * Returns, for a rule that allows nothing because it has `*` for a program whose arguments aren't known, the same rule with `**`, which
 * allows anything that the program can do.
 */
export function withAnyArguments(rule: PermissionRuleSetting): PermissionRuleSetting | undefined {
  const pattern = rule.command === undefined ? undefined : parseCommandPattern(rule.command)
  if (rule.action !== 'allow' || !pattern || !hasStar(pattern) || pattern.anything) return undefined
  const [known, open] = [wordPatterns(pattern), pattern.words.map(pieces => pieces.length > 1)]
  if (isKnownStart(known, open)) return undefined
  return { ...rule, command: `${rule.command?.trim().replace(/\s+\*$/, '')} **` }
}

function wordPatterns({ words }: CommandPattern): string[] {
  return words.map(pieces => pieces.join('*'))
}

/**
 * Describes what a rule matches: `Commands that start with npm test`, `Edits in the folder src`. Adds a warning if an allowing rule leaves
 * the effects of the program open.
 */
export function ruleText({
  kind,
  command,
  path,
  tool,
  action,
}: Omit<PermissionRuleSetting, 'action'> & { action?: RuleAction }): string {
  if (tool !== undefined) return l10n.t('Editor tool {0}', tool)
  if (command !== undefined) {
    const pattern = parseCommandPattern(command)
    const [program] = pattern ? wordPatterns(pattern) : []
    const start = command.replace(/\s*\*+\s*$/, '')
    if (action === 'allow' && withAnyArguments({ command, action }))
      return l10n.t('Nothing: write ** instead of * for anything {0} can do', program ?? '')
    if (!pattern?.open) return l10n.t('The command {0}', command)
    if (program === undefined)
      return action === 'allow' ? l10n.t('Commands that only read') : l10n.t('All commands')
    return action === 'allow' && pattern.anything
      ? l10n.t('Commands that start with {0}: anything {1} can do', start, program)
      : l10n.t('Commands that start with {0}', start)
  }
  const kinds = kind === undefined ? [] : typeof kind === 'string' ? [kind] : kind
  const what = kinds.length > 0 ? kinds.map(kindText).join(', ') : l10n.t('All tool calls')
  if (path === undefined) return what
  if (path === '**') return l10n.t("{0} in all of the session's folders", what)
  const folder = /^(.+)\/\*\*$/.exec(path)?.[1]
  return folder === undefined
    ? l10n.t('{0}: {1}', what, unescaped(path))
    : l10n.t('{0} in the folder {1}', what, unescaped(folder))
}

function kindText(kind: string): string {
  switch (kind) {
    case 'read':
      return l10n.t('Reading files')
    case 'edit':
      return l10n.t('Edits')
    case 'delete':
      return l10n.t('Deleting files')
    case 'move':
      return l10n.t('Moving files')
    case 'search':
      return l10n.t('Searches')
    case 'execute':
      return l10n.t('Commands')
    case 'think':
      return l10n.t('Planning')
    case 'fetch':
      return l10n.t('Fetching data')
    case 'switch_mode':
      return l10n.t('Mode changes')
    default:
      return l10n.t('Other tool calls ({0})', kind)
  }
}

function unescaped(glob: string): string {
  return glob.replace(/\\(.)/g, '$1')
}
