import type { CommandPattern } from './command-pattern.ts'

export type RuleAction = 'allow' | 'ask' | 'reject'
export const ruleActions = ['allow', 'ask', 'reject'] as const

/** The kinds of tool that the protocol names. An agent may name others. */
export const toolKinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const

/** A rule as it stands in the settings. */
export interface PermissionRuleSetting {
  agent?: string
  kind?: string | string[]
  command?: string
  path?: string
  action: RuleAction
}

/** A rule that was read. A condition that is absent fits everything. */
export interface PermissionRule {
  action: RuleAction
  /** the agent's id */
  agent?: string
  kinds?: ReadonlySet<string>
  command?: CommandPattern
  /** fits a path relative to a root, with `/` between its names */
  path?: (relative: string) => boolean
  scope: 'user' | 'workspace' | 'folder'
  folder?: string
  /** its position in the setting's array of that scope */
  position: number
  /** as it stands in the settings */
  source: PermissionRuleSetting
  /** its conditions in short: `npm test *`, `edit src/**` */
  text: string
}
