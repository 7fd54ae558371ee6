import { fromMcpServer, type McpServerAdapter } from '@agentclientprotocol/sdk/experimental/mcp-server'
import type { AgentClient } from '../../acp/agent.ts'
import { McpCode, RpcCode } from '../../acp/errors.ts'
import type { McpOutcome, McpRequest } from '../../acp/model.ts'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import { READING_TOOL_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { DataMark } from './answer.ts'
import { type EndpointOptions, type ServedTools, ToolCalls } from './tool-calls.ts'

/** Characters of a request; a whole file for `show_diff` fits. */
const MAX_PARAMS = 2 * 1024 * 1024
/** Maximum number of requests of one session that are answered at the same time. */
const MAX_REQUESTS = 64
/** The only revision of MCP that can use the agent's connection, and what each request says of its client. */
const REVISION = '2026-07-28'
const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
/** MCP's own codes. */
const INVALID_PARAMS = -32602
const UNSUPPORTED_REVISION = -32022

/** Why a request has no outcome of MCP, with a code of ACP. */
export interface McpRefusal {
  refusal: number
  message: string
}

export type Notify = Parameters<NonNullable<AgentClient['mcpMessage']>>[2]

/** The editor's MCP server for one session, reached through its agent's connection: no port is open for it. */
export class AcpEndpoint implements ServedTools {
  readonly #calls: ToolCalls
  readonly #mcp: McpServerAdapter
  readonly #end = new AbortController()
  /** ids of the requests in progress */
  readonly #active = new Set<string>()

  /** of data in the answers */
  readonly mark: string

  /** `mark`: what the agent was told in an earlier window. */
  constructor(options: EndpointOptions, version: string, log: Logger, mark?: string) {
    const dataMark = new DataMark(mark)
    this.mark = dataMark.id
    const calls = new ToolCalls(options, dataMark, version, log, READING_TOOL_MS)
    this.#calls = calls
    this.#mcp = fromMcpServer(() => calls.server(null), {
      maxSubscriptions: 8,
      onerror: error => log.debug(`The editor's MCP server: ${messageOf(error)}`),
    })
  }

  /** `isRepeated`: an earlier window may have answered the request already. Never rejects. */
  async message(
    request: McpRequest,
    signal: AbortSignal,
    notify: Notify,
    isRepeated: boolean,
  ): Promise<McpOutcome | McpRefusal> {
    const { requestId, params } = request
    const wrong = problemWith(request)
    if (wrong) return wrong
    if (this.#active.has(requestId))
      return { refusal: RpcCode.invalidParams, message: 'A request with this id is in progress.' }
    if (this.#active.size >= MAX_REQUESTS || JSON.stringify(params).length > MAX_PARAMS)
      return { refusal: McpCode.tooMany, message: 'There are too many requests, or this one is too large.' }
    this.#active.add(requestId)
    if (isRepeated) this.#calls.repeated.add(requestId)
    const over = AbortSignal.any([signal, this.#end.signal])
    try {
      return await this.#mcp.handler({
        ...{ ...request, params, signal: over, protocolVersion: REVISION },
        clientCapabilities: {},
        clientInfo: undefined,
        envelopeMeta: undefined,
        notify: async (method, details) => {
          if (this.#active.has(requestId) && !over.aborted) notify(method, details ?? undefined)
        },
      })
    } catch (error) {
      return { refusal: McpCode.failed, message: messageOf(error) }
    } finally {
      this.#active.delete(requestId)
      this.#calls.repeated.delete(requestId)
    }
  }

  toolsChanged(): void {
    this.#calls.changed()
    this.#mcp.notify.toolsChanged()
  }

  close(): void {
    this.#end.abort()
    this.#calls.close()
    void this.#mcp.close()
  }
}

/** Why a request can't be answered in its revision of MCP. */
function problemWith({ params }: McpRequest): McpOutcome | undefined {
  const meta = isRecord(params?._meta) ? params._meta : {}
  const requested = meta[REVISION_KEY]
  if (typeof requested !== 'string' || !isRecord(meta[CAPABILITIES_KEY])) {
    const message = `Invalid params: ${REVISION_KEY} or ${CAPABILITIES_KEY} is missing in _meta.`
    return { error: { code: INVALID_PARAMS, message } }
  }
  if (requested === REVISION) return undefined
  const data = { supported: [REVISION], requested }
  return { error: { code: UNSUPPORTED_REVISION, message: 'Unsupported protocol version', data } }
}
