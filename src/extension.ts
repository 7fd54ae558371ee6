import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { startAgent } from './acp/start-agent.ts'
import { createProcessGuard } from './acp/transport/process-guard.ts'
import { DisposableStore } from './common/disposable.ts'
import { Diffs } from './editor/vscode-diffs.ts'
import { vscodeFiles } from './editor/vscode-files.ts'
import { LocalSessions } from './history/local-sessions.ts'
import { SessionListing } from './history/session-listing.ts'
import { Transcripts } from './history/transcripts.ts'
import { Activities } from './sessions/activities.ts'
import { AgentHosts } from './sessions/agent-hosts.ts'
import { ConversationController } from './sessions/conversation-controller.ts'
import { HistoryList } from './sessions/history-list.ts'
import type { Keep } from './sessions/ports.ts'
import { SessionManager } from './sessions/session-manager.ts'
import { AgentLogs } from './views/agent-logs.ts'
import { agentParts } from './views/agent-parts.ts'
import { Attention } from './views/attention.ts'
import { registerCommands } from './views/commands.ts'
import { connectOptions } from './views/connect-options.ts'
import { conversationActions } from './views/conversation/conversation-actions.ts'
import { placeConversations } from './views/conversation/place-conversations.ts'
import { HistoryView } from './views/history/history-view.ts'
import { KeptDrafts, keepForDrafts, keepIn } from './views/kept-state.ts'
import { NativePrompts } from './views/native-elicitation.ts'
import { ProtocolTraffic } from './views/protocol-traffic.ts'
import { selectionAttachment } from './views/selection-attachment.ts'
import { SessionActions } from './views/session-actions.ts'
import { WorkspaceSessionPlanner } from './views/session-planner.ts'
import { registerSignInCommands } from './views/sign-in-commands.ts'
import { signInTerminal } from './views/sign-in-terminal.ts'
import { StatusBar } from './views/status-bar.ts'

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

  const { agents, mcp, inputs, signInValues, nameOf, protocolOf, commandEnvironment } = agentParts({
    context,
    demoScript: bundle('demo-agent.mjs'),
    log,
    logs,
    own,
  })
  const guard = own.add(createProcessGuard({ script: bundle('process-guard.cjs'), log }))
  const drafts = own.add(new KeptDrafts(keepForDrafts(context, log)))

  const database = (name: string) => ({
    file: vscode.Uri.joinPath(context.globalStorageUri, name).fsPath,
    onProblem: (message: string) => void vscode.window.showWarningMessage(message),
    log,
  })
  const records = own.add(new LocalSessions(database('sessions.db')))
  const transcripts = own.add(new Transcripts(database('conversations.db')))
  const hosts: AgentHosts = own.add(
    new AgentHosts({
      agents,
      start: startAgent,
      client: (agentId, sessions) => manager.client(agentId, sessions),
      connectOptions: connectOptions(context, {
        logs,
        traffic,
        guard,
        nameOf,
        protocolOf,
      }),
    }),
  )
  const manager: SessionManager = own.add(
    new SessionManager({
      host: hosts.get,
      planner: new WorkspaceSessionPlanner(mcp, context.globalStorageUri.fsPath),
      services: {
        files: vscodeFiles(log),
        environment: commandEnvironment,
        guard,
      },
      records,
      transcripts,
      activeSession: agentId => {
        const { current } = surfaces.active.controller
        return current?.agentId === agentId ? current.session : undefined
      },
      nativeElicitation: new NativePrompts(nameOf),
    }),
  )
  const createController = (keep: Keep) =>
    new ConversationController({
      manager,
      agents,
      host: hosts.get,
      trusted: () => vscode.workspace.isTrusted,
      keep,
      drafts,
      signInTerminal: signInTerminal(agents.resolveLaunch, nameOf),
      signInVariables: (agentId, method, signal) => signInValues.signIn(agentId, method, signal),
      log,
    })
  const activities = own.add(new Activities(manager))
  const bridge = { agents, drafts, actions: conversationActions(own.add(new Diffs())), log }
  const { sideBar, surfaces, tabs } = placeConversations({
    extensionUri,
    bridge,
    keep: keepIn(context.workspaceState),
    createController,
    own,
  })
  own.add(new StatusBar(surfaces, activities))
  own.add(new Attention(surfaces, activities, sideBar))
  const history = own.add(
    new HistoryList({ agents, hosts, manager, records, listingOf: agent => new SessionListing(agent) }),
  )
  const actions = new SessionActions(surfaces, manager, history)
  own.add(new HistoryView(extensionUri, { history, activities, actions, log }))
  own.add(registerSignInCommands({ surfaces, agents, host: hosts.get, signInValues, log }))
  own.add(
    registerCommands({
      surfaces,
      agents,
      tabs,
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
