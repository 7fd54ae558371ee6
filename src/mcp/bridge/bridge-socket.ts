import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { HostChannel } from '../../acp/transport/host/channel.ts'
import { newSocketPath, removeSocket } from '../../acp/transport/host/endpoint.ts'
import { greetWindow, MAX_HANDSHAKE_BYTES } from '../../acp/transport/host/handshake.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { WindowSocket } from './bridged-server.ts'

/** A socket at which bridges reach the window. Only this user can connect, and only programs with the socket's secret are served. */
export class BridgeSocket implements Disposable {
  readonly address: WindowSocket
  readonly #server: Server
  readonly #connections = new Set<Socket>()

  private constructor(serve: (channel: HostChannel) => void) {
    this.address = { socket: newSocketPath(), secret: randomBytes(32).toString('hex') }
    this.#server = createServer(connection => {
      this.#connections.add(connection)
      connection.once('close', () => this.#connections.delete(connection))
      const channel = new HostChannel(connection, MAX_HANDSHAKE_BYTES)
      void greetWindow(channel, this.address.secret).then(isKnown => {
        if (isKnown) serve(channel)
      })
    })
  }

  static async listen(serve: (channel: HostChannel) => void): Promise<BridgeSocket> {
    const socket = new BridgeSocket(serve)
    socket.#server.listen(socket.address.socket)
    await once(socket.#server, 'listening')
    return socket
  }

  dispose(): void {
    this.#server.close()
    for (const connection of this.#connections) connection.destroy()
    removeSocket(this.address.socket)
  }
}
