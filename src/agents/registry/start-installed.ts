import { sep } from 'node:path'
import * as l10n from '@vscode/l10n'
import { type AgentLaunch, AgentStartError, type StartAgent } from '../../acp/agent.ts'
import type { Logger } from '../../common/logger.ts'
import type { InstalledAgent, InstalledAgents } from './installed-agents.ts'

/**
 * Starts agents as `start` does. An installed one keeps its folder while it runs, and an update that does not start is
 * taken back: the next start is the version's before it, which the error says.
 */
export function startInstalled(start: StartAgent, installed: InstalledAgents, log: Logger): StartAgent {
  return async (launch, client, options) => {
    const agent = agentOf(launch, installed.agents)
    if (!agent) return start(launch, client, options)
    const release = installed.use(agent)
    try {
      const running = await start(launch, client, options)
      running.onDidClose(() => release())
      void installed.started(agent).catch(error => log.warn(String(error)))
      return running
    } catch (error) {
      release()
      if (!(error instanceof AgentStartError) || error.failure.kind === 'cancelled') throw error
      const version = agent.canRollBack ? await installed.rollBack(agent) : undefined
      if (version === undefined) throw error
      log.warn(`${agent.name} ${agent.version} did not start; version ${version} is used again`)
      const message = l10n.t(
        "{0} {1} didn't start, so version {2} was restored. Try again. The error was: {3}",
        agent.name,
        agent.version,
        version,
        error.message,
      )
      throw new AgentStartError(error.failure, message)
    }
  }
}

/** The installed agent that a launch is of: its program, or the script that VS Code's Node runs, is in its folder. */
function agentOf(
  { command, args }: AgentLaunch,
  agents: readonly InstalledAgent[],
): InstalledAgent | undefined {
  return agents.find(({ directory }) =>
    [command, args[0] ?? ''].some(path => path.startsWith(directory + sep)),
  )
}
