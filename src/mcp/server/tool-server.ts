import { randomBytes, randomUUID } from 'node:crypto'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { LocalServerAddress } from '../../acp/agent.ts'
import { messageOf } from '../../common/errors.ts'
import { READING_TOOL_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { DataMark } from './answer.ts'
import { bearerToken, isLocalRequest, listenLocally, portOf, refuse, TokenCheck } from './local-http.ts'
import { type EndpointOptions, type ServedTools, ToolCalls } from './tool-calls.ts'

/** Bytes of a request's body; a whole file for `show_diff` fits. */
const MAX_BODY = 2 * 1024 * 1024
/** Connections of all agents together; further ones are refused. */
const MAX_CONNECTIONS = 256
/** Maximum number of requests of one session that are answered at the same time. */
const MAX_REQUESTS = 64
/** What an agent knows about an endpoint that another window may serve later. */
export type EndpointAddress = Omit<LocalServerAddress, 'name' | 'port'>

export interface Endpoint extends ServedTools, EndpointAddress {
  url: string
}

/**
 * The editor's MCP server: one listener on this machine's loopback address, with one address and one token for each session. The token
 * alone decides what a request can access, so no session can access another's tools.
 */
export class ToolServer {
  readonly #http: HttpServer
  readonly #log: Logger
  readonly #version: string
  readonly #readingMs: number
  /** by the path of the address */
  readonly #endpoints = new Map<string, SessionEndpoint>()

  private constructor(http: HttpServer, version: string, log: Logger, readingMs: number) {
    this.#http = http
    this.#readingMs = readingMs
    this.#version = version
    this.#log = log
  }

  /** `readingMs`: how long a tool that only reads may take. `port`: by default, one of the local ports. */
  static async listen(
    version: string,
    log: Logger,
    readingMs = READING_TOOL_MS,
    port?: number,
  ): Promise<ToolServer> {
    const http = await listenLocally(MAX_CONNECTIONS, port)
    const server = new ToolServer(http, version, log, readingMs)
    http.on('request', (request, response) => void server.#answer(request, response))
    http.on('error', error => log.error(`The editor's MCP server: ${messageOf(error)}`))
    return server
  }

  get port(): number {
    return portOf(this.#http)
  }

  get isUsed(): boolean {
    return this.#endpoints.size > 0
  }

  /** `address`: of an earlier window, where the agent still expects the tools. */
  add(options: EndpointOptions, address?: EndpointAddress): Endpoint {
    const path = address?.path ?? `/${randomBytes(12).toString('hex')}`
    const token = address?.token ?? randomBytes(32).toString('base64url')
    const mark = new DataMark(address?.mark)
    const calls = new ToolCalls(options, mark, this.#version, this.#log, this.#readingMs)
    const endpoint = new SessionEndpoint(calls, token, this.#log)
    this.#endpoints.get(path)?.close()
    this.#endpoints.set(path, endpoint)
    return {
      url: `http://127.0.0.1:${this.port}${path}`,
      ...{ path, token, mark: mark.id },
      toolsChanged: () => endpoint.toolsChanged(),
      close: () => {
        if (this.#endpoints.get(path) !== endpoint) return
        this.#endpoints.delete(path)
        endpoint.close()
      },
    }
  }

  close(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.close()
    this.#endpoints.clear()
    this.#http.close()
    this.#http.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocalRequest(request, this.#http)) return refuse(request, response, 403)
    const endpoint = this.#endpoints.get((request.url ?? '').split('?', 1)[0]!)
    // the same response as for an unknown address, so that nobody can find out which addresses exist
    if (!endpoint?.accepts(bearerToken(request))) return refuse(request, response, 401)
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) return refuse(request, response, 413)
    await endpoint.answer(request, response)
  }
}

/** The id of each client of the older protocol; an agent may have several. */
const SESSION_HEADER = 'mcp-session-id'
const REVISION_HEADER = 'mcp-protocol-version'

class SessionEndpoint {
  readonly #token: TokenCheck
  readonly #calls: ToolCalls
  readonly #mcp: McpHttpHandler
  readonly #handle: ReturnType<typeof toNodeHandler>
  #requests = 0

  constructor(calls: ToolCalls, token: string, log: Logger) {
    this.#token = new TokenCheck(token)
    this.#calls = calls
    const report = (error: unknown) => log.debug(`The editor's MCP server: ${messageOf(error)}`)
    this.#mcp = createMcpHandler(
      ({ requestInfo }) => calls.server(requestInfo?.headers.get(SESSION_HEADER) ?? null),
      {
        maxRequestBodySize: MAX_BODY,
        maxSubscriptions: 8,
        onerror: report,
      },
    )
    this.#handle = toNodeHandler(this.#mcp, { maxRequestBodySize: MAX_BODY, onerror: report })
  }

  accepts(token: string): boolean {
    return this.#token.accepts(token)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#requests >= MAX_REQUESTS) return refuse(request, response, 503)
    this.#requests += 1
    response.once('close', () => {
      this.#requests -= 1
    })
    // `initialize` has neither header
    const isNew = !(SESSION_HEADER in request.headers || REVISION_HEADER in request.headers)
    if (isNew && request.method === 'POST') response.setHeader(SESSION_HEADER, randomUUID())
    await this.#handle(request, response)
  }

  toolsChanged(): void {
    this.#calls.changed()
    this.#mcp.notify.toolsChanged()
  }

  close(): void {
    this.#calls.close()
    void this.#mcp.close()
  }
}
