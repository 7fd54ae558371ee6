import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { RequestError, type SessionInfo, type SessionUpdate } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import { DEFAULT_SETTINGS, type Settings, withOption } from './settings.ts'
import type { SessionMeta, SessionStore } from './store.ts'
import { fenced, text } from './tool-call.ts'

/** An MCP server in either version of the protocol; the demo agent only shows some of its text. */
type McpServer = Partial<Record<'name' | 'type' | 'command' | 'args' | 'url', unknown>>

export interface SessionSetup {
  cwd: string
  additionalDirectories?: string[]
  mcpServers?: McpServer[]
}

/** The parameters of a fork, which is only in the draft of the protocol, not in a released schema. */
export const forkRequest = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  additionalDirectories: z.array(z.string()).optional(),
  mcpServers: z.array(z.custom<McpServer>(value => typeof value === 'object' && value !== null)).optional(),
})

/** A session that is open on this connection. */
export class DemoSession {
  /** The user's "always" answers to permission requests, by topic. */
  readonly standing = new Map<string, 'allow' | 'reject'>()
  /** A line of text about each MCP server. */
  readonly mcpServers: readonly string[]
  /** Tokens in the context, estimated at four characters each. */
  used: number
  readonly #store: SessionStore
  #meta: SessionMeta
  #turn: { abort: AbortController; ended: Promise<unknown> } | undefined

  constructor(meta: SessionMeta, mcpServers: readonly McpServer[], used: number, store: SessionStore) {
    this.#meta = meta
    this.mcpServers = mcpServers.map(describeServer)
    this.used = used
    this.#store = store
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
  change(fields: Partial<SessionMeta>): void {
    this.#meta = { ...this.#meta, ...fields }
    this.#store.append(this.id, [{ meta: this.#meta }])
  }

  /**
   * Sets a config option.
   * @throws a protocol error if the option or the value is unknown
   */
  choose(configId: string, value: unknown): void {
    const settings = withOption(this.settings, configId, value)
    if (!settings)
      throw RequestError.invalidParams({ [configId]: value }, 'no such option, or not a value of it')
    this.change({ settings })
  }

  /**
   * Checks whether a turn can start with a prompt.
   * @throws a protocol error if no turn can
   */
  checkPrompt(prompt: readonly unknown[]): void {
    if (this.#turn) throw RequestError.invalidRequest({ sessionId: this.id }, 'a turn is already running')
    if (prompt.length === 0) throw RequestError.invalidParams({}, 'the prompt is empty')
  }

  record(...updates: SessionUpdate[]): void {
    this.#store.append(this.id, updates)
  }

  /** Runs a turn and records it as the running one. `outer` also cancels the turn. */
  async runTurn<T>(outer: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController()
    const ended = run(AbortSignal.any([abort.signal, outer]))
    const turn = { abort, ended }
    this.#turn = turn
    try {
      return await ended
    } finally {
      if (this.#turn === turn) this.#turn = undefined
    }
  }

  /** Cancels the running turn, if any, and waits for its end. */
  async cancel(): Promise<void> {
    const turn = this.#turn
    turn?.abort.abort()
    await turn?.ended.catch(() => {})
  }
}

/** Returns a line about a server. Contains no environment or headers, because these may contain secrets. */
function describeServer({ name, type, command, args, url }: McpServer): string {
  if (command === undefined) return `**${name}**: ${type}, ${url}`
  return `**${name}**: stdio, \`${[command, ...(Array.isArray(args) ? args : [])].join(' ')}\``
}

/** Returns the updates that close unfinished tool calls of a transcript, for example when the agent was killed during a turn. */
export function interruptions(updates: readonly SessionUpdate[]): SessionUpdate[] {
  const open = new Set<string>()
  for (const update of updates) {
    if (update.sessionUpdate === 'tool_call') open.add(update.toolCallId)
    if (update.sessionUpdate !== 'tool_call_update') continue
    if (update.status === 'completed' || update.status === 'failed') open.delete(update.toolCallId)
  }
  return [...open].map(toolCallId => ({
    ...{ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' },
    content: [text('Interrupted: the agent was stopped here.')],
  }))
}

/** Returns an update as it's replayed: its terminal no longer exists, so the end of the tool call shows the output instead. */
function replayed(update: SessionUpdate): SessionUpdate {
  if (update.sessionUpdate !== 'tool_call_update') return update
  const { output } = (update.rawOutput ?? {}) as { output?: unknown }
  if (typeof output === 'string' && output !== '') return { ...update, content: [fenced(output, 'console')] }
  return update.content?.some(({ type }) => type === 'terminal') ? { ...update, content: [] } : update
}

/** The sessions that are open on this connection; also opens stored sessions. */
export class Sessions {
  readonly #store: SessionStore
  readonly #open = new Map<string, DemoSession>()

  constructor(store: SessionStore) {
    this.#store = store
  }

  create(setup: SessionSetup): DemoSession {
    const updatedAt = new Date().toISOString()
    return this.#session({ updatedAt, prompts: 0, settings: DEFAULT_SETTINGS, credits: 0 }, setup, 0)
  }

  /** Opens a stored session with the folders that the client sends. Cancels the session's turn if one is still running. */
  async reopen(sessionId: string, setup: SessionSetup): Promise<DemoSession> {
    await this.#open.get(sessionId)?.cancel()
    const { meta, used } = this.#stored(sessionId)
    return this.#session(meta, setup, used, sessionId)
  }

  /** Creates a new session with a copy of a session's transcript. */
  fork(sessionId: string, setup: SessionSetup): DemoSession {
    const { meta, updates, used } = this.#stored(sessionId)
    const fork = this.#session({ ...meta, updatedAt: new Date().toISOString() }, setup, used)
    fork.record(...updates, ...interruptions(updates))
    return fork
  }

  find(sessionId: string): DemoSession | undefined {
    return this.#open.get(sessionId)
  }

  /**
   * Returns an open session.
   * @throws a protocol error if the session isn't open
   */
  get(sessionId: string): DemoSession {
    const session = this.#open.get(sessionId)
    if (!session) throw RequestError.sessionNotFound(sessionId)
    return session
  }

  /** Returns the sessions that have at least one prompt, newest first. */
  list({ cwd }: { cwd?: string | null }): { sessions: SessionInfo[] } {
    const listed = this.#store.list().filter(meta => meta.prompts > 0 && (!cwd || meta.cwd === cwd))
    const sessions = listed.map(({ sessionId, cwd, additionalDirectories, title, updatedAt }) => {
      return { sessionId, cwd, additionalDirectories, ...(title === undefined ? {} : { title }), updatedAt }
    })
    return { sessions }
  }

  /** Returns the transcript of a session for a client that loads it. Closes interrupted work. */
  replay(session: DemoSession): SessionUpdate[] {
    const updates = this.#store.read(session.id)?.updates ?? []
    const ends = interruptions(updates)
    session.record(...ends)
    return [...updates, ...ends].map(replayed)
  }

  /** Closes the session. Deletes a session that never got a prompt. */
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

  /** Cancels all turns and waits until they have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.#open.values()].map(session => session.cancel()))
  }

  /**
   * Returns the stored data of a session.
   * @throws a protocol error if the session is unknown
   */
  #stored(sessionId: string): { meta: SessionMeta; updates: SessionUpdate[]; used: number } {
    const live = this.#open.get(sessionId)
    const stored = this.#store.read(sessionId)
    const meta = live?.meta ?? stored?.meta
    if (!meta) throw RequestError.sessionNotFound(sessionId)
    const updates = stored?.updates ?? []
    return { meta, updates, used: live?.used ?? Math.round(JSON.stringify(updates).length / 4) }
  }

  /**
   * Opens a session in the folders that the client sends.
   * @throws a protocol error if a session can't work in these folders
   */
  #session(
    meta: Omit<SessionMeta, 'sessionId' | 'cwd' | 'additionalDirectories'>,
    { cwd, additionalDirectories = [], mcpServers = [] }: SessionSetup,
    used: number,
    sessionId: string = randomUUID(),
  ): DemoSession {
    for (const directory of [cwd, ...additionalDirectories]) {
      if (!path.isAbsolute(directory)) throw RequestError.invalidParams({ directory }, 'not an absolute path')
    }
    const place = { sessionId, cwd, additionalDirectories }
    const session = new DemoSession({ ...meta, ...place }, mcpServers, used, this.#store)
    this.#open.set(sessionId, session)
    session.change({})
    return session
  }
}
