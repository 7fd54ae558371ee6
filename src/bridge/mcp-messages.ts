/** The messages between the host and the MCP Servers page. */
import * as z from 'zod'
import { nothing } from './contract.ts'
import type { McpState } from './mcp.ts'

export type McpMessages = typeof mcpMessages

const id = z.string().min(1).max(10_000)

export const mcpMessages = {
  /** The page can draw, and asks for the servers. */
  'mcp/ready': nothing,
  /** Reads the files again. */
  'mcp/refresh': nothing,
  /** Lets the user add a server. */
  'mcp/add': nothing,
  /** Opens the setting or file that defines servers. */
  'mcp/open': z.object({ source: id }),
  /** Turns all files of a kind on or off. */
  'mcp/switchSource': z.object({ kind: id, on: z.boolean() }),
  'mcp/switchServer': z.object({ key: id, on: z.boolean() }),
  /** Turns all servers of an agent on or off. */
  'mcp/switchAgent': z.object({ agentId: id, on: z.boolean() }),
  /** Turns one server of a session on or off. */
  'mcp/switchInSession': z.object({ session: id, key: id, on: z.boolean() }),
  /** Connects a bridge to its server again: see `McpServerNote.link`. */
  'mcp/restart': z.object({ link: id }),
  /** Asks the user to agree to a server. */
  'mcp/allow': z.object({ key: id }),
  /** Connects to a server once and lists its tools. */
  'mcp/check': z.object({ key: id }),
  /** Removes a server from its setting or file. */
  'mcp/remove': z.object({ key: id }),
  /** Signs in to a server with OAuth. */
  'mcp/signIn': z.object({ key: id }),
  'mcp/signOut': z.object({ key: id }),
} as const

/** The host's messages to the MCP Servers page. */
export interface McpHostMessages {
  /** The whole state, sent when it changed and the page is visible. */
  'mcp/state': McpState
}
