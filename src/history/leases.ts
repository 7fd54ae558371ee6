import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { OWNER_HEARTBEAT_MS, OWNER_STALE_MS } from '../common/limits.ts'
import { operatingSystem } from '../common/processes/process-system.ts'
import { idOfStored, type SessionId, sessionKey, storedId } from '../common/session-key.ts'

type Row = Record<string, unknown>

/** What the leases need from the database. Each method may throw SQLite's errors. */
export interface LeaseTable {
  run(sql: string, ...values: Array<string | number | null>): void
  all(sql: string, ...values: Array<string | number>): Row[]
}

const OF = 'WHERE agent_id = ? AND session_id = ?'

/**
 * Tracks which window on this machine has which session. A session belongs to one window at a time, through a lease in the
 * database; any window may take over the lease of a window that is gone. All methods may throw SQLite's errors.
 */
export class Leases {
  /** the id of this window, new at each start */
  readonly owner = randomUUID()
  readonly #table: LeaseTable
  readonly #now: () => number
  readonly #held = new Map<string, SessionId>()
  #beatAt = 0

  constructor(table: LeaseTable, now: () => number) {
    this.#table = table
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#held.size === 0
  }

  has(agentId: string, sessionId: string): boolean {
    return this.#held.has(sessionKey(agentId, sessionId))
  }

  /** Takes the session unless another running window has it. Call it in a transaction. Returns whether this window has it now. */
  acquire(agentId: string, sessionId: string): boolean {
    const lease = this.#lease(agentId, sessionId)
    if (lease && lease.owner !== this.owner && this.#isLive(lease)) return false
    if (lease?.owner !== this.owner) this.seize(agentId, sessionId)
    this.#held.set(sessionKey(agentId, sessionId), { agentId, sessionId })
    return true
  }

  /** Takes the session even if another window has it. */
  seize(agentId: string, sessionId: string): void {
    this.#table.run(
      'REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, NULL)',
      agentId,
      storedId(sessionId),
      this.owner,
      hostname(),
      process.pid,
      this.#now(),
    )
    this.#held.set(sessionKey(agentId, sessionId), { agentId, sessionId })
  }

  release(agentId: string, sessionId: string): void {
    this.#held.delete(sessionKey(agentId, sessionId))
    this.#table.run(`DELETE FROM leases ${OF} AND owner = ?`, agentId, storedId(sessionId), this.owner)
  }

  releaseAll(): void {
    this.#held.clear()
    this.#table.run('DELETE FROM leases WHERE owner = ?', this.owner)
  }

  isElsewhere(agentId: string, sessionId: string): boolean {
    const lease = this.#lease(agentId, sessionId)
    return lease !== undefined && lease.owner !== this.owner && this.#isLive(lease)
  }

  /** Asks the window that has the session to release it. */
  request(agentId: string, sessionId: string): void {
    this.#table.run(`UPDATE leases SET wanted_by = ? ${OF}`, this.owner, agentId, storedId(sessionId))
  }

  /**
   * Renews the leases of this window. Returns its sessions that were taken by other windows, and those that others
   * request.
   */
  poll(): { missing: SessionId[]; wanted: SessionId[] } {
    const rows = this.#table.all('SELECT * FROM leases WHERE owner = ?', this.owner)
    const keyOf = (row: Row) => sessionKey(String(row.agent_id), idOfStored(String(row.session_id)))
    const ours = new Map(rows.map(row => [keyOf(row), row]))
    const held = [...this.#held]
    const now = this.#now()
    if (ours.size > 0 && Math.abs(now - this.#beatAt) >= OWNER_HEARTBEAT_MS) {
      this.#beatAt = now
      this.#table.run('UPDATE leases SET beat = ? WHERE owner = ?', now, this.owner)
    }
    return {
      missing: held.flatMap(([key, session]) => (ours.has(key) ? [] : [session])),
      wanted: held.flatMap(([key, session]) => (ours.get(key)?.wanted_by ? [session] : [])),
    }
  }

  /** Another window has taken the session. */
  lose({ agentId, sessionId }: SessionId): void {
    this.#held.delete(sessionKey(agentId, sessionId))
  }

  #lease(agentId: string, sessionId: string): Row | undefined {
    return this.#table.all(`SELECT * FROM leases ${OF}`, agentId, storedId(sessionId))[0]
  }

  #isLive({ host, pid, beat }: Row): boolean {
    if (Math.abs(this.#now() - Number(beat)) >= OWNER_STALE_MS) return false
    return host !== hostname() || operatingSystem.exists(Number(pid))
  }
}
