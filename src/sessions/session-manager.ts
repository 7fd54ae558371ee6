import type { ChangeTracker } from '../changes/change-tracker.ts'
import { SessionChanges } from '../changes/session-changes.ts'
import type { Allowance } from '../common/allowance.ts'
import { Owner } from '../common/disposable.ts'
import { sessionKey } from '../common/session-key.ts'
import type { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import { contextToTell, originsOf } from './continuation.ts'
import { OpenSession, type SessionOrigin } from './open-session.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { PermissionRules } from './permission-rules/permission-rules.ts'
import type { SavedConversations, SessionPlan, SessionRecords } from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import type { LimitSettings, SpanRecords } from './session-limiter.ts'
import { addWrittenChange, type ServicesShared } from './session-services.ts'
import { titleToRecord } from './session-title.ts'
import type { UsageRecords } from './usage-meter.ts'

export interface SessionManagerOptions {
  /** The sessions that are open in this process, in any of its windows. */
  openSessions: OpenSessions
  services: ServicesShared
  records: SessionRecords
  transcripts: Pick<SavedConversations, 'write'>
  queues: PromptQueues
  /** The user's rules for permission requests. */
  rules?: Pick<PermissionRules, 'answersFor' | 'allowances' | 'onDidChange'>
  /** Tracks what agents change in the files of this window. */
  tracker: ChangeTracker
  /** Where usage and cost are counted. */
  usage?: UsageRecords & SpanRecords
  limits?: LimitSettings
}

/** Opens sessions in this window: gives them the window's files, rules, limits and tracked changes. */
export class SessionManager extends Owner {
  readonly #options: SessionManagerOptions
  /** the sessions that this window opened */
  readonly #own = new WeakSet<OpenSession>()
  /** by session key; kept when the session ends, since its changes can still be reviewed */
  readonly #changes = new Map<string, SessionChanges>()

  /** The open sessions of all windows of this process. */
  readonly openSessions: OpenSessions
  /** Fires when a session was opened or closed in any window of this process. */
  readonly onDidChange: OpenSessions['onDidChange']

  constructor(options: SessionManagerOptions) {
    super()
    this.#options = options
    this.openSessions = options.openSessions
    this.onDidChange = this.openSessions.onDidChange
    const { rules } = options
    if (rules) this.register(rules.onDidChange(() => this.#checkAllowances(rules.allowances())))
  }

  /** Returns the open sessions that this window opened, for which it runs the agents and notifies the user. */
  list(): OpenSession[] {
    return this.openSessions.list().filter(open => this.#own.has(open))
  }

  /** Returns the open session, whichever window opened it. */
  find(agentId: string, sessionId: string): OpenSession | undefined {
    return this.openSessions.find(agentId, sessionId)
  }

  /** Whether this window opened the session. */
  opened(open: OpenSession): boolean {
    return this.#own.has(open)
  }

  /** Returns the changes of a session that is open, or was open in this window. */
  changesOf(key: string): SessionChanges | undefined {
    return this.openSessions.withKey(key)?.changes ?? this.#changes.get(key)
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

  /** Opens a created session whose agent has the session or is about to open it. */
  admit(open: OpenSession, origin: SessionOrigin = 'known'): void {
    const { session, agentId, plan, key, allowance } = open
    const { records, queues, rules, services, transcripts, usage, limits } = this.#options
    session.conversation.giveTitle(records.get(agentId, session.sessionId)?.givenTitle)
    session.requests.answerByRule = rules?.answersFor(agentId, id => open.placeOf(id), allowance)
    session.contextToTell = () => contextToTell(open)
    // for an agent on another machine, the path is a file of that machine
    if (!session.agent.capabilities.isRemote)
      session.requests.complete = addWrittenChange(session, () => plan.setup, services.files.rules)
    this.#own.add(open)
    // get the queue before the session is added, so that it has the prompts of the session that is replaced
    const queue = queues.of(key)
    this.openSessions.add(open, () => {
      open.begin({
        ...{ queue, services, transcripts, usage, limits, origin },
        onChange: changes => this.#noteChanges(open, changes),
        // the sessions of an ended agent are closed; their conversations stay readable
        onEnd: () => this.openSessions.dismiss(open),
      })
      if (rules) this.#checkAllowances(rules.allowances())
    })
    queues.arrive(key)
  }

  /** Stores that the session was opened. */
  record(open: OpenSession): void {
    const { isRemote, pathMappings } = open.session.agent.capabilities
    this.#options.records.opened(open.agentId, {
      sessionId: open.session.sessionId,
      cwd: open.plan.setup.cwd,
      additionalDirectories: open.plan.setup.additionalDirectories,
      systemPrompt: open.plan.ownSystemPrompt,
      title: titleToRecord(this.#options.records, open),
      ...(pathMappings && { place: { ...(isRemote && { isRemote }), pathMappings } }),
    })
  }

  /** Turns off permission levels that a setting doesn't offer anymore. They stay off when the setting is restored. */
  #checkAllowances(offered: readonly Allowance[]): void {
    for (const { allowance } of this.list()) if (!offered.includes(allowance.allowed)) allowance.allow('ask')
  }

  /** Ends the sessions of this window. */
  override dispose(): void {
    super.dispose()
    for (const open of this.list().reverse()) this.openSessions.drop(open)
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
