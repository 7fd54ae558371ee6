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
import { deferred, delay, raceAbort, withTimeout } from '../../common/async.ts'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import {
  MAX_CHECKED_TOOLS,
  MCP_FIRST_ATTEMPTS,
  MCP_RECONNECT_MS,
  MCP_SERVER_EXIT_MS,
} from '../../common/limits.ts'
import { httpStatusOf } from '../http-status.ts'
import type { CheckedTool } from '../server-check.ts'
import { MAX_TOOL_TEXT, sentPart } from './reported-text.ts'

type ReportedState = [state: 'connecting' | 'connected' | 'failed', reason?: string]

export interface BridgeOptions {
  /** The server's name, for messages. */
  name: string
  /** Creates a connection that isn't started yet. */
  connect: () => Transport
  /** Sends a message to the agent. */
  write: (message: JSONRPCMessage) => void
  /** Receives messages for the user about the connection, without secrets. */
  report: (line: string) => void
  /** Receives the server's log, which may contain secrets. */
  onLog?: (line: string) => void
  /** Whether the server can be used. */
  onState?: (...state: ReportedState) => void
  /** The server has listed its tools to the agent. `isMore`: these follow the previous ones. */
  onTools?: (tools: CheckedTool[], isMore: boolean) => void
}

/** A request of the agent without an answer. */
interface Pending {
  method: string
  /** Once the server has it: an answer can't come after the connection was lost. */
  isSent: boolean
  abort: AbortController
  /** The request is for the next page of a list. */
  isMore: boolean
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
  /** The requests to repeat in a new session, by method and subject. */
  readonly #state = new Map<string, JSONRPCRequest>()
  #initialize: JSONRPCRequest | undefined
  #capabilities: Capabilities = {}
  #connecting: Promise<Transport> | undefined
  /** The transport that `#connecting` opens. */
  #opening: Transport | undefined
  /** Ends the wait for the server, which may never answer. */
  #givingUp = new AbortController()
  #transport: Transport | undefined
  #restarts = 0
  #reported: ReportedState | undefined
  /** Preserves the order of notifications and responses. */
  #order: Promise<void> = Promise.resolve()
  #ownId = 0
  readonly #ownRequests = new Map<RequestId, (answer: JSONRPCResponse) => void>()
  /** The server has answered once. */
  #isConnected = false
  #isReconnecting = false
  #isClosed = false

  constructor(options: BridgeOptions) {
    this.#options = options
  }

  /** Handles a message of the agent. */
  receive(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      const { id, method, params } = message
      const isMore = params?.cursor !== undefined
      this.#pending.set(id, { method, isSent: false, abort: new AbortController(), isMore })
      this.#remember(message)
      void this.#order.then(() => this.#deliver(message))
      return
    }
    // since 2026-07-28, closing the response cancels a request over HTTP
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
    this.#givingUp.abort()
    const transport = this.#transport
    this.#transport = undefined
    if (transport) await endSession(transport)
  }

  /** Opens a new session as if the server had lost the one before. Calls in progress fail. */
  async restart(): Promise<void> {
    this.#restarts += 1
    const restarts = this.#restarts
    this.#options.report('Restarting.')
    // without sessions, the agent's next request connects it
    if (this.#initialize) this.#reportState('connecting')
    const before = this.#transport
    this.#transport = undefined
    if (before) {
      before.onerror = () => {}
      before.onmessage = () => {}
      void endSession(before)
    }
    this.#givingUp.abort()
    // if the agent's own `initialize` is unanswered, sending it again opens the session
    const initialize = this.#initialize
    const opening = initialize && this.#pending.get(initialize.id)
    const isSent = opening?.isSent
    if (opening) opening.isSent = false
    for (const [id, pending] of this.#pending) if (pending.isSent) this.#fail(id, this.#restarted())
    await this.#connecting?.catch(() => {})
    if (initialize && isSent) void this.#deliver(initialize)
    if (!initialize || opening) return
    try {
      await this.#connected()
    } catch (error) {
      if (restarts === this.#restarts) this.#failed(this.#explain(error).message)
    }
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
      const restarts = this.#restarts
      try {
        const transport = await this.#connected(message)
        isConnected = true
        await transport.send(message, pending && this.#sending(message as JSONRPCRequest, pending))
        if (restarts === this.#restarts) {
          if (pending) pending.isSent = true
          return
        }
        // an answer that came meanwhile was dropped
        if (!this.#survivesRestart(message)) return
      } catch (error) {
        if (this.#isClosed || pending?.abort.signal.aborted) return
        if (restarts !== this.#restarts) {
          if (this.#survivesRestart(message)) continue
          return
        }
        const wait = this.#waitAfter(error, attempt, isConnected)
        if (wait === undefined) {
          const problem = this.#explain(error)
          if (answerIn(error) && pending?.method !== 'initialize') this.#options.report(problem.message)
          else this.#failed(problem.message)
          if (isJSONRPCRequest(message)) this.#fail(message.id, problem)
          return
        }
        if (isSessionGone(error)) this.#drop(this.#transport)
        await delay(wait)
      }
    }
  }

  /** After a restart while a message was sent: whether it's sent again. Otherwise the agent learns that it failed. */
  #survivesRestart(message: JSONRPCMessage): boolean {
    if (!isJSONRPCRequest(message)) return false
    if (message === this.#initialize) return this.#pending.has(message.id)
    this.#fail(message.id, this.#restarted())
    return false
  }

  /** How long to wait until a message is sent again; `undefined` if it can't be, or the server may have got it. */
  #waitAfter(error: unknown, attempt: number, isConnected: boolean): number | undefined {
    if (isSessionGone(error)) return attempt === 0 ? 0 : undefined
    // a server that ends or starts may accept a connection and close it; then it hasn't got the message yet
    if (isConnected ? !isRefused(error) : httpStatusOf(error) !== undefined) return undefined
    // some agents start no session before all of its servers have answered
    return attempt < MCP_FIRST_ATTEMPTS || this.#isConnected ? MCP_RECONNECT_MS[attempt] : undefined
  }

  #sending({ id }: JSONRPCRequest, { abort }: Pending) {
    const restarts = this.#restarts
    return {
      requestSignal: abort.signal,
      onRequestStreamEnd: () => {
        if (restarts === this.#restarts) this.#fail(id, this.#lost())
      },
    }
  }

  /** The connection for a message; a new connection first repeats the agent's earlier state for the server. */
  #connected(message?: JSONRPCMessage): Promise<Transport> {
    if (this.#transport) return Promise.resolve(this.#transport)
    this.#connecting ??= this.#connect(message).finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #connect(message: JSONRPCMessage | undefined): Promise<Transport> {
    const transport = this.#options.connect()
    this.#opening = transport
    this.#givingUp = new AbortController()
    const { signal } = this.#givingUp
    transport.onmessage = received => this.#pass(received)
    transport.onerror = error => this.#onError(transport, error)
    try {
      await raceAbort(transport.start(), signal)
      const isFirst = message !== undefined && message === this.#initialize
      if (this.#initialize && !isFirst) await this.#repeat(transport, this.#initialize, signal)
      signal.throwIfAborted()
    } catch (error) {
      transport.onerror = () => {}
      transport.onmessage = () => {}
      void transport.close().catch(() => {})
      throw signal.aborted ? signal.reason : error
    } finally {
      this.#opening = undefined
    }
    if (this.#isClosed) await transport.close()
    this.#transport = transport
    return transport
  }

  /** Opens a new session as the agent opened the first one. */
  async #repeat(transport: Transport, initialize: JSONRPCRequest, signal: AbortSignal): Promise<void> {
    const answer = await this.#request(transport, initialize, signal)
    if (!isJSONRPCResultResponse(answer)) throw new Error(answer.error.message)
    transport.setProtocolVersion?.(String(answer.result.protocolVersion))
    await raceAbort(transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' }), signal)
    this.#isConnected = true
    this.#options.report(CONNECTED)
    this.#reportState('connected')
    for (const request of this.#state.values()) await this.#request(transport, request, signal)
    for (const [name, capability] of Object.entries(this.#capabilities))
      if (capability?.listChanged)
        this.#options.write({ jsonrpc: '2.0', method: `notifications/${name}/list_changed` })
  }

  /** A request of the bridge itself. */
  async #request(
    transport: Transport,
    { method, params }: JSONRPCRequest,
    signal: AbortSignal,
  ): Promise<JSONRPCResponse> {
    const id = `${OWN_ID}${++this.#ownId}`
    const answer = deferred<JSONRPCResponse>()
    // the request may fail while it's still being sent
    answer.promise.catch(() => {})
    this.#ownRequests.set(id, answer.resolve)
    try {
      const onRequestStreamEnd = () => answer.reject(new Error(this.#lost().message))
      const request = { jsonrpc: '2.0' as const, id, method, ...(params && { params }) }
      await raceAbort(transport.send(request, { onRequestStreamEnd }), signal)
      return await raceAbort(answer.promise, signal)
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
      // the agent has canceled the request, or was told that it failed
      if (!pending) return
      this.#pending.delete(message.id)
      if (pending.method === 'initialize' && isJSONRPCErrorResponse(message))
        this.#failed(message.error.message)
      if (pending.method === 'initialize' && isJSONRPCResultResponse(message)) {
        this.#transport?.setProtocolVersion?.(String(message.result.protocolVersion))
        this.#capabilities = (message.result.capabilities ?? {}) as Capabilities
        this.#isConnected = true
        this.#options.report(CONNECTED)
      }
      if (pending.method === 'tools/list' && isJSONRPCResultResponse(message))
        this.#options.onTools?.(toolsIn(message.result.tools), pending.isMore)
    }
    if ('method' in message && message.method === 'notifications/message')
      this.#options.onLog?.(logLine(message.params))
    // a server that refuses a session isn't connected
    if (this.#isConnected || !this.#initialize) this.#reportState('connected')
    this.#options.write(message)
  }

  #onError(transport: Transport, error: Error): void {
    // over HTTP, the transport connects again by itself; a new stream over SSE is a new session
    if (!(error instanceof SseError) && !isSessionGone(error)) return
    if (transport === this.#opening && error instanceof SseError) this.#givingUp.abort(error)
    if (transport !== this.#transport) return
    this.#drop(transport)
    void this.#reconnect()
  }

  /** Closes a connection that can no longer be used, and fails the requests that were sent over it. */
  #drop(transport: Transport | undefined): void {
    if (!transport || transport !== this.#transport) return
    this.#transport = undefined
    transport.onerror = () => {}
    transport.onmessage = () => {}
    void transport.close().catch(() => {})
    this.#failed(this.#lost().message)
    for (const [id, { isSent }] of this.#pending) if (isSent) this.#fail(id, this.#lost())
  }

  /** Reconnects to get the server's notifications; the agent's next message also reconnects. */
  async #reconnect(): Promise<void> {
    if (this.#isReconnecting) return
    this.#isReconnecting = true
    for (const wait of MCP_RECONNECT_MS) {
      await delay(wait)
      if (this.#isClosed || this.#transport) break
      const restarts = this.#restarts
      try {
        await this.#connected()
      } catch (error) {
        if (restarts === this.#restarts) this.#failed(this.#explain(error).message)
      }
    }
    this.#isReconnecting = false
  }

  #failed(reason: string): void {
    this.#options.report(reason)
    this.#reportState('failed', reason)
  }

  #reportState(...state: ReportedState): void {
    if (this.#reported?.[0] === state[0] && this.#reported[1] === state[1]) return
    this.#reported = state
    this.#options.onState?.(...state)
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

  #restarted(): { code: number; message: string } {
    return {
      code: BRIDGE_ERROR,
      message: `The user restarted the connection to the MCP server "${this.#options.name}".`,
    }
  }

  #explain(error: unknown): { code: number; message: string; data?: unknown } {
    const { name } = this.#options
    const status = httpStatusOf(error)
    const answer = answerIn(error)
    if (answer) return answer
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

/** The JSON-RPC error in the body of a response whose status is an error. */
function answerIn(error: unknown): { code: number; message: string; data?: unknown } | undefined {
  if (!(error instanceof SdkHttpError)) return undefined
  try {
    const body: unknown = JSON.parse(String(error.data.text))
    const message = typeof body === 'object' && body !== null ? { ...body, id: 0 } : body
    return isJSONRPCErrorResponse(message) ? message.error : undefined
  } catch {
    return undefined
  }
}

async function endSession(transport: Transport): Promise<void> {
  if ('terminateSession' in transport)
    await withTimeout(
      (transport as { terminateSession(): Promise<void> }).terminateSession().catch(() => {}),
      MCP_SERVER_EXIT_MS,
    )
  await transport.close().catch(() => {})
}

function toolsIn(tools: unknown): CheckedTool[] {
  const text = (value: unknown) => (typeof value === 'string' ? sentPart(value, MAX_TOOL_TEXT) : undefined)
  return (Array.isArray(tools) ? tools : [])
    .filter(isRecord)
    .slice(0, MAX_CHECKED_TOOLS)
    .map(({ name, title, description }) => {
      const [shown, about] = [text(title), text(description)]
      return {
        name: text(name) ?? '',
        ...(shown !== undefined && { title: shown }),
        ...(about !== undefined && { description: about }),
      }
    })
}

function logLine(params: Record<string, unknown> | undefined): string {
  const { level, logger, data } = params ?? {}
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${[level, logger].filter(Boolean).join(' ')}: ${text}`
}
