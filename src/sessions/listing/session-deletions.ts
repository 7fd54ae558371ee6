import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import { UNDO_DELETION_MS } from '../../common/limits.ts'
import { type SessionId, sessionKey } from '../../common/session-key.ts'
import type { OpenSessions } from '../open-sessions.ts'

/** The data to delete a session and to report its deletion. */
export interface DeletableSession extends SessionId {
  agentName: string
  title?: string
  /** Whether only Parley's copy is deleted, and the agent keeps its own. */
  deletesCopy: boolean
  /**
   * The ids of the stored copies of the conversation when the user deleted it. If another window has added a copy since, for example by an
   * import, the session stays.
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
  /** Fires when deletions can't be undone anymore. The listener deletes the sessions, and calls `ended` for each session afterward. */
  readonly onDidExpire = this.#expire.event

  constructor(undoMs: number = UNDO_DELETION_MS) {
    super()
    this.#undoMs = undoMs
  }

  /** The sessions that `undo` restores. */
  get undoable(): DeletableSession[] {
    return [...this.#marked.values()].map(({ item }) => item)
  }

  /** Whether no session is marked or being deleted. */
  get isEmpty(): boolean {
    return this.#marked.size === 0 && this.#due.size === 0
  }

  has(agentId: string, sessionId: string): boolean {
    const key = sessionKey(agentId, sessionId)
    return this.#marked.has(key) || this.#due.has(key)
  }

  /** Marks the sessions as deleted by the user. Recent deletions can be undone as long as this deletion. */
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

  /** Restores all marked sessions if at least one of `items` can still be restored. Returns whether it did. */
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
   * Cancels the deletion of a session that is needed again: another window has the session, or it's in a file that the user imports.
   * Returns false if the session is already being deleted.
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

  /** Called when the session was deleted or couldn't be deleted. */
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

/** Restores deleted sessions that are opened in this process, or that another process has or requests. */
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
