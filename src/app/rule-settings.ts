import type { AppliedRule } from '../conversation/state.ts'
import type { PermissionRule, PermissionRuleSetting } from '../sessions/permission-rules/rule.ts'

/** Reads and writes permission rules in the editor's settings. */
export interface RuleSettings {
  readonly hasWorkspace: boolean
  /** Appends a rule. Rejects with a sentence if it can't. */
  add(rule: PermissionRuleSetting, target: 'user' | 'workspace'): Promise<void>
  /** Replaces or removes a rule. Rejects with a sentence if it no longer exists. */
  replace(rule: PermissionRule, next: PermissionRuleSetting | undefined): Promise<void>
  /** Opens the settings file of that scope at the rules. */
  open(place: Pick<AppliedRule, 'scope' | 'folder'>): Promise<void>
}
