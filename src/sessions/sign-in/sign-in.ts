import { type Agent, AgentRequestError } from '../../acp/agent.ts'
import { RpcCode } from '../../acp/errors.ts'
import type { AuthMethod } from '../../acp/model.ts'
import type { AgentHost } from '../hosts/agent-host.ts'
import type { SignInTerminal, SignInVariables } from '../ports.ts'

export interface SignInOptions {
  host: (agentId: string) => AgentHost
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
}

/**
 * - `same`: the process that runs is signed in.
 * - `outdated`: a process that runs notices only when it starts anew.
 */
export type SignedIn = 'same' | 'outdated'

/** Signs in to an agent by one of its methods, whichever way that is done. Rejects when it came to nothing. */
export async function signIn(
  options: SignInOptions,
  agentId: string,
  methodId: string,
  method: AuthMethod | undefined,
  signal: AbortSignal,
): Promise<SignedIn> {
  const host = options.host(agentId)
  if (method?.type === 'terminal') {
    await options.signInTerminal(agentId, method, signal)
    return 'outdated'
  }
  if (method && asksForValues(method)) {
    await options.signInVariables(agentId, method, signal)
    await host.renew(async () => {
      const { agent } = await host.ensure(signal)
      await authenticateIfAsked(agent, methodId, signal)
    })
    return 'same'
  }
  const { agent } = await host.ensure(signal)
  await agent.authenticate(methodId, signal)
  return 'same'
}

/** Signing in takes values that the agent reads from its environment. */
export function asksForValues({ type, vars }: AuthMethod): boolean {
  return type === 'env_var' || (vars !== undefined && vars.length > 0)
}

/** Some agents take the variables only when they are asked to, others know nothing of being asked. */
async function authenticateIfAsked(agent: Agent, methodId: string, signal: AbortSignal): Promise<void> {
  try {
    await agent.authenticate(methodId, signal)
  } catch (error) {
    const unknown =
      error instanceof AgentRequestError &&
      (error.kind === 'unsupported' || error.code === RpcCode.methodNotFound)
    if (!unknown) throw error
  }
}
