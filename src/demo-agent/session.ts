import { randomUUID } from 'node:crypto'
import { type McpServer, RequestError, type SessionInfo, type SessionUpdate } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import type { SessionMeta, SessionStore } from './store.ts'

/** The user's "always" answers, by topic. */
export type StandingAnswer = 'allow' | 'reject'

/** A session that is open on this connection. */
export class DemoSession {
  readonly transcript: Transcript
  readonly standing = new Map<string, StandingAnswer>()
  readonly mcpServers: readonly McpServer[]
  /** Tokens in the context, estimated at four characters each. */
  used: number
  readonly #store: SessionStore
  readonly #onError: (error: unknown) => void
  #meta: SessionMeta
  #turn: { abort: AbortController; ended: Promise<unknown> } | undefined

  constructor(
    meta: SessionMeta,
    mcpServers: readonly McpServer[],
    store: SessionStore,
    onError: (error: unknown) => void,
  ) {
    this.#meta = meta
    this.mcpServers = mcpServers
    this.#store = store
    this.#onError = onError
    this.transcript = new Transcript(store, meta.sessionId, onError)
    this.used = Math.round(JSON.stringify(store.transcript(meta.sessionId)).length / 4)
  }

  get id(): string {
    return this.#meta.sessionId
  }
  get meta(): Readonly<SessionMeta> {
    return this.#meta
  }
  get cwd(): string {
    return this.#meta.cwd
  }
  get roots(): string[] {
    return [this.#meta.cwd, ...this.#meta.additionalDirectories]
  }
  get settings(): Settings {
    return this.#meta.settings
  }
  get isRunning(): boolean {
    return this.#turn !== undefined
  }

  /** Changes the session's metadata, in memory and on disk. A failed write is only reported. */
  change(fields: Partial<Omit<SessionMeta, 'version' | 'sessionId'>>): void {
    this.#meta = { ...this.#meta, ...fields }
    try {
      this.#store.save(this.#meta)
    } catch (error) {
      this.#onError(error)
    }
  }

  record(update: SessionUpdate): void {
    this.transcript.add(update)
  }

  /** Runs a turn; there is never more than one at a time. `outer` cancels it, too. */
  async runTurn<T>(outer: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController()
    const ended = run(AbortSignal.any([abort.signal, outer]))
    const turn = { abort, ended }
    this.#turn = turn
    try {
      return await ended
    } finally {
      if (this.#turn === turn) this.#turn = undefined
      this.transcript.flush()
    }
  }

  /** Cancels the running turn, if any, and waits for its end. */
  async cancel(): Promise<void> {
    const turn = this.#turn
    if (!turn) return
    turn.abort.abort()
    await turn.ended.catch(() => {})
  }
}

/** Text is buffered up to this many characters, so that not every word becomes a line on disk. */
const GATHER = 2_000

/** The growing record of a session. Adjacent chunks of one message are joined. */
export class Transcript {
  readonly #store: SessionStore
  readonly #sessionId: string
  readonly #onError: (error: unknown) => void
  #open: SessionUpdate | undefined

  constructor(store: SessionStore, sessionId: string, onError: (error: unknown) => void) {
    this.#store = store
    this.#sessionId = sessionId
    this.#onError = onError
  }

  add(update: SessionUpdate): void {
    const joined = this.#open && join(this.#open, update)
    if (joined) {
      this.#open = joined
      if ((textLength(joined) ?? 0) > GATHER) this.flush()
      return
    }
    this.flush()
    if (textLength(update) !== undefined) this.#open = update
    else this.#write([update])
  }

  flush(): void {
    if (!this.#open) return
    const open = this.#open
    this.#open = undefined
    this.#write([open])
  }

  #write(updates: SessionUpdate[]): void {
    try {
      this.#store.append(this.#sessionId, updates)
    } catch (error) {
      this.#onError(error)
    }
  }
}

type Chunk = Extract<
  SessionUpdate,
  { sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk' }
>

function isChunk(update: SessionUpdate): update is Chunk {
  return update.sessionUpdate.endsWith('_chunk') && 'content' in update && !('compactionId' in update)
}

function textLength(update: SessionUpdate): number | undefined {
  return isChunk(update) && update.content.type === 'text' ? update.content.text.length : undefined
}

function join(first: SessionUpdate, second: SessionUpdate): SessionUpdate | undefined {
  if (!isChunk(first) || !isChunk(second)) return undefined
  if (first.sessionUpdate !== second.sessionUpdate || first.messageId !== second.messageId) return undefined
  if (first.content.type !== 'text' || second.content.type !== 'text') return undefined
  return { ...first, content: { ...first.content, text: first.content.text + second.content.text } }
}

/** The updates that close what a transcript left open, for example when the agent was killed during a turn. */
export function interruptions(updates: SessionUpdate[]): SessionUpdate[] {
  const open = new Set<string>()
  for (const update of updates) {
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') continue
    if (update.status === 'completed' || update.status === 'failed') open.delete(update.toolCallId)
    else if (update.sessionUpdate === 'tool_call') open.add(update.toolCallId)
  }
  return [...open].map(toolCallId => ({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'failed',
    content: [
      { type: 'content', content: { type: 'text', text: 'Interrupted: the agent was stopped here.' } },
    ],
  }))
}

/** Number of sessions on a page of the list. */
const PAGE = 20

export interface SessionSetup {
  cwd: string
  additionalDirectories?: string[]
  mcpServers?: McpServer[]
}

/** Only in the draft of the protocol, not in a released schema. `S`: the version's type of a server. */
export function forkRequest<S>() {
  return z.object({
    sessionId: z.string(),
    cwd: z.string(),
    additionalDirectories: z.array(z.string()).optional(),
    mcpServers: z.array(z.custom<S>(value => typeof value === 'object' && value !== null)).optional(),
  })
}

/** The sessions that are open on this connection, and access to those on disk. */
export class Sessions {
  readonly #store: SessionStore
  readonly #onError: (error: unknown) => void
  readonly #open = new Map<string, DemoSession>()

  constructor(store: SessionStore, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  create(setup: SessionSetup): DemoSession {
    const meta: SessionMeta = {
      version: 1,
      sessionId: randomUUID(),
      cwd: setup.cwd,
      additionalDirectories: setup.additionalDirectories ?? [],
      updatedAt: new Date().toISOString(),
      prompts: 0,
      settings: DEFAULT_SETTINGS,
      credits: 0,
    }
    const session = this.#session(meta, setup)
    session.change({})
    return session
  }

  /** Opens a stored session with the folders that the client sends. Cancels its turn if one is still running. */
  async reopen(sessionId: string, setup: SessionSetup): Promise<DemoSession> {
    const live = this.#open.get(sessionId)
    await live?.cancel()
    const meta = live?.meta ?? this.#store.read(sessionId)
    if (!meta) throw RequestError.sessionNotFound(sessionId)
    const session = this.#session(
      { ...meta, cwd: setup.cwd, additionalDirectories: setup.additionalDirectories ?? [] },
      setup,
    )
    if (live) session.used = live.used
    session.change({})
    return session
  }

  /** A fork: a new session with the transcript of another one, which continues unaffected. */
  fork(sessionId: string, setup: SessionSetup): DemoSession {
    const live = this.#open.get(sessionId)
    live?.transcript.flush()
    const meta = live?.meta ?? this.#store.read(sessionId)
    if (!meta) throw RequestError.sessionNotFound(sessionId)
    const fork: SessionMeta = {
      ...meta,
      sessionId: randomUUID(),
      cwd: setup.cwd,
      additionalDirectories: setup.additionalDirectories ?? [],
      updatedAt: new Date().toISOString(),
    }
    const updates = this.#store.transcript(sessionId)
    this.#store.append(fork.sessionId, [...updates, ...interruptions(updates)])
    const session = this.#session(fork, setup)
    if (live) session.used = live.used
    session.change({})
    return session
  }

  find(sessionId: string): DemoSession | undefined {
    return this.#open.get(sessionId)
  }

  /** Throws a protocol error for a session that isn't open. */
  get(sessionId: string): DemoSession {
    const session = this.#open.get(sessionId)
    if (!session) throw RequestError.sessionNotFound(sessionId)
    return session
  }

  /** A page of the sessions that have at least one prompt, newest first. */
  list(query: { cwd?: string | null; cursor?: string | null }): {
    sessions: SessionInfo[]
    nextCursor?: string
  } {
    const sessions = this.#store
      .list()
      .filter(meta => meta.prompts > 0 && (!query.cwd || meta.cwd === query.cwd))
    const start = query.cursor ? sessions.findIndex(meta => isAfter(meta, query.cursor ?? '')) : 0
    const page = start < 0 ? [] : sessions.slice(start, start + PAGE)
    const last = page.at(-1)
    const more = start >= 0 && start + PAGE < sessions.length
    return { sessions: page.map(infoOf), ...(more && last ? { nextCursor: cursorOf(last) } : {}) }
  }

  /** The transcript of a session for a client that loads it; interrupted work is closed. */
  replay(session: DemoSession): SessionUpdate[] {
    const updates = this.#store.transcript(session.id)
    const ends = interruptions(updates)
    for (const update of ends) session.record(update)
    return [...updates, ...ends]
  }

  /** Closes the session. Deletes it if it never got a prompt. */
  async close(sessionId: string): Promise<void> {
    const session = this.get(sessionId)
    this.#open.delete(sessionId)
    await session.cancel()
    if (session.meta.prompts === 0) this.#store.delete(sessionId)
  }

  async delete(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId)
    this.#open.delete(sessionId)
    await session?.cancel()
    if (!this.#store.delete(sessionId) && !session) throw RequestError.sessionNotFound(sessionId)
  }

  /** Cancels all turns and waits until everything is written. */
  async stop(): Promise<void> {
    await Promise.all([...this.#open.values()].map(session => session.cancel()))
  }

  #session(meta: SessionMeta, setup: SessionSetup): DemoSession {
    const session = new DemoSession(meta, setup.mcpServers ?? [], this.#store, this.#onError)
    this.#open.set(meta.sessionId, session)
    return session
  }
}

/**
 * A cursor that contains the last session of a page, so that sessions that change in between are neither repeated nor
 * skipped.
 */
function cursorOf(meta: SessionMeta): string {
  return Buffer.from(`${meta.updatedAt} ${meta.sessionId}`).toString('base64url')
}

function isAfter(meta: SessionMeta, cursor: string): boolean {
  const [updatedAt = '', sessionId = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (Number.isNaN(Date.parse(updatedAt))) throw RequestError.invalidParams({ cursor }, 'unknown cursor')
  return meta.updatedAt < updatedAt || (meta.updatedAt === updatedAt && meta.sessionId > sessionId)
}

function infoOf({ sessionId, cwd, additionalDirectories, title, updatedAt }: SessionMeta): SessionInfo {
  return { sessionId, cwd, additionalDirectories, ...(title === undefined ? {} : { title }), updatedAt }
}
