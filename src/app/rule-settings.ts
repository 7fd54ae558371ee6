import * as l10n from '@vscode/l10n'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { RuleConsent } from '../sessions/permission-rules/permission-rules.ts'
import {
  type PermissionRule,
  type PermissionRuleSetting,
  ruleText,
} from '../sessions/permission-rules/rule.ts'
import type { SessionAllowance } from '../sessions/permission-rules/session-allowance.ts'
import type { Dialogs } from './workbench.ts'

/** Reads and writes permission rules in the editor's settings. */
export interface RuleSettings {
  /** Appends a rule. Rejects with a sentence if the rule can't be saved. */
  add(rule: PermissionRuleSetting, target: 'user' | 'workspace'): Promise<void>
  /** Replaces or removes a rule. Rejects with a sentence if it no longer exists. */
  replace(rule: PermissionRule, next: PermissionRuleSetting | undefined): Promise<void>
  /** Opens the settings file that contains the rule, and reveals the rule. */
  open(rule: Pick<PermissionRule, 'scope' | 'folder' | 'action' | 'text'>): Promise<void>
}

/** Adds a user's rule to the settings, or to a single session. Rejects with a sentence if the rule can't be added. */
export async function addRule(
  rule: PermissionRuleSetting,
  target: 'user' | 'workspace' | SessionAllowance,
  { consent, settings }: { consent: Pick<RuleConsent, 'accept'>; settings: Pick<RuleSettings, 'add'> },
): Promise<void> {
  if (typeof target === 'object') {
    target.add(rule)
    return
  }
  consent.accept([rule])
  await settings.add(rule, target)
}

/** Creates the consent that asks, in a notification, whether to use the allowing rules of the workspace. */
export function ruleConsent(dialogs: Dialogs, settings: RuleSettings, store: KeyValueStore): RuleConsent {
  return new RuleConsent(store, (rules, accept) => {
    const use = l10n.t('Allow Workspace Rules')
    const open = l10n.t('Open Settings')
    const names = rules.slice(0, 5).map(({ source }) => `“${ruleText(source)}”`)
    const list = rules.length > names.length ? [...names, '…'].join(', ') : names.join(', ')
    const message = l10n.t(
      "This workspace has rules that skip confirmation: {0}. They're ignored until you allow them.",
      list,
    )
    void dialogs.warn(message, use, open).then(answer => {
      const [first] = rules
      if (answer === use) accept()
      else if (answer === open && first) void settings.open(first)
    })
  })
}
