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
 * Our side's reader and writer on one end, and on the other what a test plays the agent with. It goes through
 * `contracts/pipe.ts`, as the pipes of a process do.
 */
export class MemoryPipe {
  readonly #toUs = new PassThrough()
  readonly #toAgent = new PassThrough()
  readonly noise: string[] = []
  readonly reader: NdjsonReader
  readonly writer: NdjsonWriter
  /** everything that we sent, in order */
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

  /** Writes messages as the agent, in one piece. */
  send(...messages: object[]): void {
    this.#toUs.write(messages.map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  }

  /** Writes anything as the agent. */
  write(piece: string | Uint8Array): void {
    this.#toUs.write(piece)
  }

  /** The agent closes its output. */
  endOutput(): void {
    this.#toUs.end()
  }

  /** The agent closes its input: our next write breaks the pipe. */
  closeInput(): void {
    this.#toAgent._write = (_chunk, _encoding, done) => done(new Error('write EPIPE'))
  }

  /** The first message of ours that is as asked, which may have been sent already. */
  async next(match: (frame: Frame) => boolean): Promise<Frame> {
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

  /** The latest request or notification of ours of that method. */
  async asked(method: string): Promise<Frame> {
    await this.next(frame => frame.method === method)
    return this.sent.findLast(frame => frame.method === method)!
  }

  /** Our answer to the agent's request. */
  answer(id: number | string): Promise<Frame> {
    return this.next(frame => frame.id === id && frame.method === undefined)
  }
}
