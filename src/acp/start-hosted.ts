import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import { SpawnError } from '../common/processes/spawn-process.ts'
import type { ConnectOptions } from './agent.ts'
import { AgentProcess } from './transport/agent-process.ts'
import { AgentHosts } from './transport/host/agent-hosts.ts'
import type { AgentTag, HostedAgentInfo, KeepTimes } from './transport/host/hosted-agent-state.ts'
import { QUICK_STOP } from './transport/running-process.ts'

export type { HostedAgentInfo, KeepTimes }
export { AgentHosts, QUICK_STOP }

export interface HostedStart {
  hosts: Pick<AgentHosts, 'start' | 'attach'>
  tag: AgentTag
  /** The id of an agent that an earlier window left and that wasn't tried yet. */
  nextLeft: () => Promise<string | undefined>
  /** How long the agent may go on without a window, at first. */
  keep: () => KeepTimes
  log: Logger
}

/** Goes on with an agent of an earlier window, or starts one in the agent host; in this process, if there is no host. */
export function startHosted(hosted: HostedStart): NonNullable<ConnectOptions['startProcess']> {
  const { hosts, tag, nextLeft, keep, log } = hosted
  return async (launch, options) => {
    for (let id = await nextLeft(); id !== undefined; id = await nextLeft()) {
      const process = await hosts.attach(id, 0, options)
      if (process?.state.initialize) return process
      // it never got ready
      await process?.stop(QUICK_STOP)
    }
    try {
      const process = await hosts.start(launch, tag, options)
      process.keep(keep())
      return process
    } catch (error) {
      if (error instanceof SpawnError) throw error
      log.warn(`${tag.name} runs in this window: ${messageOf(error)}`)
      return AgentProcess.start(launch, options)
    }
  }
}
