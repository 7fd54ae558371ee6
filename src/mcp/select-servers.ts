import * as l10n from '@vscode/l10n'
import type { AgentCapabilities, McpServer } from '../acp/model.ts'
import { messageOf } from '../common/errors.ts'
import type { ServerResolution } from './resolve-server.ts'
import type { McpServerDefinition, McpServerNote } from './server-definition.ts'

/** What a session gets, and what is said of each server that is configured. */
export interface ServerSelection {
  passed: McpServer[]
  notes: McpServerNote[]
}

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
      notes.push({ name, type, passed: false, reason: resolution.reason })
      continue
    }
    passed.push(resolution.server)
    const { note } = resolution
    notes.push({ name, type, passed: true, ...(note === undefined ? {} : { reason: note }) })
  }
  return { passed, notes }
}

async function selectOne(
  server: McpServerDefinition,
  capabilities: AgentCapabilities['mcp'],
  resolve: (server: McpServerDefinition) => Promise<ServerResolution>,
): Promise<ServerResolution> {
  if (server.disabled) return { reason: l10n.t('Disabled in settings.') }
  if (!capabilities[server.type]) {
    return { reason: unable(server.type) }
  }
  try {
    return await resolve(server)
  } catch (error) {
    return { reason: l10n.t("The server couldn't be prepared: {0}", messageOf(error)) }
  }
}

function unable(type: McpServerDefinition['type']): string {
  switch (type) {
    case 'stdio':
      return l10n.t("The agent doesn't support MCP servers that run a command.")
    case 'http':
      return l10n.t("The agent doesn't support MCP servers over HTTP.")
    case 'sse':
      return l10n.t("The agent doesn't support MCP servers over SSE.")
  }
}
