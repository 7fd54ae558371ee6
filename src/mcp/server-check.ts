import type { ProcessGuard } from '../common/processes/process-guard.ts'
import type { Environment } from '../common/processes/spawn-process.ts'
import type { SecretRegistry } from '../common/secrets.ts'

export interface CheckOptions {
  /** The environment of a server that runs a command; the server's own variables are added. */
  environment: { env: Readonly<Environment>; platform: NodeJS.Platform }
  /** The absolute working directory of the server. */
  cwd: string
  version: string
  /** Ends the check early. */
  signal?: AbortSignal
  guard?: ProcessGuard
  /** Secrets to redact in what the server says, in addition to its own headers and environment. */
  secrets?: SecretRegistry
  /** The token of the user's sign-in, see `McpServers.usesSignIn`. */
  token?: () => Promise<string | undefined>
  /** Time limit for everything, in milliseconds. */
  timeoutMs?: number
}

export interface CheckedTool {
  name: string
  title?: string
  description?: string
}

export interface CheckedServer {
  /** As the server calls itself. */
  name?: string
  version?: string
  protocolVersion?: string
  tools: CheckedTool[]
  /** Sentences about possible problems for agents, such as two tools with one name. */
  notes: string[]
}

export type CheckProblem =
  /** The command couldn't be run. */
  | 'not-started'
  /** The server exited before it answered. */
  | 'exited'
  | 'timeout'
  /** The server's answer wasn't MCP. */
  | 'not-mcp'
  /** The server answered with an error. */
  | 'refused'
  | 'sign-in'
  | 'unreachable'
  /** The server sent more than {@link MAX_CHECK_BYTES}. */
  | 'too-much'
  | 'canceled'

/** `stderr`: the server's last output, redacted; empty for a remote server. */
export type ServerCheck =
  | { server: CheckedServer; stderr: string }
  /** `message`: sentences for the user, without secrets. */
  | { problem: CheckProblem; message: string; stderr: string }
