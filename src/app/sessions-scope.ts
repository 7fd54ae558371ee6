import { startAgent } from '../acp/start-agent.ts'
import { startInstalled } from '../agents/registry/installed-agents.ts'
import type { DisposableStore } from '../common/disposable.ts'
import { SessionListing } from '../history/session-listing.ts'
import { AgentClients } from '../sessions/agent-client.ts'
import { HistoryList } from '../sessions/listing/history-list.ts'
import { SessionDeleter } from '../sessions/listing/session-deleter.ts'
import { restoreNeeded, SessionDeletions } from '../sessions/listing/session-deletions.ts'
import { SessionOrganizer } from '../sessions/listing/session-organizer.ts'
import { PromptQueues } from '../sessions/prompt-queues.ts'
import { AgentRunners } from '../sessions/runners/agent-runners.ts'
import { HostedAgents } from '../sessions/runners/hosted-agents.ts'
import { SavedSessions } from '../sessions/saved-sessions.ts'
import { SessionManager } from '../sessions/session-manager.ts'
import { SessionStarter } from '../sessions/session-starter.ts'
import { Accounts } from '../sessions/sign-in/accounts.ts'
import { applyProviders } from './commands/provider-commands.ts'
import { Comparisons } from './compare/comparisons.ts'
import type { ProcessScope } from './process-scope.ts'
import type { SessionWindow } from './session-window.ts'

export type SessionsScope = ReturnType<typeof createSessionsScope>

/** Creates the open sessions and their agents. `window` contains what they need from the editor. */
export function createSessionsScope(
  { guard, hosts, installed, log, openSessions, records, secrets, transcripts }: ProcessScope,
  window: SessionWindow,
  own: DisposableStore,
) {
  const { agents, environments, nameOf, providers, rules, tracker } = window
  // registered before sessions open, since sessions may belong to agents in the agent host
  own.add(window.onDidChangeTrust(() => void hosted.start()))
  const queues = own.add(
    new PromptQueues({
      storage: window.drafts,
      sources: window.sources,
      openSessions,
      continuing: {
        continues: key => hosted.continues(key),
        sessionOf: queue => openSessions.sessionOf(queue),
      },
    }),
  )
  const { held } = openSessions
  const manager = new SessionManager({
    ...{ openSessions, records, transcripts, queues, rules, tracker },
    services: {
      files: window.files,
      onDidSave: window.onDidSave,
      environment: async folder => (await window.projects.environmentFor(folder)).env,
      guard,
      turns: window.turns,
    },
    usage: records,
    limits: window.limits,
  })
  environments.follow(manager)
  const clients = new AgentClients({
    manager,
    activeSession: window.activeSession,
    nameOf,
    nativeElicitation: window.nativeElicitation,
    mcpMessage: window.editorTools.message,
  })
  const runners: AgentRunners = own.add(
    new AgentRunners({
      agents,
      lastName: agentId => records.agent(agentId)?.name,
      start: startInstalled(startAgent, installed, log),
      prepare: applyProviders(providers, window.agentLog),
      client: clients.of,
      // an agent on a server doesn't get the environment of a project
      starting: (agentId, { cwd, remote }) => (remote ? () => {} : environments.starting(agentId, cwd)),
      nextEarlier: agentId => hosted.nextEarlier(agentId),
      reattach: (agentId, running) => {
        environments.continued(agentId, running.cwd)
        return hosted.reattach(agentId, running)
      },
      connectOptions: window.connectOptions(agentId => hosted.startProcess(agentId)),
    }),
  )
  // Disposed before the runners end their agents, so that the end isn't stored. Sessions of the agent host continue.
  own.add(manager)
  const hosted = new HostedAgents({
    ...{ hosts, runners, manager, held, records, transcripts, queues, agents, nameOf, log },
    planner: window.planner,
    workspace: window.workspace,
    keep: window.keepAgents,
    trusted: window.trusted,
    isSearchSure: window.isSearchSure,
    launchOf: window.configuredStart,
    holdSecrets: async agentId => {
      await Promise.all([window.signInValues.hold(agentId), providers.hold(agentId)])
    },
    lastAgentId: window.lastAgentId,
    onUnavailable: window.onUnavailable,
    onTooMuchUnsaved: window.onTooMuchUnsaved,
    onUnreachable: window.onUnreachable,
    mark: window.markAgents,
  })
  const saved = new SavedSessions({ manager, runner: runners.get, agents, records, transcripts })
  const starter = new SessionStarter({
    ...{ manager, held, saved, clients, records, transcripts, queues, hosted },
    planner: window.planner,
    runner: runners.get,
    startOptions: window.startOptions,
    usage: records,
  })
  void hosted.start().finally(() => window.agentsBack.resolve())
  const accounts = own.add(new Accounts(agents, runners, log))
  const organizer = own.add(new SessionOrganizer({ runner: runners.get, manager, records }))
  const deleter = own.add(
    new SessionDeleter({ manager, held, runner: runners.get, records, transcripts, queues }),
  )
  const deletions = own.add(new SessionDeletions())
  own.add(restoreNeeded(deletions, openSessions))
  const history = own.add(
    new HistoryList({
      ...{ agents, runners, manager, records, organizer, deletions },
      savedKeys: () => transcripts.keys(),
      listingOf: agent => new SessionListing(agent, { archived: 'include' }),
    }),
  )
  own.add(accounts.onDidSign(() => void history.refresh()))
  const comparisons = own.add(
    new Comparisons({
      ...{ manager, drafts: window.drafts, store: window.views },
      onDidDelete: transcripts.onDidDelete,
      redact: text => secrets.redact(text),
    }),
  )
  return {
    ...{ accounts, comparisons, deleter, deletions, held, history, hosted, manager, organizer },
    ...{ queues, runners, saved, starter },
  }
}
