import type { CatalogAgent } from '../../agents/agent-catalog.ts'
import type { AgentRunners } from '../../sessions/runners/agent-runners.ts'

/** The ids of those that run of an agent and its accounts, which start the same files. */
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
