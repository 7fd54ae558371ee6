import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { probeServer } from '../../fixtures/mcp/probe.mjs'
import { LoopbackServer } from '../loopback-server.ts'

/**
 * The probe over the transport of the revision 2024-11-05, which the SDK's servers of version 2 don't have: a stream of
 * events, whose first says where messages are posted.
 */
export class SseProbe {
  readonly #sessions = new Map<string, SseTransport>()
  #server!: LoopbackServer

  static async start(options: { port?: number; calls?: string } = {}): Promise<SseProbe> {
    const probe = new SseProbe()
    probe.#server = await LoopbackServer.start(
      (request, response) => void probe.#answer(request, response, options.calls),
      undefined,
      options.port,
    )
    return probe
  }

  get url(): string {
    return `${this.#server.origin}/sse`
  }

  get port(): number {
    return this.#server.port
  }

  get requests(): readonly IncomingMessage[] {
    return this.#server.requests
  }

  /** Closes the streams, so that their sessions are gone. */
  forget(): void {
    for (const session of this.#sessions.values()) session.end()
    this.#sessions.clear()
  }

  async stop(): Promise<void> {
    this.forget()
    await this.#server.stop()
  }

  async #answer(request: IncomingMessage, response: ServerResponse, calls?: string): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.#server.origin)
    if (request.method === 'GET' && pathname === '/sse') {
      const id = randomUUID()
      const transport = new SseTransport(response)
      this.#sessions.set(id, transport)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`)
      await probeServer({ calls }).connect(transport)
      return
    }
    const session = this.#sessions.get(searchParams.get('session') ?? '')
    if (request.method !== 'POST' || !session) {
      response.writeHead(404).end()
      return
    }
    const message = JSON.parse(await text(request)) as JSONRPCMessage
    response.writeHead(202).end('Accepted')
    session.onmessage?.(message)
  }
}

class SseTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => this.onclose?.())
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  }

  async close(): Promise<void> {
    this.end()
  }

  end(): void {
    this.#response.end()
  }
}
