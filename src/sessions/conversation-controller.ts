import { AgentClosedError, type AgentExit, AgentRequestError, AgentStartError } from '../acp/agent.ts'
import type { ContentBlock, ElicitationOutcome } from '../acp/model.ts'
import { DisposableStore, Owner } from '../common/disposable.ts'
import { CancelledError, messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { AgentHost } from './agent-host.ts'
import type { Attempt, Failure, Reopening } from './failure.ts'
import type { AgentDirectory, Drafts, Keep, PromptInput, SignInTerminal, SignInVariables } from './ports.ts'
import type { OpenProgress, OpenSession, SessionManager, SessionReference } from './session-manager.ts'
import { sessionTitle } from './session-title.ts'
import { type SignedIn, signIn } from './sign-in.ts'

export type Phase = 'empty' | 'starting' | 'loading' | 'ready' | 'ended'

export interface ControllerParts {
  manager: SessionManager
  agents: AgentDirectory
  host: (agentId: string) => AgentHost
  trusted: () => boolean
  keep: Keep
  drafts: Drafts
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
  log: Logger
}

/** The last session shown, remembered for after a reload. */
export const LAST_SESSION = 'parley.lastSession'
const NEW_KEY = 'new'
/** How an agent ended that Parley itself stopped. */
const STOPPED: AgentExit = { reason: 'disposed', stderrTail: '' }

/**
 * What one conversation view shows and what its person can do: a session or none, what is under way, what failed.
 * One action at a time; a newer one ends an older one that is still starting.
 */
export class ConversationController extends Owner {
  readonly #parts: ControllerParts
  readonly #change = this.register(new Emitter<void>())
  readonly #switch = this.register(new Emitter<OpenSession | undefined>())
  readonly #failures = new Map<string, Failure>()
  #phase: Phase = 'empty'
  #under:
    | { abort: AbortController; agentId: string; attempt: Attempt; before: OpenSession | undefined }
    | undefined
  #current: OpenSession | undefined
  #signIn: AbortController | undefined
  /** the agent that is being signed in to: its process may be started anew for it */
  #signingIn: string | undefined
  #following = new DisposableStore()
  #nextFailure = 1
  /** how many actions wait until it is known which agents there are */
  #looking = 0
  /** the session that is being begun or reopened, until it is there or failed */
  #opening: Promise<void> | undefined
  /** what `restore` will bring back, while it is not known yet which agents there are */
  #restoring: SessionReference | undefined
  #begun = false
  #toldKey = NEW_KEY

  /** Anything but the conversation itself changed: phase, failures, agent. */
  readonly onDidChange = this.#change.event
  /** Another conversation is shown. */
  readonly onDidSwitch = this.#switch.event

  constructor(parts: ControllerParts) {
    super()
    this.#parts = parts
    this.register(parts.agents.onDidChange(() => this.#agentsChanged()))
  }

  get trusted(): boolean {
    return this.#parts.trusted()
  }
  get phase(): Phase {
    return this.#phase === 'empty' && this.#looking > 0 ? 'starting' : this.#phase
  }
  get current(): OpenSession | undefined {
    return this.#current
  }
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures
  }
  /** The agent of the conversation, or the one that is being started. */
  get agentId(): string | undefined {
    return this.#under?.agentId ?? this.#current?.agentId
  }
  get agentName(): string | undefined {
    const { agentId } = this
    return agentId === undefined ? undefined : (this.#parts.agents.get(agentId)?.name ?? agentId)
  }
  /** What is being attempted, while the phase is starting or loading. */
  get attempt(): Attempt | undefined {
    return this.#under?.attempt
  }
  /** Names the conversation on the screen, or the one that is being reopened; drafts are kept by it. */
  get key(): string {
    const current = this.#current
    if (current) return conversationKey({ agentId: current.agentId, sessionId: current.session.sessionId })
    const awaited = this.#under?.attempt ?? this.#restoring
    return awaited && 'sessionId' in awaited ? conversationKey(awaited) : NEW_KEY
  }
  /**
   * The key under which the person wrote before the conversation on the screen had one of its own. Only a session that
   * was begun has it, and only until another conversation is shown.
   */
  get keyBefore(): string | undefined {
    return this.#begun ? NEW_KEY : undefined
  }
  /** The session to come back to after a reload, when this window had one. */
  get last(): SessionReference | undefined {
    return this.#parts.keep.get<SessionReference>(LAST_SESSION)
  }

  /** Begins a session with the agent, or the default one. The conversation on the screen stays open beside it. */
  start(wanted?: string): Promise<void> {
    return this.#open(async () => {
      if (wanted === undefined) await this.#lookForAgents()
      const agentId = wanted ?? this.#parts.agents.defaultAgentId()
      if (!this.#ready(agentId)) return
      await this.#run({ type: 'new', agentId }, (signal, progress) =>
        this.#parts.manager.create(agentId, signal, progress),
      )
    })
  }

  reopen(how: Reopening, reference: SessionReference): Promise<void> {
    return this.#open(() => this.#reopen(how, reference))
  }

  async #reopen(how: Reopening, reference: SessionReference): Promise<void> {
    if (!this.#ready(reference.agentId)) return
    const previous = this.#current
    const mine = previous?.agentId === reference.agentId && previous.session.sessionId === reference.sessionId
    await this.#run({ type: how, ...reference }, (signal, progress) =>
      this.#parts.manager.reopen(how, reference, signal, progress, mine ? previous : undefined),
    )
  }

  /** Begins a session with the conversation of another, and shows it in place of what is on the screen. */
  fork(reference: SessionReference): Promise<void> {
    return this.#open(async () => {
      if (!this.#ready(reference.agentId)) return
      await this.#run({ type: 'fork', ...reference }, (signal, progress) =>
        this.#parts.manager.fork(reference, signal, progress),
      )
    })
  }

  /** Brings back the session of before a reload of the window, when there was one. */
  async restore(last = this.last): Promise<void> {
    if (!last || this.#phase !== 'empty' || !this.trusted) return
    this.#restoring = last
    // what was kept is on the screen before the agent is
    const kept = this.#parts.manager.kept(last)
    if (kept) this.#display(kept)
    await this.#open(async () => {
      await this.#lookForAgents()
      this.#restoring = undefined
      if (this.#phase !== 'empty') return
      if (this.#parts.agents.get(last.agentId)) {
        await this.#reopen('restore', last)
        return
      }
      this.#goBack(kept)
      if (kept) this.#fail({ type: 'unknown-agent', agentId: last.agentId })
      else this.#changed()
    })
  }

  /** Leaves the conversation; its session stays open in this window. */
  leave(): void {
    this.#abortUnder()
    this.#failures.clear()
    this.#display(undefined)
    this.#phase = 'empty'
    this.#parts.keep.set(LAST_SESSION, undefined)
    this.#changed()
  }

  /** Shows a session that is open in this window. */
  show(open: OpenSession): void {
    this.#abortUnder()
    this.#failures.clear()
    this.#display(open)
    this.#phase = 'ready'
    this.#remember(open)
    this.#changed()
  }

  /**
   * Sends a prompt; one that is being opened is waited for, and without a session one is begun first with the default
   * agent. Rejects when nothing was sent, so that the composer keeps the text.
   */
  async prompt(input: PromptInput): Promise<void> {
    const content = contentOf(input)
    if (content.length === 0) return
    if (this.#opening) await this.#opening
    else if (!this.#current) await this.start()
    const open = this.#current
    if (!open || this.#phase !== 'ready') throw new Error('There is no session to send this to.')
    this.#dropFailures('sign-in')
    void this.#send(open, content)
  }

  /** Takes a prompt from the queue and answers its text, or `null` when it is no longer there. */
  withdrawPrompt(id: string): string | null {
    const content = this.#current?.session.withdraw(id)
    return content ? textOf(content) : null
  }

  /** Cancels whatever is under way: the start, or the turn. */
  cancel(): void {
    if (this.#under) {
      const { before } = this.#under
      this.#abortUnder()
      this.#goBack(before)
      this.#changed()
      return
    }
    if (this.#current) this.#parts.manager.cancel(this.#current)
  }

  answerPermission(requestId: string, optionId: string | undefined): void {
    this.#current?.session.answerPermission(requestId, optionId)
  }

  /** False when the question does not wait, or the form does not take the values. */
  answerElicitation(requestId: string, answer: ElicitationOutcome): boolean {
    return this.#current?.session.answerElicitation(requestId, answer) ?? false
  }

  async setConfigOption(optionId: string, value: string | boolean): Promise<void> {
    const open = this.#current
    if (!open) return
    const name = open.session.state.configOptions.find(option => option.id === optionId)?.name ?? optionId
    this.#dropFailures('option')
    try {
      await open.session.setConfigOption(optionId, value)
    } catch (error) {
      const { message, detail } = wordsOf(error)
      this.#fail({ type: 'option', agentName: open.agentName, optionName: name, message, detail })
    }
  }

  /** Ends the agent's process and brings the conversation back on a new one. */
  async restart(): Promise<void> {
    const agentId = this.agentId ?? this.#parts.agents.defaultAgentId()
    if (!agentId) return
    const again = this.#continuation()
    this.#abortUnder()
    this.#parts.host(agentId).stop()
    this.#failures.clear()
    await this.retry(again ?? { type: 'new', agentId })
  }

  async retry(attempt: Attempt): Promise<void> {
    if (attempt.type === 'new') await this.start(attempt.agentId)
    else if (attempt.type === 'fork') await this.fork(attempt)
    else await this.reopen(attempt.type, attempt)
  }

  /** Signs in by one of the agent's methods, then does what the person had asked for. */
  async signIn(failureId: string, methodId: string): Promise<void> {
    const failure = this.#failures.get(failureId)
    if (failure?.type !== 'sign-in') return
    const abort = new AbortController()
    this.#signIn?.abort()
    this.#signIn = abort
    this.#failures.set(failureId, { ...failure, running: methodId })
    this.#signingIn = failure.agentId
    this.#changed()
    try {
      const method = failure.methods.find(each => each.methodId === methodId)
      const done = await signIn(this.#parts, failure.agentId, methodId, method, abort.signal)
      if (abort.signal.aborted) throw new CancelledError()
      this.#failures.delete(failureId)
      this.#changed()
      await this.#afterSignIn(failure, done)
    } catch (error) {
      const { message, detail } = wordsOf(error)
      const cancelled = abort.signal.aborted || error instanceof CancelledError
      const open = { ...failure, ...this.#interrupted(failure.agentId) }
      this.#failures.set(failureId, cancelled ? open : { ...open, message, detail })
      this.#changed()
    } finally {
      this.#signingIn = undefined
    }
  }

  /** Offers the agent's ways to sign in, without having been refused anything. Rejects as a start does. */
  async offerSignIn(agentId: string): Promise<void> {
    if (!this.#ready(agentId)) return
    const { agent } = await this.#parts.host(agentId).ensure()
    const agentName = this.#parts.host(agentId).name
    this.#dropFailures('sign-in')
    this.#fail({ type: 'sign-in', agentId, agentName, methods: agent.authMethods, message: '', asked: true })
  }

  /** Does what the person had asked for, on a process that knows of the sign-in. */
  async #afterSignIn(failure: Extract<Failure, { type: 'sign-in' }>, done: SignedIn): Promise<void> {
    const { agentId, attempt, again } = failure
    const mine = this.#current?.agentId === agentId
    if (done === 'outdated' && (attempt || !mine)) this.#parts.host(agentId).stop()
    else if (done === 'outdated') await this.restart()
    else if (done === 'renewed' && !attempt && mine) {
      await this.retry(this.#continuation() ?? { type: 'new', agentId })
    }
    if (attempt) await this.retry(attempt)
    if (again && this.#current?.agentId === agentId && this.#phase === 'ready') {
      void this.#send(this.#current, again)
    }
  }

  /** The conversation was with a process that was ended for a sign-in that failed: how it goes on all the same. */
  #interrupted(agentId: string): { attempt?: Attempt } {
    const open = this.#current
    if (open?.agentId !== agentId || open.session.phase !== 'closed') return {}
    this.#phase = 'ended'
    const attempt = this.#continuation()
    return attempt ? { attempt } : {}
  }

  cancelSignIn(): void {
    this.#signIn?.abort(new CancelledError())
  }

  dismiss(failureId: string): void {
    if (this.#failures.delete(failureId)) this.#changed()
  }

  /** Goes on although the agent never said that the turn it was asked to stop is over. */
  abandonTurn(): void {
    this.#current?.session.abandonTurn()
  }

  override dispose(): void {
    this.#abortUnder()
    this.#signIn?.abort()
    this.#following.dispose()
    super.dispose()
  }

  /** The agents of this machine are known once it was searched, which takes as long as the login shell's profile. */
  async #lookForAgents(): Promise<void> {
    if (!this.trusted) return
    this.#looking += 1
    this.#changed()
    try {
      await this.#parts.agents.ready()
    } finally {
      this.#looking -= 1
      this.#changed()
    }
  }

  /** Whether an agent may be started at all; says why not. */
  #ready(agentId: string | undefined): agentId is string {
    this.#failures.clear()
    if (!this.#parts.trusted()) this.#fail({ type: 'untrusted' })
    else if (agentId === undefined) this.#fail({ type: 'no-agent' })
    else if (!this.#parts.agents.get(agentId)) this.#fail({ type: 'unknown-agent', agentId })
    else return true
    return false
  }

  /** A prompt that comes while this is under way waits for it. */
  #open(work: () => Promise<void>): Promise<void> {
    const opening = work().finally(() => {
      if (this.#opening === opening) this.#opening = undefined
    })
    this.#opening = opening
    return opening
  }

  async #run(
    attempt: Attempt,
    open: (signal: AbortSignal, progress: OpenProgress) => Promise<OpenSession>,
  ): Promise<void> {
    this.#abortUnder()
    const abort = new AbortController()
    const under = { abort, agentId: attempt.agentId, attempt, before: this.#current }
    this.#under = under
    this.#phase = 'starting'
    if (!this.#continues(attempt)) this.#display(undefined)
    this.#changed()
    try {
      const opened = await open(abort.signal, {
        onSession: (session, replays) => {
          if (this.#under !== under) return
          // what is on the screen stays until its replay is whole
          if (!this.#continues(attempt)) this.#display(session)
          this.#begun = attempt.type === 'new'
          if (replays) this.#phase = 'loading'
          this.#changed()
        },
      })
      if (this.#under !== under) return
      this.#under = undefined
      this.#phase = 'ready'
      this.#display(opened)
      this.#parts.agents.used(attempt.agentId)
      this.#remember(opened)
      this.#changed()
    } catch (error) {
      if (this.#under !== under) return
      this.#under = undefined
      this.#goBack(under.before)
      this.#failAttempt(attempt, error)
    }
  }

  async #send(open: OpenSession, content: ContentBlock[]): Promise<void> {
    const outcome = await open.session.prompt(content)
    if (outcome.type !== 'failed' || this.#current !== open) return
    const { error } = outcome
    // an agent that is gone has its own card
    if (error instanceof CancelledError || error instanceof AgentClosedError) return
    if (!(error instanceof AgentRequestError && error.kind === 'auth-required')) return
    const methods = this.#parts.host(open.agentId).running?.agent.authMethods ?? []
    const { agentId, agentName } = open
    const { message, detail } = wordsOf(error)
    this.#fail({ type: 'sign-in', agentId, agentName, methods, message, detail, again: content })
  }

  #failAttempt(attempt: Attempt, error: unknown): void {
    const { agentId } = attempt
    const agentName = this.#parts.host(agentId).name
    this.#parts.log.warn(`${agentName}: ${attempt.type} failed: ${messageOf(error)}`)
    if (error instanceof CancelledError) {
      this.#changed()
    } else if (error instanceof AgentStartError) {
      if (error.failure.kind === 'cancelled') this.#changed()
      else this.#fail({ type: 'start', agentId, agentName, failure: error.failure, attempt })
    } else if (error instanceof AgentRequestError && error.kind === 'auth-required') {
      const methods = this.#parts.host(agentId).running?.agent.authMethods ?? []
      const { message, detail } = wordsOf(error)
      this.#fail({ type: 'sign-in', agentId, agentName, methods, message, detail, attempt })
    } else if (error instanceof AgentRequestError) {
      this.#fail({ type: 'request', agentId, agentName, error, attempt })
    } else if (error instanceof AgentClosedError) {
      this.#fail({ type: 'ended', agentId, agentName, exit: error.exit, attempt })
    } else {
      this.#fail({ type: 'problem', title: agentName, message: messageOf(error), attempt })
    }
  }

  #display(open: OpenSession | undefined): void {
    if (this.#current === open) return
    this.#following.dispose()
    this.#following = new DisposableStore()
    this.#begun = false
    this.#current = open
    if (open) {
      const { session } = open
      this.#following.add(session.onDidChangeStatus(() => this.#statusChanged(open)))
      this.#following.add(session.onDidEnd(exit => this.#sessionEnded(open, exit ?? STOPPED)))
    }
    this.#tellSwitch()
  }

  #tellSwitch(): void {
    this.#toldKey = this.key
    this.#switch.fire(this.#current)
  }

  #statusChanged(open: OpenSession): void {
    const overdue = open.session.cancelState === 'overdue'
    const told = [...this.#failures.values()].some(failure => failure.type === 'unresponsive')
    if (overdue && !told) this.#fail({ type: 'unresponsive', agentName: open.agentName })
    else if (!overdue && told) {
      this.#dropFailures('unresponsive')
      this.#changed()
    }
  }

  /** The agent of the shown conversation ended: it stays readable, and goes on where the agent can. */
  #sessionEnded(open: OpenSession, exit: AgentExit): void {
    if (this.#current !== open) return
    this.#keepQueued(open)
    // while it is being brought back on a new process, the end of the old one is no news
    if (this.#under || this.#signingIn === open.agentId) return
    this.#phase = 'ended'
    this.#dropFailures('unresponsive')
    const { agentId, agentName } = open
    this.#fail({ type: 'ended', agentId, agentName, exit, attempt: this.#continuation() })
  }

  /** Prompts that were never sent go back to where they can be sent from. */
  #keepQueued(open: OpenSession): void {
    const texts = open.session.queued.map(({ content }) => textOf(content)).filter(text => text !== '')
    if (texts.length === 0) return
    const draft = this.#parts.drafts.get(this.key)
    this.#parts.drafts.set(this.key, [...texts, ...(draft ? [draft] : [])].join('\n\n'))
  }

  /** What was on the screen before an attempt that came to nothing. */
  #goBack(before: OpenSession | undefined): void {
    this.#display(before)
    this.#phase = !before ? 'empty' : before.session.phase === 'ready' ? 'ready' : 'ended'
  }

  /** The attempt brings back the conversation that is on the screen: it stays there meanwhile. */
  #continues(attempt: Attempt): boolean {
    return (
      attempt.type !== 'new' &&
      this.#current?.agentId === attempt.agentId &&
      this.#current.session.sessionId === attempt.sessionId
    )
  }

  /** How the shown conversation can go on with a new process: resumed, else loaded, else not. */
  #continuation(): Attempt | undefined {
    const open = this.#current
    if (!open) return undefined
    const { capabilities } = open.session.agent
    const how = capabilities.resume ? 'resume' : capabilities.load ? 'load' : undefined
    return how && { type: how, ...referenceOf(open) }
  }

  #remember(open: OpenSession): void {
    this.#parts.keep.set(LAST_SESSION, referenceOf(open))
  }

  #abortUnder(): void {
    const under = this.#under
    this.#under = undefined
    under?.abort.abort(new CancelledError())
  }

  #fail(failure: Failure): void {
    this.#failures.set(`failure-${this.#nextFailure++}`, failure)
    this.#changed()
  }

  /** Also trust changes what there is of agents. */
  #agentsChanged(): void {
    if (this.trusted) this.#dropFailures('untrusted')
    this.#changed()
  }

  #dropFailures(type: Failure['type']): void {
    for (const [id, failure] of this.#failures) if (failure.type === type) this.#failures.delete(id)
  }

  #changed(): void {
    if (this.key !== this.#toldKey) this.#tellSwitch()
    this.#change.fire()
  }
}

/** Names a conversation in this window; drafts are kept by it. */
export function conversationKey({
  agentId,
  sessionId,
}: Pick<SessionReference, 'agentId' | 'sessionId'>): string {
  return `${agentId}/${sessionId}`
}

export function referenceOf(open: OpenSession): SessionReference {
  return {
    agentId: open.agentId,
    sessionId: open.session.sessionId,
    cwd: open.plan.setup.cwd,
    title: sessionTitle(open.session.state),
  }
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function contentOf({ text, attachments }: PromptInput): ContentBlock[] {
  const written = text.trim()
  return written ? [{ type: 'text', text }, ...attachments] : [...attachments]
}

function wordsOf(error: unknown): { message: string; detail?: string } {
  return {
    message: messageOf(error),
    detail: error instanceof AgentRequestError ? error.detail : undefined,
  }
}
