import { Socket } from 'node:net'

/** The connections of a window that can be busy: then it reads nothing, and finds all that arrived meanwhile at once. */
export class HeldConnections {
  readonly #sockets = new Set<HeldSocket>()
  #isHeld = false

  readonly connect = (path: string): Socket => {
    const socket = new HeldSocket(() => this.#isHeld)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket.connect(path)
  }

  /** As if the window's process was killed: nothing more is sent, either. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  set isHeld(isHeld: boolean) {
    this.#isHeld = isHeld
    for (const socket of this.#sockets) {
      if (isHeld) socket.hold()
      else socket.letGo()
    }
  }
}

class HeldSocket extends Socket {
  readonly #isHeld: () => boolean
  #isRead = false

  constructor(isHeld: () => boolean) {
    super()
    this.#isHeld = isHeld
  }

  hold(): void {
    super.pause()
  }

  letGo(): void {
    if (this.#isRead) super.resume()
  }

  override pause(): this {
    this.#isRead = false
    return super.pause()
  }

  override resume(): this {
    this.#isRead = true
    return this.#isHeld() ? this : super.resume()
  }
}
