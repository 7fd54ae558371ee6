import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { startAgent } from '../acp/start-agent.ts'
import { startInstalled } from '../agents/registry/installed-agents.ts'
import { deferred } from '../common/async.ts'
import type { DisposableStore } from '../common/disposable.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { createProcessGuard } from '../common/processes/process-guard.ts'
import { LAST_SESSION } from '../common/session-key.ts'
import { storeGitFoldersIn } from '../editor/git-folders.ts'
import { PathGuard } from '../editor/path-guard.ts'
import { PathRules } from '../editor/path-rules.ts'
import { ProtectedFiles } from '../editor/protected-files.ts'
import { allowedTools, EditorTools } from '../mcp/server/editor-tools.ts'
import { AgentClients } from '../sessions/agent-client.ts'
import { ConversationController } from '../sessions/conversation-controller.ts'
import { SessionDeleter } from '../sessions/listing/session-deleter.ts'
import { SessionOrganizer } from '../sessions/listing/session-organizer.ts'
import { redactedStore, type SessionReference } from '../sessions/open-session.ts'
import { PromptQueues } from '../sessions/prompt-queues.ts'
import { AgentRunners } from '../sessions/runners/agent-runners.ts'
import { HostedAgents } from '../sessions/runners/hosted-agents.ts'
import { SavedSessions } from '../sessions/saved-sessions.ts'
import { HeldSessions } from '../sessions/session-leases.ts'
import { SessionManager } from '../sessions/session-manager.ts'
import { SessionStarter } from '../sessions/session-starter.ts'
import { Accounts } from '../sessions/sign-in/accounts.ts'
import { offerWhenNone } from './agents/agent-offers.ts'
import {
  agentHosts,
  connectOptions,
  createAgentServices,
  noticeOfOtherHost,
  noticeOfUnsaved,
  noticeWithoutHost,
} from './agents/agent-services.ts'
import { ManageAgents } from './agents/manage-agents.ts'
import { Decisions } from './changes/decisions.ts'
import { offerMerges } from './changes/merge-unsaved.ts'
import { CommandContext } from './commands/command-context.ts'
import { applyProviders } from './commands/provider-commands.ts'
import { ComparePage } from './compare/compare-page.ts'
import { Comparisons } from './compare/comparisons.ts'
import { Branches } from './conversation/branches.ts'
import { composerServices, createConversationServices } from './conversation/conversation-services.ts'
import { FollowAgent } from './conversation/follow-agent.ts'
import { LineComments } from './conversation/line-comments.ts'
import { markDone } from './done-steps.ts'
import { FirstSteps } from './first-steps.ts'
import { SessionExporter } from './history/export-sessions.ts'
import { createHistoryServices } from './history/history-services.ts'
import type { HistoryView } from './history/history-view.ts'
import { SessionImporter } from './history/import-sessions.ts'
import { ContextKey } from './ids.ts'
import { ChatTools } from './mcp/chat-tools.ts'
import { McpPage } from './mcp/mcp-page.ts'
import { signInToMcpServer } from './mcp/mcp-sign-in.ts'
import { PageFocus } from './page-focus.ts'
import type { Platform } from './platform.ts'
import { WorkspaceSessionPlanner } from './session-planner.ts'
import { Sounds } from './sounds.ts'
import { LeftPrompts } from './storage/left-prompts.ts'
import { createChangeServices, createStorageServices } from './storage/storage-services.ts'
import { gitFolderStore, HAS_AGENTS, turnStore, viewStore, workStore } from './storage/stores.ts'
import { WindowSessions } from './window-sessions.ts'
import { WindowWorktrees } from './window-worktrees.ts'
import { watchUnusedWorktrees } from './worktrees/watch-unused-worktrees.ts'

export type AppServices = ReturnType<typeof createAppServices>

/** Creates everything that doesn't need VS Code itself, layer by layer, and connects it. */
export function createAppServices(platform: Platform, own: DisposableStore) {
  const { workbench, storage, log, secrets } = platform
  // before sessions open, which may be among those that it finds
  own.add(platform.trust.onDidChange(() => void hosted.start()))
  const protectedFiles = new ProtectedFiles(new PathRules(), platform.settingsFolders)
  const agentServices = createAgentServices({
    ...{ platform, own, protectedFiles },
    guard: () => guard,
    lastName: agentId => records.agent(agentId)?.name,
  })
  const { agents, rules, nameOf, providers } = agentServices
  const guardScript = platform.fileInExtension('dist', 'process-guard.cjs')
  const guard = own.add(createProcessGuard({ script: guardScript, log }))
  const composer = composerServices(storage, workbench.setContext, log, own)
  const stored = createStorageServices(platform, own)
  const { previews, records, transcripts, leases, historySize, search } = stored
  /** resolves when this window goes on with the turns of an earlier one */
  const agentsBack = deferred()
  const { files, tracker } = createChangeServices(platform, protectedFiles, own, agentsBack.promise)

  storeGitFoldersIn(gitFolderStore(storage, log))
  const hosts = agentHosts(platform)
  const queues = own.add(
    new PromptQueues({
      storage: composer.drafts,
      sources: workbench.context.sources,
      continuing: {
        continues: key => hosted.continues(key),
        sessionOf: queue => manager.sessionOf(queue),
      },
      handover: new LeftPrompts(path.join(storage.globalFolder, 'left-prompts'), log),
    }),
  )
  const held = new HeldSessions(leases)
  const manager = new SessionManager({
    ...{ records, transcripts, held, queues, rules, tracker },
    services: {
      files,
      onDidSave: platform.onDidSaveFile,
      environment: agentServices.commandEnvironment,
      guard,
      turns: turnStore(storage, log),
    },
    usage: records,
  })
  const clients = new AgentClients({
    manager,
    activeSession: agentId => {
      const { controller, isVisible } = surfaces.active
      const { current } = controller
      return isVisible && current?.agentId === agentId ? current.session : undefined
    },
    nativeElicitation: platform.nativeElicitation(nameOf),
  })
  const runners: AgentRunners = own.add(
    new AgentRunners({
      agents,
      lastName: agentId => records.agent(agentId)?.name,
      start: startInstalled(startAgent, agentServices.installed, log),
      prepare: applyProviders(providers, agentId => platform.logs.logger(agentId, nameOf(agentId))),
      client: (agentId, sessions) => clients.of(agentId, sessions),
      nextLeft: agentId => hosted.nextLeft(agentId),
      reattach: (agentId, running) => hosted.reattach(agentId, running),
      connectOptions: connectOptions(platform, guard, agentServices, agentId => hosted.startProcess(agentId)),
    }),
  )
  const editorTools = own.add(
    new EditorTools({
      features: workbench.features,
      names: () => allowedTools(platform.settings.layers('editorTools')),
      switches: agentServices.mcpSwitches,
      onDidChangeNames: listener => workbench.settings.onDidChange('editorTools', listener),
      guard: roots => new PathGuard(roots),
      bridge: server => agentServices.bridges.bridge(server),
      version: platform.version,
      secrets,
      log,
    }),
  )
  // Disposed before the runners end their agents: what happens then isn't stored, as sessions of the agent host go on.
  own.add(manager)
  const planner = new WorkspaceSessionPlanner(
    workbench,
    agentServices.mcp,
    storage.globalFolder,
    agentServices.systemPromptOf,
    editorTools,
  )
  const hosted = new HostedAgents({
    ...{ hosts, runners, manager, held, planner, records, transcripts, queues, agents, nameOf, log },
    workspace: platform.workspaceIdentity,
    keep: () => workbench.settings.read('keepAgentsRunning'),
    trusted: () => workbench.isTrusted,
    isSearchSure: agentServices.isSearchSure,
    launchOf: agentServices.configuredStart,
    holdSecrets: async agentId => {
      await Promise.all([agentServices.signInValues.hold(agentId), providers.hold(agentId)])
    },
    likely: () => storage.workspace.get<SessionReference>(LAST_SESSION)?.agentId,
    onUnavailable: noticeWithoutHost(workbench),
    onTooMuchUnsaved: noticeOfUnsaved(workbench),
    onUnreachable: () => void noticeOfOtherHost(workbench),
    mark: isLeft => viewStore(storage, log).set(HAS_AGENTS, isLeft || undefined),
  })
  const saved = new SavedSessions({ manager, runner: runners.get, records, transcripts })
  const starter = new SessionStarter({
    ...{ manager, held, saved, clients, planner, records, transcripts, queues, hosted },
    runner: runners.get,
    usage: records,
  })
  void hosted.start().finally(() => agentsBack.resolve())
  const accounts = own.add(new Accounts(agents, runners, log))
  const organizer = own.add(new SessionOrganizer({ runner: runners.get, manager, records }))
  const createController = (store: KeyValueStore, newKey: string) =>
    new ConversationController({
      ...{ manager, starter, saved, held, records },
      agents,
      runner: runners.get,
      trusted: () => workbench.isTrusted,
      store,
      drafts: composer.drafts,
      queues,
      newKey,
      signInTerminal: platform.signInTerminal(agents.resolveLaunch, nameOf),
      signInVariables: (agentId, method, signal) =>
        agentServices.signInValues.signIn(agentId, method, signal),
      accounts,
      elsewhere: (reference, mine) => surfaces.elsewhere(reference, mine),
      continued: reference => hosted.continued(reference),
      log,
    })

  const pageFocus = new PageFocus(workbench)
  const decisions = new Decisions(workbench, manager)
  const follow = own.add(new FollowAgent(storage.workspace, workbench))
  own.add(offerMerges({ tracker, workbench }))
  const { sideBar, surfaces, tabs, indicators } = createConversationServices({
    bridge: {
      agents,
      accounts,
      organizer,
      drafts: composer.drafts,
      comments: {
        reveal: id => comments.reveal(id),
        promptRemoved: draft => comments.promptRemoved(draft),
      },
      optionMemory: composer.optionMemory,
      workbench,
      pageFocus,
      follow,
      installs: agentServices.installs,
      changes: { tracker, workbench, sessions: manager, decisions },
      ruleMessages: { rules, consent: agentServices.ruleConsent, settings: platform.ruleSettings },
      previews,
      worktrees: {
        of: cwd => worktrees.of(cwd),
        get hasRepository() {
          return worktrees.hasRepository
        },
        onDidChange: listener => worktrees.onDidChange(listener),
      },
      sessions: {
        list: () => placed.recent.list(),
        open: (agentId, sessionId) => placed.recent.open(agentId, sessionId),
        refresh: () => placed.recent.refresh(),
        onDidChange: listener => placed.recent.onDidChange(listener),
      },
      log,
    },
    manager,
    store: redactedStore(storage.workspace, secrets),
    shown: viewStore(storage, log),
    createController,
    history: {
      listen: (...page) => historyView.listen(...page),
      shown: () => historyView.shown(),
    },
    own,
  })
  follow.follow(manager, surfaces)
  const worktrees: WindowWorktrees = own.add(
    new WindowWorktrees({ workbench, changes: [indicators.onDidChange] }),
  )
  const windows = own.add(
    new WindowSessions({
      folder: path.join(storage.globalFolder, 'windows'),
      workspace: platform.workspaceIdentity,
      ...{ manager, indicators, log },
      starting: () => comparisons.starting(),
      used: () => [...workbench.folders().map(folder => folder.path), ...files.documents.unsaved()],
      onDidChangeUsed: platform.onDidChangeUnsaved,
      confirm: () => workbench.setContext(ContextKey.windowIsOpen, true),
      show: open => void surfaces.reveal(open),
      redact: text => secrets.redact(text),
    }),
  )
  const comments = own.add(
    new LineComments({
      drafts: composer.drafts,
      threads: workbench.comments,
      surfaces,
      sessions: manager,
      tracker,
      store: viewStore(storage, log),
      onAdd: agentName =>
        workbench.dialogs.showStatus(
          agentName === undefined
            ? l10n.t('Added to your next prompt')
            : l10n.t('Added to your next prompt to {0}', agentName),
        ),
    }),
  )
  own.add(new Sounds({ manager, settings: workbench.settings, surfaces }))
  own.add(offerWhenNone(agents, agentServices.installs))
  own.add(new CommandContext(surfaces, workbench))
  const deleter = own.add(
    new SessionDeleter({ manager, held, runner: runners.get, records, transcripts, queues }),
  )
  const placed = createHistoryServices({
    agents,
    runners,
    manager,
    records,
    organizer,
    accounts,
    surfaces,
    indicators,
    kept: () => transcripts.keys(),
    transcripts,
    storage: historySize,
    search,
    deleter,
    atWork: workStore(storage, log),
    windows,
    workbench,
    worktrees,
    pageFocus,
    log,
    own,
  })
  const { history, deletions } = placed
  const historyView: HistoryView = placed.historyView
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
    storage: historySize,
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
      installs: agentServices.installs,
      agents,
      definitions: agentServices.definitions,
      runners,
      accounts,
      settings: platform.settings,
      log,
    }),
  )
  const mcpPage = own.add(
    new McpPage({
      ...{ workbench, manager, log, nameOf },
      mcp: agentServices.mcp,
      settings: platform.settings,
      bridges: agentServices.bridges,
      check: agentServices.checkMcpServer,
      signIn: (key, name) => signInToMcpServer({ ...agentServices, workbench }, key, name),
      signIns: agentServices.mcpSignIns,
      switches: agentServices.mcpSwitches,
    }),
  )
  const comparisons = own.add(
    new Comparisons({
      store: viewStore(storage, log),
      manager,
      drafts: composer.drafts,
      onDidDelete: transcripts.onDidDelete,
      redact: text => secrets.redact(text),
    }),
  )
  own.add(
    watchUnusedWorktrees({
      ...{
        workbench,
        worktrees,
        manager,
        held,
        deleter,
        records,
        history,
        surfaces,
        comparisons,
        windows,
        hosts,
        log,
      },
      documents: files.documents,
    }),
  )
  const comparisonOf = (worktree: string) => {
    const found = comparisons.of(worktree)
    return found && { show: () => comparePage.show(found.id) }
  }
  const compareActions = async () => {
    const loaded = await import('./compare/compare-actions.ts')
    return loaded.compareActions({
      ...{
        workbench,
        settings: platform.settings,
        surfaces,
        agents,
        accounts,
        tabs,
        manager,
        starter,
        queues,
      },
      ...{ windows, worktrees, comparisons, comparePage, comparisonOf, sideBar, records, hosts },
      drafts: composer.drafts,
      consent: agentServices.consent,
      documents: files.documents,
    })
  }
  const comparePage: ComparePage = own.add(
    new ComparePage({
      ...{ workbench, log, comparisons, manager, records },
      iconOf: agentId => agents.get(agentId)?.icon,
      onDidChangeWorktrees: worktrees.onDidChange,
      onDidGrantTrust: platform.trust.onDidChange,
      actions: compareActions,
    }),
  )
  const chatTools = own.add(new ChatTools({ workbench, editorTools, files }))
  // The last one is disposed first: nothing that ends with the window may reach an agent that goes on.
  own.add(hosted)
  return {
    ...agentServices,
    ...placed,
    hosts,
    accounts,
    decisions,
    exporter,
    follow,
    guard,
    importer,
    runners,
    indicators,
    manageAgents,
    manager,
    mcpPage,
    optionMemory: composer.optionMemory,
    organizer,
    pageFocus,
    records,
    sideBar,
    surfaces,
    tabs,
    tracker,
    windows,
    chatTools,
    comparePage,
    comparisons,
    comparisonOf,
    compareActions,
    worktrees,
    conversations: stored.conversations,
    drafts: composer.drafts,
    documents: files.documents,
    branches: new Branches(viewStore(storage, log)),
  }
}
