import path from 'node:path'
import type { DisposableStore } from '../common/disposable.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { ConversationController } from '../sessions/conversation-controller.ts'
import { redactedStore } from '../sessions/open-session.ts'
import { ManageAgents } from './agents/manage-agents.ts'
import { Attention } from './attention.ts'
import { CommandContext } from './commands/command-context.ts'
import { ComparePage } from './compare/compare-page.ts'
import { Branches } from './conversation/branches.ts'
import { createConversationServices } from './conversation/conversation-services.ts'
import { EditChoice } from './conversation/edit-choice.ts'
import { MentionedSessions } from './conversation/mentioned-sessions.ts'
import { createSummarize } from './conversation/summarize.ts'
import { SessionExporter } from './history/export-sessions.ts'
import { workspaceCheck } from './history/history-view.ts'
import { SessionImporter } from './history/import-sessions.ts'
import { InspectorPage } from './inspector/inspector-page.ts'
import { ReplayTab } from './inspector/replay-tab.ts'
import { McpPage } from './mcp/mcp-page.ts'
import { signInToMcpServer } from './mcp/mcp-sign-in.ts'
import type { Platform } from './platform.ts'
import type { ProcessScope } from './process-scope.ts'
import type { SessionWindow } from './session-window.ts'
import type { SessionsScope } from './sessions-scope.ts'
import { Sounds } from './sounds.ts'
import { StatusBar } from './status-bar.ts'
import type { WindowScope } from './window-scope.ts'

/**
 * Creates the views of a window: conversations in the side bar and in tabs, the other pages, and the services that only their commands
 * need.
 */
export function createWindowViews(
  platform: Platform,
  window: ProcessScope & SessionWindow & SessionsScope & WindowScope,
  own: DisposableStore,
) {
  const { workbench, storage, ruleSettings } = platform
  const { dialogs } = workbench
  const hasWorkspace = () => workbench.roots.length > 0
  const { agents, decisions, manager, nameOf, rules, surfaces } = window
  const { secrets, signInValues, tracker, views, worktrees } = window
  const runner = window.runners.get
  const globalStorage = storage.globalFolder
  const summarize = createSummarize({ ...window, dialogs, runner, globalStorage })
  const { sideBar, tabs } = createConversationServices({
    pageOptions: {
      ...{ ...window, workbench, summarize },
      changes: { tracker, workbench, sessions: manager, decisions },
      ruleMessages: { rules, consent: window.ruleConsent, settings: ruleSettings, hasWorkspace, dialogs },
      sessions: window.recent,
      mentioned: new MentionedSessions({ ...window, isHere: () => workspaceCheck(worktrees) }),
    },
    store: redactedStore(storage.workspace, secrets),
    history: window.historyView,
    ...{ surfaces, indicators: window.indicators, shown: views, own },
    createController: (store: KeyValueStore, newKey: string) =>
      new ConversationController({
        ...{ ...window, runner, store, newKey },
        signInTerminal: async (agentId, method, signal) => {
          const launch = await agents.resolveLaunch(agentId)
          await platform.signInTerminal(nameOf(agentId), launch, method, signal)
        },
        signInVariables: (agentId, method, signal) => signInValues.signIn(agentId, method, signal),
        elsewhere: (reference, mine) => surfaces.elsewhere(reference, mine),
        continued: reference => window.hosted.continued(reference),
      }),
  })
  const shown = { ...window, workbench, sideBar, tabs, storage: window.historySize }
  own.add(new Sounds(shown))
  own.add(new CommandContext(surfaces, workbench))
  own.add(new StatusBar(workbench, surfaces, window.indicators, worktrees))
  const manageAgents = own.add(
    new ManageAgents({
      ...shown,
      accountsFolder: path.join(globalStorage, 'accounts'),
      forget: agentId => signInValues.forget(agentId),
    }),
  )
  const mcpPage = own.add(
    new McpPage({
      ...shown,
      check: window.checkMcpServer,
      signIn: (key, name) => signInToMcpServer(shown, key, name),
      signIns: window.mcpSignIns,
      switches: window.mcpSwitches,
    }),
  )
  const comparePage = own.add(
    new ComparePage({
      ...shown,
      iconOf: agentId => agents.get(agentId)?.icon,
      onDidChangeWorktrees: worktrees.onDidChange,
      onDidGrantTrust: window.onDidChangeTrust,
      loadActions: async page => {
        const { compareActions } = await import('./compare/compare-actions.ts')
        const comparisonOf = (worktree: string) => page.comparisonOf(worktree)
        return compareActions({ ...shown, comparePage: page, comparisonOf })
      },
    }),
  )
  return {
    ...{ comparePage, manageAgents, mcpPage, sideBar, summarize, tabs },
    inspector: own.add(new InspectorPage({ ...shown, platform, replay: own.add(new ReplayTab(shown)) })),
    attention: own.add(new Attention(shown)),
    exporter: new SessionExporter(shown),
    importer: new SessionImporter(shown),
    branches: new Branches(views),
    editChoice: new EditChoice(views),
    comparisonOf: (worktree: string) => comparePage.comparisonOf(worktree),
  }
}
