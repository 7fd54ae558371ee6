import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageReader,
} from 'vscode-jsonrpc/node'

/** A reader that can be paused. */
export interface PausableReader extends MessageReader {
  pause(): void
  resume(): void
}

/**
 * Passes requests and responses to vscode-jsonrpc one at a time, and handles notifications without its queue.
 *
 * vscode-jsonrpc takes each message from its queue in a separate timer callback, and keeps reading in the meantime. Therefore, a message
 * that `takes` handles (every notification) is handled immediately, which is also much faster. Any other message is passed to
 * vscode-jsonrpc, and reading stops until {@link dispatched} is called, after the message was dispatched and the continuations of its
 * promise have run. So a response never overtakes an earlier notification and isn't overtaken by a later one, and a flood of messages stays
 * in the pipe instead of in a queue.
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

  /** Whether a message is being dispatched, or the continuations of its promise haven't run yet. */
  get isDispatching(): boolean {
    return this.#waiting
  }

  /** Stops reading until the continuations of a promise that `takes` has settled have run. */
  awaitContinuations(): void {
    this.#waiting = true
    this.#inner.pause()
    setImmediate(() => this.dispatched())
  }

  /** Passes on the next message, because the previous one has been dispatched. */
  dispatched(): void {
    if (!this.#waiting) return
    this.#waiting = false
    this.#proceed()
  }

  /** Passes on no message until {@link release} is called. */
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
      // The message wasn't queued, so vscode-jsonrpc will never dispatch it.
      this.fireError(error)
      this.dispatched()
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

/** A JSON-RPC message as vscode-jsonrpc expects it. In a response to no request, `id` is `null`. */
export interface WireMessage extends Message {
  id?: string | number | null
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/**
 * Returns a parsed value as a JSON-RPC message, or `undefined` if it isn't a message (a log line in JSON, for example). Agents differ:
 * `jsonrpc` may be missing, an error may be a bare string or carry its code as text, a response may have neither a result nor an error
 * (read as a null result). A response may also have a null method, as serializers of optional fields write it. The value is changed in
 * place if necessary.
 */
export function asMessage(value: unknown): WireMessage | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const message = value as { [key: string]: unknown }
  const id = message.id
  if (typeof message.method === 'string') {
    // A request whose id can't be used in a response is treated as a notification.
    if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') delete message.id
    return value as WireMessage
  }
  if (message.method === null) {
    // Without a result and an error, the value could also be a request whose method got lost.
    if (message.result === undefined && (message.error === undefined || message.error === null))
      return undefined
    delete message.method
  } else if (message.method !== undefined) return undefined
  if (message.error !== undefined && message.error !== null) {
    message.error = asError(message.error)
    if (typeof id !== 'string' && typeof id !== 'number') message.id = null
    return value as WireMessage
  }
  if (typeof id !== 'string' && typeof id !== 'number') return undefined
  if (message.error === null) delete message.error
  if (message.result === undefined) message.result = null
  return value as WireMessage
}

function asError(error: unknown): { code: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) {
    return { code: UNKNOWN_CODE, message: typeof error === 'string' ? error : 'The agent answered an error.' }
  }
  const { code, message, data } = error as { [key: string]: unknown }
  return {
    code: asCode(code),
    message: typeof message === 'string' ? message : '',
    ...(data === undefined ? {} : { data }),
  }
}

const UNKNOWN_CODE = -32603

function asCode(code: unknown): number {
  const number = typeof code === 'string' ? Number.parseInt(code, 10) : code
  return typeof number === 'number' && Number.isFinite(number) ? number : UNKNOWN_CODE
}
