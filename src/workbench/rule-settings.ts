import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { RuleSettings } from '../app/rule-settings.ts'
import type { PermissionRuleSetting } from '../sessions/permission-rules/rule.ts'
import { inspectSetting, openUserSettingsFile, updateSetting } from './settings.ts'

export const ruleSettings: RuleSettings = {
  get hasWorkspace() {
    return (vscode.workspace.workspaceFolders?.length ?? 0) > 0
  },

  async add(rule, target) {
    const values = inspectSetting('permissionRules')
    const before = target === 'user' ? values?.globalValue : values?.workspaceValue
    if (before !== undefined && !Array.isArray(before)) {
      throw new Error(l10n.t("Can't add the rule: {0} must be an array.", 'parley.permissionRules'))
    }
    const scope = target === 'user' ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace
    await updateSetting('permissionRules', [...(before ?? []), rule], scope)
  },

  async replace({ scope, folder, position, source }, next) {
    const owner = vscode.workspace.workspaceFolders?.find(({ name }) => name === folder)
    const inFolder = scope === 'folder' ? owner?.uri : undefined
    const values = inspectSetting('permissionRules', inFolder)
    const before =
      scope === 'user'
        ? values?.globalValue
        : scope === 'workspace'
          ? values?.workspaceValue
          : values?.workspaceFolderValue
    if (!Array.isArray(before) || !isSameRule(before[position], source))
      throw new Error(l10n.t('The rule has changed in the settings. Nothing was saved.'))
    const after = next === undefined ? before.toSpliced(position, 1) : before.with(position, next)
    const target =
      scope === 'user'
        ? vscode.ConfigurationTarget.Global
        : scope === 'workspace'
          ? vscode.ConfigurationTarget.Workspace
          : vscode.ConfigurationTarget.WorkspaceFolder
    await updateSetting('permissionRules', after.length > 0 ? after : undefined, target, inFolder)
  },

  async open({ scope, folder }) {
    if (scope === 'user') {
      await openUserSettingsFile('permissionRules')
      return
    }
    const owner = vscode.workspace.workspaceFolders?.find(({ name }) => name === folder)
    if (scope === 'folder' && owner) {
      await vscode.commands.executeCommand(
        'vscode.open',
        vscode.Uri.joinPath(owner.uri, '.vscode/settings.json'),
      )
      return
    }
    await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile', {
      revealSetting: { key: 'parley.permissionRules' },
    })
  },
}

/** Whether a value in the settings equals the rule, regardless of the order of properties. */
function isSameRule(value: unknown, rule: PermissionRuleSetting): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parts = Object.entries(value)
  const wanted = new Map(Object.entries(rule))
  return (
    parts.length === wanted.size &&
    parts.every(([key, part]) => JSON.stringify(part) === JSON.stringify(wanted.get(key)))
  )
}
