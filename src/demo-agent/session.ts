import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { RequestError, type SessionInfo, type SessionUpdate } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { DEFAULT_SETTINGS, type Settings, withOption } from './settings.ts'
import type { SessionMeta, SessionStore } from './store.ts'

/** The user's "always" answers, by topic. */
export type StandingAnswer = 'allow' | 'reject'

/** A session that is open on this connection. */
export class DemoSession {
  readonly transcript: Transcript
  readonly standing = new Map<string, StandingAnswer>()
  /** A line about each MCP server. */
  readonly mcpServers: readonly string[]
  /** Tokens in the context, estimated at four characters each. */
  used: number
  readonly #store: SessionStore
  #meta: SessionMeta
  #turn: { abort: AbortController; ended: Promise<unknown> } | undefined

  constructor(meta: SessionMeta, { mcpServers = [] }: SessionSetup, store: SessionStore) {
    this.#meta = meta
    this.mcpServers = mcpServers.map(describeServer)
    this.#store = store
    this.transcript = new Transcript(store, meta.sessionId)
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

  /** Changes the session's metadata, in memory and on disk. */
  change(fields: Partial<Omit<SessionMeta, 'version' | 'sessionId'>>): void {
    this.#meta = { ...this.#meta, ...fields }
    this.#store.save(this.#meta)
  }

  /** Sets a config option. Throws a protocol error for an unknown option or value. */
  choose(configId: string, value: unknown): void {
    const settings = withOption(this.settings, configId, value)
    if (!settings)
      throw RequestError.invalidParams({ [configId]: value }, 'no such option, or not a value of it')
    this.change({ settings })
  }

  /** Throws a protocol error if no turn can start with a prompt. */
  checkPrompt(prompt: readonly unknown[]): void {
    if (this.#turn) throw RequestError.invalidRequest({ sessionId: this.id }, 'a turn is already running')
    if (prompt.length === 0) throw RequestError.invalidParams({}, 'the prompt is empty')
  }

  record(update: SessionUpdate): void {
    this.transcript.add(update)
  }

  /** Runs a turn, one at a time. `outer` also cancels the turn. */
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
  #open: SessionUpdate | undefined

  constructor(store: SessionStore, sessionId: string) {
    this.#store = store
    this.#sessionId = sessionId
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
    else this.#store.append(this.#sessionId, [update])
  }

  flush(): void {
    if (this.#open) this.#store.append(this.#sessionId, [this.#open])
    this.#open = undefined
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

/** The updates that close unfinished entries of a transcript, for example when the agent was killed during a turn. */
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

/** An MCP server in either version of the protocol; the demo only shows some of its text. */
interface McpServer {
  name?: unknown
  type?: unknown
  command?: unknown
  args?: unknown
  url?: unknown
}

export interface SessionSetup {
  cwd: string
  additionalDirectories?: string[]
  mcpServers?: McpServer[]
}

/** Throws a protocol error for a folder in which no session can work. */
function checkPlace({ cwd, additionalDirectories = [] }: SessionSetup): void {
  for (const directory of [cwd, ...additionalDirectories]) {
    if (!path.isAbsolute(directory)) throw RequestError.invalidParams({ directory }, 'not an absolute path')
  }
}

/** Only names, because the environment and headers may contain secrets. */
function describeServer({ name, type, command, args, url }: McpServer): string {
  if (command === undefined) return `**${name}**: ${type}, ${url}`
  return `**${name}**: stdio, \`${[command, ...(Array.isArray(args) ? args : [])].join(' ')}\``
}

/** Only in the draft of the protocol, not in a released schema. */
export const forkRequest = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  additionalDirectories: z.array(z.string()).optional(),
  mcpServers: z.array(z.custom<McpServer>(value => typeof value === 'object' && value !== null)).optional(),
})

/** The sessions that are open on this connection, and access to stored ones. */
export class Sessions {
  readonly #store: SessionStore
  readonly #open = new Map<string, DemoSession>()

  constructor(store: SessionStore) {
    this.#store = store
  }

  create(setup: SessionSetup): DemoSession {
    checkPlace(setup)
    const updatedAt = new Date().toISOString()
    const start = { version: 1, prompts: 0, settings: DEFAULT_SETTINGS, credits: 0 } as const
    return this.#session({ ...start, sessionId: randomUUID(), updatedAt }, setup)
  }

  /** Opens a stored session with the folders that the client sends. Cancels its turn if one is still running. */
  async reopen(sessionId: string, setup: SessionSetup): Promise<DemoSession> {
    checkPlace(setup)
    const live = this.#open.get(sessionId)
    await live?.cancel()
    return this.#session(this.#metaOf(sessionId), setup, live)
  }

  /** Forks a session: a new session gets a copy of the transcript. */
  fork(sessionId: string, setup: SessionSetup): DemoSession {
    checkPlace(setup)
    const live = this.#open.get(sessionId)
    live?.transcript.flush()
    const fork = { ...this.#metaOf(sessionId), sessionId: randomUUID(), updatedAt: new Date().toISOString() }
    const updates = this.#store.transcript(sessionId)
    this.#store.append(fork.sessionId, [...updates, ...interruptions(updates)])
    return this.#session(fork, setup, live)
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

  /** The sessions that have at least one prompt, newest first. */
  list({ cwd }: { cwd?: string | null }): { sessions: SessionInfo[] } {
    const listed = this.#store.list().filter(meta => meta.prompts > 0 && (!cwd || meta.cwd === cwd))
    const sessions = listed.map(({ sessionId, cwd, additionalDirectories, title, updatedAt }) => {
      return { sessionId, cwd, additionalDirectories, ...(title === undefined ? {} : { title }), updatedAt }
    })
    return { sessions }
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

  #metaOf(sessionId: string): SessionMeta {
    const meta = this.#open.get(sessionId)?.meta ?? this.#store.read(sessionId)
    if (!meta) throw RequestError.sessionNotFound(sessionId)
    return meta
  }

  /** Opens a session in the folders that the client sends. */
  #session(
    meta: Omit<SessionMeta, 'cwd' | 'additionalDirectories'>,
    setup: SessionSetup,
    live?: DemoSession,
  ): DemoSession {
    const { cwd, additionalDirectories = [] } = setup
    const session = new DemoSession({ ...meta, cwd, additionalDirectories }, setup, this.#store)
    this.#open.set(meta.sessionId, session)
    if (live) session.used = live.used
    session.change({})
    return session
  }
}
