import type { Agent, AgentClient, AgentLaunch, ConnectOptions, StartAgent } from '../../acp/agent.ts'
import type { EarlierAgent } from '../../acp/start-hosted.ts'
import { Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { AgentSessions } from '../../conversation/agent-sessions.ts'
import type { AgentDirectory } from '../ports.ts'
import { AgentRunner, type RunningAgent } from './agent-runner.ts'

interface AgentRunnersOptions {
  agents: AgentDirectory
  /** Returns the last known name of an agent that is no longer configured. */
  lastName?: (agentId: string) => string | undefined
  /** Resolves to an agent process that an earlier window left running and that wasn't tried yet. */
  nextEarlier?: (agentId: string) => Promise<EarlierAgent | undefined>
  start: StartAgent
  /** Called before a new process starts; the returned function is called once the process can be used. */
  starting?: (agentId: string, launch: AgentLaunch) => () => void
  client: (agentId: string, sessions: () => AgentSessions | undefined) => AgentClient
  connectOptions: (agentId: string) => Omit<ConnectOptions, 'signal'>
  /** Called for a new process before it is used. Doesn't reject. */
  prepare?: (agentId: string, agent: Agent) => Promise<void>
  /** Called with an agent that an earlier window started, before it is used. Doesn't reject. */
  reattach?: (agentId: string, running: RunningAgent) => Promise<void>
}

/** The runners of all agents of this window, created on first use. */
export class AgentRunners extends Owner {
  readonly #options: AgentRunnersOptions
  readonly #runners = new Map<string, AgentRunner>()
  readonly #change = this.register(new Emitter<void>())

  /** Fires when an agent is starting, has started or has ended. */
  readonly onDidChange = this.#change.event

  constructor(options: AgentRunnersOptions) {
    super()
    this.#options = options
  }

  readonly get = (agentId: string): AgentRunner => {
    const known = this.#runners.get(agentId)
    if (known) return known
    const { agents, lastName, nextEarlier, start, starting, client, connectOptions, prepare, reattach } =
      this.#options
    const runner = this.register(
      new AgentRunner({
        agentId,
        name: () => agents.get(agentId)?.name ?? lastName?.(agentId) ?? agentId,
        resolveLaunch: () => agents.resolveLaunch(agentId),
        nextEarlier: async () => nextEarlier?.(agentId),
        start,
        starting: launch => starting?.(agentId, launch),
        client: sessions => client(agentId, sessions),
        connectOptions: () => connectOptions(agentId),
        prepare: async agent => prepare?.(agentId, agent),
        reattach: async running => reattach?.(agentId, running),
      }),
    )
    this.#runners.set(agentId, runner)
    this.register(runner.onDidChange(() => this.#change.fire()))
    return runner
  }

  /** Returns the runner of an agent, if the runner was created before. */
  peek(agentId: string): AgentRunner | undefined {
    return this.#runners.get(agentId)
  }
}
