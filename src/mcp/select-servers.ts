import type { AgentCapabilities, McpServer } from '../acp/model.ts'
import { messageOf } from '../common/errors.ts'
import type { ServerResolution } from './resolve-server.ts'
import type { McpServerDefinition, McpServerNote } from './server-definition.ts'

/** What a session gets, and what is said of each server that is configured. */
export interface ServerSelection {
  passed: McpServer[]
  notes: McpServerNote[]
}

const transportNames = { stdio: 'servers it starts itself', http: 'HTTP', sse: 'SSE' } as const

/**
 * Chooses what an agent gets: only servers of a kind it can connect to, and of those the ones that can be resolved.
 * What the agent cannot take is not resolved, so that nobody is asked for a value that has no use. Never rejects.
 */
export async function selectServers(
  servers: readonly McpServerDefinition[],
  capabilities: AgentCapabilities['mcp'],
  resolve: (server: McpServerDefinition) => Promise<ServerResolution>,
): Promise<ServerSelection> {
  const passed: McpServer[] = []
  const notes: McpServerNote[] = []
  for (const server of servers) {
    const { name, type } = server
    const resolution = await selectOne(server, capabilities, resolve)
    if ('reason' in resolution) {
      notes.push({ name, type, passed: false, reason: sentence(resolution.reason) })
      continue
    }
    passed.push(resolution.server)
    const { note } = resolution
    notes.push({ name, type, passed: true, ...(note === undefined ? {} : { reason: sentence(note) }) })
  }
  return { passed, notes }
}

async function selectOne(
  server: McpServerDefinition,
  capabilities: AgentCapabilities['mcp'],
  resolve: (server: McpServerDefinition) => Promise<ServerResolution>,
): Promise<ServerResolution> {
  if (server.disabled) return { reason: 'it is disabled in the settings' }
  if (!capabilities[server.type]) {
    return { reason: `the agent does not connect to MCP servers over ${transportNames[server.type]}` }
  }
  try {
    return await resolve(server)
  } catch (error) {
    return { reason: `it could not be prepared: ${messageOf(error)}` }
  }
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
}
