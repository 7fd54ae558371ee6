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
  /** How long the agent may go on without a window, at first. */
  keep: () => OutliveTimes
  /** No host is available, so the agent ends with its window. */
  onUnavailable: (reason: unknown) => void
}

/** An agent that another window started in the host; this window connects to it as if it had started the agent. */
export interface EarlierAgent {
  /** How the agent was started, as far as the host tells: without its environment. */
  launch: AgentLaunch
  /** Rejects with {@link AgentGoneError} if this window can't have it. */
  startProcess: NonNullable<ConnectOptions['startProcess']>
}

/** `mayHave` is called once this window is attached; if it returns false, the window leaves the agent again. */
export function earlierAgent(
  hosts: Pick<AgentHosts, 'attach'>,
  { id, command, args, cwd }: HostedAgentInfo,
  claim: AgentClaim,
  mayHave: () => boolean = () => true,
): EarlierAgent {
  return {
    // a host that another version of Parley started doesn't tell the arguments
    launch: { command, args: [...(args ?? [])], cwd, env: {} },
    startProcess: async (_, options) => {
      const process = await hosts.attach(id, 0, options, claim)
      if (process && !mayHave()) await process.detach()
      else if (process?.state.initialize) return process
      // the agent never became ready
      else await process?.stop(QUICK_STOP)
      throw new AgentGoneError()
    },
  }
}

/** Starts an agent in the agent host; in this process, if there is no host. */
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
