import type * as vscode from 'vscode'
import type { ConversationSurfaces } from '../app/conversation/conversation-surface.ts'
import { HistoryView } from '../app/history/history-view.ts'
import type { PageFocus } from '../app/page-focus.ts'
import { SessionActions } from '../app/session-actions.ts'
import type { Workbench } from '../app/workbench.ts'
import type { Disposable } from '../common/disposable.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import { SessionListing } from '../history/session-listing.ts'
import type { AgentHosts } from '../sessions/hosts/agent-host.ts'
import { HistoryList, type HistoryListOptions } from '../sessions/listing/history-list.ts'
import type { SessionOrganizer } from '../sessions/listing/session-organizer.ts'
import type { AgentDirectory, SessionRecords } from '../sessions/ports.ts'
import { Interrupted, type SessionIndicators } from '../sessions/session-indicators.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import type { Accounts } from '../sessions/sign-in/accounts.ts'
import { HistoryTab } from './webviews/history-tab.ts'

interface HistoryServicesOptions {
  extensionUri: vscode.Uri
  agents: AgentDirectory
  hosts: AgentHosts
  manager: SessionManager
  records: SessionRecords
  organizer: SessionOrganizer
  accounts: Accounts
  surfaces: ConversationSurfaces
  indicators: SessionIndicators
  isKept: HistoryListOptions['isKept']
  storage: () => { used: number; max: number }
  /** Stores which sessions have running work. */
  atWork: KeyValueStore
  workbench: Workbench
  pageFocus: PageFocus
  log: Logger
  own: { add<T extends Disposable>(item: T): T }
}

/** History in the side bar and in a tab, and the actions for its sessions. */
export function createHistoryServices(options: HistoryServicesOptions): {
  history: HistoryList
  historyView: HistoryView
  historyTab: HistoryTab
  actions: SessionActions
} {
  const {
    extensionUri,
    agents,
    hosts,
    manager,
    records,
    organizer,
    accounts,
    surfaces,
    indicators,
    isKept,
    storage,
    atWork,
    workbench,
    pageFocus,
    log,
    own,
  } = options
  const history = own.add(
    new HistoryList({
      agents,
      hosts,
      manager,
      records,
      organizer,
      isKept,
      listingOf: agent => new SessionListing(agent, { archived: 'include' }),
    }),
  )
  own.add(accounts.onDidSign(() => void history.refresh()))
  const actions = new SessionActions(surfaces, manager, history, organizer, workbench)
  const interrupted = own.add(new Interrupted(manager, indicators.onDidChange, atWork))
  const historyView = own.add(
    new HistoryView({ history, agents, accounts, indicators, interrupted, storage, actions, workbench }),
  )
  const historyTab = own.add(new HistoryTab(historyView, pageFocus, { extensionUri, log }))
  return { history, historyView, historyTab, actions }
}
