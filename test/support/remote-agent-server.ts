import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { AgentApp } from '@agentclientprotocol/sdk'
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from '@agentclientprotocol/sdk/experimental/node'
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server'
import { WebSocketServer } from 'ws'
import { OpenSockets } from './open-sockets.ts'

export type Transport = 'http' | 'ws'

/** The SDK's own server for agents, over both transports, on loopback. */
export class RemoteAgentServer {
  readonly requests: IncomingMessage[] = []
  readonly sockets = new OpenSockets()
  readonly #server: Server
  readonly #acp: AcpServer

  private constructor(server: Server, acp: AcpServer) {
    this.#server = server
    this.#acp = acp
  }

  /** `refuse` answers a request itself if it returns a status. */
  static async start(
    createAgent: () => AgentApp,
    {
      port = 0,
      refuse = () => undefined,
    }: { port?: number; refuse?: (request: IncomingMessage) => number | undefined } = {},
  ): Promise<RemoteAgentServer> {
    const acp = new AcpServer({ createAgent })
    const answer: RequestListener = createNodeHttpHandler(acp)
    const upgrade = createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true }))
    const server = createServer((request, response) => {
      remote.requests.push(request)
      const status = refuse(request)
      if (status === undefined) answer(request, response)
      else response.writeHead(status).end()
    })
    server.on('connection', socket => remote.sockets.add(socket))
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      remote.requests.push(request)
      const status = refuse(request)
      if (status === undefined) upgrade(request, socket, head)
      else socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`)
    })
    const remote = new RemoteAgentServer(server, acp)
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return remote
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  url(transport: Transport): string {
    return `${transport}://127.0.0.1:${this.port}/acp`
  }

  /** As if its process was killed. */
  async kill(): Promise<void> {
    this.sockets.destroy()
    this.#server.close()
    await once(this.#server, 'close')
    await this.#acp.close()
  }
}
