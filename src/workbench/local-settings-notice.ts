import { hostname } from 'node:os'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { missingLocalSettings } from '../agents/local-settings.ts'
import type { WindowStorage } from '../app/storage/stores.ts'
import type { Workbench } from '../app/workbench.ts'
import type { Disposable } from '../common/disposable.ts'
import { plainMessage } from '../common/plain-message.ts'
import { inspectSetting, openSetting } from './settings.ts'

/** On a remote machine, reports once which of the user's local settings don't apply there. */
export function noticeLocalSettings(
  { global }: WindowStorage,
  { onDidChangeState }: Pick<Workbench, 'onDidChangeState'>,
): Disposable {
  const check = () => {
    const { remoteName } = vscode.env
    const missing = missingLocalSettings({
      state: global,
      remote: remoteName ? `${remoteName} ${hostname()}` : undefined,
      userValue: name => inspectSetting(name)?.globalValue,
    })
    if (missing.length > 0) void tell(missing)
  }
  check()
  return onDidChangeState(check)
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
