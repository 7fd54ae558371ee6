import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { RuleSettings } from '../app/rule-settings.ts'
import { withTimeout } from '../common/async.ts'
import { SETTINGS_SHOWN_MS } from '../common/limits.ts'
import type { PermissionRuleSetting } from '../sessions/permission-rules/rule.ts'
import { inspectSetting, openUserSettingsFile, updateSetting } from './settings.ts'

export const ruleSettings: RuleSettings = {
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

  async open(rule) {
    const { selectRule } = await import('./select-rule.ts')
    const { workspaceFile, workspaceFolders = [] } = vscode.workspace
    const folder =
      rule.scope === 'folder'
        ? workspaceFolders.find(({ name }) => name === rule.folder)
        : workspaceFolders[0]
    const isInFile = rule.scope === 'workspace' && workspaceFile !== undefined
    if (rule.scope === 'user') {
      await openUserSettingsFile('permissionRules', false)
      const document = await shownSettings()
      if (!document || !(await selectRule(document, [], rule))) await openUserSettingsFile('permissionRules')
      return
    }
    const file = isInFile ? workspaceFile : folder && vscode.Uri.joinPath(folder.uri, '.vscode/settings.json')
    const document = file && (await opened(file))
    if (document && (await selectRule(document, isInFile ? ['settings'] : [], rule))) return
    if (document && rule.scope === 'folder') await vscode.window.showTextDocument(document)
    else
      await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile', {
        revealSetting: { key: 'parley.permissionRules' },
      })
  },
}

/** Resolves to a file's document; `undefined` for a file that doesn't exist, or that VS Code doesn't open as text. */
async function opened(file: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  try {
    return await vscode.workspace.openTextDocument(file)
  } catch {
    return undefined
  }
}

/** Resolves to the document of the user settings, once it's in the active editor. */
async function shownSettings(): Promise<vscode.TextDocument | undefined> {
  const now = () => {
    const document = vscode.window.activeTextEditor?.document
    if (!document?.uri.path.endsWith('/settings.json')) return undefined
    return vscode.workspace.getWorkspaceFolder(document.uri) ? undefined : document
  }
  const found = now()
  if (found) return found
  let changed: vscode.Disposable | undefined
  const shown = new Promise<vscode.TextDocument>(resolve => {
    changed = vscode.window.onDidChangeActiveTextEditor(() => {
      const document = now()
      if (document) resolve(document)
    })
  })
  try {
    return await withTimeout(shown, SETTINGS_SHOWN_MS)
  } finally {
    changed?.dispose()
  }
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
