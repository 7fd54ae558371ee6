import type { Socket } from 'node:net'

/** The open connections of a server or a proxy. */
export class OpenSockets {
  readonly #open = new Set<Socket>()

  add(socket: Socket): void {
    this.#open.add(socket)
    // whoever asked may be gone at any time
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#open.delete(socket))
  }

  /** Also those that have not got to a request, such as while they agree on the encryption. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy()
  }
}
