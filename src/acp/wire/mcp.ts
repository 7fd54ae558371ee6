import * as z from 'zod'
import type { AgentClient } from '../agent.ts'
import { given } from './content.ts'
import { answer } from './requests.ts'

/**
 * The method of the agent's requests to MCP servers of the client, and of notifications about these requests (unstable). The same in both
 * versions.
 */
export const MCP_METHOD = 'mcp/message'

/** The maximum length of ids and methods, in characters. Real ones have fewer than 100. */
const MAX_NAME = 1000
const name = z.string().max(MAX_NAME)

export const mcpRequestSchema = z.object({
  serverId: name,
  requestId: name,
  method: name,
  params: z.record(z.string(), z.unknown()).nullish(),
})

/** Answers `mcp/message`. Returns `undefined` if the client has no MCP servers. `notify` sends a notification about the request. */
export function answerMcp(
  client: Pick<AgentClient, 'mcpMessage'>,
  params: unknown,
  signal: AbortSignal,
  notify: (about: object) => void,
): Promise<unknown> | undefined {
  const ask = client.mcpMessage?.bind(client)
  if (!ask) return undefined
  return answer(mcpRequestSchema, params, async ({ serverId, requestId, method, params: inner }) => {
    const request = { serverId, requestId, method, ...given('params', inner) }
    return ask(request, signal, (about, details) =>
      notify({ serverId, requestId, method: about, ...given('params', details) }),
    )
  })
}
