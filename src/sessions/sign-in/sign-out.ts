import type { AgentHost } from '../hosts/agent-host.ts'

/**
 * Signs out of an agent: forgets what is kept for it, and tells the agent where it can be told. A process that was given
 * kept values still has them, so it is ended. Resolves with whether there was anything to do; rejects with the agent's
 * refusal, or as a start does.
 */
export async function signOut(host: AgentHost, forget: () => Promise<boolean>): Promise<boolean> {
  const forgotten = await forget()
  const { agent } = await host.ensure()
  const { logout } = agent.capabilities
  try {
    if (logout) await agent.logout()
  } finally {
    if (forgotten) host.stop()
  }
  return forgotten || logout
}
