import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { PromptQueue } from '../conversation/prompts/prompt-queue.ts'
import type { OpenSession } from './open-session.ts'
import type { HeldSessions } from './session-leases.ts'

/** A window's views of sessions. */
export interface SessionViews {
  /** Whether the user now sees the session in the window. */
  isVisible(open: OpenSession): boolean
  readonly onDidChangeVisibility: Event<void>
}

/** The sessions that are open in this process, whichever of its windows opened them. Owns them until they're closed. */
export class OpenSessions extends Owner implements SessionViews {
  /** Which sessions this process has, so that no other process opens them. */
  readonly held: HeldSessions
  readonly #log: Logger | undefined
  readonly #open = new Map<string, OpenSession>()
  /** by session key */
  readonly #holds = new Map<string, Disposable>()
  readonly #windows = new Set<SessionViews>()
  readonly #visibility = this.register(new Emitter<void>())
  readonly #change = this.register(new Emitter<void>())
  readonly #yielded = this.register(new Emitter<SessionId>())

  /** Fires when a window shows or hides sessions. */
  readonly onDidChangeVisibility = this.#visibility.event
  /** Fires when a session was opened or closed. */
  readonly onDidChange = this.#change.event
  /** Fires when another process requests or has taken a session that is held here but not open. */
  readonly onDidYield = this.#yielded.event

  constructor(held: HeldSessions, log?: Logger) {
    super()
    this.held = held
    this.#log = log
    this.register(held.onDidRequest(session => void this.#giveUp(session)))
    this.register(held.onDidLose(session => void this.#giveUp(session)))
  }

  list(): OpenSession[] {
    return [...this.#open.values()]
  }

  find(agentId: string, sessionId: string): OpenSession | undefined {
    return this.withKey(sessionKey(agentId, sessionId))
  }

  withKey(key: string): OpenSession | undefined {
    return this.#open.get(key)
  }

  /** Adds the views of a window, until the result is disposed. */
  addWindow(views: SessionViews): Disposable {
    this.#windows.add(views)
    const following = views.onDidChangeVisibility(() => this.#visibility.fire())
    return toDisposable(() => {
      following.dispose()
      this.#windows.delete(views)
      this.#visibility.fire()
    })
  }

  /** Whether the user sees the session now, in any window. */
  isVisible(open: OpenSession): boolean {
    return [...this.#windows].some(views => views.isVisible(open))
  }

  /** Returns the open session that has this queue. */
  sessionOf(queue: PromptQueue): OpenSession | undefined {
    return this.list().find(({ session }) => session.turns.queue === queue)
  }

  /** Adds a session, in place of the open session that it reopens, if any. `begin` makes the session start its work. */
  add(open: OpenSession, begin: () => void): void {
    const { key, agentId, session } = open
    this.register(open)
    const replaced = this.#open.get(key)
    this.#open.set(key, open)
    const id = { agentId, sessionId: session.sessionId }
    this.held.acquire(id)
    if (!this.#holds.has(key)) this.#holds.set(key, this.held.hold(id))
    begin()
    replaced?.endServices()
    this.#change.fire()
  }

  /** Ends the session's services; its conversation stays readable. */
  dismiss(open: OpenSession): void {
    open.endServices()
    this.drop(open)
  }

  /** Like `dismiss`, but commands that run in the session get no time to end. */
  drop(open: OpenSession): void {
    const { key } = open
    this.owned.release(open)
    if (this.#open.get(key) !== open) return
    this.#open.delete(key)
    this.#holds.get(key)?.dispose()
    this.#holds.delete(key)
    this.#change.fire()
  }

  /** Closes the session, also in the agent if the agent supports that. */
  async close(open: OpenSession): Promise<void> {
    this.dismiss(open)
    await open.session.close()
  }

  /** Leaves the session to another process: stops the turn, saves the conversation and closes the session. */
  async #giveUp(id: SessionId): Promise<void> {
    const { held } = this
    const open = this.find(id.agentId, id.sessionId)
    if (!open) {
      if (held.isHeld(id)) this.#yielded.fire(id)
      held.release(id)
      return
    }
    const { session } = open
    // `HostedAgents` hands over an agent of the agent host, with all of its sessions
    if (open.isTakenOver || session.agent.hosted?.outlivesWindow) return
    open.isTakenOver = true
    if (session.state.activity !== 'idle') await open.stop()
    try {
      await this.close(open)
    } catch (error) {
      this.#log?.warn(`A session that another window took over: ${messageOf(error)}`)
    }
  }
}
