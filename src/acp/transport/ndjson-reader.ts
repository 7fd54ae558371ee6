import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { AbstractMessageReader, type DataCallback, type Disposable } from 'vscode-jsonrpc/node'
import { boundDepth } from '../../common/bound-depth.ts'
import { LineSplitter } from './line-splitter.ts'
import { asMessage, type WireMessage } from './ordered-reader.ts'

export interface NdjsonReaderOptions {
  /** The maximum size of a line; a longer line fires a `LineTooLongError` and stops the reader. */
  maxFrameBytes: number
  /** Receives each line that isn't a JSON-RPC message, cut to {@link NOISE_LENGTH} characters. Blank lines are ignored. */
  onNoise?: (line: string) => void
  /** Called for each line from which members beyond the limit were removed. */
  onCut?: () => void
  /** Present if another window began to read the agent's output. */
  resumed?: ResumedStream
}

/** Output of an agent after another window has read the beginning. */
export interface ResumedStream {
  /** the number of lines that the other window has read */
  before: number
  /**
   * The number of the last line that was written before this window began to read. Requests up to this line may already be answered, so
   * they are skipped. Those in `open` aren't answered, and are passed on after this line.
   */
  last: number
  open: readonly object[]
  /** Called after the requests in `open` have been passed on. */
  onCaughtUp: () => void
}

/** the maximum number of characters of a reported line that isn't a message */
export const NOISE_LENGTH = 2000

/**
 * Reads newline-delimited JSON-RPC from a byte stream. A line that isn't a message is reported as noise and skipped; a batch is passed on
 * message by message. A paused reader neither reads nor parses, so a flood stays in the pipe instead of in memory.
 */
export class NdjsonReader extends AbstractMessageReader {
  readonly #stream: Readable
  readonly #lines: LineSplitter
  readonly #onNoise: (line: string) => void
  /** data that arrived while the reader was paused, because a stream doesn't stop immediately */
  readonly #chunks: Buffer[] = []
  #callback: DataCallback | undefined
  /** the messages of a batch, and the position of the next one to pass on */
  #batch: unknown[] | undefined
  #batchPosition = 0
  /** the number of the line that was read last */
  #line = 0
  /** whether only some messages of the last line, which is a long batch, were read */
  #isWithinLine = false
  #resumed: ResumedStream | undefined
  #isPassingOpen = false
  #paused = false
  #working = false
  #ended = false
  #done = false

  constructor(stream: Readable, options: NdjsonReaderOptions) {
    super()
    this.#stream = stream
    this.#lines = new LineSplitter(options.maxFrameBytes, options.onCut)
    this.#onNoise = options.onNoise ?? (() => {})
    this.#resumed = options.resumed
    this.#line = options.resumed?.before ?? 0
  }

  get line(): number {
    return this.#line
  }

  /** The number of the last line whose messages have all been passed on. */
  get handled(): number {
    const isWithinLine = this.#isWithinLine || (this.#batch && !this.#isPassingOpen)
    return isWithinLine ? this.#line - 1 : this.#line
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback
    const onData = (chunk: Buffer) => this.#read(chunk)
    const onEnd = () => this.#end()
    const onError = (error: Error) => {
      if (this.#done) return
      this.fireError(error)
      this.#end()
    }
    this.#stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError)
    return {
      dispose: () => {
        this.#done = true
        this.#callback = undefined
        this.#stream.off('data', onData).off('end', onEnd).off('close', onEnd)
        // The error listener stays attached, because a broken pipe after the end must not become an uncaught exception.
      },
    }
  }

  /** Stops passing on messages until {@link resume}, even messages that were already read. */
  pause(): void {
    if (this.#paused) return
    this.#paused = true
    if (!this.#working) this.#stream.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#work()
  }

  override dispose(): void {
    this.#done = true
    this.#callback = undefined
    super.dispose()
  }

  #read(chunk: Buffer): void {
    if (this.#done) return
    this.#chunks.push(chunk)
    this.#work()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#work()
  }

  #fail(error: unknown): void {
    this.#done = true
    this.#stream.pause()
    this.fireError(error)
    this.fireClose()
  }

  /** Passes on everything that can be passed on now. Not reentrant: a handler may pause and resume during the call. */
  #work(): void {
    if (this.#working || this.#done) return
    this.#working = true
    try {
      while (!this.#paused && !this.#done) {
        if (this.#batch) {
          this.#nextOfBatch(this.#batch)
          continue
        }
        const isAfterLast = !this.#isWithinLine && this.#line >= (this.#resumed?.last ?? 0)
        if (this.#resumed && (isAfterLast || this.#isPassingOpen)) {
          this.#passOpen(this.#resumed)
          continue
        }
        const line = this.#nextLine()
        if (line === undefined) {
          // The stream ended before line `last` was complete.
          if (!this.#ended || !this.#resumed) break
          this.#line = this.#resumed.last
          this.#isWithinLine = false
          continue
        }
        if (!this.#isWithinLine) this.#line++
        this.#isWithinLine = !this.#lines.isLineEnd
        this.#readLine(line)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#working = false
    }
    if (this.#done) return
    if (this.#paused) this.#stream.pause()
    else if (this.#ended) {
      this.#done = true
      this.fireClose()
    } else if (this.#stream.isPaused()) this.#stream.resume()
  }

  #nextLine(): string | undefined {
    for (;;) {
      const line = this.#lines.next()
      if (line !== undefined) return line
      const chunk = this.#chunks.shift()
      if (chunk === undefined) return this.#ended ? this.#lines.flush() : undefined
      this.#lines.push(chunk)
    }
  }

  #passOpen(resumed: ResumedStream): void {
    if (this.#isPassingOpen) {
      this.#isPassingOpen = false
      this.#resumed = undefined
      resumed.onCaughtUp()
      return
    }
    this.#isPassingOpen = true
    this.#batch = [...resumed.open]
    this.#batchPosition = 0
  }

  #readLine(line: string): void {
    const value = parseLine(line)
    if (value === undefined) {
      const noise = line.trim()
      if (noise !== '') this.#onNoise(noise.slice(0, NOISE_LENGTH))
    } else if (Array.isArray(value)) {
      // A long batch is divided before it's parsed, so each element may be an array with a part of the batch.
      this.#batch = value.flat(Number.POSITIVE_INFINITY) as unknown[]
      this.#batchPosition = 0
    } else this.#deliver(value)
  }

  #nextOfBatch(batch: unknown[]): void {
    if (this.#batchPosition >= batch.length) {
      this.#batch = undefined
      return
    }
    this.#deliver(batch[this.#batchPosition++])
  }

  #deliver(value: unknown): void {
    const message = asMessage(value)
    if (message && this.#resumed && !this.#isPassingOpen && isRequest(message)) return
    if (message) this.#callback?.(message)
    else this.#onNoise(describe(value))
  }
}

function isRequest({ id, method }: WireMessage): boolean {
  return method !== undefined && id !== undefined
}

const OPEN_BRACE = 123
const OPEN_BRACKET = 91
/** Returns the object or array on a line; `undefined` if there is none. */
function parseLine(line: string): unknown {
  let text = line
  const first = text.charCodeAt(0)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    // Some agents write terminal escape codes before their first message. The codes are removed, and the message is kept.
    text = stripVTControlCharacters(text).trim()
    const start = text.charCodeAt(0)
    if (start !== OPEN_BRACE && start !== OPEN_BRACKET) return undefined
  }
  try {
    return boundDepth(JSON.parse(text), text.length)
  } catch {
    return undefined
  }
}

function describe(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? '').slice(0, NOISE_LENGTH)
  } catch {
    return '(a value too deep to show)'
  }
}
