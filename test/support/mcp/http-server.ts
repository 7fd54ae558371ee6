import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { probeServer } from '../../fixtures/mcp/probe.mjs'
import { LoopbackServer } from '../loopback-server.ts'

export interface ProbeOptions {
  /** A file to which the server appends what it gets. */
  calls?: string
  tools?: number
  /** Without sessions, for `initialize` and for the revisions without it. */
  isStateless?: boolean
  port?: number
  /** Answers a request itself, or returns `false`. */
  before?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** The probe over Streamable HTTP, by the MCP SDK's server. */
export class HttpProbe {
  readonly #sessions = new Map<string, NodeStreamableHTTPServerTransport>()
  readonly servers: McpServer[] = []
  #server!: LoopbackServer

  static async start(options: ProbeOptions = {}): Promise<HttpProbe> {
    const probe = new HttpProbe()
    const stateless = toNodeHandler(createMcpHandler(() => probeServer(options)))
    probe.#server = await LoopbackServer.start(
      (request, response) => {
        if (options.before?.(request, response)) return
        if (options.isStateless) void stateless(request, response)
        else void probe.#answer(request, response, options)
      },
      undefined,
      options.port,
    )
    return probe
  }

  get url(): string {
    return `${this.#server.origin}/mcp`
  }

  get port(): number {
    return this.#server.port
  }

  get requests(): readonly IncomingMessage[] {
    return this.#server.requests
  }

  /** Forgets all sessions, as a server that was restarted. */
  async forget(): Promise<void> {
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    for (const session of sessions) await session.close()
  }

  async stop(): Promise<void> {
    await this.forget()
    await this.#server.stop()
  }

  async #answer(request: IncomingMessage, response: ServerResponse, options: ProbeOptions): Promise<void> {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? this.#sessions.get(id) : undefined
    if (known) return known.handleRequest(request, response)
    if (id !== undefined) {
      response.writeHead(404).end()
      return
    }
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      maxRequestBodySize: 64 * 1024 * 1024,
      onsessioninitialized: session => {
        this.#sessions.set(session, transport)
      },
    })
    const server = probeServer(options)
    this.servers.push(server)
    await server.connect(transport)
    await transport.handleRequest(request, response)
  }
}
