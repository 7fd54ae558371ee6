import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { startAgent } from './acp/start-agent.ts'
import { createProcessGuard } from './acp/transport/process-guard.ts'
import { DisposableStore } from './common/disposable.ts'
import { Diffs } from './editor/changes/vscode-diffs.ts'
import { Proposals } from './editor/changes/vscode-proposals.ts'
import { onDidSaveFile, vscodeFiles } from './editor/files/vscode-files.ts'
import { selectionAttachment } from './editor/mentions/vscode-attachments.ts'
import { LocalSessions } from './history/local-sessions.ts'
import { StorageTrouble } from './history/storage-trouble.ts'
import { Transcripts } from './history/transcripts.ts'
import { ConversationController } from './sessions/conversation-controller.ts'
import { AgentHosts } from './sessions/hosts/agent-hosts.ts'
import { SessionUpkeep } from './sessions/listing/session-upkeep.ts'
import type { Keep } from './sessions/ports.ts'
import { SessionManager } from './sessions/session-manager.ts'
import { Accounts } from './sessions/sign-in/accounts.ts'
import { AgentLogs } from './views/agents/agent-logs.ts'
import { agentParts } from './views/agents/agent-parts.ts'
import { applyProviders } from './views/agents/configure-providers.ts'
import { connectOptions } from './views/agents/connect-options.ts'
import { ProtocolTraffic } from './views/agents/protocol-traffic.ts'
import { signInTerminal } from './views/agents/sign-in-terminal.ts'
import { Attention } from './views/attention.ts'
import { registerAgentCommands } from './views/commands/agent-commands.ts'
import { registerCommands } from './views/commands/commands.ts'
import { registerConversationCommands } from './views/commands/conversation-commands.ts'
import { composerParts, registerComposerCommands } from './views/composer-parts.ts'
import { conversationActions } from './views/conversation/conversation-actions.ts'
import { placeConversations } from './views/conversation/place-conversations.ts'
import { placeHistory } from './views/history/place-history.ts'
import { NativePrompts } from './views/native-elicitation.ts'
import { ruleSettings } from './views/rule-settings.ts'
import { WorkspaceSessionPlanner } from './views/session-planner.ts'
import { StatusBar } from './views/status-bar.ts'
import { keepForWork, keepIn } from './views/storage/kept-state.ts'
import { workParts } from './views/work-parts.ts'

/** Builds the parts and connects them. VS Code calls it when a view is shown or a command is run. */
export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle })
  const own = new DisposableStore()
  context.subscriptions.push(own)

  const log = own.add(vscode.window.createOutputChannel('Parley', { log: true }))
  const logs = own.add(new AgentLogs())
  const traffic = own.add(new ProtocolTraffic())
  const { extensionUri } = context
  const bundle = (name: string) => vscode.Uri.joinPath(extensionUri, 'dist', name).fsPath

  const parts = agentParts({ context, demoScript: bundle('demo-agent.mjs'), log, logs, own })
  const { agents, mcp, rules, inputs, signInValues, providers } = parts
  const { nameOf, protocolOf, systemPromptOf, commandEnvironment } = parts
  const guard = own.add(createProcessGuard({ script: bundle('process-guard.cjs'), log }))
  const composer = composerParts(context, log, own)

  const trouble = new StorageTrouble(message => void vscode.window.showWarningMessage(message))
  const fileOf = (name: string) => vscode.Uri.joinPath(context.globalStorageUri, name).fsPath
  const records = own.add(new LocalSessions({ file: fileOf('sessions.db'), trouble, log }))
  const transcripts = own.add(new Transcripts({ file: fileOf('conversations.db'), trouble, log }))
  const work = workParts(context, log, own)
  const hosts: AgentHosts = own.add(
    new AgentHosts({
      agents,
      lastName: agentId => records.agent(agentId)?.name,
      start: startAgent,
      prepare: applyProviders(providers, agentId => logs.for(agentId, nameOf(agentId))),
      client: (agentId, sessions) => manager.client(agentId, sessions),
      connectOptions: connectOptions(context, { logs, traffic, guard, nameOf, protocolOf }),
    }),
  )
  const manager: SessionManager = own.add(
    new SessionManager({
      host: hosts.get,
      planner: new WorkspaceSessionPlanner(mcp, context.globalStorageUri.fsPath, systemPromptOf),
      services: { files: vscodeFiles(log), onDidSave: onDidSaveFile, environment: commandEnvironment, guard },
      records,
      transcripts,
      drafts: composer.drafts,
      activeSession: agentId => {
        const { controller, isVisible } = surfaces.active
        const { current } = controller
        return isVisible && current?.agentId === agentId ? current.session : undefined
      },
      nativeElicitation: new NativePrompts(nameOf),
      rules,
      changesKeep: work.changesKeep,
    }),
  )
  const accounts = own.add(new Accounts(agents, hosts, log))
  const createController = (keep: Keep) =>
    new ConversationController({
      manager,
      agents,
      host: hosts.get,
      trusted: () => vscode.workspace.isTrusted,
      keep,
      drafts: composer.drafts,
      signInTerminal: signInTerminal(agents.resolveLaunch, nameOf),
      signInVariables: (agentId, method, signal) => signInValues.signIn(agentId, method, signal),
      accounts,
      elsewhere: (reference, mine) => surfaces.elsewhere(reference, mine),
      log,
    })
  const upkeep = own.add(new SessionUpkeep({ host: hosts.get, manager, records }))
  const bridge = {
    agents,
    accounts,
    upkeep,
    ...composer,
    follow: work.follow,
    changes: work.changes(manager),
    ruleMessages: { rules, consent: parts.ruleConsent, settings: ruleSettings },
    actions: conversationActions(own.add(new Diffs()), own.add(new Proposals())),
    log,
  }
  const { sideBar, surfaces, tabs, marks } = placeConversations({
    extensionUri,
    bridge,
    manager,
    keep: keepIn(context.workspaceState),
    createController,
    own,
  })
  work.follow.follow(manager, surfaces)
  own.add(new StatusBar(surfaces, marks))
  own.add(new Attention(surfaces, manager, sideBar))
  const sessions = { agents, hosts, manager, records, upkeep, accounts }
  const isKept = (agentId: string, sessionId: string) => transcripts.has(agentId, sessionId)
  const places = { extensionUri, surfaces, marks, isKept, atWork: keepForWork(context, log), log, own }
  const { history, actions } = placeHistory({ ...sessions, ...places })
  own.add(registerConversationCommands({ surfaces, sideBar, tabs, manager, marks, history, actions, log }))
  registerComposerCommands(surfaces, composer.optionMemory, log, own)
  const host = hosts.get
  own.add(registerAgentCommands({ surfaces, agents, host, signInValues, providers, upkeep, accounts, log }))
  own.add(
    registerCommands({
      surfaces,
      agents,
      logs,
      traffic,
      log,
      selection: selectionAttachment,
      pickSession: how => actions.pick(how),
      refreshHistory: () => void history.refresh(),
      forgetMcpInputs: () => inputs.clear(),
    }),
  )
}
