import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { Socket } from 'node:net'

/** A frame as clients send it (RFC 6455, 5.2). */
export function maskedFrame(
  opcode: number,
  data: Buffer,
  { isFinal = true, mask = randomBytes(4) }: { isFinal?: boolean; mask?: Buffer } = {},
): Buffer {
  const { length } = data
  const size = Buffer.alloc(length > 0xffff ? 9 : length > 125 ? 3 : 1)
  size[0] = 0x80 | (length > 0xffff ? 127 : length > 125 ? 126 : length)
  if (size.length === 9) size.writeBigUInt64BE(BigInt(length), 1)
  if (size.length === 3) size.writeUInt16BE(length, 1)
  const first = Buffer.from([(isFinal ? 0x80 : 0) | opcode])
  return Buffer.concat([first, size, mask, Buffer.from(data.map((byte, i) => byte ^ mask[i & 3]!))])
}

/** A client for WebSockets, which sends the headers that it's given. Node 20 has none. */
export class WebSocketClient {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #code = 1006
  onText: (text: string) => void = () => {}
  readonly protocol: string | undefined
  /** Resolves with the server's reason, 1006 if it gave none. */
  readonly closed: Promise<number>

  private constructor(socket: Socket, protocol: string | undefined, head: Buffer) {
    this.#socket = socket
    this.protocol = protocol
    this.closed = new Promise(resolve => socket.once('close', () => resolve(this.#code)))
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#read(head)
  }

  static connect(port: number, headers: Record<string, string>): Promise<WebSocketClient> {
    const key = randomBytes(16).toString('base64')
    return new Promise((resolve, reject) => {
      const sent = request({
        ...{ host: '127.0.0.1', port },
        headers: {
          ...{ connection: 'Upgrade', upgrade: 'websocket' },
          ...{ 'sec-websocket-version': '13', 'sec-websocket-key': key, ...headers },
        },
      })
      sent.on('error', reject)
      sent.on('response', ({ statusCode }) => reject(new Error(`refused: ${statusCode}`)))
      sent.on('upgrade', ({ headers: answer }, socket, head) => {
        const expected = createHash('sha1')
          .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest('base64')
        if (answer['sec-websocket-accept'] !== expected) reject(new Error('wrong handshake'))
        else resolve(new WebSocketClient(socket as Socket, answer['sec-websocket-protocol'], head))
      })
      sent.end()
    })
  }

  send(text: string): void {
    if (!this.#socket.destroyed) this.#socket.write(maskedFrame(1, Buffer.from(text)))
  }

  close(): void {
    if (this.#socket.destroyed) return
    this.#socket.write(maskedFrame(8, Buffer.from([0x03, 0xe8])))
    this.#socket.end()
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    for (;;) {
      const [first = 0, short = 0] = this.#received
      const size = short === 127 ? 8 : short === 126 ? 2 : 0
      if (this.#received.length < 2 + size) return
      const length =
        size === 8
          ? Number(this.#received.readBigUInt64BE(2))
          : size === 2
            ? this.#received.readUInt16BE(2)
            : short
      const end = 2 + size + length
      if (this.#received.length < end) return
      const data = this.#received.subarray(2 + size, end)
      this.#received = this.#received.subarray(end)
      if (first === 0x81) this.onText(data.toString())
      if (first === 0x88) {
        this.#code = data.readUInt16BE(0)
        this.#socket.end()
      }
    }
  }
}
