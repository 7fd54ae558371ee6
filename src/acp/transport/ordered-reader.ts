import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  type MessageReader,
} from 'vscode-jsonrpc/node'
import type { WireMessage } from './message-shape.ts'

/** A reader that can be told to hold back. */
export interface PausableReader extends MessageReader {
  pause(): void
  resume(): void
}

/**
 * Lets one message at a time into vscode-jsonrpc, and notifications past its queue.
 *
 * vscode-jsonrpc takes each message from its queue in a timer callback of its own, and reads on meanwhile. So: a
 * message that `takes` handles (every notification) is handled at once, in place, which is much faster; any other is
 * handed to vscode-jsonrpc and all reading stops until {@link settled} is called after it was dispatched and the
 * continuations of its promise have run. A response therefore never overtakes the notifications before it, nor is
 * it overtaken by those after it, and a flood piles up in the pipe instead of in a queue.
 */
export class OrderedReader extends AbstractMessageReader {
  readonly #inner: PausableReader
  readonly #takes: (message: WireMessage) => boolean
  #callback: DataCallback | undefined
  #closed = false
  #closePending = false
  #waiting = false
  #held = false

  constructor(inner: PausableReader, takes: (message: WireMessage) => boolean) {
    super()
    this.#inner = inner
    this.#takes = takes
    inner.onError(error => this.fireError(error))
    inner.onClose(() => this.#close())
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback
    return this.#inner.listen(message => this.#deliver(message as WireMessage))
  }

  /** The message that was handed on has been dispatched: the next may come. */
  settled(): void {
    if (!this.#waiting) return
    this.#waiting = false
    this.#proceed()
  }

  /** Hands on no further message until {@link release}. */
  hold(): void {
    this.#held = true
    this.#inner.pause()
  }

  release(): void {
    this.#held = false
    if (!this.#waiting) this.#proceed()
  }

  #proceed(): void {
    if (this.#closePending) this.#close()
    else if (!this.#held) this.#inner.resume()
  }

  override dispose(): void {
    this.#closed = true
    this.#callback = undefined
    this.#inner.dispose()
    super.dispose()
  }

  #deliver(message: WireMessage): void {
    if (this.#closed || this.#takes(message)) return
    this.#waiting = true
    this.#inner.pause()
    try {
      this.#callback?.(message)
    } catch (error) {
      // It was not queued, so nobody will say that it is settled.
      this.fireError(error)
      this.settled()
    }
  }

  #close(): void {
    if (this.#closed) return
    if (this.#waiting) {
      this.#closePending = true
      return
    }
    this.#closed = true
    this.fireClose()
  }
}
