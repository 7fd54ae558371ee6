import { PassThrough } from 'node:stream'
import { LineSplitter } from '../../src/acp/transport/line-splitter.ts'
import { NdjsonReader } from '../../src/acp/transport/ndjson-reader.ts'
import { NdjsonWriter } from '../../src/acp/transport/ndjson-writer.ts'

export interface Frame {
  jsonrpc?: string
  id?: number | string | null
  method?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  params?: any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  result?: any
  error?: { code: number; message: string; data?: unknown }
}

/**
 * Connects Parley's reader and writer with the test, which acts as the agent. It's tested with `contracts/pipe.ts`,
 * like the pipes of a process.
 */
export class MemoryPipe {
  readonly #toUs = new PassThrough()
  readonly #toAgent = new PassThrough()
  readonly noise: string[] = []
  readonly reader: NdjsonReader
  readonly writer: NdjsonWriter
  /** all messages of Parley, in order */
  readonly sent: Frame[] = []
  readonly #waiting = new Set<() => void>()

  constructor(maxFrameBytes = 1 << 20) {
    this.reader = new NdjsonReader(this.#toUs, { maxFrameBytes, onNoise: line => this.noise.push(line) })
    this.writer = new NdjsonWriter(this.#toAgent)
    const lines = new LineSplitter(64 << 20)
    this.#toAgent.on('data', (chunk: Buffer) => {
      lines.push(chunk)
      for (let line = lines.next(); line !== undefined; line = lines.next()) this.sent.push(JSON.parse(line))
      for (const look of [...this.#waiting]) look()
    })
  }

  /** Writes messages as the agent, in one chunk. */
  send(...messages: object[]): void {
    this.#toUs.write(messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  }

  /** Writes any text as the agent. */
  write(piece: string | Uint8Array): void {
    this.#toUs.write(piece)
  }

  /** Closes the agent's output. */
  endOutput(): void {
    this.#toUs.end()
  }

  /** Closes the agent's input, so that Parley's next write fails. */
  closeInput(): void {
    this.#toAgent._write = (_chunk, _encoding, done) => done(new Error('write EPIPE'))
  }

  /** The first message of Parley that matches, including earlier ones. */
  async waitFor(match: (frame: Frame) => boolean): Promise<Frame> {
    const find = () => this.sent.find(match)
    const found = find()
    if (found) return found
    return new Promise(resolve => {
      const look = () => {
        const frame = find()
        if (!frame) return
        this.#waiting.delete(look)
        resolve(frame)
      }
      this.#waiting.add(look)
    })
  }

  /** Waits for a request or notification of Parley with this method; returns the latest. */
  async waitForMethod(method: string): Promise<Frame> {
    await this.waitFor(frame => frame.method === method)
    return this.sent.findLast(frame => frame.method === method)!
  }

  /** Waits for Parley's response to the agent's request. */
  responseTo(id: number | string): Promise<Frame> {
    return this.waitFor(frame => frame.id === id && frame.method === undefined)
  }
}
