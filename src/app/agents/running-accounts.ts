import type { CatalogAgent } from '../../agents/agent-catalog.ts'
import type { AgentRunners } from '../../sessions/runners/agent-runners.ts'

/** Returns the ids of running agents that share the files of this agent: the agent itself and its accounts. */
export function runningAccounts(
  agentId: string,
  {
    definitions,
    runners,
  }: { definitions: () => readonly CatalogAgent[]; runners: Pick<AgentRunners, 'peek'> },
): string[] {
  const accounts = definitions().filter(({ account }) => account?.of === agentId)
  return [agentId, ...accounts.map(({ id }) => id)].filter(id => runners.peek(id)?.running !== undefined)
}
