import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { startAgent } from './acp/start-agent.ts'
import { startInstalled } from './agents/registry/installed-agents.ts'
import { offerWhenNone } from './app/agents/agent-offers.ts'
import { ManageAgents } from './app/agents/manage-agents.ts'
import { checkpointCommands } from './app/commands/checkpoint-commands.ts'
import { CommandContext } from './app/commands/command-context.ts'
import { entryCommands } from './app/commands/entry-commands.ts'
import { generalCommands } from './app/commands/general-commands.ts'
import { navigationCommands } from './app/commands/navigation-commands.ts'
import { optionCommands } from './app/commands/option-commands.ts'
import { applyProviders, providerCommands } from './app/commands/provider-commands.ts'
import { ruleCommands } from './app/commands/rule-commands.ts'
import { placeCommands, sessionCommands, titleBarCommands } from './app/commands/session-commands.ts'
import { signInCommands } from './app/commands/sign-in-commands.ts'
import { usageCommand } from './app/commands/usage-command.ts'
import { composerServices, createConversationServices } from './app/conversation/conversation-services.ts'
import type { ConversationTabs } from './app/conversation/conversation-tabs.ts'
import { FollowAgent } from './app/conversation/follow-agent.ts'
import type { SideBar } from './app/conversation/side-bar.ts'
import { historyMenuCommands } from './app/history/history-commands.ts'
import { createHistoryServices } from './app/history/history-services.ts'
import type { HistoryTab } from './app/history/history-tab.ts'
import type { HistoryView } from './app/history/history-view.ts'
import { type CommandHandlers, CommandId, ContextKey, HiddenCommandId, ProposalId } from './app/ids.ts'
import { PageFocus } from './app/page-focus.ts'
import { PreviewStore } from './app/page-preview.ts'
import { previewFiles, storeFolders, viewStore, workStore } from './app/storage/stores.ts'
import { ChangeTracker } from './changes/change-tracker.ts'
import type { CheckpointLimits } from './changes/checkpoints.ts'
import { type DisposableStore, toDisposable } from './common/disposable.ts'
import type { KeyValueStore } from './common/key-value-store.ts'
import { redactingLogger } from './common/logger.ts'
import { createProcessGuard } from './common/processes/process-guard.ts'
import { SecretRegistry } from './common/secrets.ts'
import { sessionKey, sessionOfKey } from './common/session-key.ts'
import { removeUnfinishedFiles } from './common/unfinished-files.ts'
import { PathRules } from './editor/path-rules.ts'
import { ProtectedFiles } from './editor/protected-files.ts'
import { ChangesStore } from './history/changes-store.ts'
import { StorageTrouble } from './history/database.ts'
import { LocalSessions } from './history/local-sessions.ts'
import { Transcripts } from './history/transcripts.ts'
import { ConversationController } from './sessions/conversation-controller.ts'
import { AgentHosts } from './sessions/hosts/agent-host.ts'
import { SessionOrganizer } from './sessions/listing/session-organizer.ts'
import { redactedStore } from './sessions/open-session.ts'
import { PromptQueues } from './sessions/prompt-queues.ts'
import { SessionManager } from './sessions/session-manager.ts'
import { titleOf } from './sessions/session-title.ts'
import { Accounts } from './sessions/sign-in/accounts.ts'
import { AgentLogs, ProtocolTraffic } from './workbench/agents/agent-logs.ts'
import { connectOptions, createAgentServices } from './workbench/agents/agent-services.ts'
import { signInTerminal } from './workbench/agents/sign-in-terminal.ts'
import { Attention } from './workbench/attention.ts'
import { ChangeDecorations } from './workbench/changes/change-decorations.ts'
import { ChangeEditors, followUserEdits, hiddenFiles, trashFile } from './workbench/changes/change-editors.ts'
import { Diffs, Proposals } from './workbench/changes/diffs.ts'
import { ChangesSourceControl } from './workbench/changes/source-control.ts'
import { changeCommands } from './workbench/commands/change-commands.ts'
import { commitMessageCommand } from './workbench/commands/commit-message-command.ts'
import { codeCommands, contextCommands } from './workbench/commands/editor-commands.ts'
import { installCommands } from './workbench/commands/install-commands.ts'
import { reportErrors } from './workbench/commands/report-errors.ts'
import { AgentHighlights } from './workbench/editor/agent-highlights.ts'
import { onDidSaveFile, vscodeFiles } from './workbench/editor/files.ts'
import { MentionSearch } from './workbench/mentions/search.ts'
import { NativePrompts } from './workbench/native-elicitation.ts'
import { ruleSettings } from './workbench/rule-settings.ts'
import { WorkspaceSessionPlanner } from './workbench/session-planner.ts'
import { readSetting } from './workbench/settings.ts'
import { StatusBar } from './workbench/status-bar.ts'
import { createVsCodeWorkbench } from './workbench/vscode-workbench.ts'
import { windowStorage } from './workbench/window-storage.ts'

/** When to remove what a crash left, so that the first view doesn't wait for it. Milliseconds. */
const CLEAN_AFTER_MS = 10_000

/** The entry points for VS Code: what connects the pages of views and runs commands. */
export interface Services {
  sideBar: SideBar
  historyTab: HistoryTab
  tabs: ConversationTabs
  manageAgents: ManageAgents
  commands: CommandHandlers
  /** Resolves after disposal, once all processes have exited or the process guard is about to end the rest. */
  processesEnded: Promise<void>
  /** Tracks agents' changes of this window's files. */
  tracker: ChangeTracker
}

export interface ServicesOptions {
  context: vscode.ExtensionContext
  log: vscode.LogOutputChannel
  /** Owns everything that is created here. */
  own: DisposableStore
}

/**
 * Creates the services and connects them. Loaded and called once, when the first view is shown or the first command
 * runs.
 */
export function createServices({ context, log: channel, own }: ServicesOptions): Services {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle })
  void vscode.commands.executeCommand('setContext', ContextKey.inUse, true)
  const secrets = new SecretRegistry()
  const log = redactingLogger(channel, text => secrets.redact(text))
  const logs = own.add(new AgentLogs(secrets))
  const traffic = own.add(new ProtocolTraffic(secrets))
  const { extensionUri } = context
  const storage = windowStorage(context)
  const bundle = (name: string) => vscode.Uri.joinPath(extensionUri, 'dist', name).fsPath

  const protectedFiles = new ProtectedFiles(new PathRules(), settingsFolders(context))
  const agentServices = createAgentServices({
    context,
    storage,
    demoScript: bundle('demo-agent.mjs'),
    log,
    logs,
    secrets,
    own,
    protectedFiles,
    guard: () => guard,
  })
  const { agents, mcp, rules, inputs, signInValues, providers } = agentServices
  const { nameOf, protocolOf, systemPromptOf, commandEnvironment } = agentServices
  const guard = own.add(createProcessGuard({ script: bundle('process-guard.cjs'), log }))
  const composer = composerServices(
    storage,
    async (key, value) => vscode.commands.executeCommand('setContext', key, value),
    log,
    own,
  )
  const queues = own.add(new PromptQueues(composer.drafts))

  const trouble = new StorageTrouble(message => void vscode.window.showWarningMessage(message))
  const previews = new PreviewStore(previewFiles(storage, log), {
    redact: text => secrets.redact(text),
    isSaved(key) {
      const { agentId, sessionId } = sessionOfKey(key)
      return transcripts.has(agentId, sessionId)
    },
  })
  const cleaner = setTimeout(() => void removeUnfinishedFiles(storeFolders(storage), log), CLEAN_AFTER_MS)
  own.add(toDisposable(() => clearTimeout(cleaner)))
  const fileOf = (name: string) => path.join(storage.globalFolder, name)
  const records = own.add(new LocalSessions({ file: fileOf('sessions.db'), trouble, log, secrets }))
  const transcripts = own.add(
    new Transcripts({
      file: fileOf('conversations.db'),
      trouble,
      log,
      secrets,
      maxBytes: maxHistoryBytes,
      onDelete: (agentId, sessionId) => previews.remove(sessionKey(agentId, sessionId)),
    }),
  )
  const files = vscodeFiles(log, protectedFiles)
  const changesFolder = path.join(storage.workspaceFolder ?? storage.globalFolder, 'changes')
  const tracker = own.add(
    new ChangeTracker({
      files,
      store: own.add(new ChangesStore(changesFolder, log)),
      trash: trashFile,
      checkpoints: checkpointLimits,
      excluded: hiddenFiles,
    }),
  )
  own.add(followUserEdits(tracker))
  const editors = own.add(new ChangeEditors(tracker, log))
  const lensCommands = { keep: CommandId.keepChange, revert: CommandId.revertChange }
  own.add(new ChangeDecorations(tracker, lensCommands, ContextKey))
  const proposals = own.add(new Proposals())
  const workbench = createVsCodeWorkbench({
    changeEditors: () => editors,
    diffs: own.add(new Diffs()),
    proposals,
    mentions: own.add(new MentionSearch(storage.workspace)),
    extensionUri,
  })
  const pageFocus = new PageFocus(workbench)
  const follow = own.add(new FollowAgent(storage.workspace, workbench))
  const hosts: AgentHosts = own.add(
    new AgentHosts({
      agents,
      lastName: agentId => records.agent(agentId)?.name,
      start: startInstalled(startAgent, agentServices.installed, log),
      prepare: applyProviders(providers, agentId => logs.logger(agentId, nameOf(agentId))),
      client: (agentId, sessions) => manager.client(agentId, sessions),
      connectOptions: connectOptions(context, { logs, traffic, guard, secrets, nameOf, protocolOf }),
    }),
  )
  const manager: SessionManager = own.add(
    new SessionManager({
      host: hosts.get,
      planner: new WorkspaceSessionPlanner(mcp, storage.globalFolder, systemPromptOf),
      services: { files, onDidSave: onDidSaveFile, environment: commandEnvironment, guard },
      records,
      transcripts,
      leases: transcripts,
      queues,
      activeSession: agentId => {
        const { controller, isVisible } = surfaces.active
        const { current } = controller
        return isVisible && current?.agentId === agentId ? current.session : undefined
      },
      nativeElicitation: new NativePrompts(nameOf),
      rules,
      tracker,
      usage: records,
    }),
  )
  const accounts = own.add(new Accounts(agents, hosts, log))
  const createController = (store: KeyValueStore, newKey: string) =>
    new ConversationController({
      manager,
      agents,
      host: hosts.get,
      trusted: () => vscode.workspace.isTrusted,
      store,
      drafts: composer.drafts,
      queues,
      newKey,
      signInTerminal: signInTerminal(agents.resolveLaunch, nameOf),
      signInVariables: (agentId, method, signal) => signInValues.signIn(agentId, method, signal),
      accounts,
      elsewhere: (reference, mine) => surfaces.elsewhere(reference, mine),
      log,
    })
  const organizer = own.add(new SessionOrganizer({ host: hosts.get, manager, records }))
  const bridge = {
    agents,
    accounts,
    organizer,
    drafts: composer.drafts,
    optionMemory: composer.optionMemory,
    workbench,
    pageFocus,
    follow,
    installs: agentServices.installs,
    changes: { tracker, workbench, sessions: manager },
    ruleMessages: { rules, consent: agentServices.ruleConsent, settings: ruleSettings },
    previews,
    log,
  }
  const { sideBar, surfaces, tabs, indicators } = createConversationServices({
    bridge,
    manager,
    store: redactedStore(storage.workspace, secrets),
    shown: viewStore(storage, log),
    createController,
    history: {
      listen: (...page) => historyView.listen(...page),
      looked: () => historyView.looked(),
    },
    own,
  })
  follow.follow(manager, surfaces)
  own.add(new AgentHighlights(manager))
  own.add(offerWhenNone(agents, agentServices.installs))
  own.add(new StatusBar(surfaces, indicators))
  own.add(new CommandContext(surfaces, workbench))
  const sessions = { agents, hosts, manager, records, organizer, accounts }
  const isKept = (agentId: string, sessionId: string) => transcripts.has(agentId, sessionId)
  const size = () => ({ used: transcripts.usedBytes, max: maxHistoryBytes() })
  const places = {
    surfaces,
    indicators,
    isKept,
    storage: size,
    atWork: workStore(storage, log),
    workbench,
    pageFocus,
    log,
    own,
  }
  const placed = createHistoryServices({ ...sessions, ...places })
  const { history, historyTab, actions } = placed
  const historyView: HistoryView = placed.historyView
  const attention = own.add(new Attention(surfaces, manager, sideBar))
  const host = hosts.get
  const sourceControl = own.add(
    new ChangesSourceControl(tracker, key => {
      const { agentId, sessionId } = sessionOfKey(key)
      const open = manager.find(agentId, sessionId)
      const title = open ? titleOf(open.session) : records.get(agentId, sessionId)?.title
      return title || nameOf(agentId)
    }),
  )
  own.add(manager.onDidChange(() => sourceControl.updateSoon()))
  const activeChanges = () => {
    const { current } = surfaces.active.controller
    return current && { changes: current.changes, turn: current.session.state.turn }
  }
  const manageAgents = own.add(
    new ManageAgents({
      workbench,
      installs: agentServices.installs,
      agents,
      definitions: agentServices.definitions,
      hosts,
      accounts,
      log,
    }),
  )
  const handlers = {
    [CommandId.manageAgents]: () => manageAgents.open(),
    ...usageCommand({
      workbench,
      surfaces,
      records,
      nameOf: agentId => agents.get(agentId)?.name ?? records.agent(agentId)?.name ?? agentId,
    }),
    ...changeCommands({ tracker, workbench, sessions: manager, sourceControl, activeChanges }),
    ...generalCommands({
      workbench,
      surfaces,
      agents,
      accounts,
      showLog(agentId) {
        if (agentId === undefined) channel.show(true)
        else logs.for(agentId, agents.get(agentId)?.name ?? agentId).show(true)
      },
      showTraffic: () => traffic.show(),
      pickSession: how => actions.pick(how),
      refreshHistory: () => void history.refresh(),
      sideBar,
      historyTab,
      forgetMcpInputs: () => inputs.clear(),
    }),
    ...sessionCommands({ surfaces, organizer, workbench }),
    ...signInCommands({ surfaces, agents, host, accounts, signInValues, workbench }),
    ...installCommands({
      installs: agentServices.installs,
      logs,
      isRunning: agentId => hosts.peek(agentId)?.running !== undefined,
      restart: agentId => {
        const running = host(agentId)
        return running.renew(() => running.ensure())
      },
      // the stored values stay if another source provides an agent with the same id
      forget: async agentId => {
        if (!agents.get(agentId)) await signInValues.forget(agentId)
      },
    }),
    ...providerCommands({ surfaces, agents, host, providers, workbench }),
    ...ruleCommands({
      rules,
      consent: agentServices.ruleConsent,
      settings: ruleSettings,
      nameOf,
      dialogs: workbench.dialogs,
    }),
    ...navigationCommands({ surfaces, pageFocus, workbench }),
    ...entryCommands(surfaces, workbench),
    ...checkpointCommands({ surfaces, tracker, workbench, sessions: manager }),
    ...placeCommands({ surfaces, sideBar, tabs, manager, indicators, history, actions, workbench }),
    ...contextCommands(surfaces),
    ...codeCommands(surfaces),
    ...commitMessageCommand({
      workbench,
      surfaces,
      agents,
      host,
      records,
      globalStorage: storage.globalFolder,
      log,
    }),
    ...optionCommands({ surfaces, memory: composer.optionMemory, dialogs: workbench.dialogs }),
    ...historyMenuCommands((...args) => historyView.act(...args)),
    [CommandId.followAgent]: () => {
      follow.set(!follow.on)
      const text = follow.on ? l10n.t('Following the agent in the editor') : l10n.t('Not following the agent')
      vscode.window.setStatusBarMessage(text, 3000)
    },
    [CommandId.showQuestion]: () => attention.show(),
    [HiddenCommandId.answerNotification]: (id: unknown, choice: unknown) => attention.answer(id, choice),
    [ProposalId.apply]: (uri: unknown) => proposals.answer(true, uri),
    [ProposalId.discard]: (uri: unknown) => proposals.answer(false, uri),
  }
  const all: CommandHandlers = { ...handlers, ...titleBarCommands(surfaces, sideBar, tabs, handlers) }
  const commands = Object.fromEntries(
    Object.entries(all).map(([id, run]) => [
      id,
      (...args: unknown[]) => reportErrors(id, log, () => surfaces.run(() => run(...args))),
    ]),
  ) as CommandHandlers
  return { sideBar, historyTab, tabs, manageAgents, commands, processesEnded: guard.closed, tracker }
}

/** The folders of the editor's settings: the user's, and in a remote window the machine's. */
function settingsFolders({ globalStorageUri }: vscode.ExtensionContext): string[] {
  // …/User/globalStorage/<extension>
  const user = path.dirname(path.dirname(globalStorageUri.fsPath))
  return [user, path.join(path.dirname(user), 'Machine')]
}

function checkpointLimits(): CheckpointLimits {
  const days = readSetting('checkpoints.maximumAge')
  const megabytes = readSetting('checkpoints.maximumSize')
  return {
    maxAgeMs: days === 0 ? Number.POSITIVE_INFINITY : days * 24 * 3_600_000,
    maxBytes: megabytes === 0 ? Number.POSITIVE_INFINITY : megabytes * 1_000_000,
  }
}

/** Maximum size of all saved conversations in bytes; 0: no limit. */
function maxHistoryBytes(): number {
  const megabytes = readSetting('history.maximumSize')
  return megabytes > 0 ? Math.max(1, megabytes) * 1_000_000 : 0
}
