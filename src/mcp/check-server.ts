import type { McpServer } from '../acp/model.ts'
import type { CheckOptions, ServerCheck } from './server-check.ts'

/**
 * Connects once to an MCP server and lists its tools. A server that it starts is ended with its whole tree before this
 * resolves. Never rejects. The MCP SDK is loaded with the first call.
 */
export async function checkServer(server: McpServer, options: CheckOptions): Promise<ServerCheck> {
  const { runCheck } = await import('./run-check.ts')
  return runCheck(server, options)
}
