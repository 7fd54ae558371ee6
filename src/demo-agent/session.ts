import type { McpServer, SessionUpdate } from '@agentclientprotocol/sdk'
import type { Settings } from './settings.ts'
import type { SessionMeta, SessionStore } from './store.ts'

/** What the person answered once and for all, by the kind of thing asked. */
export type StandingAnswer = 'allow' | 'reject'

/** One session that is open on this connection. */
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

  /** Changes what is known of the session, here and on disk. A disk that cannot be written is only reported. */
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

  /** Runs one turn; there is never a second one beside it. `outer` cancels it too. */
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

  /** Cancels the turn, if there is one, and waits for its end. */
  async cancel(): Promise<void> {
    const turn = this.#turn
    if (!turn) return
    turn.abort.abort()
    await turn.ended.catch(() => {})
  }
}

/** Text is kept back until this many characters are gathered, so that a word is not a line of its own on disk. */
const GATHER = 2_000

/** The growing record of one session. Adjacent pieces of one message are joined. */
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

/** The updates that end what a transcript left open, as when the agent was killed in the middle of a turn. */
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
