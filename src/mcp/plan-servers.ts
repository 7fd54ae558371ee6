import type { AgentCapabilities } from '../acp/model.ts'
import {
  describePlace,
  isOfWorkspace,
  type McpServerDefinition,
  type McpSource,
  serverKey,
} from './mcp-settings.ts'
import type { SwitchedOff } from './switches.ts'

/** Why a server isn't for a session, as far as that's known before anything is asked or resolved. */
export type ServerExclusion =
  /** The server's entry isn't valid. */
  | { because: 'invalid' }
  /** The entry has `"disabled": true`. */
  | { because: 'disabled' }
  /** The user switched it off, everywhere or for this agent or session. */
  | { because: 'off'; where: SwitchedOff }
  /** An earlier place has a server with the same name. */
  | { because: 'shadowed'; by: string }
  /** The server is from a workspace that the user doesn't trust. */
  | { because: 'restricted' }
  /** The agent doesn't support its transport. */
  | { because: 'transport'; type: McpServerDefinition['type'] }

export interface PlannedServer {
  key: string
  name: string
  /** Absent if its entry is invalid. */
  server?: McpServerDefinition
  source: McpSource
  /** Absent if the server can be used. */
  exclusion?: ServerExclusion
}

export interface PlanOptions {
  /** The agent's capabilities; absent: all transports. */
  capabilities?: AgentCapabilities['mcp']
  isOff(key: string): SwitchedOff | undefined
  trusted: boolean
}

/**
 * Decides which servers a session gets, before consent and inputs: of servers with the same name, the first. An invalid or disabled server
 * also takes the name, because the user didn't intend to start another server; a server that the user switched off doesn't.
 * @param sources in order of precedence
 * @returns each entry of each source once
 */
export function planServers(sources: readonly McpSource[], options: PlanOptions): PlannedServer[] {
  const taken = new Map<string, string>()
  return sources.flatMap(source =>
    source.entries.map(({ name, server }) => {
      const key = serverKey(source, name)
      const exclusion = reason(key, name, server, source, options, taken)
      if (exclusion?.because !== 'off' && !taken.has(name)) taken.set(name, describePlace(source))
      return { key, name, source, ...(server && { server }), ...(exclusion && { exclusion }) }
    }),
  )
}

function reason(
  key: string,
  name: string,
  server: McpServerDefinition | undefined,
  source: McpSource,
  { capabilities, isOff, trusted }: PlanOptions,
  taken: ReadonlyMap<string, string>,
): ServerExclusion | undefined {
  const where = isOff(key)
  if (where) return { because: 'off', where }
  const by = taken.get(name)
  if (by !== undefined) return { because: 'shadowed', by }
  if (!server) return { because: 'invalid' }
  if (server.disabled) return { because: 'disabled' }
  if (!trusted && isOfWorkspace(source)) return { because: 'restricted' }
  if (capabilities && !capabilities[server.type]) return { because: 'transport', type: server.type }
  return undefined
}
