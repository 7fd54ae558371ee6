/**
 * The thread that indexes and searches the saved conversations, so that indexing and searching don't wait for each other or delay a turn.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../common/errors.ts'
import { isDamage } from '../database.ts'
import type { SearchRequest, SearchResponse, SearchWorkerData } from './search-client.ts'
import { SearchIndex } from './search-index.ts'
import type { SearchRun } from './search-run.ts'

/** Time for a step of indexing, and for a step of searching. Between two steps, a new search can replace the current one. Milliseconds. */
const SLICE_MS = 20
const SEARCH_SLICE_MS = 8
/** A running search reports results after the first of these times, and then at intervals of the second. Milliseconds. */
const FIRST_MS = 20
const PARTIAL_MS = 60
/** A search ends after this time, in milliseconds. */
const MAX_SEARCH_MS = 3000
/** How often the progress of indexing is reported, in milliseconds. */
const PROGRESS_MS = 250
/** Delay before another attempt after a failure, in milliseconds. */
const RETRY_MS = 30_000

const { file, conversations } = workerData as SearchWorkerData
const port = parentPort!
const tell = (response: SearchResponse) => port.postMessage(response)

let index: SearchIndex | undefined
let search: { id: number; run: SearchRun; begun: number; reportAt: number } | undefined
/** the last search, if it began before everything was indexed: it runs again once everything is indexed */
let early: Extract<SearchRequest, { type: 'search' }> | undefined
/** the number of conversations to index since the index was last complete */
let total = 0
let progressSentAt = 0
let retryAt = 0
let isRefreshed = false
let isScheduled = false

port.on('message', (request: SearchRequest) => attempt(() => take(request)))

function take(request: SearchRequest): void {
  index ??= open()
  if (!isRefreshed) index.refresh()
  isRefreshed = true
  switch (request.type) {
    case 'written':
      for (const written of request.conversations) index.written(written)
      break
    case 'deleted':
      index.deleted(request.agentId, request.sessionId)
      break
    case 'refresh':
      index.refresh()
      break
    case 'search':
      early = index.remaining > 0 ? request : undefined
      begin(index, request)
      break
    case 'stop':
      search?.run.end()
      search = undefined
      early = undefined
  }
  proceed()
}

function open(): SearchIndex {
  const sqlite = process.getBuiltinModule('node:sqlite')
  return new SearchIndex({ sqlite, file, conversations })
}

function begin(
  index: SearchIndex,
  { id, query, sessions }: Extract<SearchRequest, { type: 'search' }>,
): void {
  search?.run.end()
  const now = performance.now()
  const run = index.search({ query, ...(sessions && { sessions: new Set(sessions) }) })
  search = { id, run, begun: now, reportAt: now + FIRST_MS }
}

function proceed(): void {
  if (search) searchOn(search)
  const isBehind = indexOn()
  if (index && early && !search && index.remaining === 0) {
    begin(index, early)
    early = undefined
  }
  if (isScheduled || !(search || isBehind)) return
  isScheduled = true
  // pause for as long as a step of indexing takes, so that indexing never takes more than half of a processor
  if (search) setImmediate(again)
  else setTimeout(again, SLICE_MS)
}

function again(): void {
  isScheduled = false
  attempt(proceed)
}

function searchOn(current: NonNullable<typeof search>): void {
  current.run.step(SEARCH_SLICE_MS)
  const now = performance.now()
  if (now - current.begun > MAX_SEARCH_MS) current.run.end()
  const { isDone } = current.run
  if (!isDone && now < current.reportAt) return
  current.reportAt = now + PARTIAL_MS
  const { isLimited } = current.run
  tell({ type: 'hits', id: current.id, hits: current.run.hits(), isDone, isLimited })
  if (isDone) search = undefined
}

/** Runs a step of indexing, unless a search is running. Returns whether there is more to index. */
function indexOn(): boolean {
  if (!index || search || performance.now() < retryAt) return false
  const isBehind = index.work(SLICE_MS)
  const { remaining } = index
  total = remaining === 0 ? 0 : Math.max(total, remaining)
  const now = performance.now()
  if (!isBehind || now - progressSentAt >= PROGRESS_MS) {
    progressSentAt = now
    tell({ type: 'progress', done: total - remaining, total, isBehind })
  }
  return isBehind
}

function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    search?.run.end()
    if (search) tell({ type: 'hits', id: search.id, hits: [], isDone: true, isLimited: false })
    search = undefined
    if (isDamage(error) && index) {
      recover()
      return
    }
    tell({
      type: 'failed',
      message: messageOf(error),
      name: error instanceof Error ? error.name : '',
      code: errorCode(error),
    })
    retryAt = performance.now() + RETRY_MS
    setTimeout(() => attempt(proceed), RETRY_MS).unref()
  }
}

/** Recreates a damaged index from the conversations. */
function recover(): void {
  const damaged = index
  index = undefined
  attempt(() => {
    damaged?.rebuild()
    index = damaged
    proceed()
  })
}

function errorCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined
}
