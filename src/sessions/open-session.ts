import { isAbsolute } from 'node:path'
import type { DefaultOptions } from '../agents/definition.ts'
import type { SessionChanges } from '../changes/session-changes.ts'
import { deferred, withTimeout } from '../common/async.ts'
import { Owner } from '../common/disposable.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { STOP_TURN_MS } from '../common/limits.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import type { PromptQueue } from '../conversation/prompts/prompt-queue.ts'
import type { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import { subagentRoots } from './answered-permissions.ts'
import { ChangeDetector } from './change-detector.ts'
import { EditorToolConversation } from './editor-tool-conversation.ts'
import { followChanges } from './follow-changes.ts'
import type { RequestPlace } from './permission-rules/permission-rules.ts'
import { SessionAllowance } from './permission-rules/session-allowance.ts'
import type { SavedConversations, SessionPlan } from './ports.ts'
import { reportProtected } from './report-protected.ts'
import { type LimitSettings, SessionLimiter, type SpanRecords } from './session-limiter.ts'
import { type ServicesShared, SessionServices } from './session-services.ts'
import { titleOf } from './session-title.ts'
import { TranscriptRecorder } from './transcript-recorder.ts'
import { UsageMeter, type UsageRecords } from './usage-meter.ts'

export interface OpenSessionOptions {
  agentId: string
  agentName: string
  session: Session
  plan: SessionPlan
  changes: SessionChanges
}

/**
 * How the session began. The conversation of a `fork` already has entries, which aren't saved yet; so do a conversation that continues in a
 * new session (`continued`), and one that an earlier window couldn't save (`unsaved`).
 */
export type SessionOrigin = 'new' | 'fork' | 'continued' | 'known' | 'unsaved'

export interface SessionWork {
  queue: PromptQueue
  services: ServicesShared
  transcripts: Pick<SavedConversations, 'write'>
  /** Where usage and cost are counted. */
  usage: (UsageRecords & SpanRecords) | undefined
  /** The user's limits for sessions; if absent, sessions have no limits. */
  limits?: LimitSettings | undefined
  origin: SessionOrigin
  onChange: (changes: readonly Change[]) => void
  onEnd: () => void
}

/**
 * A session that is open. Owns its conversation and, while its agent runs, its prompts, the agent's
 * services in the editor, the tracking of its changes and the recording of its transcript. `dispose` ends all of these;
 * the conversation stays readable.
 */
export class OpenSession extends Owner {
  readonly agentId: string
  readonly agentName: string
  readonly session: Session
  readonly plan: SessionPlan
  /** The files that the session's agent changed. They can still be reviewed after the session ends. */
  readonly changes: SessionChanges
  readonly key: string
  /** The session's permission level and rules, as long as the session is open here. */
  readonly allowance = this.register(new SessionAllowance())
  /** Options that still have to be set before the first prompt. */
  startOptions: DefaultOptions | undefined
  /** Whether the session is closed here because another process took it over. */
  isTakenOver = false
  #services: SessionServices | undefined
  #recorder: TranscriptRecorder | undefined
  #limiter: SessionLimiter | undefined

  constructor({ agentId, agentName, session, plan, changes }: OpenSessionOptions) {
    super()
    this.agentId = agentId
    this.agentName = agentName
    this.session = session
    this.plan = plan
    this.changes = changes
    // computed once, since every chunk of output needs the key
    this.key = sessionKey(agentId, session.sessionId)
  }

  /** Returns where the session or one of its subagents works. */
  placeOf(sessionId: string): RequestPlace {
    const roots = this.plan.setup
    const cwd = subagentRoots(this.session.conversation.state, sessionId, roots, isAbsolute)?.cwd
    const { isRemote, pathMappings } = this.session.agent.capabilities
    const place = { roots, ...(isRemote && { isRemote }), ...(pathMappings && { pathMappings }) }
    return { ...place, ...(cwd !== undefined && cwd !== roots.cwd && { cwd }) }
  }

  /** The agent's services in the editor: files and terminals. `undefined` while no agent has the session. */
  get services(): SessionServices | undefined {
    return this.#services
  }

  /** Whether background tasks or commands run, also between turns. */
  get isBusy(): boolean {
    return (this.session.state.background ?? 0) > 0 || this.#services?.terminals.isRunning === true
  }

  /** The recorder of the session's conversation, while an agent has the session. */
  get recorder(): TranscriptRecorder | undefined {
    return this.#recorder
  }

  /** The limiter of the session, while an agent has the session. */
  get limiter(): SessionLimiter | undefined {
    return this.#limiter
  }

  /** Called when the agent has the session: from now on, records and tracks the session, and sends its prompts. */
  begin({ queue, services: shared, transcripts, usage, limits, origin, onChange, onEnd }: SessionWork): void {
    const { session, plan, changes } = this
    changes.setRoots(plan.setup)
    const services = new SessionServices(shared, session, plan.setup, changes)
    this.#services = services
    this.register(session.onDidEnd(onEnd))
    this.register(session.onDidChange(onChange))
    this.register(this.allowance.onDidChange(() => session.requests.consultAgain()))
    // an agent on another machine doesn't change files here
    if (!session.agent.capabilities.isRemote) this.#followChanges(services, shared)
    this.#recorder = this.register(
      new TranscriptRecorder(this.agentId, session, transcripts, origin !== 'new' && origin !== 'known'),
    )
    // continues commands of the earlier window, which may have ended before it stored them
    services.terminals.resume()
    const { agentId } = this
    if (usage) {
      const meter = this.register(
        new UsageMeter({
          ...{ agentId, session, records: usage },
          isNew: origin === 'new' || origin === 'continued',
        }),
      )
      if (limits)
        this.#limiter = this.register(
          new SessionLimiter({
            ...{ agentId, session, meter, records: usage, settings: limits },
            cancel: () => this.cancel(),
          }),
        )
    }
    session.turns.queue = queue
    for (const bridge of plan.bridges ?? []) this.register(bridge)
    if (plan.editorTools) {
      this.register(plan.editorTools)
      plan.editorTools.begin(new EditorToolConversation(session, services), this.key)
    }
  }

  #followChanges(
    { onDidWrite }: SessionServices,
    { files, onDidSave, turns }: SessionWork['services'],
  ): void {
    const { session, changes } = this
    this.register(followChanges(session, changes))
    if (!onDidSave) return
    this.register(new ChangeDetector({ session, changes, onDidSave, log: files.log, turns }))
    this.register(reportProtected({ session, changes, files, onDidSave, onDidWrite, log: files.log }))
  }

  /** Ends the agent's services: commands get time to exit, whereas `dispose` kills them. */
  endServices(): void {
    void this.#services?.end()
    this.#services = undefined
  }

  override dispose(): void {
    this.#services?.dispose()
    super.dispose()
  }

  /** Cancels the turn and ends its commands, since some agents never end their commands. */
  cancel(): void {
    this.session.turns.cancel()
    this.#endCommands()
  }

  /** Cancels the turn, and waits a while for its end. */
  async stop(): Promise<void> {
    this.cancel()
    await withTimeout(this.idle(), STOP_TURN_MS)
  }

  /** Resolves when no turn runs, or the agent has ended. */
  async idle(): Promise<void> {
    const { session } = this
    const over = deferred()
    const check = () => {
      if (session.state.activity === 'idle' || !session.isLive) over.resolve()
    }
    const watches = [session.onDidChange(check), session.onDidEnd(check)]
    check()
    await over.promise
    for (const watch of watches) watch.dispose()
  }

  /** Adds a queued prompt to the running turn. If the agent can't do that, stops the turn as `cancel` does and then sends the prompt. */
  sendNow(prompt: string): void {
    if (this.session.turns.steer(prompt)) return
    const stops = this.session.turns.isWorking
    if (this.session.turns.sendNow(prompt) && stops) this.#endCommands()
  }

  #endCommands(): void {
    void this.#services?.terminals.killAll()
  }
}

/** Disposes the resources of a session that isn't opened. */
export function disposePlan({ editorTools, bridges = [] }: SessionPlan): void {
  editorTools?.dispose()
  for (const bridge of bridges) bridge.dispose()
}

/** Identifies a session to reopen, as lists and records do. */
export interface SessionReference extends SessionId {
  cwd: string
  /** the session's other folders, as listed by the agent */
  additionalDirectories?: string[]
  title?: string
  /** whether the session is archived, as far as Parley knows */
  archived?: boolean
}

/** Returns the reference of an open session. */
export function referenceOf(open: OpenSession): SessionReference {
  return {
    agentId: open.agentId,
    sessionId: open.session.sessionId,
    cwd: open.plan.setup.cwd,
    title: titleOf(open.session),
  }
}

/** Returns a store that redacts secrets in the titles of the references that it stores. */
export function redactedStore(store: KeyValueStore, secrets: SecretRegistry): KeyValueStore {
  const redacted = (key: string, value: unknown) =>
    key === 'title' && typeof value === 'string' ? secrets.redact(value) : value
  return {
    get: key => store.get(key),
    set: (key, value) => store.set(key, value && JSON.parse(JSON.stringify(value, redacted))),
  }
}
