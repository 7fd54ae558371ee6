import { Worker } from 'node:worker_threads'
import * as l10n from '@vscode/l10n'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { SearchQuery } from '../../common/search-query.ts'
import type { SessionId } from '../../common/session-key.ts'
import type { Transcripts, WrittenConversation } from '../transcripts.ts'
import type { SearchHit } from './search-run.ts'

/** A message to the search thread. */
export type SearchRequest =
  | { type: 'search'; id: number; query: Pick<SearchQuery, 'terms' | 'files'>; sessions?: string[] }
  | { type: 'stop' }
  | { type: 'written'; conversations: WrittenConversation[] }
  | { type: 'refresh' }
  | ({ type: 'deleted' } & SessionId)

/** A message from the search thread. */
export type SearchResponse =
  | { type: 'hits'; id: number; hits: SearchHit[]; isDone: boolean; isLimited: boolean }
  | { type: 'progress'; done: number; total: number; isBehind: boolean }
  | { type: 'failed'; message: string; name: string; code: number | undefined }

export interface SearchWorkerData {
  file: string
  conversations: string
}

export interface SearchState {
  /** the numbers of indexed conversations and of all conversations; absent if all are indexed */
  progress?: { done: number; total: number }
  /** why conversations can't be searched, as a sentence */
  problem?: string
}

/** `isLimited`: only the newest messages were searched, so older ones may match, too. */
type OnHits = (hits: SearchHit[], isDone: boolean, isLimited: boolean) => void

/** Changes are indexed after the first of these times without further writes, but at the latest after the second. Milliseconds. */
const CALM_MS = 2000
const MAX_WAIT_MS = 15_000
/** Delay before indexing conversations that earlier versions stored. Milliseconds. */
const FIRST_MS = 15_000
/** The thread ends after this time without work, in milliseconds. */
const IDLE_MS = 120_000

export interface SearchClientOptions {
  transcripts: Pick<Transcripts, 'onDidWrite' | 'onDidDelete'>
  /** the bundled script of the thread */
  script: string
  files: SearchWorkerData
  log: Logger
}

/** Searches the saved conversations, and keeps their index up to date, in a thread that runs only when it has work. */
export class SearchClient extends Owner {
  readonly #options: SearchClientOptions
  readonly #change = this.register(new Emitter<void>())
  readonly #written = new Map<string, WrittenConversation>()
  #writtenSince = 0
  #worker: Worker | undefined
  #state: SearchState = {}
  #isBehind = false
  #last = 0
  #onHits: OnHits | undefined
  #flushTimer: NodeJS.Timeout | undefined
  #idleTimer: NodeJS.Timeout | undefined

  /** Fires when `state` has changed. */
  readonly onDidChange = this.#change.event

  constructor(options: SearchClientOptions) {
    super()
    this.#options = options
    const { transcripts } = options
    this.register(transcripts.onDidWrite(written => this.#add(written)))
    this.register(
      transcripts.onDidDelete(session => {
        this.#flush()
        this.#send({ type: 'deleted', ...session })
      }),
    )
    const first = setTimeout(() => this.#send({ type: 'refresh' }), FIRST_MS).unref()
    this.register(
      toDisposable(() => {
        for (const timer of [first, this.#flushTimer, this.#idleTimer]) clearTimeout(timer)
        void this.#worker?.terminate()
        this.#worker = undefined
      }),
    )
  }

  get state(): SearchState {
    return this.#state
  }

  /**
   * Begins a search, which replaces the previous one. `onHits`: called each time with all results so far. `sessions`: the keys of the
   * sessions to search; absent: all sessions.
   */
  search(query: Pick<SearchQuery, 'terms' | 'files'>, sessions: string[] | undefined, onHits: OnHits): void {
    this.#flush()
    this.#onHits = onHits
    const { terms, files } = query
    this.#send({ type: 'search', id: ++this.#last, query: { terms, files }, ...(sessions && { sessions }) })
  }

  stop(): void {
    if (!this.#onHits) return
    this.#onHits = undefined
    this.#send({ type: 'stop' })
  }

  #add(written: WrittenConversation): void {
    const key = JSON.stringify([written.agentId, written.id])
    const known = this.#written.get(key)
    const isNext = known && known.after === written.before
    const positions =
      known?.positions && written.positions && isNext
        ? [...new Set([...known.positions, ...written.positions])]
        : known
          ? undefined
          : written.positions
    this.#written.set(key, { ...written, before: known ? known.before : written.before, positions })
    const now = performance.now()
    if (this.#written.size === 1 && !known) this.#writtenSince = now
    const waits = now - this.#writtenSince
    clearTimeout(this.#flushTimer)
    this.#flushTimer = setTimeout(() => this.#flush(), waits > MAX_WAIT_MS ? 0 : CALM_MS).unref()
  }

  #flush(): void {
    clearTimeout(this.#flushTimer)
    if (this.#written.size === 0) return
    const conversations = [...this.#written.values()]
    this.#written.clear()
    this.#send({ type: 'written', conversations })
  }

  #send(request: SearchRequest): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(request)
    this.#rest()
  }

  /** Ends the thread when it hasn't had work for a while. */
  #rest(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      if (this.#isBehind) return this.#rest()
      void this.#worker?.terminate()
      this.#worker = undefined
    }, IDLE_MS).unref()
  }

  #start(): Worker {
    const { script, files, log } = this.#options
    const worker = new Worker(script, {
      workerData: files,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    worker.unref()
    worker.on('message', (response: SearchResponse) => this.#take(response))
    const lost = (why: string) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      log.warn(`The search of conversations ended: ${why}`)
      this.#set({ problem: l10n.t("Conversations can't be searched: {0}", why) })
      this.#onHits?.([], true, false)
    }
    worker.on('error', error => lost(error.message))
    worker.on('exit', code => lost(`exit ${code}`))
    return worker
  }

  #take(response: SearchResponse): void {
    switch (response.type) {
      case 'hits':
        if (response.id !== this.#last) return
        this.#onHits?.(response.hits, response.isDone, response.isLimited)
        return
      case 'progress': {
        const { done, total, isBehind } = response
        this.#isBehind = isBehind
        this.#set(total > 1 ? { progress: { done, total } } : {})
        return
      }
      case 'failed':
        this.#options.log.warn(`The index of conversations: ${response.message}`)
        this.#isBehind = false
        this.#set({ problem: describeProblem(response) })
    }
  }

  #set(state: SearchState): void {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return
    this.#state = state
    this.#change.fire()
  }
}

/**
 * Describes why the index can't be used: the disk is full (SQLITE_FULL), a newer version of Parley wrote the index, or SQLite's message.
 */
function describeProblem({ name, code, message }: Extract<SearchResponse, { type: 'failed' }>): string {
  if (name === 'NewerDatabaseError')
    return l10n.t(
      'Only titles can be searched in this window: a newer version of Parley created the search index.',
    )
  if (code !== undefined && (code & 0xff) === 13)
    return l10n.t("New messages can't be found by the search: the disk is full.")
  return l10n.t("Conversations can't be searched: {0}", message)
}
