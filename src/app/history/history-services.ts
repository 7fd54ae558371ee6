import type { Disposable } from '../../common/disposable.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import type { Logger } from '../../common/logger.ts'
import type { SearchClient } from '../../history/search/search-client.ts'
import { SessionListing } from '../../history/session-listing.ts'
import { HistoryList, type HistoryListOptions } from '../../sessions/listing/history-list.ts'
import type { SessionDeleter } from '../../sessions/listing/session-deleter.ts'
import { restoreNeeded, SessionDeletions } from '../../sessions/listing/session-deletions.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import type { AgentDirectory, SessionRecords } from '../../sessions/ports.ts'
import type { AgentRunners } from '../../sessions/runners/agent-runners.ts'
import { Interrupted, type SessionIndicators } from '../../sessions/session-indicators.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { RecentSessions } from '../conversation/recent-sessions.ts'
import type { PageFocus } from '../page-focus.ts'
import { SessionActions } from '../session-actions.ts'
import { showInWindow } from '../show-in-window.ts'
import type { WindowSessions } from '../window-sessions.ts'
import type { WindowWorktrees } from '../window-worktrees.ts'
import type { Workbench } from '../workbench.ts'
import { HistoryTab } from './history-tab.ts'
import { HistoryView, type HistoryViewOptions, surroundings } from './history-view.ts'
import { historyState } from './rows.ts'

interface HistoryServicesOptions {
  agents: AgentDirectory
  runners: AgentRunners
  manager: SessionManager
  records: SessionRecords
  organizer: SessionOrganizer
  accounts: Accounts
  surfaces: ConversationSurfaces
  indicators: SessionIndicators
  savedKeys: HistoryListOptions['savedKeys']
  storage: () => { used: number; max: number }
  search: SearchClient
  deleter: SessionDeleter
  transcripts: HistoryViewOptions['transcripts']
  /** Stores which sessions have running work. */
  atWork: KeyValueStore
  /** The active sessions of the other windows. */
  windows: WindowSessions
  workbench: Workbench
  worktrees: WindowWorktrees
  pageFocus: PageFocus
  log: Logger
  own: { add<T extends Disposable>(item: T): T }
}

/** History in the side bar and in a tab, and the actions for its sessions. */
export function createHistoryServices(options: HistoryServicesOptions): {
  history: HistoryList
  deletions: SessionDeletions
  historyView: HistoryView
  historyTab: HistoryTab
  actions: SessionActions
  recent: RecentSessions
} {
  const {
    agents,
    runners,
    manager,
    records,
    organizer,
    accounts,
    surfaces,
    indicators,
    savedKeys,
    storage,
    search,
    deleter,
    transcripts,
    atWork,
    windows,
    workbench,
    worktrees,
    pageFocus,
    log,
    own,
  } = options
  const deletions = own.add(new SessionDeletions())
  own.add(restoreNeeded(deletions, manager))
  const history = own.add(
    new HistoryList({
      agents,
      runners,
      manager,
      records,
      organizer,
      deletions,
      savedKeys,
      listingOf: agent => new SessionListing(agent, { archived: 'include' }),
    }),
  )
  own.add(accounts.onDidSign(() => void history.refresh()))
  const actions = new SessionActions({
    ...{ surfaces, manager, history, organizer, deletions, deleter, workbench, log },
  })
  const interrupted = own.add(new Interrupted(manager, indicators.onDidChange, atWork))
  const around = {
    agents,
    accounts,
    indicators,
    interrupted,
    deletions,
    storage,
    search,
    surfaces,
    windows,
    workbench,
    worktrees,
  }
  const historyView = own.add(new HistoryView({ history, actions, transcripts, ...around }))
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
  const historyTab = own.add(new HistoryTab(historyView, { workbench, pageFocus, log }))
  return { history, deletions, historyView, historyTab, actions, recent }
}
