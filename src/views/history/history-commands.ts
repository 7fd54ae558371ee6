import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { HistoryAction } from '../bridge/history.ts'
import { historyMenuContext } from '../bridge/incoming-session.ts'
import { HistoryMenuId } from '../ids.ts'

const ACTIONS: Record<keyof typeof HistoryMenuId, HistoryAction | 'rename'> = {
  show: 'show',
  load: 'load',
  resume: 'resume',
  fork: 'fork',
  rename: 'rename',
  archive: 'archive',
  unarchive: 'unarchive',
  close: 'close',
  delete: 'delete',
}

/** The context menu of a session in History: VS Code draws it and hands back which row it was opened on. */
export function registerHistoryMenu(
  act: (action: HistoryAction | 'rename', agentId: string, sessionId: string) => Promise<void>,
): vscode.Disposable {
  const registered = new DisposableStore()
  for (const [name, action] of Object.entries(ACTIONS)) {
    registered.add(
      vscode.commands.registerCommand(HistoryMenuId[name as keyof typeof ACTIONS], async (row: unknown) => {
        const context = historyMenuContext.safeParse(row).data
        if (context) await act(action, context.parleyAgentId, context.parleySessionId)
      }),
    )
  }
  return registered
}
