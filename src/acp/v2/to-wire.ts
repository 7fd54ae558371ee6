import type { McpServer } from '../model.ts'

/** Every kind of server names its `type`. There is no `sse` in v2: no agent has the capability, so none is sent. */
export function serverToWire(server: McpServer) {
  if (server.type === 'stdio') {
    const { type, name, command, args, env } = server
    return { type, name, command, args, env }
  }
  const { type, name, url, headers } = server
  return { type, name, url, headers }
}

/** The value of a config option as `session/set_config_option` has it. */
export function valueToWire(value: string | boolean) {
  return typeof value === 'boolean' ? { type: 'boolean' as const, value } : { type: 'id' as const, value }
}
