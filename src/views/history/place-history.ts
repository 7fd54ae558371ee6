import type * as vscode from 'vscode'
import type { Disposable } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { SessionListing } from '../../history/session-listing.ts'
import type { AgentHosts } from '../../sessions/hosts/agent-hosts.ts'
import { Interrupted } from '../../sessions/interrupted.ts'
import { HistoryList, type HistoryListParts } from '../../sessions/listing/history-list.ts'
import type { SessionUpkeep } from '../../sessions/listing/session-upkeep.ts'
import type { AgentDirectory, Keep, SessionRecords } from '../../sessions/ports.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import type { SessionMarks } from '../../sessions/session-marks.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { SessionActions } from '../session-actions.ts'
import { HistoryView } from './history-view.ts'

export interface HistoryParts {
  extensionUri: vscode.Uri
  agents: AgentDirectory
  hosts: AgentHosts
  manager: SessionManager
  records: SessionRecords
  upkeep: SessionUpkeep
  accounts: Accounts
  surfaces: ConversationSurfaces
  marks: SessionMarks
  isKept: HistoryListParts['isKept']
  /** Remembers which sessions are at work. */
  atWork: Keep
  log: Logger
  own: { add<T extends Disposable>(item: T): T }
}

/** The History view, and what a person can do with a session of it. */
export function placeHistory(parts: HistoryParts): { history: HistoryList; actions: SessionActions } {
  const {
    extensionUri,
    agents,
    hosts,
    manager,
    records,
    upkeep,
    accounts,
    surfaces,
    marks,
    isKept,
    atWork,
    log,
    own,
  } = parts
  const history = own.add(
    new HistoryList({
      agents,
      hosts,
      manager,
      records,
      upkeep,
      isKept,
      listingOf: agent => new SessionListing(agent, { archived: 'include' }),
    }),
  )
  own.add(accounts.onDidSign(() => void history.refresh()))
  const actions = new SessionActions(surfaces, manager, history, upkeep)
  const interrupted = own.add(new Interrupted(manager, marks.onDidChange, atWork))
  own.add(new HistoryView(extensionUri, { history, marks, interrupted, actions, log }))
  return { history, actions }
}
