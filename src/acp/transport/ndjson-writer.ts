import type { Writable } from 'node:stream'
import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-jsonrpc/node'

/** Nothing can be written any more: the stream was ended, here or by the agent. */
export class WriterClosedError extends Error {
  override readonly name = 'WriterClosedError'

  constructor(cause?: unknown) {
    super('The agent takes no more messages.', { cause })
  }
}

/**
 * Writes JSON-RPC as one line each, in the order of the calls. `write` resolves when the stream can take more, so a
 * caller that awaits never fills memory faster than the agent reads.
 */
export class NdjsonWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #stream: Writable
  #closed = false
  #errors = 0
  /** waits for the stream to take more; shared by all who wait */
  #drained: Promise<void> | undefined

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
    if (this.#stream.write(line)) return Promise.resolve()
    this.#drained ??= this.#waitForDrain().finally(() => {
      this.#drained = undefined
    })
    return this.#drained
  }

  end(): void {
    this.#closed = true
    if (!this.#stream.writableEnded) this.#stream.end()
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
