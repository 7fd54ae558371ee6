import * as l10n from '@vscode/l10n'
import {
  type CancellationId,
  type CancellationStrategy,
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type Message,
  type MessageConnection,
  type MessageWriter,
  ParameterStructures,
  ResponseError,
} from 'vscode-jsonrpc/node'
import { type Deferred, deferred, withTimeout } from '../common/async.ts'
import type { Disposable } from '../common/disposable.ts'
import { CancelledError, isCancelled, messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import { MAX_OPEN_BYTES, MAX_OPEN_REQUESTS, MAX_UNREAD_BYTES, UNREAD_ANSWERS_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { SecretRegistry } from '../common/secrets.ts'
import type { ConnectionTap } from './agent.ts'
import { RpcCode, RpcError } from './errors.ts'
import { OpenRequests, type RequestToken } from './open-requests.ts'
import { WriterClosedError } from './transport/ndjson-writer.ts'
import { OrderedReader, type PausableReader, type WireMessage } from './transport/ordered-reader.ts'

export interface ConnectionHandlers {
  /** Handles a notification immediately, in the order of the stream. Returns `false` if the method is unknown. */
  notification(method: string, params: unknown): boolean
  /**
   * Answers a request. Returns `undefined` if the method is unknown. If the promise rejects with an {@link RpcError}, the peer gets this
   * error; for any other rejection, the peer gets an internal error with its message. `signal` aborts when the peer withdraws the request
   * or the connection ends.
   */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> | undefined
}

/** A writer that knows how many bytes of answers the peer hasn't read yet; see `NdjsonWriter`. */
export interface AnswerWriter extends MessageWriter {
  readonly unreadBytes?: number
  readonly progress?: Promise<void>
}

/** The peer sends requests but doesn't read the answers to them. */
export class UnreadAnswersError extends Error {
  override readonly name = 'UnreadAnswersError'

  constructor() {
    super(l10n.t("The agent sends requests but doesn't read the responses, so its connection was closed."))
  }
}

export interface ConnectionOptions {
  reader: PausableReader
  writer: AnswerWriter
  handlers: ConnectionHandlers
  log: Logger
  tap?: ConnectionTap
  /** Secrets to redact in the peer's errors. */
  secrets?: SecretRegistry
  /** The largest request id that an earlier connection to the same peer used; this connection continues with the ids after it. */
  lastId?: number
}

const CANCEL_REQUEST = '$/cancel_request'
/** The cancellation notification of the Language Server Protocol, which some libraries send automatically. */
const LSP_CANCEL_REQUEST = '$/cancelRequest'

/**
 * A JSON-RPC connection on vscode-jsonrpc that follows ACP: both sides can send `$/cancel_request`, unknown requests are answered with
 * -32601, and unknown notifications are dropped (and logged once for each method). Order: a message is handled completely, including the
 * continuations of the promise that the message resolves, before the next message is read.
 */
export class Connection implements Disposable {
  readonly #rpc: MessageConnection
  readonly #reader: OrderedReader
  readonly #writer: AnswerWriter
  readonly #secrets: SecretRegistry
  readonly #handlers: ConnectionHandlers
  readonly #log: Logger
  readonly #tap: ConnectionTap
  readonly #open = new OpenRequests()
  /** functions that reject pending requests to the peer */
  readonly #pending = new Set<(error: Error) => void>()
  /** by the id of a pending request to the peer: a controller that aborts when the request ends */
  readonly #outgoing = new Map<string, AbortController>()
  /** the number that is added to vscode-jsonrpc's request ids, which start at 0 */
  readonly #idOffset: number
  /** pending requests of an earlier connection, by their ids */
  readonly #adopted = new Map<CancellationId, Deferred<unknown>>()
  /** the id of the request that was written last */
  #lastSent: CancellationId | undefined
  readonly #dropped = new Set<string>()
  readonly #onDidClose = new Emitter<Error | undefined>()
  #isHolding = false
  #received = 0
  #closed = false
  #ended: Error | undefined

  constructor(options: ConnectionOptions) {
    this.#handlers = options.handlers
    this.#log = options.log
    this.#tap = options.tap ?? { current: undefined }
    this.#reader = new OrderedReader(options.reader, message => this.#takes(message))
    this.#writer = options.writer
    this.#secrets = options.secrets ?? new SecretRegistry()
    this.#idOffset = options.lastId === undefined ? 0 : options.lastId + 1
    const writer = this.#tapped(options.writer)
    this.#rpc = createMessageConnection(
      this.#reader,
      writer,
      {
        error: message => this.#log.error(message),
        warn: message => this.#log.warn(message),
        info: message => this.#log.info(message),
        log: message => this.#log.debug(message),
      },
      {
        cancellationStrategy: this.#cancellation(),
        messageStrategy: {
          handleMessage: (message, next) => {
            try {
              return next(message)
            } finally {
              // `setImmediate` runs after all microtasks, so the continuation of a response runs before the next message is read.
              setImmediate(() => this.#reader.dispatched())
            }
          },
        },
      },
    )
    this.#rpc.onRequest((method, params, token) => this.#answer(method, params, token))
    let failure: Error | undefined
    this.#rpc.onError(([error]) => {
      failure ??= error
      this.#log.debug(`Connection: ${messageOf(error)}`)
    })
    this.#rpc.onClose(() => this.#close(failure))
  }

  /** Fires once when the stream has ended, after the last message, with the error that ended the stream, if any. */
  get onDidClose(): Event<Error | undefined> {
    return this.#onDidClose.event
  }

  listen(): void {
    this.#rpc.listen()
  }

  /** the number of messages that the peer has sent */
  get received(): number {
    return this.#received
  }

  /** Whether a message of the peer is still being dispatched. */
  get isDispatching(): boolean {
    return this.#reader.isDispatching
  }

  /** Resolves to the answer to a request that an earlier connection sent. Settles and rejects as {@link request} does. */
  adopt(id: CancellationId): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended)
    const answer = deferred<unknown>()
    this.#adopted.set(id, answer)
    const fail = (error: Error) => answer.reject(error)
    this.#pending.add(fail)
    answer.promise.catch(() => {}).finally(() => this.#pending.delete(fail))
    return answer.promise
  }

  /**
   * Sends a request. Rejects with {@link RpcError} on an error answer, with `CancelledError` as soon as `signal` aborts (the peer is
   * notified), and with the reason given to {@link end} if the connection ended first.
   *
   * `onAbandoned` is called when `signal` aborts before the peer has answered, because the peer may continue the work anyway. The promise
   * that it gets settles as the peer's answer does, or rejects when the connection ends.
   */
  request(
    method: string,
    params: unknown,
    signal?: AbortSignal,
    onAbandoned?: (answer: Promise<unknown>) => void,
  ): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended)
    if (signal?.aborted) return Promise.reject(new CancelledError())
    return new Promise((resolve, reject) => {
      const cancel = signal ? new CancellationTokenSource() : undefined
      const onAbort = () => {
        onAbandoned?.(answer)
        cancel?.cancel()
        fail(new CancelledError())
      }
      let id: string | undefined
      const answered = () => {
        this.#pending.delete(fail)
        if (id !== undefined) {
          this.#outgoing.get(id)?.abort(new CancelledError())
          this.#outgoing.delete(id)
        }
        signal?.removeEventListener('abort', onAbort)
      }
      const fail = (error: Error) => {
        answered()
        reject(error)
      }
      this.#pending.add(fail)
      signal?.addEventListener('abort', onAbort, { once: true })
      let answer: Promise<unknown> = Promise.resolve()
      this.#lastSent = undefined
      try {
        answer = cancel
          ? this.#rpc.sendRequest(method, ParameterStructures.byName, params, cancel.token)
          : this.#rpc.sendRequest(method, ParameterStructures.byName, params)
      } catch (error) {
        // The stream is closed already. `end` rejects the request with the reason as soon as the agent's exit is known.
        this.#log.debug(`${method} wasn't sent: ${messageOf(error)}`)
        return
      }
      // vscode-jsonrpc chooses the id when it writes the request, which happens synchronously.
      if (this.#lastSent !== undefined) {
        id = String(this.#lastSent)
        this.#outgoing.set(id, new AbortController())
      }
      answer.then(
        result => {
          answered()
          resolve(result)
        },
        (error: unknown) => fail(this.#ended ?? this.#asRpcError(error)),
      )
    })
  }

  /**
   * Returns a signal that aborts when the request to the peer with this id ends, whatever the outcome; `undefined` if no such request is
   * pending.
   */
  requestSignal(id: unknown): AbortSignal | undefined {
    return typeof id === 'number' || typeof id === 'string'
      ? this.#outgoing.get(String(id))?.signal
      : undefined
  }

  /** Sends a notification; logs it if the connection has ended. */
  notify(method: string, params: unknown): void {
    if (this.#closed || this.#ended) return
    try {
      this.#rpc.sendNotification(method, ParameterStructures.byName, params).catch((error: unknown) => {
        this.#log.debug(`${method} wasn't sent: ${messageOf(error)}`)
      })
    } catch (error) {
      this.#log.debug(`${method} wasn't sent: ${messageOf(error)}`)
    }
  }

  /** Ends the connection: open and later requests are rejected with `reason`. */
  end(reason: Error): void {
    if (this.#ended) return
    this.#ended = reason
    for (const fail of [...this.#pending]) fail(reason)
    this.#open.withdrawAll()
    this.#rpc.dispose()
  }

  dispose(): void {
    this.end(new CancelledError('The connection was closed.'))
    this.#onDidClose.dispose()
  }

  // ---- incoming messages ----------------------------------------------------------------------------------------------

  /** Inspects every incoming message first, and handles the notifications. Returns `false` to leave the message to vscode-jsonrpc. */
  #takes(message: WireMessage): boolean {
    this.#received++
    const tap = this.#tap.current
    if (tap) tap({ at: Date.now(), direction: 'receive', message })
    const method = message.method
    if (method === undefined) {
      if (message.id === null) {
        this.#orphanError(message)
        return true
      }
      return this.#idOffset > 0 && this.#isOfEarlier(message)
    }
    if (message.id !== undefined) return false
    if (method === CANCEL_REQUEST || method === LSP_CANCEL_REQUEST) {
      this.#withdraw(message.params)
      return true
    }
    try {
      if (!this.#handlers.notification(method, message.params)) this.#drop(method)
    } catch (error) {
      this.#log.error(`Handling ${method} failed: ${messageOf(error)}`)
    }
    return true
  }

  /** Whether a response belongs to an earlier connection. If not, changes its id to the id that vscode-jsonrpc knows. */
  #isOfEarlier(message: WireMessage): boolean {
    const { id } = message
    if (id === undefined || id === null) return false
    const adopted = this.#adopted.get(id)
    if (adopted) {
      this.#adopted.delete(id)
      if (message.error) adopted.reject(this.#rpcError(message.error))
      else adopted.resolve(message.result)
      this.#reader.awaitContinuations()
      return true
    }
    const number = Number(id)
    if (!(number >= this.#idOffset)) return true
    message.id = typeof id === 'number' ? number - this.#idOffset : String(number - this.#idOffset)
    return false
  }

  /** Handles an error without a request's id: rejects the pending request, if there is only one. */
  #orphanError(message: WireMessage): void {
    const error = message.error ?? { code: RpcCode.internalError, message: '' }
    this.#log.warn(
      `The agent sent an error that belongs to no request: ${error.code} ${this.#secrets.redact(error.message)}`,
    )
    if (this.#pending.size !== 1) return
    const [fail] = this.#pending
    fail?.(this.#rpcError(error))
  }

  #withdraw(params: unknown): void {
    const { requestId, id } = (params ?? {}) as { requestId?: unknown; id?: unknown }
    const key = requestId ?? id
    if (typeof key !== 'string' && typeof key !== 'number') return
    this.#open.withdraw(key)
  }

  #drop(method: string): void {
    if (this.#dropped.has(method)) return
    // The set is bounded, because an agent could fill the memory with new method names.
    if (this.#dropped.size < 1000) this.#dropped.add(method)
    this.#log.debug(`Ignoring the agent's notifications ${method}`)
  }

  async #answer(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    const { request } = token as RequestToken
    const release = this.#open.hold(params)
    try {
      if (this.#open.count > MAX_OPEN_REQUESTS || this.#isFull()) return tooMany()
      const answer = this.#handlers.request(method, params, request.signal)
      if (answer === undefined) {
        this.#log.debug(`The agent requested the unknown method ${method}`)
        return new ResponseError(RpcCode.methodNotFound, `Method not found: ${method}`)
      }
      const result = (await answer) ?? {}
      // While this request was handled, other answers may have filled the limit.
      if (this.#isFull()) return tooMany()
      // Counts the answer until it's written: only then does the writer count it as unread.
      setImmediate(this.#open.hold(result))
      return result
    } catch (error) {
      if (error instanceof RpcError) return new ResponseError(error.code, error.message, error.data)
      if (isCancelled(error)) return new ResponseError(RpcCode.requestCancelled, error.message)
      this.#log.warn(`${method} failed: ${messageOf(error)}`)
      return new ResponseError(RpcCode.internalError, messageOf(error))
    } finally {
      release()
      this.#open.end(request)
    }
  }

  #isFull(): boolean {
    return this.#open.bytes + (this.#writer.unreadBytes ?? 0) > MAX_OPEN_BYTES
  }

  #asRpcError(error: unknown): RpcError {
    if (error instanceof ResponseError) return this.#rpcError(error)
    return new RpcError(RpcCode.internalError, messageOf(error))
  }

  #rpcError({ code, message, data }: { code: number; message: string; data?: unknown }): RpcError {
    return new RpcError(code, this.#secrets.redact(message), this.#secrets.redactAll(data))
  }

  // ---- parts of vscode-jsonrpc ---------------------------------------------------------------------------------

  #cancellation(): CancellationStrategy {
    return {
      receiver: {
        createCancellationTokenSource: (id: CancellationId) => this.#open.begin(id),
      },
      sender: {
        sendCancellation: (connection, id) =>
          connection.sendNotification(CANCEL_REQUEST, ParameterStructures.byName, {
            requestId: this.#onWire(id),
          }),
        cleanup: () => {},
      },
    }
  }

  /**
   * Returns the writer for vscode-jsonrpc. A closed stdin doesn't end the connection: the agent's earlier output must still be read, and
   * then the reader ends the connection. A request that can't be written stays pending until then.
   */
  #tapped(writer: AnswerWriter): MessageWriter {
    const write = (written: Message): Promise<void> => {
      const isRequest = 'method' in written && 'id' in written
      const message = isRequest ? { ...written, id: this.#onWire(written.id as CancellationId) } : written
      return send(message)
    }
    const send = (message: Message): Promise<void> => {
      const { method, id } = message as { method?: unknown; id?: unknown }
      if (method !== undefined && (typeof id === 'number' || typeof id === 'string')) this.#lastSent = id
      const tap = this.#tap.current
      if (tap) tap({ at: Date.now(), direction: 'send', message })
      const written = writer.write(message)
      if ((writer.unreadBytes ?? 0) > MAX_UNREAD_BYTES) void this.#holdWhileUnread()
      return written.catch((error: unknown) => {
        if (!(error instanceof WriterClosedError)) throw error
        this.#log.debug(`Not sent: ${messageOf(error)}`)
      })
    }
    const never = () => ({ dispose() {} })
    return { onError: never, onClose: never, write, end: () => writer.end(), dispose: () => writer.dispose() }
  }

  #onWire(id: CancellationId): CancellationId {
    return typeof id === 'number' ? id + this.#idOffset : id
  }

  /** Stops reading until the agent has read the answers to its requests. Ends the connection if the agent doesn't read them. */
  async #holdWhileUnread(): Promise<void> {
    if (this.#isHolding) return
    this.#isHolding = true
    this.#reader.hold()
    while ((this.#writer.unreadBytes ?? 0) > MAX_UNREAD_BYTES / 2 && !this.#closed) {
      const before = this.#writer.unreadBytes ?? 0
      await withTimeout(this.#writer.progress ?? Promise.resolve(), UNREAD_ANSWERS_MS)
      if ((this.#writer.unreadBytes ?? 0) < before) continue
      this.#close(new UnreadAnswersError())
      return
    }
    this.#isHolding = false
    this.#reader.release()
  }

  #close(error: Error | undefined): void {
    if (this.#closed) return
    this.#closed = true
    this.#open.withdrawAll()
    this.#onDidClose.fire(error)
  }
}

function tooMany(): ResponseError<unknown> {
  return new ResponseError(RpcCode.internalError, 'Too many requests are open.')
}
