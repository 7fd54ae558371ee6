import * as l10n from '@vscode/l10n'
import type { RequestProblem } from '../common/network-problem.ts'
import type { PathMapping } from '../common/path-mapping.ts'

/** Where an agent on a server is. */
export interface RemoteAddress {
  /** `ws:` or `wss:` for a WebSocket, `http:` or `https:` for streamable HTTP. Encrypted, unless it's this machine. */
  url: string
  /** Header values are secret. */
  headers: ReadonlyArray<{ name: string; value: string }>
  /** The agent has this machine's files, and may use its terminals. */
  sharesFiles: boolean
  /** The folders that the agent has at other paths. If absent, an agent that shares the files has every folder at the same path. */
  pathMappings?: readonly PathMapping[]
  /** The user turned off that VS Code checks certificates. */
  acceptsAnyCertificate: boolean
  /** Called when the server refuses the headers. */
  onRefused?: () => void
}

/** Why an agent on a server can't be reached. */
export interface ConnectionProblem extends RequestProblem {
  /** The server refused the headers. */
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
