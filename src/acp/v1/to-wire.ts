import type { McpServer } from '../model.ts'

/** v1 tells a stdio server by its lack of a `type`. */
export function serverToWire(server: McpServer) {
  if (server.type === 'stdio') {
    const { name, command, args, env } = server
    return { name, command, args, env }
  }
  const { type, name, url, headers } = server
  return { type, name, url, headers }
}
