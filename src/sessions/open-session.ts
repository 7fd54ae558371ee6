import { Owner } from '../common/disposable.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { sessionKey } from '../common/session-key.ts'
import type { PromptQueue } from '../conversation/prompt-queue.ts'
import type { Session } from '../conversation/session.ts'
import type { Change } from '../conversation/state.ts'
import type { SessionChanges } from '../editor/changes/session-changes.ts'
import { followChanges, noticeChanges, reportProtected } from './notice-changes.ts'
import type { Keep, SessionPlan, Transcripts } from './ports.ts'
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

export interface SessionWork {
  queue: PromptQueue
  services: ServicesShared
  transcripts: Transcripts
  /** Where usage and cost are counted. */
  usage: UsageRecords | undefined
  /** A fork begins with a conversation that is on no disk yet. */
  origin: 'new' | 'fork' | 'known'
  onChange: (changes: readonly Change[]) => void
  onEnd: () => void
}

/**
 * A session that is open in this window: its conversation, the agent it is with, what it was given, its prompts, and,
 * while its agent runs, what its agent may do in the editor, what it changed and the record of its conversation. All
 * that ends with `dispose`; the conversation stays readable.
 */
export class OpenSession extends Owner {
  readonly agentId: string
  readonly agentName: string
  readonly session: Session
  readonly plan: SessionPlan
  /** The files that its agent changed. They outlive the agent. */
  readonly changes: SessionChanges
  #services: SessionServices | undefined

  constructor({ agentId, agentName, session, plan, changes }: OpenSessionOptions) {
    super()
    this.agentId = agentId
    this.agentName = agentName
    this.session = session
    this.plan = plan
    this.changes = changes
  }

  get key(): string {
    return sessionKey(this.agentId, this.session.sessionId)
  }

  /** What its agent may do in the editor; absent while no agent has it. */
  get services(): SessionServices | undefined {
    return this.#services
  }

  /** An agent has the session: what it does is recorded and tracked from now on, and its prompts are sent. */
  begin({ queue, services: shared, transcripts, usage, origin, onChange, onEnd }: SessionWork): void {
    const { session, plan, changes } = this
    changes.setRoots(plan.setup)
    const services = new SessionServices(shared, session, plan.setup, changes)
    this.#services = services
    this.register(session.onDidEnd(onEnd))
    this.register(session.onDidChange(onChange))
    this.register(followChanges(session, changes))
    const { files, onDidSave } = shared
    if (onDidSave) {
      const { onDidWrite } = services
      this.register(noticeChanges(session, changes, onDidSave, files.log))
      this.register(reportProtected({ session, changes, files, onDidSave, onDidWrite, log: files.log }))
    }
    this.register(new TranscriptRecorder(this.agentId, session, transcripts, origin === 'fork'))
    const { agentId } = this
    if (usage) this.register(new UsageMeter({ agentId, session, records: usage, isNew: origin === 'new' }))
    session.queue = queue
  }

  /** Stops the turn, and the commands it left running: some agents never end theirs. */
  cancel(): void {
    this.session.cancel()
    this.#endCommands()
  }

  /** Stops the turn that runs, as `cancel` does, and sends a queued prompt next. */
  sendNow(prompt: string): void {
    const stops = this.session.isWorking
    if (this.session.sendNow(prompt) && stops) this.#endCommands()
  }

  #endCommands(): void {
    void this.#services?.terminals.killAll()
  }
}

/** A session to reopen, as a list or a record names it. */
export interface SessionReference {
  agentId: string
  sessionId: string
  cwd: string
  /** its other folders, as the agent lists them */
  additionalDirectories?: string[]
  title?: string
  /** The session is archived, as far as Parley knows. */
  archived?: boolean
}

/** What names a session that is open, to reopen it. */
export function referenceOf(open: OpenSession): SessionReference {
  return {
    agentId: open.agentId,
    sessionId: open.session.sessionId,
    cwd: open.plan.setup.cwd,
    title: titleOf(open.session),
  }
}

/** For references, whose titles may hold a secret. */
export function keepReferences(keep: Keep, secrets: SecretRegistry): Keep {
  const redacted = (key: string, value: unknown) =>
    key === 'title' && typeof value === 'string' ? secrets.redact(value) : value
  return {
    get: key => keep.get(key),
    set: (key, value) => keep.set(key, value && JSON.parse(JSON.stringify(value, redacted))),
  }
}
