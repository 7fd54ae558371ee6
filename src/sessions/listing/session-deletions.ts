import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import { UNDO_DELETION_MS } from '../../common/limits.ts'
import { type SessionId, sessionKey } from '../../common/session-key.ts'
import type { OpenSessions } from '../open-sessions.ts'

/** What is needed to delete a session and to report its deletion. */
export interface DeletableSession extends SessionId {
  agentName: string
  title?: string
  /** Only Parley's copy is deleted: the agent keeps its own. */
  deletesCopy: boolean
  /**
   * The separate copies of the conversation when the user deleted it. If another window has added a copy since, the session stays: it was
   * imported there.
   */
  copies?: ReadonlySet<string>
}

export interface MarkedSession {
  item: DeletableSession
  /** keeps other windows from opening the session */
  reserved: Disposable
}

/**
 * The sessions that the user deleted. A deleted session is hidden, but for some time the user can undo the deletion; only then is the
 * session deleted, also at its agent. If the window closes earlier, the session stays.
 */
export class SessionDeletions extends Owner {
  readonly #undoMs: number
  /** deletions that can be undone */
  readonly #marked = new Map<string, MarkedSession>()
  /** deletions that are being carried out */
  readonly #due = new Map<string, MarkedSession>()
  readonly #change = this.register(new Emitter<void>())
  readonly #expire = this.register(new Emitter<DeletableSession[]>())
  #timer: NodeJS.Timeout | undefined

  readonly onDidChange = this.#change.event
  /** The deletions can't be undone anymore: the sessions must be deleted. Call `ended` afterward for each of them. */
  readonly onDidExpire = this.#expire.event

  constructor(undoMs: number = UNDO_DELETION_MS) {
    super()
    this.#undoMs = undoMs
  }

  /** The sessions that `undo` brings back. */
  get undoable(): DeletableSession[] {
    return [...this.#marked.values()].map(({ item }) => item)
  }

  /** No session is marked or being deleted. */
  get isEmpty(): boolean {
    return this.#marked.size === 0 && this.#due.size === 0
  }

  has(agentId: string, sessionId: string): boolean {
    const key = sessionKey(agentId, sessionId)
    return this.#marked.has(key) || this.#due.has(key)
  }

  /** The user deleted the sessions. Recent deletions stay undoable as long as this one. */
  mark(marked: readonly MarkedSession[]): void {
    for (const { item, reserved } of marked) {
      const { agentId, sessionId } = item
      if (this.owned.isDisposed || this.has(agentId, sessionId)) reserved.dispose()
      else this.#marked.set(sessionKey(agentId, sessionId), { item, reserved })
    }
    if (this.owned.isDisposed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#expired(), this.#undoMs)
    this.#change.fire()
  }

  /** Brings all back. With `items`, only while one of these can come back. Returns whether any did. */
  undo(items: readonly SessionId[] = this.undoable): boolean {
    const isLate = items.every(({ agentId, sessionId }) => !this.#marked.has(sessionKey(agentId, sessionId)))
    if (isLate) return false
    clearTimeout(this.#timer)
    for (const { reserved } of this.#marked.values()) reserved.dispose()
    this.#marked.clear()
    this.#change.fire()
    return true
  }

  /**
   * Cancels the deletion of one session that is needed again: it's in a file that the user imports, or another window has it. Returns false
   * if the session is already being deleted.
   */
  restore({ agentId, sessionId }: SessionId): boolean {
    const key = sessionKey(agentId, sessionId)
    const marked = this.#marked.get(key)
    if (!marked) return !this.#due.has(key)
    this.#marked.delete(key)
    marked.reserved.dispose()
    if (this.#marked.size === 0) clearTimeout(this.#timer)
    this.#change.fire()
    return true
  }

  /** The session was deleted, or that failed. */
  ended({ agentId, sessionId }: DeletableSession): void {
    const key = sessionKey(agentId, sessionId)
    this.#due.get(key)?.reserved.dispose()
    this.#due.delete(key)
    this.#change.fire()
  }

  override dispose(): void {
    clearTimeout(this.#timer)
    for (const { reserved } of [...this.#marked.values(), ...this.#due.values()]) reserved.dispose()
    this.#marked.clear()
    this.#due.clear()
    super.dispose()
  }

  #expired(): void {
    const items = this.undoable
    for (const [key, marked] of this.#marked) this.#due.set(key, marked)
    this.#marked.clear()
    this.#change.fire()
    this.#expire.fire(items)
  }
}

/** Restores deleted sessions that are opened in this process, or that another one has or requests. */
export function restoreNeeded(
  deletions: SessionDeletions,
  openSessions: Pick<OpenSessions, 'find' | 'onDidChange' | 'onDidYield'>,
): Disposable {
  const all = new DisposableStore()
  all.add(openSessions.onDidYield(session => void deletions.restore(session)))
  all.add(
    openSessions.onDidChange(() => {
      for (const session of deletions.undoable)
        if (openSessions.find(session.agentId, session.sessionId)) deletions.restore(session)
    }),
  )
  return all
}
