import type { AgentHost } from '../hosts/agent-host.ts'

/**
 * Signs out of an agent: forgets what is kept for it, and tells the agent where it can be told. A process that was given
 * kept values still has them, so it is ended, also one that never answers: when the waiting is `givenUp`. Resolves with
 * whether there was anything to do; rejects with the agent's refusal, or as a start does.
 */
export async function signOut(
  host: AgentHost,
  forget: () => Promise<boolean>,
  givenUp?: AbortSignal,
): Promise<boolean> {
  const forgotten = await forget()
  const { agent } = await host.ensure(givenUp)
  const { logout } = agent.capabilities
  const stop = () => {
    if (forgotten) host.stop()
  }
  givenUp?.addEventListener('abort', stop, { once: true })
  try {
    if (logout) await agent.logout()
  } finally {
    givenUp?.removeEventListener('abort', stop)
    stop()
  }
  return forgotten || logout
}
