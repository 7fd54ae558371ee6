import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import type { RunningProcess } from '../acp/transport/running-process.ts'
import { withTimeout } from '../common/async.ts'
import { MAX_CHECK_BYTES, MCP_SERVER_EXIT_MS } from '../common/limits.ts'
import { LineReader } from './bridge/line-reader.ts'

/** A server that has sent more than it may. */
export class TooMuchError extends Error {
  override readonly name = 'TooMuchError'
}

/** An MCP server's standard input and output. Whoever started the process ends it. */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** The first line on the output that isn't JSON. */
  noise: string | undefined
  readonly #process: RunningProcess
  readonly #reader = new LineReader(line => this.#read(line))
  #bytes = 0
  #isClosed = false

  constructor(process: RunningProcess) {
    this.#process = process
  }

  async start(): Promise<void> {
    const { stdout, exited } = this.#process
    stdout.on('data', (chunk: Buffer) => this.#push(chunk))
    const ended = new Promise<void>(resolve => stdout.once('close', resolve))
    // a process that the server started may keep the output open
    void exited.then(async () => {
      await withTimeout(ended, MCP_SERVER_EXIT_MS)
      await this.close()
    })
    void ended.then(() => this.close())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || !this.#process.stdin.writable) throw new Error("The server's input is closed.")
    if (!this.#process.stdin.write(serializeMessage(message)))
      await Promise.race([
        new Promise<void>(resolve => this.#process.stdin.once('drain', resolve)),
        this.#process.exited,
      ])
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#reader.end()
    this.onclose?.()
  }

  #push(chunk: Buffer): void {
    if (this.#isClosed) return
    this.#bytes += chunk.length
    if (this.#bytes <= MAX_CHECK_BYTES) {
      this.#reader.push(chunk)
      return
    }
    this.onerror?.(new TooMuchError())
    void this.close()
  }

  #read(line: string): void {
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch (error) {
      // many servers write logs to their standard output, which clients ignore
      if (error instanceof SyntaxError) this.noise ??= line.slice(0, 200)
      else this.onerror?.(error as Error)
      return
    }
    this.onmessage?.(message)
  }
}
