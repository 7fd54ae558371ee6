import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { AppliedRule } from '../conversation/applied-rule.ts'
import { RULES_SETTING } from '../sessions/permission-rules/read-rules.ts'
import type { PermissionRuleSetting } from '../sessions/permission-rules/rule.ts'

/** Where permission rules are written to and looked up in the editor's settings. */
export interface RuleSettings {
  readonly hasWorkspace: boolean
  /** Puts a rule behind those that are there. Rejects with a sentence when it cannot. */
  add(rule: PermissionRuleSetting, target: 'user' | 'workspace'): Promise<void>
  /** Opens the file of that scope at the rules. */
  open(place: Pick<AppliedRule, 'scope' | 'folder'>): Promise<void>
}

export const ruleSettings: RuleSettings = {
  get hasWorkspace() {
    return (vscode.workspace.workspaceFolders?.length ?? 0) > 0
  },

  async add(rule, target) {
    const configuration = vscode.workspace.getConfiguration('parley')
    const values = configuration.inspect<unknown>(RULES_SETTING)
    const before = target === 'user' ? values?.globalValue : values?.workspaceValue
    if (before !== undefined && !Array.isArray(before)) {
      throw new Error(l10n.t('The setting {0} is no array, so no rule was added.', `parley.${RULES_SETTING}`))
    }
    const scope = target === 'user' ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace
    await configuration.update(RULES_SETTING, [...(before ?? []), rule], scope)
  },

  async open({ scope, folder }) {
    const reveal = { revealSetting: { key: `parley.${RULES_SETTING}` } }
    if (scope === 'user') {
      await vscode.commands.executeCommand('workbench.action.openSettingsJson', reveal)
      return
    }
    const place = vscode.workspace.workspaceFolders?.find(({ name }) => name === folder)
    if (scope === 'folder' && place) {
      await vscode.commands.executeCommand(
        'vscode.open',
        vscode.Uri.joinPath(place.uri, '.vscode/settings.json'),
      )
      return
    }
    await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile', reveal)
  },
}
