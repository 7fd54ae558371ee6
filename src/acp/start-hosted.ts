import { SpawnError } from '../common/processes/spawn-process.ts'
import { AgentGoneError, type AgentLaunch, type ConnectOptions } from './agent.ts'
import { AgentProcess } from './transport/agent-process.ts'
import { AgentHosts, type OtherHost } from './transport/host/agent-hosts.ts'
import type {
  AgentClaim,
  AgentTag,
  HostedAgentInfo,
  OutliveTimes,
} from './transport/host/hosted-agent-state.ts'
import { QUICK_STOP } from './transport/running-process.ts'

export type { HostedAgentInfo, OutliveTimes }
export { AgentHosts, type OtherHost }

export interface HostedStart {
  hosts: Pick<AgentHosts, 'start'>
  tag: AgentTag
  /** Returns how long the agent may continue without a window; called when the agent starts. */
  keep: () => OutliveTimes
  /** Called if no host is available, so that the agent ends with its window. */
  onUnavailable: (reason: unknown) => void
}

/** An agent that another window started in the host. This window connects to the agent as if it had started it. */
export interface EarlierAgent {
  /** How the agent was started, without the environment, which the host doesn't report. */
  launch: AgentLaunch
  /** Rejects with {@link AgentGoneError} if this window can't have the agent. */
  startProcess: NonNullable<ConnectOptions['startProcess']>
}

/**
 * Returns how to attach to an earlier agent. `mayHave` is called once this window is attached; if it returns `false`, the window detaches
 * again.
 */
export function earlierAgent(
  hosts: Pick<AgentHosts, 'attach'>,
  { id, command, args, cwd }: HostedAgentInfo,
  claim: AgentClaim,
  mayHave: () => boolean = () => true,
): EarlierAgent {
  return {
    // A host that another version of Parley started doesn't report the arguments.
    launch: { command, args: [...(args ?? [])], cwd, env: {} },
    startProcess: async (_, options) => {
      const process = await hosts.attach(id, 0, options, claim)
      if (process && !mayHave()) await process.detach()
      else if (process?.state.initialize) return process
      // The agent never answered `initialize`, so it's useless.
      else await process?.stop(QUICK_STOP)
      throw new AgentGoneError()
    },
  }
}

/** Returns a function that starts an agent in the agent host, or in this process if no host is available. */
export function startHosted(hosted: HostedStart): NonNullable<ConnectOptions['startProcess']> {
  const { hosts, tag, keep, onUnavailable } = hosted
  return async (launch, options) => {
    try {
      const process = await hosts.start(launch, tag, options)
      process.keep(keep())
      return process
    } catch (error) {
      if (error instanceof SpawnError) throw error
      onUnavailable(error)
      return AgentProcess.start(launch, options)
    }
  }
}
