import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { RuleConsent } from '../sessions/permission-rules/permission-rules.ts'
import type { Keep } from '../sessions/ports.ts'
import { ruleSettings } from './rule-settings.ts'

/** Asks in a notification whether allowing rules of the workspace's settings shall count. */
export function ruleConsent(keep: Keep): RuleConsent {
  return new RuleConsent(keep, (rules, accept) => {
    const use = l10n.t('Allow Workspace Rules')
    const open = l10n.t('Open Settings')
    const names = rules.slice(0, 5).map(({ text }) => `“${text}”`)
    const list = rules.length > names.length ? [...names, '…'].join(', ') : names.join(', ')
    const message = l10n.t(
      "This workspace has rules that skip confirmation: {0}. They're ignored until you allow them.",
      list,
    )
    void vscode.window.showWarningMessage(message, use, open).then(answer => {
      const [first] = rules
      if (answer === use) accept()
      else if (answer === open && first) void ruleSettings.open(first)
    })
  })
}
