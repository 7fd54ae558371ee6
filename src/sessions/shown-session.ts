import type { AgentExit } from '../acp/agent.ts'
import { DisposableStore, Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { sessionKey } from '../common/session-key.ts'
import type { Attempt, Reopening } from './failures.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'

export type Phase = 'empty' | 'starting' | 'loading' | 'ready' | 'ended'

/** Names what is written in the side bar where there is no conversation yet. */
export const NEW_KEY = 'new'
/** How an agent ended that Parley itself stopped. */
export const STOPPED: AgentExit = { reason: 'disposed', stderrTail: '' }

export interface ShownSessionOptions {
  /** Names what is written here where there is no conversation yet. */
  newKey: string
  /** What is being opened or brought back: it names the conversation while none is on the screen. */
  awaited: () => Attempt | SessionReference | undefined
  statusChanged: (open: OpenSession) => void
  sessionEnded: (open: OpenSession, exit: AgentExit) => void
}

/** The session that a conversation view shows, if any, and its phase. */
export class ShownSession extends Owner {
  readonly #parts: ShownSessionOptions
  readonly #switch = this.register(new Emitter<OpenSession | undefined>())
  phase: Phase = 'empty'
  /** The conversation was begun here, and no other was shown since. */
  begun = false
  #current: OpenSession | undefined
  #following = new DisposableStore()
  #reportedKey: string

  /** Another conversation is shown. */
  readonly onDidSwitch = this.#switch.event

  constructor(parts: ShownSessionOptions) {
    super()
    this.#parts = parts
    this.#reportedKey = parts.newKey
  }

  get newKey(): string {
    return this.#parts.newKey
  }

  get current(): OpenSession | undefined {
    return this.#current
  }

  /** Names the conversation on the screen, or the one that is being reopened; drafts are kept by it. */
  get key(): string {
    const current = this.#current
    if (current) return current.key
    const awaited = this.#parts.awaited()
    return awaited && 'sessionId' in awaited
      ? sessionKey(awaited.agentId, awaited.sessionId)
      : this.#parts.newKey
  }

  /**
   * The key under which the person wrote before the conversation on the screen had one of its own. Only a session that
   * was begun has it, and only until another conversation is shown.
   */
  get keyBefore(): string | undefined {
    return this.begun ? this.#parts.newKey : undefined
  }

  display(open: OpenSession | undefined): void {
    if (this.#current === open) return
    this.#following.dispose()
    this.#following = new DisposableStore()
    this.begun = false
    this.#current = open
    if (open) {
      const { session } = open
      this.#following.add(session.onDidChangeStatus(() => this.#parts.statusChanged(open)))
      this.#following.add(session.onDidEnd(exit => this.#parts.sessionEnded(open, exit ?? STOPPED)))
    }
    this.#tellSwitch()
  }

  /** What was on the screen before an attempt that came to nothing. */
  goBack(before: OpenSession | undefined): void {
    this.display(before)
    this.phase = !before ? 'empty' : before.session.phase === 'ready' ? 'ready' : 'ended'
  }

  /** The attempt brings back the conversation that is on the screen: it stays there meanwhile. */
  continues(attempt: Attempt): boolean {
    return (
      attempt.type !== 'new' &&
      this.#current?.agentId === attempt.agentId &&
      this.#current.session.sessionId === attempt.sessionId
    )
  }

  /** How the shown conversation can go on with a new process: resumed, else loaded, else not. */
  continuation(): Extract<Attempt, { type: Reopening }> | undefined {
    const open = this.#current
    if (!open) return undefined
    const { capabilities } = open.session.agent
    const how = capabilities.resume ? 'resume' : capabilities.load ? 'load' : undefined
    return how && { type: how, ...referenceOf(open) }
  }

  /** What is awaited may have changed, and the key with it. */
  tellKey(): void {
    if (this.key !== this.#reportedKey) this.#tellSwitch()
  }

  override dispose(): void {
    this.#following.dispose()
    super.dispose()
  }

  #tellSwitch(): void {
    this.#reportedKey = this.key
    this.#switch.fire(this.#current)
  }
}
