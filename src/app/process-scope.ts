import { startAgent } from '../acp/start-agent.ts'
import { accountFolders } from '../agents/agent-settings.ts'
import { startInstalled } from '../agents/registry/installed-agents.ts'
import { deferred } from '../common/async.ts'
import type { DisposableStore } from '../common/disposable.ts'
import { createProcessGuard } from '../common/processes/process-guard.ts'
import { LAST_SESSION } from '../common/session-key.ts'
import { storeGitFoldersIn } from '../editor/git-folders.ts'
import { PathGuard } from '../editor/path-guard.ts'
import { PathRules } from '../editor/path-rules.ts'
import { ProtectedFiles } from '../editor/protected-files.ts'
import { allowedTools, EditorTools } from '../mcp/server/editor-tools.ts'
import { AgentClients } from '../sessions/agent-client.ts'
import { SessionDeleter } from '../sessions/listing/session-deleter.ts'
import { SessionOrganizer } from '../sessions/listing/session-organizer.ts'
import type { SessionReference } from '../sessions/open-session.ts'
import { PromptQueues } from '../sessions/prompt-queues.ts'
import { AgentRunners } from '../sessions/runners/agent-runners.ts'
import { HostedAgents } from '../sessions/runners/hosted-agents.ts'
import { SavedSessions } from '../sessions/saved-sessions.ts'
import { HeldSessions } from '../sessions/session-leases.ts'
import { SessionManager } from '../sessions/session-manager.ts'
import { SessionStarter } from '../sessions/session-starter.ts'
import { Accounts } from '../sessions/sign-in/accounts.ts'
import {
  agentHosts,
  connectOptions,
  createAgentServices,
  noticeOfOtherHost,
  noticeOfUnsaved,
  noticeWithoutHost,
} from './agents/agent-services.ts'
import { limitSettings } from './commands/limit-command.ts'
import { applyProviders } from './commands/provider-commands.ts'
import { composerServices } from './conversation/conversation-services.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { Platform } from './platform.ts'
import { WorkspaceSessionPlanner } from './session-planner.ts'
import { createChangeServices, createStorageServices } from './storage/storage-services.ts'
import { gitFolderStore, HAS_AGENTS, turnStore, viewStore } from './storage/stores.ts'
import { settingOf } from './workbench.ts'

export type ProcessScope = ReturnType<typeof createProcessScope>

/** Creates what lives as long as the process and needs no view: stores, agents and their sessions. */
export function createProcessScope(
  platform: Platform,
  surfaces: Pick<ConversationSurfaces, 'sessionOf'>,
  own: DisposableStore,
) {
  const { workbench, storage, log, secrets } = platform
  // before sessions open, since they may belong to agents in the host
  own.add(platform.trust.onDidChange(() => void hosted.start()))
  const guardScript = platform.fileInExtension('dist', 'process-guard.cjs')
  const guard = own.add(createProcessGuard({ script: guardScript, log }))
  const stored = createStorageServices(platform, own)
  const { records, transcripts } = stored
  const lastName = (agentId: string) => records.agent(agentId)?.name
  const protectedFiles = new ProtectedFiles(new PathRules(), platform.settingsFolders, () =>
    accountFolders(platform.settings),
  )
  const agentServices = createAgentServices({
    ...{ platform, own, protectedFiles, guard, lastName },
    windows: stored.windowRows,
  })
  const { agents, rules, nameOf, providers } = agentServices
  const composer = composerServices(storage, stored.conversations, own)
  /** resolves when this window has taken over the turns of an earlier one */
  const agentsBack = deferred()
  const { files, tracker } = createChangeServices(platform, protectedFiles, own, agentsBack.promise, stored)

  storeGitFoldersIn(gitFolderStore(storage, log))
  const views = viewStore(storage, log)
  const hosts = agentHosts(platform)
  const queues = own.add(
    new PromptQueues({
      storage: composer.drafts,
      sources: workbench.context.sources,
      continuing: {
        continues: key => hosted.continues(key),
        sessionOf: queue => manager.sessionOf(queue),
      },
    }),
  )
  const held = new HeldSessions(stored.leases)
  const manager = new SessionManager({
    ...{ records, transcripts, held, queues, rules, tracker },
    services: {
      files,
      onDidSave: platform.onDidSaveFile,
      environment: async folder => (await agentServices.projects.in(folder)).env,
      guard,
      turns: turnStore(storage, log),
    },
    usage: records,
    limits: limitSettings(platform.settings, workbench),
  })
  agentServices.environments.follow(manager)
  const clients = new AgentClients({
    manager,
    activeSession: agentId => surfaces.sessionOf(agentId),
    nativeElicitation: platform.nativeElicitation(nameOf),
  })
  const runners: AgentRunners = own.add(
    new AgentRunners({
      agents,
      lastName,
      start: startInstalled(startAgent, agentServices.installed, log),
      prepare: applyProviders(providers, agentId => platform.logs.logger(agentId, nameOf(agentId))),
      client: clients.of,
      // a project's environment doesn't reach an agent on a server
      starting: (agentId, { cwd, remote }) =>
        remote ? () => {} : agentServices.environments.starting(agentId, cwd),
      nextEarlier: agentId => hosted.nextEarlier(agentId),
      reattach: (agentId, running) => {
        agentServices.environments.continued(agentId, running.cwd)
        return hosted.reattach(agentId, running)
      },
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
    keep: () => settingOf(workbench, 'keepAgentsRunning'),
    trusted: () => workbench.isTrusted,
    isSearchSure: agentServices.isSearchSure,
    launchOf: agentServices.configuredStart,
    holdSecrets: async agentId => {
      await Promise.all([agentServices.signInValues.hold(agentId), providers.hold(agentId)])
    },
    lastAgentId: () => storage.workspace.get<SessionReference>(LAST_SESSION)?.agentId,
    onUnavailable: noticeWithoutHost(workbench),
    onTooMuchUnsaved: noticeOfUnsaved(workbench),
    onUnreachable: () => void noticeOfOtherHost(workbench),
    mark: mayRun => views.set(HAS_AGENTS, mayRun || undefined),
  })
  const saved = new SavedSessions({ manager, runner: runners.get, records, transcripts })
  const starter = new SessionStarter({
    ...{ manager, held, saved, clients, planner, records, transcripts, queues, hosted },
    runner: runners.get,
    startOptions: async agentId => ({
      defaults: await agentServices.defaultOptionsOf(agentId),
      lastUsed: settingOf(workbench, 'useLastOptions') ? composer.optionMemory.lastUsed(agentId) : {},
    }),
    usage: records,
  })
  void hosted.start().finally(() => agentsBack.resolve())
  const accounts = own.add(new Accounts(agents, runners, log))
  const organizer = own.add(new SessionOrganizer({ runner: runners.get, manager, records }))
  const deleter = own.add(
    new SessionDeleter({ manager, held, runner: runners.get, records, transcripts, queues }),
  )
  return {
    ...agentServices,
    ...stored,
    ...composer,
    ...{
      accounts,
      deleter,
      editorTools,
      files,
      guard,
      held,
      hosted,
      hosts,
      manager,
      organizer,
      queues,
      runners,
    },
    ...{ saved, starter, tracker, views },
  }
}
