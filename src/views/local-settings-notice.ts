import { hostname } from 'node:os'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { missingLocalSettings } from '../agents/local-settings.ts'
import { inspectSetting, openSetting, type VsCodeSettings } from '../agents/vscode-settings.ts'
import type { Disposable } from '../common/disposable.ts'
import { plainMessage } from '../common/plain-message.ts'
import { keepIn } from './storage/kept-state.ts'

/** Says once on a remote machine which of the user's local settings don't apply there. */
export function noticeLocalSettings(context: vscode.ExtensionContext, settings: VsCodeSettings): Disposable {
  const { remoteName } = vscode.env
  const look = () => {
    const missing = missingLocalSettings({
      state: keepIn(context.globalState),
      remote: remoteName ? `${remoteName} ${hostname()}` : undefined,
      userValue: name => inspectSetting(name)?.globalValue,
    })
    if (missing.length > 0) void tell(missing)
  }
  look()
  return settings.onDidChange(look)
}

async function tell(missing: readonly string[]): Promise<void> {
  const open = l10n.t('Open Remote Settings')
  const text = l10n.t(
    "These local settings don't apply in this remote window: {0}. Agents, MCP servers and permission rules are set on each machine.",
    missing.join(', '),
  )
  const answer = await vscode.window.showInformationMessage(plainMessage(text), open)
  if (answer === open) await openSetting('agents')
}
