import { createHash, randomBytes } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** WebSocket (RFC 6455), for texts alone and without extensions. */

/** The suffix of a client's key in RFC 6455, 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** Maximum size in bytes of sent data that the other side hasn't read. */
const MAX_UNREAD = 64 * 1024 * 1024
/** Maximum number of fragments of a message, each of which needs memory of its own. */
const MAX_FRAGMENTS = 10_000
/** How long the other side may take to close the connection. Milliseconds. */
const CLOSE_MS = 2000

const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** The status codes for closing a connection in RFC 6455, 7.4.1. */
export const CloseCode = {
  normal: 1000,
  protocol: 1002,
  binary: 1003,
  invalid: 1007,
  tooLarge: 1009,
} as const

export class WebSocketError extends Error {
  override readonly name = 'WebSocketError'
  readonly code: number

  constructor(code: number) {
    super(`WebSocket error ${code}`)
    this.code = code
  }
}

export type Received =
  | { type: 'text'; text: string }
  | { type: 'ping'; data: Buffer }
  | { type: 'close'; code?: number }

/** The side that sends the data: only clients mask it. */
type Side = 'client' | 'server'

interface FrameHeader {
  opcode: number
  isFinal: boolean
  length: number
  mask: Buffer | undefined
}

/** Reads the messages of one side from the bytes as they arrive. A message larger than `maxBytes` is an error. */
export class WebSocketReader {
  readonly #maxBytes: number
  readonly #from: Side
  #chunks: Buffer[] = []
  #available = 0
  #header: FrameHeader | undefined
  /** the fragments of an incomplete message */
  #fragments: Buffer[] | undefined
  #fragmentBytes = 0

  constructor(maxBytes: number, from: Side = 'client') {
    this.#maxBytes = maxBytes
    this.#from = from
  }

  /**
   * Yields the messages that a chunk completes. Throws a `WebSocketError` if the bytes violate the protocol; nothing can be read afterward.
   */
  *read(chunk: Buffer): Generator<Received> {
    if (chunk.length > 0) this.#chunks.push(chunk)
    this.#available += chunk.length
    for (;;) {
      this.#header ??= this.#readHeader()
      const header = this.#header
      if (!header || this.#available < header.length) return
      this.#header = undefined
      const data = this.#take(header.length)
      const { mask } = header
      if (mask) for (let i = 0; i < data.length; i++) data[i]! ^= mask[i & 3]!
      const received = this.#receive(header, data)
      if (received) yield received
    }
  }

  #readHeader(): FrameHeader | undefined {
    if (this.#available < 2) return undefined
    const start = this.#peek(14)
    const [first = 0, second = 0] = start
    const [opcode, isFinal, short] = [first & 0x0f, (first & 0x80) !== 0, second & 0x7f]
    if ((first & 0x70) !== 0) throw protocolError()
    const isMasked = (second & 0x80) !== 0
    if (isMasked !== (this.#from === 'client')) throw protocolError()
    const size = short === 127 ? 8 : short === 126 ? 2 : 0
    const maskSize = isMasked ? 4 : 0
    if (start.length < 2 + size + maskSize) return undefined
    const length = size === 8 ? Number(start.readBigUInt64BE(2)) : size === 2 ? start.readUInt16BE(2) : short
    this.#check(opcode, isFinal, length)
    const header = this.#take(2 + size + maskSize)
    return { opcode, isFinal, length, mask: isMasked ? header.subarray(2 + size) : undefined }
  }

  /** Checks the header of a frame before its data arrives, which may be too large. */
  #check(opcode: number, isFinal: boolean, length: number): void {
    if (opcode >= Opcode.close) {
      if (opcode > Opcode.pong) throw protocolError()
      if (!isFinal || length > 125) throw protocolError()
      return
    }
    if (opcode === Opcode.binary) throw new WebSocketError(CloseCode.binary)
    if (opcode > Opcode.binary) throw protocolError()
    if ((opcode === Opcode.continuation) !== (this.#fragments !== undefined)) throw protocolError()
    if (this.#fragmentBytes + length > this.#maxBytes || (this.#fragments?.length ?? 0) >= MAX_FRAGMENTS)
      throw new WebSocketError(CloseCode.tooLarge)
  }

  #receive({ opcode, isFinal }: FrameHeader, data: Buffer): Received | undefined {
    if (opcode === Opcode.pong) return undefined
    if (opcode === Opcode.ping) return { type: 'ping', data }
    if (opcode === Opcode.close)
      return { type: 'close', ...(data.length >= 2 && { code: data.readUInt16BE(0) }) }
    const fragments = this.#fragments ?? []
    if (data.length > 0) fragments.push(data)
    this.#fragmentBytes += data.length
    if (!isFinal) {
      this.#fragments = fragments
      return undefined
    }
    this.#fragments = undefined
    this.#fragmentBytes = 0
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      return { type: 'text', text: decoder.decode(Buffer.concat(fragments)) }
    } catch {
      throw new WebSocketError(CloseCode.invalid)
    }
  }

  /** The next bytes, at most `length`, without removing them. */
  #peek(length: number): Buffer {
    while (this.#chunks[0]!.length < length && this.#chunks.length > 1)
      this.#chunks.splice(0, 2, Buffer.concat(this.#chunks.slice(0, 2)))
    return this.#chunks[0]!.subarray(0, length)
  }

  /** Removes the next bytes, which must have arrived. Returns a copy. */
  #take(length: number): Buffer {
    const parts: Buffer[] = []
    for (let remaining = length; remaining > 0; ) {
      const chunk = this.#chunks[0]!
      parts.push(chunk.subarray(0, remaining))
      if (chunk.length <= remaining) this.#chunks.shift()
      else this.#chunks[0] = chunk.subarray(remaining)
      remaining -= Math.min(remaining, chunk.length)
    }
    this.#available -= length
    return Buffer.concat(parts, length)
  }
}

function protocolError(): WebSocketError {
  return new WebSocketError(CloseCode.protocol)
}

/** Creates one frame: unmasked, as servers send it, or with the mask of a client. */
export function frame(opcode: number, data: Buffer, mask?: Buffer): Buffer {
  const { length } = data
  const size = length > 0xffff ? 8 : length > 125 ? 2 : 0
  const header = Buffer.alloc(2 + size)
  header[0] = 0x80 | opcode
  header[1] = size === 8 ? 127 : size === 2 ? 126 : length
  if (size === 8) header.writeBigUInt64BE(BigInt(length), 2)
  if (size === 2) header.writeUInt16BE(length, 2)
  if (!mask) return Buffer.concat([header, data])
  header[1]! |= 0x80
  const masked = Buffer.from(data)
  for (let i = 0; i < length; i++) masked[i]! ^= mask[i & 3]!
  return Buffer.concat([header, mask, masked])
}

/** The value with which a server accepts a client's key. */
export function acceptanceOf(key: string): string {
  return createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64')
}

export interface WebSocketEvents {
  text(text: string): void
  /**
   * Called once when the connection closes, no matter which side closed it, with the status code if there is one. `isOwn`: this side closed
   * it because the other side's data can't be read.
   */
  closed(code?: number, isOwn?: boolean): void
  /** Called when any data has arrived. */
  alive?(): void
}

/** An open WebSocket connection. */
export class WebSocketConnection {
  readonly #socket: Duplex
  readonly #reader: WebSocketReader
  readonly #side: Side
  #isClosing = false
  #code: number | undefined
  #isOwn = false

  private constructor(socket: Duplex, maxBytes: number, side: Side) {
    this.#socket = socket
    this.#side = side
    this.#reader = new WebSocketReader(maxBytes, side === 'client' ? 'server' : 'client')
  }

  /** Creates the client's side of a connection that the server has accepted. */
  static toServer(socket: Duplex, maxBytes: number): WebSocketConnection {
    return new WebSocketConnection(socket, maxBytes, 'client')
  }

  /**
   * Answers a request that asks for a WebSocket; `undefined` if the request was refused. `protocol`: the subprotocol, if the client offers
   * it.
   */
  static accept(
    request: IncomingMessage,
    socket: Duplex,
    { protocol, maxBytes }: { protocol: string; maxBytes: number },
  ): WebSocketConnection | undefined {
    const { headers, method } = request
    const key = headers['sec-websocket-key'] ?? ''
    const isValid =
      method === 'GET' &&
      headers.upgrade?.toLowerCase() === 'websocket' &&
      headers['sec-websocket-version'] === '13' &&
      /^[\w+/]{22}==$/.test(key)
    if (!isValid) {
      refuseUpgrade(socket, 400)
      return undefined
    }
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map(name => name.trim())
    socket.write(
      [
        'HTTP/1.1 101 Switching Protocols',
        'Upgrade: websocket',
        'Connection: Upgrade',
        `Sec-WebSocket-Accept: ${acceptanceOf(key)}`,
        ...(offered.includes(protocol) ? [`Sec-WebSocket-Protocol: ${protocol}`] : []),
        '\r\n',
      ].join('\r\n'),
    )
    return new WebSocketConnection(socket, maxBytes, 'server')
  }

  /** Starts to read. `head`: the bytes that arrived together with the request. */
  listen(head: Buffer, events: WebSocketEvents): void {
    const read = (chunk: Buffer) => {
      try {
        for (const received of this.#reader.read(chunk)) {
          if (this.#isClosing) return
          if (received.type === 'text') events.text(received.text)
          else if (received.type === 'ping') this.#write(Opcode.pong, received.data)
          else {
            this.#code = received.code
            this.close(CloseCode.normal)
          }
        }
      } catch (error) {
        if (!(error instanceof WebSocketError)) throw error
        this.#code = error.code
        this.#isOwn = true
        this.close(error.code)
      }
    }
    this.#socket.once('close', () => events.closed(this.#code, this.#isOwn))
    this.#socket.on('end', () => this.#socket.end())
    this.#socket.on('data', (chunk: Buffer) => {
      events.alive?.()
      if (!this.#isClosing) read(chunk)
    })
    read(head)
  }

  send(text: string): void {
    if (!this.#isClosing) this.#write(Opcode.text, Buffer.from(text))
  }

  ping(): void {
    if (!this.#isClosing) this.#write(Opcode.ping, Buffer.alloc(0))
  }

  close(code: number): void {
    if (this.#isClosing) return
    const reason = Buffer.alloc(2)
    reason.writeUInt16BE(code)
    this.#write(Opcode.close, reason)
    this.#isClosing = true
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref()
  }

  /** Closes the connection without a close frame. */
  destroy(): void {
    this.#socket.destroy()
  }

  #write(opcode: number, data: Buffer): void {
    if (this.#socket.destroyed) return
    if (this.#socket.writableLength > MAX_UNREAD) this.#socket.destroy()
    else this.#socket.write(frame(opcode, data, this.#side === 'client' ? randomBytes(4) : undefined))
  }
}

/** Answers a request for a WebSocket with only a status. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
  socket.end(answer, () => socket.destroy())
}
