import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type RequestId,
  SdkHttpError,
  SseError,
  type Transport,
} from '@modelcontextprotocol/client'
import { deferred, delay, withTimeout } from '../../common/async.ts'
import { messageOf } from '../../common/errors.ts'
import { MCP_FIRST_ATTEMPTS, MCP_RECONNECT_MS, MCP_SERVER_EXIT_MS } from '../../common/limits.ts'
import { statusOf } from '../status-of.ts'

export interface BridgeOptions {
  /** The server's name, for messages. */
  name: string
  /** Creates a connection that isn't started yet. */
  connect: () => Transport
  /** Sends a message to the agent. */
  write: (message: JSONRPCMessage) => void
  /** Receives what a user wants to know about the connection, without secrets. */
  report: (line: string) => void
}

/** A request of the agent without an answer. */
interface Pending {
  method: string
  /** Once the server has it: an answer can't come after the connection was lost. */
  isSent: boolean
  abort: AbortController
}

type Capabilities = { [name: string]: { listChanged?: boolean } | undefined }

/** From here on, a request carries its revision, and there are no sessions. */
const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion'
/** The ids of the bridge's own requests; agents count, or use other texts. */
const OWN_ID = 'parley-bridge-'
const BRIDGE_ERROR = -32000
const CONNECTED = 'Connected.'

/**
 * Passes the messages of an agent on to an MCP server that is reached over HTTP or SSE, and back, as they are. The server
 * may lose its session, as when it's restarted: then a new one is opened with the agent's own `initialize`, which the agent
 * doesn't notice, except that requests that were in progress fail and that lists may have changed.
 */
export class Bridge {
  readonly #options: BridgeOptions
  readonly #pending = new Map<RequestId, Pending>()
  /** What a new session must be told again, by the request's method and what it is about. */
  readonly #state = new Map<string, JSONRPCRequest>()
  #initialize: JSONRPCRequest | undefined
  #capabilities: Capabilities = {}
  #connecting: Promise<Transport> | undefined
  #transport: Transport | undefined
  /** Notifications and answers arrive in the order in which they were sent. */
  #order: Promise<void> = Promise.resolve()
  #ownId = 0
  readonly #ownRequests = new Map<RequestId, (answer: JSONRPCResponse) => void>()
  /** It has answered once. */
  #isConnected = false
  #isReconnecting = false
  #isClosed = false

  constructor(options: BridgeOptions) {
    this.#options = options
  }

  /** A message of the agent. */
  receive(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      this.#pending.set(message.id, { method: message.method, isSent: false, abort: new AbortController() })
      this.#remember(message)
      void this.#order.then(() => this.#deliver(message))
      return
    }
    // since 2026-07-28, what cancels a request over HTTP is that its response is closed
    const canceled =
      'method' in message && message.method === 'notifications/cancelled' && this.#modern(message)
    if (canceled) {
      this.#pending.delete(canceled.id)
      canceled.pending.abort.abort()
      return
    }
    this.#order = this.#order.then(() => this.#deliver(message))
  }

  /** Ends the server's session. */
  async close(): Promise<void> {
    this.#isClosed = true
    const transport = this.#transport
    this.#transport = undefined
    if (transport && 'terminateSession' in transport)
      await withTimeout(
        (transport as { terminateSession(): Promise<void> }).terminateSession().catch(() => {}),
        MCP_SERVER_EXIT_MS,
      )
    await transport?.close().catch(() => {})
  }

  #modern(message: JSONRPCMessage): { id: RequestId; pending: Pending } | undefined {
    const { requestId, _meta } = ('params' in message ? (message.params ?? {}) : {}) as {
      requestId?: RequestId
      _meta?: Record<string, unknown>
    }
    const pending = requestId === undefined ? undefined : this.#pending.get(requestId)
    if (!pending || requestId === undefined) return undefined
    const isModern = !this.#initialize || _meta?.[REVISION_KEY] !== undefined
    return isModern ? { id: requestId, pending } : undefined
  }

  #remember(request: JSONRPCRequest): void {
    const { method, params } = request
    const uri = String(params?.uri)
    if (method === 'initialize') {
      this.#initialize = request
      this.#state.clear()
    } else if (method === 'logging/setLevel') this.#state.set(method, request)
    else if (method === 'resources/subscribe') this.#state.set(`resource ${uri}`, request)
    else if (method === 'resources/unsubscribe') this.#state.delete(`resource ${uri}`)
  }

  async #deliver(message: JSONRPCMessage): Promise<void> {
    const pending = isJSONRPCRequest(message) ? this.#pending.get(message.id) : undefined
    if (isJSONRPCRequest(message) && !pending) return
    for (let attempt = 0; ; attempt++) {
      let isConnected = false
      try {
        const transport = await this.#connected(message)
        isConnected = true
        await transport.send(message, pending && this.#sending(message as JSONRPCRequest, pending))
        if (pending) pending.isSent = true
        return
      } catch (error) {
        if (this.#isClosed || pending?.abort.signal.aborted) return
        const wait = this.#waitAfter(error, attempt, isConnected)
        if (wait === undefined) {
          const problem = this.#explain(error)
          this.#options.report(problem.message)
          if (isJSONRPCRequest(message)) this.#fail(message.id, problem)
          return
        }
        if (isSessionGone(error)) this.#drop(this.#transport)
        await delay(wait)
      }
    }
  }

  /** How long to wait until a message is sent again; `undefined` if it can't be, or the server may have got it. */
  #waitAfter(error: unknown, attempt: number, isConnected: boolean): number | undefined {
    if (isSessionGone(error)) return attempt === 0 ? 0 : undefined
    // a server that ends or starts may accept a connection and close it; then it hasn't got the message yet
    if (isConnected ? !isRefused(error) : statusOf(error) !== undefined) return undefined
    // some agents start no session before all of its servers have answered
    return attempt < MCP_FIRST_ATTEMPTS || this.#isConnected ? MCP_RECONNECT_MS[attempt] : undefined
  }

  #sending({ id }: JSONRPCRequest, { abort }: Pending) {
    return {
      requestSignal: abort.signal,
      onRequestStreamEnd: () => this.#fail(id, this.#lost()),
    }
  }

  /** The connection for a message; a new one first repeats what the agent has told the server. */
  #connected(message?: JSONRPCMessage): Promise<Transport> {
    if (this.#transport) return Promise.resolve(this.#transport)
    this.#connecting ??= this.#connect(message).finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connect(message: JSONRPCMessage | undefined): Promise<Transport> {
    const transport = this.#options.connect()
    transport.onmessage = received => this.#pass(received)
    transport.onerror = error => this.#onError(transport, error)
    try {
      await transport.start()
      const isFirst = message !== undefined && message === this.#initialize
      if (this.#initialize && !isFirst) await this.#repeat(transport, this.#initialize)
    } catch (error) {
      transport.onerror = () => {}
      await transport.close().catch(() => {})
      throw error
    }
    if (this.#isClosed) await transport.close()
    this.#transport = transport
    return transport
  }

  /** Opens a new session as the agent opened the first one. */
  async #repeat(transport: Transport, initialize: JSONRPCRequest): Promise<void> {
    const answer = await this.#request(transport, initialize)
    if (!isJSONRPCResultResponse(answer)) throw new Error(answer.error.message)
    transport.setProtocolVersion?.(String(answer.result.protocolVersion))
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    this.#options.report(CONNECTED)
    for (const request of this.#state.values()) await this.#request(transport, request)
    for (const [name, capability] of Object.entries(this.#capabilities))
      if (capability?.listChanged)
        this.#options.write({ jsonrpc: '2.0', method: `notifications/${name}/list_changed` })
  }

  /** A request of the bridge itself. */
  async #request(transport: Transport, { method, params }: JSONRPCRequest): Promise<JSONRPCResponse> {
    const id = `${OWN_ID}${++this.#ownId}`
    const answer = deferred<JSONRPCResponse>()
    this.#ownRequests.set(id, answer.resolve)
    try {
      const onRequestStreamEnd = () => answer.reject(new Error(this.#lost().message))
      await transport.send({ jsonrpc: '2.0', id, method, ...(params && { params }) }, { onRequestStreamEnd })
      return await answer.promise
    } finally {
      this.#ownRequests.delete(id)
    }
  }

  /** A message of the server. */
  #pass(message: JSONRPCMessage): void {
    if (isJSONRPCResponse(message) && message.id !== undefined) {
      const own = this.#ownRequests.get(message.id)
      if (own) {
        own(message)
        return
      }
      const pending = this.#pending.get(message.id)
      // the agent has canceled it, or has been told that it failed
      if (!pending) return
      this.#pending.delete(message.id)
      if (pending.method === 'initialize' && isJSONRPCResultResponse(message)) {
        this.#transport?.setProtocolVersion?.(String(message.result.protocolVersion))
        this.#capabilities = (message.result.capabilities ?? {}) as Capabilities
        this.#isConnected = true
        this.#options.report(CONNECTED)
      }
    }
    this.#options.write(message)
  }

  #onError(transport: Transport, error: Error): void {
    if (transport !== this.#transport) return
    // over HTTP, the transport connects again by itself; a new stream over SSE is a new session
    if (!(error instanceof SseError) && !isSessionGone(error)) return
    this.#drop(transport)
    void this.#reconnect()
  }

  /** The connection is of no more use. */
  #drop(transport: Transport | undefined): void {
    if (!transport || transport !== this.#transport) return
    this.#transport = undefined
    transport.onerror = () => {}
    transport.onmessage = () => {}
    void transport.close().catch(() => {})
    this.#options.report(this.#lost().message)
    for (const [id, { isSent }] of this.#pending) if (isSent) this.#fail(id, this.#lost())
  }

  /** For the server's notifications; the agent's next message tries it, too. */
  async #reconnect(): Promise<void> {
    if (this.#isReconnecting) return
    this.#isReconnecting = true
    for (const wait of MCP_RECONNECT_MS) {
      await delay(wait)
      if (this.#isClosed || this.#transport) break
      try {
        await this.#connected()
      } catch (error) {
        this.#options.report(this.#explain(error).message)
      }
    }
    this.#isReconnecting = false
  }

  #fail(id: RequestId, error: { code: number; message: string; data?: unknown }): void {
    if (this.#pending.delete(id)) this.#options.write({ jsonrpc: '2.0', id, error })
  }

  #lost(): { code: number; message: string } {
    return {
      code: BRIDGE_ERROR,
      message: `The connection to the MCP server "${this.#options.name}" was lost.`,
    }
  }

  #explain(error: unknown): { code: number; message: string; data?: unknown } {
    const { name } = this.#options
    const status = statusOf(error)
    if (error instanceof SdkHttpError) {
      const answer = errorIn(error.data.text)
      if (answer) return answer
    }
    if (status === 401)
      return { code: BRIDGE_ERROR, message: `The MCP server "${name}" requires you to sign in.` }
    if (status !== undefined)
      return { code: BRIDGE_ERROR, message: `The MCP server "${name}" answered with status ${status}.` }
    const reason = causes(error).at(-1)
    const message = messageOf(reason ?? error)
    // the SDK's error of a stream has its cause in its text only
    const code = (reason as NodeJS.ErrnoException | undefined)?.code ?? /\bE[A-Z]{5,}\b/.exec(message)?.[0]
    return {
      code: BRIDGE_ERROR,
      message: `Can't reach the MCP server "${name}": ${code ?? message}`,
    }
  }
}

function causes(error: unknown): Error[] {
  const found: Error[] = []
  for (let one = error; one instanceof Error && found.length < 5; one = one.cause) found.push(one)
  return found
}

/** Whether nothing listens there now, so that the server certainly hasn't got the message. */
function isRefused(error: unknown): boolean {
  return causes(error).some(
    one => (one as NodeJS.ErrnoException).code === 'ECONNREFUSED' || /ECONNREFUSED/.test(one.message),
  )
}

/** Servers answer 404 for a session that they don't know; some answer 400 and say why. */
function isSessionGone(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(String(error.data.text)))
}

/** The JSON-RPC error in the body of a response. */
function errorIn(text: unknown): { code: number; message: string; data?: unknown } | undefined {
  try {
    const body: unknown = JSON.parse(String(text))
    const message = typeof body === 'object' && body !== null ? { ...body, id: 0 } : body
    return isJSONRPCErrorResponse(message) ? message.error : undefined
  } catch {
    return undefined
  }
}
