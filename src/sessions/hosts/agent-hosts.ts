import type { Agent, AgentClient, ConnectOptions, StartAgent } from '../../acp/agent.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { AgentSessions } from '../../conversation/agent-sessions.ts'
import type { AgentDirectory } from '../ports.ts'
import { AgentHost } from './agent-host.ts'

export interface AgentHostsOptions {
  agents: AgentDirectory
  /** What an agent was called that there is no more. */
  lastName?: (agentId: string) => string | undefined
  start: StartAgent
  client: (agentId: string, sessions: () => AgentSessions | undefined) => AgentClient
  connectOptions: (agentId: string) => Omit<ConnectOptions, 'signal'>
  /** Told of a process that has just started, before anybody has it. Does not reject. */
  prepare?: (agentId: string, agent: Agent) => Promise<void>
}

/** The hosts of all agents of this window; one is made when its agent is first asked for. */
export class AgentHosts extends Owner {
  readonly #options: AgentHostsOptions
  readonly #hosts = new Map<string, AgentHost>()
  readonly #change = this.register(new Emitter<void>())

  /** An agent was started, is starting or ended. */
  readonly onDidChange = this.#change.event

  constructor(options: AgentHostsOptions) {
    super()
    this.#options = options
  }

  readonly get = (agentId: string): AgentHost => {
    const known = this.#hosts.get(agentId)
    if (known) return known
    const { agents, lastName, start, client, connectOptions, prepare } = this.#options
    const host = this.register(
      new AgentHost({
        agentId,
        name: () => agents.get(agentId)?.name ?? lastName?.(agentId) ?? agentId,
        resolveLaunch: () => agents.resolveLaunch(agentId),
        start,
        client: sessions => client(agentId, sessions),
        connectOptions: () => connectOptions(agentId),
        prepare: async agent => prepare?.(agentId, agent),
      }),
    )
    this.#hosts.set(agentId, host)
    this.register(host.onDidChange(() => this.#change.fire()))
    return host
  }

  /** The host of an agent that was asked for before. */
  peek(agentId: string): AgentHost | undefined {
    return this.#hosts.get(agentId)
  }
}
