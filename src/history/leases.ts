import { hostname } from 'node:os'
import type { Disposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { SESSION_REQUESTS_POLL_MS } from '../common/limits.ts'
import { idOfStored, type SessionId, sessionKey, storedId } from '../common/session-key.ts'
import type { TranscriptDatabase } from './transcript-database.ts'
import type { Windows } from './windows.ts'

type Row = Record<string, unknown>

const OF = 'WHERE agent_id = ? AND session_id = ?'

/**
 * Tracks which process on this machine has which session for its windows. A session belongs to one process at a time, through a lease in
 * the database. Any process may take over the lease of a process that is gone. Methods that are called in a transaction may throw SQLite's
 * errors; all others report them.
 */
export class Leases implements Disposable {
  readonly #database: TranscriptDatabase
  readonly #windows: Windows
  readonly #held = new Map<string, SessionId>()
  readonly #changed = new Emitter<SessionId>()
  readonly #lost = new Emitter<SessionId>()
  readonly #requested = new Emitter<SessionId>()
  #pollTimer: NodeJS.Timeout | undefined

  /**
   * Fires when this process has begun to use a session, taken it over or released it: another process may have written the session's
   * conversation.
   */
  readonly onDidChange = this.#changed.event
  /** Fires when another process has taken a session that was open in this one. */
  readonly onDidLose = this.#lost.event
  /** Fires when another process requests a session that is open in this one, repeatedly until the session is released. */
  readonly onDidRequest = this.#requested.event

  constructor(database: TranscriptDatabase, windows: Windows) {
    this.#database = database
    this.#windows = windows
  }

  /** The id of this process's row, which its leases refer to. */
  get owner(): string {
    return this.#windows.own
  }

  /** Takes a session for this process. Returns false if a running process other than this one and `from` has the session. */
  acquire(agentId: string, sessionId: string, from?: string): boolean {
    const had = this.#has(agentId, sessionId)
    const acquired = this.#database.transaction(() => this.take(agentId, sessionId, from), true)
    if (!had) this.#changed.fire({ agentId, sessionId })
    return acquired
  }

  /** Like `acquire`, within a transaction. */
  take(agentId: string, sessionId: string, from?: string): boolean {
    const lease = this.#lease(agentId, sessionId)
    if (lease && lease.owner !== this.owner && lease.owner !== from && this.#isLive(lease)) return false
    if (lease?.owner !== this.owner) this.#replace(agentId, sessionId)
    this.#hold({ agentId, sessionId })
    return true
  }

  /** Takes a session that another process doesn't release. Returns the id of the other process's row, if known. */
  seize(agentId: string, sessionId: string): string | undefined {
    const from = this.#database.transaction(() => {
      const lease = this.#lease(agentId, sessionId)
      this.#replace(agentId, sessionId)
      this.#hold({ agentId, sessionId })
      return lease && String(lease.owner)
    }, undefined)
    this.#changed.fire({ agentId, sessionId })
    return from
  }

  /** Releases the lease of a session that is no longer open in this process. */
  release(agentId: string, sessionId: string): void {
    this.#changed.fire({ agentId, sessionId })
    this.#database.attempt(() => {
      this.#held.delete(sessionKey(agentId, sessionId))
      this.#database.run(`DELETE FROM leases ${OF} AND owner = ?`, agentId, storedId(sessionId), this.owner)
    }, undefined)
  }

  /** Asks the process that has the session to release it. */
  request(agentId: string, sessionId: string): void {
    this.#database.attempt(
      () =>
        this.#database.run(`UPDATE leases SET wanted_by = ? ${OF}`, this.owner, agentId, storedId(sessionId)),
      undefined,
    )
  }

  /** Whether any process has the session. Call it in a transaction. */
  isOpen({ agentId, sessionId }: SessionId): boolean {
    return this.#has(agentId, sessionId) || this.isElsewhere(agentId, sessionId)
  }

  /** Whether another process has the session. Call it in a transaction, or while no other process writes. */
  isElsewhere(agentId: string, sessionId: string): boolean {
    const lease = this.#lease(agentId, sessionId)
    return lease !== undefined && lease.owner !== this.owner && this.#isLive(lease)
  }

  /** Like `isElsewhere`, but can be called at any time; false if the database can't be read. */
  isSeenElsewhere(agentId: string, sessionId: string): boolean {
    return this.#database.attempt(() => this.isElsewhere(agentId, sessionId), false)
  }

  /** Fires events for takeovers and requests by other processes. Called by a timer while sessions are open. */
  poll(): void {
    const { missing, requested } = this.#database.attempt(() => this.#check(), { missing: [], requested: [] })
    for (const session of missing) {
      if (this.acquire(session.agentId, session.sessionId)) continue
      this.#held.delete(sessionKey(session.agentId, session.sessionId))
      this.#lost.fire(session)
    }
    for (const session of requested) this.#requested.fire(session)
  }

  dispose(): void {
    clearInterval(this.#pollTimer)
    this.#held.clear()
    for (const emitter of [this.#changed, this.#lost, this.#requested]) emitter.dispose()
  }

  #has(agentId: string, sessionId: string): boolean {
    return this.#held.has(sessionKey(agentId, sessionId))
  }

  #hold(session: SessionId): void {
    this.#held.set(sessionKey(session.agentId, session.sessionId), session)
    if (this.#pollTimer || !this.#database.isOpen) return
    this.#pollTimer = setInterval(() => {
      if (this.#held.size > 0) return this.poll()
      clearInterval(this.#pollTimer)
      this.#pollTimer = undefined
    }, SESSION_REQUESTS_POLL_MS)
    this.#pollTimer.unref()
  }

  /** Returns the sessions of this process that other processes have taken, and those that other processes request. */
  #check(): { missing: SessionId[]; requested: SessionId[] } {
    const rows = this.#database.all('SELECT * FROM leases WHERE owner = ?', this.owner)
    const keyOf = (row: Row) => sessionKey(String(row.agent_id), idOfStored(String(row.session_id)))
    const ours = new Map(rows.map(row => [keyOf(row), row]))
    const held = [...this.#held]
    return {
      missing: held.flatMap(([key, session]) => (ours.has(key) ? [] : [session])),
      requested: held.flatMap(([key, session]) => (ours.get(key)?.wanted_by ? [session] : [])),
    }
  }

  #replace(agentId: string, sessionId: string): void {
    this.#windows.beat()
    this.#database.run(
      'REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, NULL)',
      agentId,
      storedId(sessionId),
      this.owner,
      hostname(),
      process.pid,
      // only a window of an earlier version reads this time, which is renewed with the row of the process
      Date.now(),
    )
  }

  #lease(agentId: string, sessionId: string): Row | undefined {
    return this.#database.all(`SELECT * FROM leases ${OF}`, agentId, storedId(sessionId))[0]
  }

  #isLive(lease: Row): boolean {
    return this.#windows.isAlive(String(lease.owner), lease)
  }
}
