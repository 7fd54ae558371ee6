import type { Writable } from 'node:stream'
import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-jsonrpc/node'
import { deferred } from '../../common/async.ts'

/** The stream was ended by this side or by the agent, so nothing can be written anymore. */
export class WriterClosedError extends Error {
  override readonly name = 'WriterClosedError'

  constructor(cause?: unknown) {
    super("The agent doesn't accept messages anymore.", { cause })
  }
}

/** The memory that a waiting line needs besides its text, in bytes. */
const LINE_OVERHEAD = 512
/** The number of characters of the chunks in which waiting lines are written. Chunks make the agent's progress visible. */
const BATCH_LENGTH = 64 * 1024

interface WaitingLine {
  text: string
  /** the size of an unread answer, in bytes; 0 if the line isn't an answer */
  cost: number
}

/**
 * Writes JSON-RPC messages as one line each, in the order of the calls. `write` resolves when the stream can take more, so a caller that
 * awaits it never fills memory faster than the agent reads. Responses can't be limited in this way, because the agent requests them;
 * {@link unreadBytes} is the size of the responses that wait.
 */
export class NdjsonWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #stream: Writable
  #closed = false
  #errors = 0
  /** lines that the stream couldn't accept yet, starting at index `#next` */
  #waiting: WaitingLine[] = []
  #next = 0
  #unreadBytes = 0
  /** resolves when the stream accepts more; shared by all callers that wait */
  #drained: Promise<void> | undefined
  #progress = deferred()

  constructor(stream: Writable) {
    super()
    this.#stream = stream
    stream.on('error', error => {
      this.#closed = true
      this.fireError(error, undefined, ++this.#errors)
    })
    stream.on('close', () => {
      this.#closed = true
      this.fireClose()
    })
  }

  write(message: Message): Promise<void> {
    if (this.#closed || this.#stream.writableEnded || this.#stream.destroyed) {
      return Promise.reject(new WriterClosedError())
    }
    let line: string
    try {
      line = `${JSON.stringify(message)}\n`
    } catch (error) {
      return Promise.reject(error)
    }
    if (!this.#drained) {
      if (this.#stream.write(line)) return Promise.resolve()
    } else {
      const cost = 'method' in message ? 0 : line.length + LINE_OVERHEAD
      this.#unreadBytes += cost
      this.#waiting.push({ text: line, cost })
    }
    this.#drained ??= this.#drain().finally(() => {
      this.#drained = undefined
    })
    return this.#drained
  }

  /**
   * The size of the answers that the agent hasn't read, in bytes, including their memory overhead. The last answers may be in the pipe
   * already.
   */
  get unreadBytes(): number {
    return this.#unreadBytes
  }

  /** Resolves when the agent has read something, or has stopped reading for good. */
  get progress(): Promise<void> {
    return this.#progress.promise
  }

  /** Writes all waiting lines, even if the stream is full. */
  flush(): void {
    const rest = this.#waiting.slice(this.#next).map(({ text }) => text)
    this.#waiting = []
    this.#next = 0
    this.#unreadBytes = 0
    if (rest.length > 0 && !this.#closed && this.#stream.writable) this.#stream.write(rest.join(''))
  }

  end(): void {
    this.#closed = true
    if (!this.#stream.writableEnded) this.#stream.end()
  }

  async #drain(): Promise<void> {
    try {
      do {
        await this.#waitForDrain()
        this.#moved()
      } while (!this.#writeBatches())
    } catch (error) {
      this.#waiting = []
      this.#next = 0
      this.#unreadBytes = 0
      throw error
    } finally {
      this.#moved()
    }
  }

  #moved(): void {
    this.#progress.resolve()
    this.#progress = deferred()
  }

  /** Writes waiting lines until the stream is full. Returns whether all lines were written. */
  #writeBatches(): boolean {
    while (this.#next < this.#waiting.length) {
      let batch = ''
      while (this.#next < this.#waiting.length && batch.length < BATCH_LENGTH) {
        const { text, cost } = this.#waiting[this.#next++]!
        batch += text
        this.#unreadBytes -= cost
      }
      if (!this.#stream.write(batch)) return false
    }
    this.#waiting = []
    this.#next = 0
    return true
  }

  #waitForDrain(): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = this.#stream
      const done = (error?: Error) => {
        stream.off('drain', onDrain).off('close', onClose).off('error', onError)
        if (error) reject(error)
        else resolve()
      }
      const onDrain = () => done()
      const onClose = () => done(new WriterClosedError())
      const onError = (error: Error) => done(new WriterClosedError(error))
      stream.on('drain', onDrain).on('close', onClose).on('error', onError)
    })
  }
}
