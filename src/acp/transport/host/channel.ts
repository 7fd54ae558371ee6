import type { Socket } from 'node:net'
import { deferred } from '../../../common/async.ts'
import type { Disposable } from '../../../common/disposable.ts'

/**
 * The version of the messages between windows and the agent host. A window doesn't attach to a host of another version, but asks the host
 * for its agents and reads its journals. Therefore, all versions must have the same journals, message format, handshake, and `list` message
 * with its answer.
 */
export const HOST_VERSION = 2

/** A message: its fields are sent as JSON, with bytes that are passed on unchanged. */
export interface HostMessage {
  type: string
  [name: string]: unknown
}

type Receive = (message: HostMessage, body: Buffer) => void

/** the size of the two numbers before a message: the lengths of the JSON and of the bytes */
const PREFIX_BYTES = 8

/**
 * A socket between a window and the agent host that carries messages. Data that isn't a message, or that is larger than the limit, closes
 * the socket. Messages wait until there is a receiver.
 */
export class HostChannel implements Disposable {
  /** Resolves when the socket has closed. */
  readonly closed: Promise<void>
  /** The maximum size of a message; small until both sides have authenticated. */
  maxBytes: number
  readonly #socket: Socket
  #chunks: Buffer[] = []
  #size = 0
  /** the lengths of the parts of the next message, if its prefix has been read */
  #lengths: [json: number, body: number] | undefined
  #receive: Receive | undefined
  #isReading = false

  constructor(socket: Socket, maxBytes: number) {
    this.#socket = socket
    this.maxBytes = maxBytes
    const closed = deferred()
    this.closed = closed.promise
    socket.on('data', chunk => {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      this.#read()
    })
    socket.on('error', () => {})
    socket.on('close', () => closed.resolve())
    socket.pause()
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** The number of bytes that were sent but that the other side hasn't read yet. */
  get waiting(): number {
    return this.#socket.writableLength
  }

  /** Calls the listener when all sent data has been read, after some of it had to wait. */
  onDidDrain(listener: () => void): void {
    this.#socket.on('drain', listener)
  }

  /** Passes on every message from now on, including waiting messages. */
  listen(receive: Receive): void {
    this.#receive = receive
    this.#socket.resume()
    this.#read()
  }

  /** Resolves to the next message, or to `undefined` when the channel closes first. */
  next(): Promise<HostMessage | undefined> {
    const one = deferred<HostMessage | undefined>()
    void this.closed.then(() => one.resolve(undefined))
    this.listen(message => {
      this.#receive = undefined
      this.#socket.pause()
      one.resolve(message)
    })
    return one.promise
  }

  send(message: HostMessage, body?: Uint8Array): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    const json = Buffer.from(JSON.stringify(message))
    const head = Buffer.allocUnsafe(PREFIX_BYTES + json.length)
    head.writeUInt32LE(json.length, 0)
    head.writeUInt32LE(body?.length ?? 0, 4)
    json.copy(head, PREFIX_BYTES)
    this.#socket.cork()
    this.#socket.write(head)
    if (body && body.length > 0) this.#socket.write(body)
    this.#socket.uncork()
  }

  /** Closes the channel after everything was sent. */
  end(): void {
    this.#socket.end()
  }

  dispose(): void {
    this.#socket.destroy()
  }

  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#receive && !this.#socket.destroyed) if (!this.#readOne(this.#receive)) break
    } finally {
      this.#isReading = false
    }
  }

  /** Reads one message, and returns whether the whole message had arrived. */
  #readOne(receive: Receive): boolean {
    if (!this.#lengths) {
      if (this.#size < PREFIX_BYTES) return false
      const prefix = this.#take(PREFIX_BYTES)
      this.#lengths = [prefix.readUInt32LE(0), prefix.readUInt32LE(4)]
    }
    const [json, body] = this.#lengths
    if (json + body > this.maxBytes) this.dispose()
    if (this.#socket.destroyed || this.#size < json + body) return false
    this.#lengths = undefined
    const message = parseMessage(this.#take(json))
    const bytes = this.#take(body)
    if (message) receive(message, bytes)
    else this.dispose()
    return true
  }

  #take(length: number): Buffer {
    this.#size -= length
    if (length === 0) return Buffer.alloc(0)
    const [first] = this.#chunks
    // A large message arrives in many chunks, which are only joined once.
    if (!first || first.length < length) this.#chunks = [Buffer.concat(this.#chunks)]
    const whole = this.#chunks[0]!
    if (whole.length === length) this.#chunks.shift()
    else this.#chunks[0] = whole.subarray(length)
    return whole.subarray(0, length)
  }
}

function parseMessage(json: Buffer): HostMessage | undefined {
  try {
    const value: unknown = JSON.parse(json.toString())
    const isMessage = typeof value === 'object' && value !== null && 'type' in value
    return isMessage && typeof value.type === 'string' ? (value as HostMessage) : undefined
  } catch {
    return undefined
  }
}
