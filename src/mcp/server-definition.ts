import type { SettingScope } from '../agents/setting-layers.ts'

interface DefinitionBase {
  name: string
  /** Where the entry stands; its `${input:…}` are those defined in the same place. */
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  /** Kept in the settings, but not to be passed on. */
  disabled: boolean
}
/** An MCP server on this machine, as it is written: variables are still in it. */
export interface StdioServerDefinition extends DefinitionBase {
  type: 'stdio'
  command: string
  args: string[]
  env: Record<string, string>
  /** A file of `NAME=value` lines, under `env`. */
  envFile?: string
  cwd?: string
}
/** An MCP server elsewhere, as it is written: variables are still in it. */
export interface RemoteServerDefinition extends DefinitionBase {
  type: 'http' | 'sse'
  url: string
  headers: Record<string, string>
}
export type McpServerDefinition = StdioServerDefinition | RemoteServerDefinition

/** A value to ask for once, named `${input:id}` in a server of the same place. */
export interface McpInput {
  id: string
  scope: SettingScope
  folder?: string
  type: 'promptString' | 'pickString'
  description?: string
  /** Typed unseen. */
  password: boolean
  default?: string
  /** What `pickString` offers; empty for `promptString`. */
  options: Array<{ label: string; value: string }>
}

/** One server of a session, as the view shows it. */
export interface McpServerNote {
  name: string
  type: string
  passed: boolean
  /** Why it was not passed, or what to know though it was; never holds a secret. */
  reason?: string
}
