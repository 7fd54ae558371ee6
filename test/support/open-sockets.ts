import type { Socket } from 'node:net'

/** The open connections of a server or a proxy. */
export class OpenSockets {
  readonly #open = new Set<Socket>()

  add(socket: Socket): void {
    this.#open.add(socket)
    // a client may disconnect at any time
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#open.delete(socket))
  }

  get size(): number {
    return this.#open.size
  }

  /** Closes all connections, even those still in the TLS handshake. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy()
  }
}
