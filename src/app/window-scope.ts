import * as l10n from '@vscode/l10n'
import { DisposableStore } from '../common/disposable.ts'
import { SessionIndicators } from '../sessions/session-indicators.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import type { WatchedSessions } from '../sessions/watch-sessions.ts'
import { offerWhenNone } from './agents/agent-offers.ts'
import { Decisions } from './changes/decisions.ts'
import { offerMerges } from './changes/merge-unsaved.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { FollowAgent } from './conversation/follow-agent.ts'
import { LineComments } from './conversation/line-comments.ts'
import { PlanDocuments } from './conversation/plan-documents.ts'
import { markDone } from './done-steps.ts'
import { FirstSteps } from './first-steps.ts'
import { createHistoryServices } from './history/history-services.ts'
import { ChatTools } from './mcp/chat-tools.ts'
import { PageFocus } from './page-focus.ts'
import type { Platform } from './platform.ts'
import type { ProcessScope } from './process-scope.ts'
import type { SessionWindow } from './session-window.ts'
import type { SessionsScope } from './sessions-scope.ts'
import { WindowSessions } from './window-sessions.ts'
import { WindowWorktrees } from './window-worktrees.ts'
import { watchUnusedWorktrees } from './worktrees/watch-unused-worktrees.ts'

export type WindowScope = ReturnType<typeof createWindowScope>

/** Creates a window's state about the sessions: which ones the user has seen, where the user comments, and how sessions are listed. */
export function createWindowScope(
  platform: Platform,
  surfaces: ConversationSurfaces,
  served: ProcessScope & SessionWindow & SessionsScope,
  own: DisposableStore,
) {
  const { workbench, storage } = platform
  const { dialogs } = workbench
  const { agents, comparisons, documents, drafts, installs, manager, openSessions, secrets, tracker } = served
  const pageFocus = own.add(new PageFocus(workbench))
  const decisions = own.add(new Decisions(workbench, manager, tracker))
  const follow = own.add(new FollowAgent(storage.workspace, workbench)).follow(manager, surfaces)
  own.add(offerMerges({ tracker, workbench }))
  own.add(openSessions.addWindow(surfaces))
  const sessionsHere = sessionsOf(manager, surfaces)
  const indicators = own.add(new SessionIndicators(sessionsHere, open => openSessions.isVisible(open)))
  own.add(openSessions.onDidChangeVisibility(() => indicators.markSeen()))
  const worktrees = own.add(new WindowWorktrees({ workbench, changes: [indicators.onDidChange] }))
  const windows = own.add(
    new WindowSessions({
      windows: served.windowRow,
      workspace: platform.workspaceIdentity,
      ...{ manager, sessionsHere, indicators },
      starting: () => comparisons.starting(),
      used: () => [...workbench.folders.map(folder => folder.path), ...documents.unsaved()],
      onDidChangeUsed: documents.onDidChangeUnsaved,
      show: open => void surfaces.reveal(open),
      redact: text => secrets.redact(text),
    }),
  )
  const comments = own.add(
    new LineComments({
      ...{ drafts, surfaces, tracker },
      threads: workbench.comments,
      sessions: openSessions,
      store: served.views,
      folders: () => workbench.folders,
      onAdd: agentName =>
        dialogs.showStatus(
          agentName === undefined
            ? l10n.t('Added to your next prompt')
            : l10n.t('Added to your next prompt to {0}', agentName),
        ),
    }),
  )
  const plans = own.add(new PlanDocuments({ sessions: openSessions, surfaces, comments, dialogs }))
  const shown = { ...served, workbench, surfaces, pageFocus, indicators, worktrees, windows, documents }
  const listed = createHistoryServices(shown, own)
  const { onDidShow: onDidShowHistory } = listed.historyView
  const { onDidDecide } = tracker.files
  own.add(offerWhenNone(agents, installs))
  own.add(
    new FirstSteps({ ...served, onDidDecide, onDidShowHistory }, step =>
      markDone(storage.global, workbench.setContext, step),
    ),
  )
  own.add(watchUnusedWorktrees(shown))
  const chatTools = own.add(new ChatTools({ ...served, workbench }))
  return {
    ...listed,
    ...{ chatTools, comments, decisions, documents, follow, indicators, pageFocus, plans, surfaces },
    ...{ sessionsHere, windows, worktrees },
  }
}

/** Returns the open sessions that the window opened or shows. The window informs the user about their state. */
function sessionsOf(manager: SessionManager, surfaces: ConversationSurfaces): WatchedSessions {
  return {
    list: () =>
      manager.openSessions
        .list()
        .filter(open => manager.opened(open) || surfaces.showing(open) !== undefined),
    onDidChange(listener) {
      const following = new DisposableStore()
      for (const event of [manager.onDidChange, surfaces.onDidChangeVisibility])
        following.add(event(listener))
      return following
    },
  }
}
