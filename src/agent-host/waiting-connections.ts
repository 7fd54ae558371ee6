import { connect, type Socket } from 'node:net'
import {
  HELD_CONNECTION_MS,
  HELD_PORT_POLL_MS,
  MAX_HELD_BYTES,
  MAX_HELD_CONNECTIONS,
} from '../common/limits.ts'
import { canTakeOverPorts } from '../common/platform.ts'

interface Waiting {
  /** the received data; the host must read it, because only reading shows that an agent has closed the connection */
  chunks: Buffer[]
  size: number
  timer: NodeJS.Timeout
}

/** The connections to a port that no window serves yet. A window gets them when it serves the port. */
export class WaitingConnections {
  readonly #waiting = new Map<Socket, Waiting>()
  /** connections that were passed to a window */
  readonly #passed = new Set<Socket>()
  readonly #port: number
  readonly #waitMs: number
  #timer: NodeJS.Timeout | undefined
  #isServed = false

  constructor(port: number, waitMs = HELD_CONNECTION_MS) {
    this.#port = port
    this.#waitMs = waitMs
  }

  add(socket: Socket): void {
    socket.on('error', () => {})
    if (this.#waiting.size >= MAX_HELD_CONNECTIONS || !canTakeOverPorts()) {
      socket.destroy()
      return
    }
    const waiting: Waiting = {
      chunks: [],
      size: 0,
      timer: setTimeout(() => socket.destroy(), this.#waitMs),
    }
    this.#waiting.set(socket, waiting)
    socket.on('data', (chunk: Buffer) => {
      waiting.chunks.push(chunk)
      waiting.size += chunk.length
      if (waiting.size > MAX_HELD_BYTES) socket.pause()
    })
    socket.once('close', () => this.#release(socket))
  }

  /** Lets connections wait, because no window serves the port anymore. */
  wait(): void {
    this.#isServed = false
    clearTimeout(this.#timer)
  }

  /**
   * Closes the connections that were passed to the window, because it doesn't serve the port anymore. Otherwise, an agent would send its
   * next request over such a connection. A new connection waits for the next window.
   */
  leave(): void {
    for (const socket of this.#passed) socket.destroy()
  }

  /** Passes the waiting connections to the window that serves the port, or will serve it soon. */
  handOver(): void {
    this.wait()
    if (this.#waiting.size === 0) return
    this.#isServed = true
    const server = connect(this.#port, '127.0.0.1')
    server.once('connect', () => {
      server.destroy()
      if (this.#isServed) for (const socket of [...this.#waiting.keys()]) this.#pass(socket)
    })
    server.once('error', () => {
      if (this.#isServed) this.#timer = setTimeout(() => this.handOver(), HELD_PORT_POLL_MS)
    })
  }

  dispose(): void {
    this.wait()
    for (const socket of this.#waiting.keys()) socket.destroy()
  }

  #pass(socket: Socket): void {
    const chunks = this.#release(socket)
    socket.removeAllListeners('data')
    const server = connect(this.#port, '127.0.0.1')
    for (const chunk of chunks) server.write(chunk)
    socket.pipe(server).pipe(socket)
    server.on('error', () => {})
    server.once('close', () => socket.destroy())
    this.#passed.add(socket)
    socket.once('close', () => {
      this.#passed.delete(socket)
      server.destroy()
    })
  }

  #release(socket: Socket): Buffer[] {
    const waiting = this.#waiting.get(socket)
    clearTimeout(waiting?.timer)
    this.#waiting.delete(socket)
    return waiting?.chunks ?? []
  }
}
