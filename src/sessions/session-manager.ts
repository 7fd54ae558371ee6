import type { ChangeTracker } from '../changes/change-tracker.ts'
import { SessionChanges } from '../changes/session-changes.ts'
import type { Allowance } from '../common/allowance.ts'
import { type Disposable, Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { PromptQueue } from '../conversation/prompts/prompt-queue.ts'
import type { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import { contextToTell, originsOf } from './continuation.ts'
import { OpenSession, type SessionOrigin } from './open-session.ts'
import type { PermissionRules } from './permission-rules/permission-rules.ts'
import type { SavedConversations, SessionPlan, SessionRecords } from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import type { HeldSessions } from './session-leases.ts'
import type { LimitSettings, SpanRecords } from './session-limiter.ts'
import { addWrittenChange, type ServicesShared } from './session-services.ts'
import { titleToRecord } from './session-title.ts'
import type { UsageRecords } from './usage-meter.ts'

export interface SessionManagerOptions {
  services: ServicesShared
  records: SessionRecords
  transcripts: Pick<SavedConversations, 'write'>
  /** Tracks which sessions this window holds. */
  held: HeldSessions
  queues: PromptQueues
  /** The user's rules for permission requests. */
  rules?: Pick<PermissionRules, 'answersFor' | 'allowances' | 'onDidChange'>
  /** Tracks what agents change in the files of this window. */
  tracker: ChangeTracker
  /** Where usage and cost are counted. */
  usage?: UsageRecords & SpanRecords
  limits?: LimitSettings
}

/** The sessions that are open in this window. */
export class SessionManager extends Owner {
  readonly #options: SessionManagerOptions
  readonly #open = new Map<string, OpenSession>()
  /** by session key; kept when the session ends, since its changes can still be reviewed */
  readonly #changes = new Map<string, SessionChanges>()
  /** by session key */
  readonly #holds = new Map<string, Disposable>()
  readonly #change = this.register(new Emitter<void>())
  readonly #yielded = this.register(new Emitter<SessionId>())

  /** A session was opened or closed. */
  readonly onDidChange = this.#change.event
  /** Another window requests, or has taken, a session that is held here but not open. */
  readonly onDidYield = this.#yielded.event

  constructor(options: SessionManagerOptions) {
    super()
    this.#options = options
    this.register(options.held.onDidRequest(session => void this.#giveUp(session)))
    this.register(options.held.onDidLose(session => void this.#giveUp(session)))
    const { rules } = options
    if (rules) this.register(rules.onDidChange(() => this.#checkAllowances(rules.allowances())))
  }

  list(): OpenSession[] {
    return [...this.#open.values()]
  }

  find(agentId: string, sessionId: string): OpenSession | undefined {
    return this.#open.get(sessionKey(agentId, sessionId))
  }

  /** The open session that has this queue. */
  sessionOf(queue: PromptQueue): OpenSession | undefined {
    return this.list().find(({ session }) => session.turns.queue === queue)
  }

  /** The changes of a session that is open in this window, or was. */
  changesOf(key: string): SessionChanges | undefined {
    return this.#changes.get(key)
  }

  /** Creates a session with its changes, which isn't open before it's admitted. */
  create(agentId: string, agentName: string, session: Session, plan: SessionPlan): OpenSession {
    const key = sessionKey(agentId, session.sessionId)
    let changes = this.#changes.get(key)
    if (!changes) {
      changes = new SessionChanges(this.#options.tracker, key, plan.setup)
      this.#changes.set(key, changes)
    }
    changes.origins = () => originsOf(session.state, key, this.#options.records)
    return new OpenSession({ agentId, agentName, session, plan, changes })
  }

  /** Its agent has the session, or is about to open it. */
  admit(open: OpenSession, origin: SessionOrigin = 'known'): void {
    const { session, agentId, plan, key, allowance } = open
    const { held, records, queues, rules, services, transcripts, usage, limits } = this.#options
    session.conversation.giveTitle(records.get(agentId, session.sessionId)?.givenTitle)
    session.requests.answerByRule = rules?.answersFor(agentId, id => open.placeOf(id), allowance)
    session.contextToTell = () => contextToTell(open)
    // for an agent on another machine, the path means a file there
    if (!session.agent.capabilities.isRemote)
      session.requests.complete = addWrittenChange(session, () => plan.setup, services.files.rules)
    this.register(open)
    const replaced = this.#open.get(key)
    this.#open.set(key, open)
    const id = { agentId, sessionId: session.sessionId }
    held.acquire(id)
    if (!this.#holds.has(key)) this.#holds.set(key, held.hold(id))
    open.begin({
      queue: queues.of(key),
      services,
      transcripts,
      usage,
      limits,
      origin,
      onChange: changes => this.#noteChanges(open, changes),
      // the sessions of an ended agent are closed; their conversations stay readable
      onEnd: () => this.dismiss(open),
    })
    replaced?.endServices()
    if (rules) this.#checkAllowances(rules.allowances())
    this.#change.fire()
    queues.arrive(key)
  }

  /** Ends the session's services in this window; its conversation stays readable. */
  dismiss(open: OpenSession): void {
    open.endServices()
    this.owned.release(open)
    if (this.#open.get(open.key) !== open) return
    this.#open.delete(open.key)
    this.#holds.get(open.key)?.dispose()
    this.#holds.delete(open.key)
    this.#change.fire()
  }

  /** Stores that the session was opened. */
  record(open: OpenSession): void {
    this.#options.records.opened(open.agentId, {
      sessionId: open.session.sessionId,
      cwd: open.plan.setup.cwd,
      additionalDirectories: open.plan.setup.additionalDirectories,
      systemPrompt: open.plan.ownSystemPrompt,
      title: titleToRecord(this.#options.records, open),
    })
  }

  /** A level that a setting removes is turned off, and stays off when the setting is restored. */
  #checkAllowances(offered: readonly Allowance[]): void {
    for (const { allowance } of this.list()) if (!offered.includes(allowance.allowed)) allowance.allow('ask')
  }

  /** Closes the session, also with the agent if it can. */
  async close(open: OpenSession): Promise<void> {
    this.dismiss(open)
    await open.session.close()
  }

  override dispose(): void {
    this.#open.clear()
    super.dispose()
  }

  /** Another window takes the session over: stops the turn, saves the conversation and closes the session. */
  async #giveUp(id: SessionId): Promise<void> {
    const { held, services } = this.#options
    const open = this.find(id.agentId, id.sessionId)
    if (!open) {
      if (held.isHeld(id)) this.#yielded.fire(id)
      held.release(id)
      return
    }
    const { session } = open
    // an agent of the agent host is handed over with all of its sessions
    if (open.isTakenOver || session.agent.hosted?.outlivesWindow) return
    open.isTakenOver = true
    if (session.state.activity !== 'idle') await open.stop()
    try {
      await this.close(open)
    } catch (error) {
      services.files.log?.warn(`A session that another window took over: ${messageOf(error)}`)
    }
  }

  /** Records when a turn starts or ends and when the title changes. */
  #noteChanges(open: OpenSession, changes: readonly Change[]): void {
    const worth = changes.some(
      change => change.type === 'head' && (change.key === 'title' || change.key === 'activity'),
    )
    if (!worth) return
    const { session, agentId } = open
    this.#options.records.touched(agentId, session.sessionId, titleToRecord(this.#options.records, open))
  }
}
