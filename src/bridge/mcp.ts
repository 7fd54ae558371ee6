import type { BridgeStatus } from '../mcp/bridge-status.ts'
import type { ServerCheck } from '../mcp/server-check.ts'
import type { McpServerNote } from '../mcp/server-note.ts'

/** A server, as one place defines it. */
export interface McpServerRow {
  /** The server's place and name: see `serverKey`. */
  key: string
  name: string
  /** `stdio`, `http` or `sse`; `unknown` if its entry is invalid */
  type: string
  /** the server's command line or URL */
  target?: string
  /** The user switched the server off. */
  isOff?: true
  /** The user must agree to the server first. */
  needsConsent?: true
  /** The server can be removed from its place. */
  canRemove?: true
  /** why no session gets the server */
  reason?: string
  /** The user has signed in to the server with OAuth. */
  isSignedIn?: true
  /** The server no longer accepts the sign-in. */
  needsSignIn?: true
  checking?: true
  check?: ServerCheck
}

/** A place that defines servers. */
export interface McpSourceRow {
  /** unique on the page */
  id: string
  /** the setting or file */
  label: string
  /** the kind of a file whose servers can be turned off as a whole */
  kind?: string
  isOff?: true
  problems: string[]
  servers: McpServerRow[]
}

/** One server of an open session, as it was planned when the session started. */
export interface McpSessionServer extends McpServerNote {
  /** The server is turned off only for this session. */
  isOffHere?: true
  /** The user's switches have changed since the session started. */
  isOutdated?: true
  /** The state of Parley's bridge to the server; absent if Parley doesn't bridge the server, since agents report nothing. */
  bridge?: BridgeStatus
}

export interface McpSessionRow {
  /** see `sessionKey` */
  key: string
  title?: string
  servers: McpSessionServer[]
}

/** An agent with open sessions. */
export interface McpAgentRow {
  agentId: string
  name: string
  /** No configured server is passed to the agent; the editor tools still are. */
  isOff?: true
  sessions: McpSessionRow[]
}

export interface McpState {
  trusted: boolean
  sources: McpSourceRow[]
  agents: McpAgentRow[]
}
