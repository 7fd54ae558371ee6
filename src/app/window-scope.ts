import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { DisposableStore } from '../common/disposable.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { ConversationController } from '../sessions/conversation-controller.ts'
import { redactedStore } from '../sessions/open-session.ts'
import { SessionIndicators } from '../sessions/session-indicators.ts'
import { offerWhenNone } from './agents/agent-offers.ts'
import { ManageAgents } from './agents/manage-agents.ts'
import { Attention } from './attention.ts'
import { Decisions } from './changes/decisions.ts'
import { offerMerges } from './changes/merge-unsaved.ts'
import { CommandContext } from './commands/command-context.ts'
import { ComparePage } from './compare/compare-page.ts'
import { Comparisons } from './compare/comparisons.ts'
import { Branches } from './conversation/branches.ts'
import { createConversationServices } from './conversation/conversation-services.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { EditChoice } from './conversation/edit-choice.ts'
import { FollowAgent } from './conversation/follow-agent.ts'
import { LineComments } from './conversation/line-comments.ts'
import { MentionedSessions } from './conversation/mentioned-sessions.ts'
import { PlanDocuments } from './conversation/plan-documents.ts'
import { createSummarize } from './conversation/summarize.ts'
import { markDone } from './done-steps.ts'
import { FirstSteps } from './first-steps.ts'
import { SessionExporter } from './history/export-sessions.ts'
import { createHistoryServices } from './history/history-services.ts'
import { workspaceCheck } from './history/history-view.ts'
import { SessionImporter } from './history/import-sessions.ts'
import { InspectorPage } from './inspector/inspector-page.ts'
import { ChatTools } from './mcp/chat-tools.ts'
import { McpPage } from './mcp/mcp-page.ts'
import { signInToMcpServer } from './mcp/mcp-sign-in.ts'
import { PageFocus } from './page-focus.ts'
import type { Platform } from './platform.ts'
import type { ProcessScope } from './process-scope.ts'
import type { SessionWindow } from './session-window.ts'
import type { SessionsScope } from './sessions-scope.ts'
import { Sounds } from './sounds.ts'
import { StatusBar } from './status-bar.ts'
import { WindowSessions } from './window-sessions.ts'
import { WindowWorktrees } from './window-worktrees.ts'
import { watchUnusedWorktrees } from './worktrees/watch-unused-worktrees.ts'

/** Creates what lives as long as the window and shows the sessions: the views, and what their commands need. */
export function createWindowScope(
  platform: Platform,
  surfaces: ConversationSurfaces,
  process: ProcessScope & SessionWindow & SessionsScope,
  own: DisposableStore,
) {
  const { workbench, storage, log, secrets } = platform
  const { accounts, agents, drafts, files, hosts, manager, nameOf, queues, records, runners, tracker } =
    process
  const { installs, organizer, rules, transcripts } = process
  const shown = process.views
  const pageFocus = own.add(new PageFocus(workbench))
  const decisions = new Decisions(workbench, manager)
  const follow = own.add(new FollowAgent(storage.workspace, workbench)).follow(manager, surfaces)
  own.add(offerMerges({ tracker, workbench }))
  const indicators = own.add(
    new SessionIndicators(manager, open => surfaces.showing(open)?.isVisible ?? false),
  )
  own.add(surfaces.onDidChangeVisibility(() => indicators.markSeen()))
  const worktrees = own.add(new WindowWorktrees({ workbench, changes: [indicators.onDidChange] }))
  const comparisons = own.add(
    new Comparisons({
      store: shown,
      manager,
      drafts,
      onDidDelete: transcripts.onDidDelete,
      redact: text => secrets.redact(text),
    }),
  )
  const windows = own.add(
    new WindowSessions({
      windows: process.windowRows,
      workspace: platform.workspaceIdentity,
      ...{ manager, indicators },
      starting: () => comparisons.starting(),
      used: () => [...workbench.folders.map(folder => folder.path), ...files.documents.unsaved()],
      onDidChangeUsed: platform.onDidChangeUnsaved,
      show: open => void surfaces.reveal(open),
      redact: text => secrets.redact(text),
    }),
  )
  const comments = own.add(
    new LineComments({
      drafts,
      threads: workbench.comments,
      surfaces,
      sessions: manager,
      tracker,
      store: shown,
      folders: () => workbench.folders,
      onAdd: agentName =>
        workbench.dialogs.showStatus(
          agentName === undefined
            ? l10n.t('Added to your next prompt')
            : l10n.t('Added to your next prompt to {0}', agentName),
        ),
    }),
  )
  const plans = own.add(
    new PlanDocuments({ sessions: manager, surfaces, comments, dialogs: workbench.dialogs }),
  )
  const listed = createHistoryServices({
    agents,
    runners,
    manager,
    records,
    organizer,
    accounts,
    surfaces,
    indicators,
    savedKeys: () => transcripts.keys(),
    transcripts,
    storage: process.historySize,
    search: process.search,
    deleter: process.deleter,
    atWork: shown,
    windows,
    workbench,
    worktrees,
    pageFocus,
    log,
    own,
  })
  const { history, deletions, historyView, recent } = listed
  const summarize = createSummarize({
    ...{ dialogs: workbench.dialogs, records, log },
    runner: runners.get,
    globalStorage: storage.globalFolder,
  })
  const createController = (store: KeyValueStore, newKey: string) =>
    new ConversationController({
      ...process,
      runner: runners.get,
      trusted: () => workbench.isTrusted,
      store,
      newKey,
      signInTerminal: platform.signInTerminal(agents.resolveLaunch, nameOf),
      signInVariables: (agentId, method, signal) => process.signInValues.signIn(agentId, method, signal),
      elsewhere: (reference, mine) => surfaces.elsewhere(reference, mine),
      continued: reference => process.hosted.continued(reference),
      log,
    })

  const { sideBar, tabs } = createConversationServices({
    pageOptions: {
      ...{
        agents,
        accounts,
        organizer,
        drafts,
        comments,
        views: shown,
        workbench,
        pageFocus,
        follow,
        installs,
        worktrees,
        log,
      },
      optionMemory: process.optionMemory,
      agentDefaults: process.agentDefaults,
      environments: process.environments,
      changes: { tracker, workbench, sessions: manager, decisions },
      ruleMessages: {
        rules,
        consent: process.ruleConsent,
        settings: platform.ruleSettings,
        dialogs: workbench.dialogs,
      },
      previews: process.previews,
      summarize,
      sessions: recent,
      plans,
      mentioned: new MentionedSessions({
        ...{ history, transcripts, manager, secrets },
        isHere: () => workspaceCheck(worktrees),
      }),
    },
    store: redactedStore(storage.workspace, secrets),
    history: historyView,
    ...{ surfaces, indicators, shown, createController, own },
  })
  own.add(new Sounds({ manager, workbench, surfaces }))
  own.add(offerWhenNone(agents, installs))
  own.add(new CommandContext(surfaces, workbench))
  const exporter = new SessionExporter({
    workbench,
    records,
    transcripts,
    manager,
    history,
    secrets,
  })
  const importer = new SessionImporter({
    workbench,
    records,
    transcripts,
    history,
    deletions,
    storage: process.historySize,
  })
  own.add(
    new FirstSteps(
      {
        ...{ agents, accounts, manager },
        onDidDecide: tracker.files.onDidDecide,
        onDidShowHistory: historyView.onDidShow,
      },
      step => markDone(storage.global, workbench.setContext, step),
    ),
  )
  const manageAgents = own.add(
    new ManageAgents({
      workbench,
      pageFocus,
      installs: installs,
      agents,
      definitions: process.definitions,
      runners,
      accounts,
      settings: platform.settings,
      accountsFolder: path.join(storage.globalFolder, 'accounts'),
      forget: agentId => process.signInValues.forget(agentId),
      log,
    }),
  )
  const mcpPage = own.add(
    new McpPage({
      ...{ workbench, pageFocus, manager, log, nameOf },
      mcp: process.mcp,
      settings: platform.settings,
      bridges: process.bridges,
      check: process.checkMcpServer,
      signIn: (key, name) => signInToMcpServer({ ...process, workbench }, key, name),
      signIns: process.mcpSignIns,
      switches: process.mcpSwitches,
    }),
  )
  own.add(
    watchUnusedWorktrees({
      ...{ workbench, worktrees, manager, records, history, surfaces, comparisons, windows, hosts, log },
      ...{ held: process.held, deleter: process.deleter, documents: files.documents },
    }),
  )
  const comparePage = own.add(
    new ComparePage({
      ...{ workbench, pageFocus, log, comparisons, manager, records },
      iconOf: agentId => agents.get(agentId)?.icon,
      onDidChangeWorktrees: worktrees.onDidChange,
      onDidGrantTrust: platform.trust.onDidChange,
      loadActions: async page => {
        const { compareActions } = await import('./compare/compare-actions.ts')
        return compareActions({
          ...{ workbench, settings: platform.settings, surfaces, agents, accounts, tabs, manager, queues },
          ...{ windows, worktrees, comparisons, comparePage: page, sideBar, records, hosts, drafts },
          comparisonOf: worktree => page.comparisonOf(worktree),
          starter: process.starter,
          consent: process.consent,
          clock: process.clock,
          documents: files.documents,
        })
      },
    }),
  )
  const inspector = own.add(
    new InspectorPage({ workbench, pageFocus, log, manager, recorder: process.recorder }),
  )
  own.add(new StatusBar(workbench, surfaces, indicators, worktrees))
  const attention = own.add(new Attention({ workbench, surfaces, manager, sideBar, windows }))
  const chatTools = own.add(new ChatTools({ workbench, editorTools: process.editorTools, files }))
  return {
    ...listed,
    ...{
      attention,
      chatTools,
      comparePage,
      comparisons,
      decisions,
      exporter,
      follow,
      importer,
      indicators,
      inspector,
      manageAgents,
      mcpPage,
    },
    ...{ pageFocus, plans, sideBar, surfaces, tabs, windows, worktrees },
    comparisonOf: (worktree: string) => comparePage.comparisonOf(worktree),
    documents: files.documents,
    branches: new Branches(shown),
    summarize,
    editChoice: new EditChoice(shown),
  }
}
