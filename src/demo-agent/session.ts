import type { McpServer, SessionUpdate } from '@agentclientprotocol/sdk'
import type { Settings } from './settings.ts'
import type { SessionMeta, SessionStore } from './store.ts'
import { Transcript } from './transcript.ts'

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
