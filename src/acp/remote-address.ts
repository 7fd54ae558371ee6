import * as l10n from '@vscode/l10n'
import type { RequestProblem } from '../common/network-problem.ts'
import type { PathMapping } from '../common/path-mapping.ts'

/** The address of an agent on a server. */
export interface RemoteAddress {
  /** `ws:` or `wss:` for a WebSocket, `http:` or `https:` for streamable HTTP; unencrypted only if the server is this machine. */
  url: string
  /** The headers of each request; their values are secret. */
  headers: ReadonlyArray<{ name: string; value: string }>
  /** The agent can access this machine's files, and may use its terminals. */
  sharesFiles: boolean
  /**
   * The folders that have other paths on the agent's machine; if absent, an agent that shares the files has every folder at the same path.
   */
  pathMappings?: readonly PathMapping[]
  /** The user has turned off VS Code's check of certificates. */
  acceptsAnyCertificate: boolean
  /** Called when the server refuses the headers' values. */
  onRefused?: () => void
}

/** Why an agent on a server can't be reached. */
export interface ConnectionProblem extends RequestProblem {
  /** The server refused the headers' values. */
  isRefused?: true
}

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly problem: ConnectionProblem

  constructor(problem: ConnectionProblem) {
    super(l10n.t('The connection failed: {0}. {1}', problem.reason, problem.advice))
    this.problem = problem
  }
}
