import { stripVTControlCharacters } from 'node:util'
import type { OpenRequest, SessionResult } from '../acp/transport/host/hosted-agent-state.ts'
import { isRecord } from '../common/is-record.ts'

/** The methods whose results a window needs when it attaches to a running agent. */
const SESSION_METHODS = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])

/** The methods of requests whose session a window needs to know if the agent is gone. */
const AWAITED_METHODS = new Set(['session/prompt', 'session/load', 'session/resume'])

const OPEN_BRACE = 123
const NOTHING = Buffer.from('\n')

interface Frame {
  id?: unknown
  method?: unknown
  params?: unknown
  result?: unknown
}

/** The state that is stored in case the host crashes. It only contains what is useful without the running agent, so no capabilities. */
export interface StoredEnvelope {
  initialize: { params: unknown; result: unknown } | undefined
  sessions: SessionResult[]
  toAgent: OpenRequest[]
  working: string[]
  lastId: number
  notes: Record<string, unknown>
}

/**
 * What the host knows about the protocol: which frames are requests, responses and notifications, and which of them a window needs that
 * attaches later.
 */
export class Envelope {
  /** the parameters and the result of `initialize`, once the agent has answered */
  initialize: { params: unknown; result: unknown } | undefined
  /** the largest number that a window used as a request's id */
  lastId = 0
  readonly #toAgent = new Map<string, OpenRequest>()
  /** prompts that the agent has answered, in the order of the responses */
  #answered: OpenRequest[] = []
  readonly #toWindow = new Map<string, OpenRequest>()
  readonly #sessions = new Map<string, SessionResult>()
  /** sessions that aren't idle, for agents that report their sessions' states (version 2) */
  readonly #working = new Set<string>()
  readonly #notes = new Map<string, unknown>()
  /** by session: the port where the agent expects the tool server of its window, even if no window serves the port */
  readonly #ports = new Map<string, number>()
  #changes = 0

  /** Creates an envelope from the state that another host has stored. */
  static restore({ initialize, sessions, toAgent, working, lastId, notes }: StoredEnvelope): Envelope {
    const envelope = new Envelope()
    envelope.initialize = initialize
    envelope.lastId = lastId
    for (const one of sessions) envelope.#sessions.set(one.sessionId, one)
    for (const one of toAgent) {
      if (one.answeredBy === undefined) envelope.#toAgent.set(idKey(one.id), one)
      else envelope.#answered.push(one)
    }
    for (const sessionId of working) envelope.#working.add(sessionId)
    for (const [sessionId, note] of Object.entries(notes)) envelope.#notes.set(sessionId, note)
    return envelope
  }

  get stored(): StoredEnvelope {
    const awaited = this.toAgent.filter(({ method }) => AWAITED_METHODS.has(method))
    const toAgent = awaited.map(one => ({ ...one, params: { sessionId: readSessionId(one.params) } }))
    const notes = [...this.#notes].map(([sessionId, note]) => {
      if (!isRecord(note)) return [sessionId, note]
      const { server, ...others } = note
      return [sessionId, others]
    })
    const { initialize, sessions, lastId } = this
    const working = [...this.#working]
    return { initialize, sessions, toAgent, working, lastId, notes: Object.fromEntries(notes) }
  }

  /** A number that changes whenever the stored state changes. */
  get changes(): number {
    return this.#changes
  }

  /** The windows' requests that the agent hasn't answered, and the prompts whose response no window has confirmed. */
  get toAgent(): OpenRequest[] {
    return [...this.#answered, ...this.#toAgent.values()]
  }

  /** The agent's requests that no window has answered. */
  get toWindow(): OpenRequest[] {
    return [...this.#toWindow.values()]
  }

  /** Whether no turn runs, as far as the agent says: the agent has answered each prompt and waits for no answer. */
  get isIdle(): boolean {
    if (this.#working.size > 0) return false
    for (const request of this.#toWindow.values()) if (!isSubscription(request)) return false
    for (const { method } of this.#toAgent.values()) if (method === 'session/prompt') return false
    return true
  }

  /** Whether an unanswered request of the agent contains this text as a value. */
  isAsked(text: string): boolean {
    return this.toWindow.some(({ params }) => JSON.stringify(params)?.includes(JSON.stringify(text)))
  }

  /** The last result of a request that started or opened a session, for each session. */
  get sessions(): SessionResult[] {
    return [...this.#sessions.values()]
  }

  get hasNotes(): boolean {
    return this.#notes.size > 0
  }

  /** The notes that windows stored about sessions, by session. */
  get notes(): Record<string, unknown> {
    return Object.fromEntries(this.#notes)
  }

  /** The ports at which the agent's sessions expect a server of their window. */
  get ports(): ReadonlySet<number> {
    return new Set(this.#ports.values())
  }

  /**
   * Stores a window's note about a session. Without a note, the session isn't open in the window anymore. Returns the ports at which the
   * window has begun or stopped serving the session.
   */
  note(sessionId: string, note: unknown): { begun?: number; stopped?: number } {
    this.#changes++
    const before = this.#ports.get(sessionId)
    if (note === undefined) {
      this.#forgetNote(sessionId)
      return {}
    }
    this.#notes.set(sessionId, note)
    const port = portIn(note)
    if (port === undefined) return before === undefined ? {} : { stopped: before }
    this.#ports.set(sessionId, port)
    return port === before ? {} : { begun: port }
  }

  /** Handles a frame that a window sent. */
  sent(frame: Buffer): void {
    for (const one of framesIn(frame).frames) {
      const { id, method, params } = one
      if (typeof method !== 'string') this.#toWindow.delete(idKey(id))
      else if (isId(id)) {
        if (typeof id === 'number') this.lastId = Math.max(this.lastId, id)
        this.#toAgent.set(idKey(id), { id, method, params })
        if (AWAITED_METHODS.has(method)) this.#changes++
      }
    }
  }

  /**
   * Handles a frame from the agent. Returns whether the frame belongs to a conversation: a notification, a request, the response to a
   * prompt, or a batch, which may contain any of these.
   */
  received(frame: Buffer, number: number): boolean {
    if (frame.includes('"state_update"')) for (const one of framesIn(frame).frames) this.#noteState(one)
    // Most frames are notifications, and this check is much cheaper than parsing them.
    if (frame[0] === OPEN_BRACE && !frame.includes('"id"')) return true
    const { frames, isBatch } = framesIn(frame)
    let isConversation = isBatch
    for (const one of frames) if (this.#received(one, number)) isConversation = true
    return isConversation
  }

  /** Handles a window's confirmation that it has stored the agent's output up to this frame. */
  confirmed(number: number): void {
    if (this.#answered.length > 0) this.#changes++
    this.#answered = this.#answered.filter(({ answeredBy = 0 }) => answeredBy > number)
  }

  #received({ id, method, params, result }: Frame, number: number): boolean {
    if (typeof method === 'string') {
      if (isId(id)) this.#toWindow.set(idKey(id), { id, method, params })
      return true
    }
    const request = this.#toAgent.get(idKey(id))
    if (!request) return false
    this.#toAgent.delete(idKey(id))
    this.#changes++
    if (result !== undefined) this.#noteResult(request, result)
    if (request.method !== 'session/prompt') return false
    this.#answered.push({ ...request, answeredBy: number })
    return true
  }

  #noteState({ method, params }: Frame): void {
    const update = (params as { update?: { sessionUpdate?: unknown; state?: unknown } } | undefined)?.update
    const sessionId = readSessionId(params)
    if (method !== 'session/update' || update?.sessionUpdate !== 'state_update' || sessionId === undefined)
      return
    this.#changes++
    if (update.state === 'idle') this.#working.delete(sessionId)
    else this.#working.add(sessionId)
  }

  #noteResult({ method, params }: OpenRequest, result: unknown): void {
    if (method === 'initialize') this.initialize = { params, result }
    if (method === 'session/close' || method === 'session/delete') this.#forget(readSessionId(params))
    if (!SESSION_METHODS.has(method)) return
    const sessionId = readSessionId(result) ?? readSessionId(params)
    if (sessionId === undefined) return
    // A window stores a new note once it shows the session.
    this.#forgetNote(sessionId)
    this.#sessions.set(sessionId, { sessionId, method, result })
  }

  #forget(sessionId = ''): void {
    this.#sessions.delete(sessionId)
    this.#working.delete(sessionId)
    this.#forgetNote(sessionId)
  }

  #forgetNote(sessionId: string): void {
    this.#notes.delete(sessionId)
    this.#ports.delete(sessionId)
  }
}

/**
 * Returns the part of a conversation's frame that another host needs if the agent is gone. Omits requests of the agent, since nobody can
 * answer them. Returns the same frame if nothing is omitted.
 */
export function conversationPart(frame: Buffer): Buffer {
  if (!frame.includes('"id"')) return frame
  const { frames, isBatch } = framesIn(frame)
  const said = frames.filter(({ id, method }) => method === undefined || id === undefined)
  if (said.length === frames.length) return frame
  return said.length === 0 ? NOTHING : Buffer.from(`${JSON.stringify(isBatch ? said : said[0])}\n`)
}

/** Whether the request is a subscription, which stays open as long as the agent listens for changes of the window's tools. */
function isSubscription({ method, params }: OpenRequest): boolean {
  return method === 'mcp/message' && isRecord(params) && params.method === 'subscriptions/listen'
}

/** Returns the port of the window's tool server from the window's note about a session. */
function portIn(note: unknown): number | undefined {
  const port = (note as { server?: { port?: unknown } } | null)?.server?.port
  return typeof port === 'number' && Number.isInteger(port) && port > 1023 && port < 65_536 ? port : undefined
}

function framesIn(bytes: Buffer): { frames: Frame[]; isBatch: boolean } {
  let value: unknown
  try {
    const text = bytes.toString()
    // As in `NdjsonReader`: some agents write terminal escape codes before their first message.
    value = JSON.parse(/^[[{]/.test(text) ? text : stripVTControlCharacters(text).trim())
  } catch {
    // The output isn't a message.
  }
  const isBatch = Array.isArray(value)
  const all = isBatch ? (value as unknown[]) : [value]
  return { isBatch, frames: all.filter(one => typeof one === 'object' && one !== null) as Frame[] }
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number'
}

/** Returns a key for an id that distinguishes `1` from `'1'`. */
function idKey(id: unknown): string {
  return JSON.stringify(id) ?? ''
}

function readSessionId(value: unknown): string | undefined {
  const id = (value as { sessionId?: unknown } | null | undefined)?.sessionId
  return typeof id === 'string' ? id : undefined
}
