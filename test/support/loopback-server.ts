import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on loopback that answers as the test says. */
export class LoopbackServer {
  readonly requests: IncomingMessage[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<LoopbackServer> {
    const server = createServer()
    const loopback = new LoopbackServer(server)
    server.on('request', (request, response) => {
      loopback.requests.push(request)
      answer(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return loopback
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
