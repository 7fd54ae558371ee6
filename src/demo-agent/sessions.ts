import { randomUUID } from 'node:crypto'
import { type McpServer, RequestError, type SessionInfo, type SessionUpdate } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { DemoSession, interruptions } from './session.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import type { SessionMeta, SessionStore } from './store.ts'

/** Sessions on one page of a list. */
const PAGE = 20

export interface SessionPlace {
  cwd: string
  additionalDirectories?: string[]
  mcpServers?: McpServer[]
}

/** The protocol's draft: no released schema has the method yet. `S`: the version's own shape of a server. */
export function forkRequest<S>() {
  return z.object({
    sessionId: z.string(),
    cwd: z.string(),
    additionalDirectories: z.array(z.string()).optional(),
    mcpServers: z.array(z.custom<S>(value => typeof value === 'object' && value !== null)).optional(),
  })
}

/** The sessions open on this connection, and the way to those on disk. */
export class Sessions {
  readonly #store: SessionStore
  readonly #onError: (error: unknown) => void
  readonly #open = new Map<string, DemoSession>()

  constructor(store: SessionStore, onError: (error: unknown) => void) {
    this.#store = store
    this.#onError = onError
  }

  create(place: SessionPlace): DemoSession {
    const meta: SessionMeta = {
      version: 1,
      sessionId: randomUUID(),
      cwd: place.cwd,
      additionalDirectories: place.additionalDirectories ?? [],
      updatedAt: new Date().toISOString(),
      prompts: 0,
      settings: DEFAULT_SETTINGS,
    }
    const session = this.#session(meta, place)
    session.change({})
    return session
  }

  /** Opens a session of the store, in the place the client names now. A turn that still runs in it is cancelled. */
  async reopen(sessionId: string, place: SessionPlace): Promise<DemoSession> {
    const live = this.#open.get(sessionId)
    await live?.cancel()
    const meta = live?.meta ?? this.#store.read(sessionId)
    if (!meta) throw RequestError.sessionNotFound(sessionId)
    const session = this.#session(
      { ...meta, cwd: place.cwd, additionalDirectories: place.additionalDirectories ?? [] },
      place,
    )
    session.change({})
    return session
  }

  /** A new session with all that was said in another one so far, which goes on undisturbed. */
  fork(sessionId: string, place: SessionPlace): DemoSession {
    const live = this.#open.get(sessionId)
    live?.transcript.flush()
    const meta = live?.meta ?? this.#store.read(sessionId)
    if (!meta) throw RequestError.sessionNotFound(sessionId)
    const fork: SessionMeta = {
      ...meta,
      sessionId: randomUUID(),
      cwd: place.cwd,
      additionalDirectories: place.additionalDirectories ?? [],
      updatedAt: new Date().toISOString(),
    }
    const updates = this.#store.transcript(sessionId)
    this.#store.append(fork.sessionId, [...updates, ...interruptions(updates)])
    const session = this.#session(fork, place)
    session.change({})
    return session
  }

  find(sessionId: string): DemoSession | undefined {
    return this.#open.get(sessionId)
  }

  /** Throws the error of the protocol for a session that is not open. */
  get(sessionId: string): DemoSession {
    const session = this.#open.get(sessionId)
    if (!session) throw RequestError.sessionNotFound(sessionId)
    return session
  }

  /** One page of the sessions that were ever prompted, the newest first. */
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

  /** All that a session told, for a client that loads it; what was cut short when it last ended is over now. */
  replay(session: DemoSession): SessionUpdate[] {
    const updates = this.#store.transcript(session.id)
    const ends = interruptions(updates)
    for (const update of ends) session.record(update)
    return [...updates, ...ends]
  }

  /** Frees the session. One that was never prompted leaves nothing behind. */
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

  /** Cancels every turn and waits until all is written. */
  async stop(): Promise<void> {
    await Promise.all([...this.#open.values()].map(session => session.cancel()))
  }

  #session(meta: SessionMeta, place: SessionPlace): DemoSession {
    const session = new DemoSession(meta, place.mcpServers ?? [], this.#store, this.#onError)
    this.#open.set(meta.sessionId, session)
    return session
  }
}

/** Names the last session of a page, so that sessions changed in between neither repeat nor vanish at random. */
function cursorOf(meta: SessionMeta): string {
  return Buffer.from(`${meta.updatedAt} ${meta.sessionId}`).toString('base64url')
}

function isAfter(meta: SessionMeta, cursor: string): boolean {
  const [updatedAt = '', sessionId = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (Number.isNaN(Date.parse(updatedAt)))
    throw RequestError.invalidParams({ cursor }, 'not a cursor of ours')
  return meta.updatedAt < updatedAt || (meta.updatedAt === updatedAt && meta.sessionId > sessionId)
}

function infoOf({ sessionId, cwd, additionalDirectories, title, updatedAt }: SessionMeta): SessionInfo {
  return { sessionId, cwd, additionalDirectories, ...(title === undefined ? {} : { title }), updatedAt }
}
