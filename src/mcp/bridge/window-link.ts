import { connect, type Socket } from 'node:net'
import { HostChannel, type HostMessage } from '../../acp/transport/host/channel.ts'
import { greetHost, MAX_HANDSHAKE_BYTES } from '../../acp/transport/host/handshake.ts'
import type { CheckedTool } from '../server-check.ts'
import type { WindowSocket } from './bridged-server.ts'
import { MAX_LINE, sentPart } from './reported-text.ts'

/** Bytes that the window hasn't read yet; further lines of the log are dropped. */
const MAX_UNREAD = 256 * 1024
/** Messages that wait for the window. */
const MAX_WAITING = 100
/** Bytes of one message with tools: less than the window accepts. */
const MAX_TOOLS_BYTES = 1024 * 1024

/** Tells the window how the bridge is doing, and restarts the connection on its request. The bridge works without it, too. */
export class WindowLink {
  readonly #socket: Socket
  readonly #channel: HostChannel
  /** Until the window is known; absent after that. */
  #waiting: HostMessage[] | undefined = []

  constructor({ socket, secret }: WindowSocket, restart: () => void) {
    this.#socket = connect(socket)
    this.#channel = new HostChannel(this.#socket, MAX_HANDSHAKE_BYTES)
    void this.#greet(secret, restart)
  }

  async #greet(secret: string, restart: () => void): Promise<void> {
    if (!(await greetHost(this.#channel, secret))) return
    for (const message of this.#waiting ?? []) this.#channel.send(message)
    this.#waiting = undefined
    this.#channel.listen(({ type }) => {
      if (type === 'restart') restart()
    })
  }

  send(message: HostMessage): void {
    if (!this.#waiting) this.#channel.send(message)
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(message)
  }

  log(line: string): void {
    if (this.#socket.writableLength < MAX_UNREAD) this.send({ type: 'log', line: sentPart(line, MAX_LINE) })
  }

  state(state: string, reason?: string): void {
    this.send({ type: 'state', state, ...(reason !== undefined && { reason: sentPart(reason, MAX_LINE) }) })
  }

  /** Reports tools in parts. `isMore`: these follow the tools of the last call. */
  tools(tools: readonly CheckedTool[], isMore: boolean): void {
    let [from, bytes, follows] = [0, 0, isMore]
    for (const [i, tool] of tools.entries()) {
      const size = Buffer.byteLength(JSON.stringify(tool))
      if (bytes + size > MAX_TOOLS_BYTES) {
        this.send({ type: 'tools', tools: tools.slice(from, i), isMore: follows })
        ;[from, bytes, follows] = [i, 0, true]
      }
      bytes += size
    }
    this.send({ type: 'tools', tools: tools.slice(from), isMore: follows })
  }
}
