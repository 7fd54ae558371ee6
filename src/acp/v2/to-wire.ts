import { NotSupportedError } from '../agent-errors.ts'
import type { McpServer } from '../model.ts'

/** Every kind of server names its `type`. There is no `sse` in v2, so no agent takes one. */
export function serverToWire(server: McpServer) {
  if (server.type === 'stdio') {
    const { type, name, command, args, env } = server
    return { type, name, command, args, env }
  }
  if (server.type === 'sse') throw new NotSupportedError('The agent takes no sse servers.')
  const { name, url, headers } = server
  return { type: 'http' as const, name, url, headers }
}

/** The value of a config option as `session/set_config_option` has it. */
export function valueToWire(value: string | boolean) {
  return typeof value === 'boolean' ? { type: 'boolean' as const, value } : { type: 'id' as const, value }
}
