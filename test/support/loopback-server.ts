import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SelfSigned } from './certificate.ts'
import { OpenSockets } from './open-sockets.ts'

/** An HTTP server on loopback whose responses the test defines. */
export class LoopbackServer {
  readonly requests: IncomingMessage[] = []
  readonly #server: Server
  readonly #sockets = new OpenSockets()
  readonly #scheme: string

  private constructor(server: Server, scheme: string) {
    this.#server = server
    this.#scheme = scheme
  }

  static async start(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    certificate?: SelfSigned,
    port = 0,
  ): Promise<LoopbackServer> {
    const server = certificate ? createSecureServer(certificate) : createServer()
    const loopback = new LoopbackServer(server, certificate ? 'https' : 'http')
    server.on('connection', socket => loopback.#sockets.add(socket))
    server.on('request', (request, response) => {
      loopback.requests.push(request)
      answer(request, response)
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return loopback
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get origin(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    this.#sockets.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
