import type { DisposableStore } from '../../common/disposable.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import type { SessionId } from '../../common/session-key.ts'
import { Interrupted } from '../../sessions/session-indicators.ts'
import type { HeldSessions } from '../../sessions/session-leases.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { RecentSessions } from '../conversation/recent-sessions.ts'
import { SessionActions, type SessionActionsOptions } from '../session-actions.ts'
import { showInWindow } from '../show-in-window.ts'
import type { WebviewTabOptions } from '../webview-tab.ts'
import type { WindowSessions } from '../window-sessions.ts'
import type { WindowWorktrees } from '../window-worktrees.ts'
import { HistoryTab } from './history-tab.ts'
import { HistoryView, type HistoryViewOptions, surroundings } from './history-view.ts'
import { historyState } from './rows.ts'

interface HistoryServicesOptions
  extends Omit<HistoryViewOptions, 'actions' | 'interrupted' | 'storage'>,
    Omit<SessionActionsOptions, 'surfaces'>,
    Omit<WebviewTabOptions, 'workbench'> {
  surfaces: ConversationSurfaces
  windows: WindowSessions
  worktrees: WindowWorktrees
  historySize: HistoryViewOptions['storage']
  held: Pick<HeldSessions, 'isElsewhere'>
  /** Stores which sessions have running work. */
  views: KeyValueStore
}

/** Creates History in the side bar and in a tab, and the actions for its sessions. */
export function createHistoryServices(options: HistoryServicesOptions, own: DisposableStore) {
  const { held, history, manager, indicators, surfaces, windows, workbench, worktrees } = options
  const actions = new SessionActions(options)
  const isElsewhere = (session: SessionId) => held.isElsewhere(session)
  const interrupted = own.add(new Interrupted(manager, indicators.onDidChange, isElsewhere, options.views))
  const around = { ...options, storage: options.historySize, actions, interrupted }
  const historyView = own.add(new HistoryView(around))
  const recent = own.add(
    new RecentSessions({
      rows: () => historyState(history, surroundings(around)).rows,
      folders: () => workbench.folders.map(({ path }) => path),
      open: async (agentId, sessionId) => {
        const other = windows.find(agentId, sessionId)
        if (other) await showInWindow(other, around)
        else await historyView.open(agentId, sessionId)
      },
      refresh: () => void history.updateLatest(),
      changes: [
        ...[history.onDidChange, indicators.onDidChange, surfaces.onDidChangeVisibility],
        ...[windows.onDidChange, worktrees.onDidChange],
      ],
    }),
  )
  const historyTab = own.add(new HistoryTab(historyView, options))
  return { historyView, historyTab, actions, recent }
}
