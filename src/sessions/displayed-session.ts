import type { AgentExit } from '../acp/agent.ts'
import { type Disposable, DisposableStore, Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { sessionKey } from '../common/session-key.ts'
import type { Attempt, Reopening } from './failures.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'

/** The key of drafts and prompts in the side bar while it displays no session. */
export const NEW_KEY = 'new'
/** The exit of an agent that Parley stopped itself. */
export const STOPPED: AgentExit = { reason: 'disposed', stderrTail: '' }

export interface DisplayedSessionOptions {
  /** The key of drafts and prompts while no session is displayed. */
  newKey: string
  /** Returns the session that is being opened, whose key is used while no session is displayed. */
  expected: () => Attempt | SessionReference | undefined
  statusChanged: (open: OpenSession) => void
  sessionEnded: (open: OpenSession, exit: AgentExit) => void
}

/** The session that a conversation view displays, if any. */
export class DisplayedSession extends Owner {
  readonly #options: DisplayedSessionOptions
  readonly #switch = this.register(new Emitter<OpenSession | undefined>())
  /** The key that the conversation had before its session was started in this view; `undefined` once another session is displayed. */
  keyBefore: string | undefined
  #current: OpenSession | undefined
  #following = new DisposableStore()
  #elsewhere: Disposable | undefined
  #reportedKey: string

  /** Fires when another session, or none, is displayed. */
  readonly onDidSwitch = this.#switch.event

  constructor(options: DisplayedSessionOptions) {
    super()
    this.#options = options
    this.#reportedKey = options.newKey
  }

  get newKey(): string {
    return this.#options.newKey
  }

  get current(): OpenSession | undefined {
    return this.#current
  }

  /** The key of drafts and prompts: the key of the displayed session, else of the session being reopened. */
  get key(): string {
    const current = this.#current
    if (current) return current.key
    const expected = this.#options.expected()
    return expected && 'sessionId' in expected
      ? sessionKey(expected.agentId, expected.sessionId)
      : this.#options.newKey
  }

  display(open: OpenSession | undefined): void {
    if (this.#current === open) return
    this.follow(undefined)
    this.#following.dispose()
    this.#following = new DisposableStore()
    this.keyBefore = undefined
    this.#current = open
    if (open) {
      const { session } = open
      this.#following.add(session.onDidChangeStatus(() => this.#options.statusChanged(open)))
      this.#following.add(session.onDidEnd(exit => this.#options.sessionEnded(open, exit ?? STOPPED)))
    }
    this.#fireSwitch()
  }

  /** Keeps `changes`, which follow another window's session, until they are replaced or another session is displayed. */
  follow(changes: Disposable | undefined): void {
    this.#elsewhere?.dispose()
    this.#elsewhere = changes
  }

  /** Whether the attempt reopens the displayed session, which then stays visible. */
  continues(attempt: Attempt): boolean {
    return (
      attempt.type !== 'new' &&
      this.#current?.agentId === attempt.agentId &&
      this.#current.session.sessionId === attempt.sessionId
    )
  }

  /** Returns the attempt that continues the displayed session in a new process: resume, else load. `undefined` if neither is possible. */
  continuation(): Extract<Attempt, { type: Reopening }> | undefined {
    const open = this.#current
    if (!open) return undefined
    const { capabilities } = open.session.agent
    const how = capabilities.resume ? 'resume' : capabilities.load ? 'load' : undefined
    return how && { type: how, ...referenceOf(open) }
  }

  /** Fires `onDidSwitch` if the key changed with the expected session. */
  reportKey(): void {
    if (this.key !== this.#reportedKey) this.#fireSwitch()
  }

  override dispose(): void {
    this.follow(undefined)
    this.#following.dispose()
    super.dispose()
  }

  #fireSwitch(): void {
    this.#reportedKey = this.key
    this.#switch.fire(this.#current)
  }
}
