import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../acp/agent.ts'
import type { ContentBlock } from '../acp/model.ts'
import { deferred } from '../common/async.ts'
import { Owner } from '../common/disposable.ts'
import { type Draft, isEmptyDraft, joinDrafts } from '../common/draft.ts'
import { Emitter } from '../common/event.ts'
import type { Attachment, StoredPrompt } from '../conversation/attachment.ts'
import { isEmptyPrompt } from '../conversation/blocks.ts'
import type { OpeningStep, ViewPhase } from '../conversation/phases.ts'
import type { Prompt } from '../conversation/prompts/prompt.ts'
import type { PromptQueue } from '../conversation/prompts/prompt-queue.ts'
import { isCommand, rewindNote } from '../conversation/rewinds.ts'
import { DisplayedSession, NEW_KEY } from './displayed-session.ts'
import {
  type Attempt,
  type Failure,
  Failures,
  isSignInAsked,
  type Reopening,
  SlowOptions,
  wordsOf,
} from './failures.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type { Drafts, MakePrompt, SignInTerminal, SignInVariables } from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import { SessionOpener, type SessionOpenerOptions } from './session-opener.ts'
import type { Accounts } from './sign-in/accounts.ts'
import { type SignInFailure, SignInFlow } from './sign-in/sign-in-flow.ts'

export interface ControllerOptions
  extends Omit<SessionOpenerOptions, 'elsewhere' | 'hasPrompts' | 'agentChosen'> {
  /** Reveals the session where a view other than `mine` already shows it; `undefined` if none does. */
  elsewhere?: (reference: SessionReference, mine: ConversationController) => (() => Promise<void>) | undefined
  runner: (agentId: string) => AgentRunner
  drafts: Drafts
  queues: PromptQueues
  /** The key of drafts and prompts while this view displays no session; unique for each view. */
  newKey?: string
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
  accounts: Pick<Accounts, 'get' | 'refused' | 'signedIn' | 'onDidSignIn'>
}

/**
 * The state and the actions of one conversation view: its session, if any, the attempt in progress and the failures.
 * `SessionOpener` opens sessions, `SignInFlow` signs in, `DisplayedSession` holds the session of the view.
 */
export class ConversationController extends Owner {
  readonly #options: ControllerOptions
  readonly #change = this.register(new Emitter<void>())
  readonly #queueChange = this.register(new Emitter<void>())
  readonly #failures = new Failures(
    () => this.#changed(),
    failure => {
      if (failure.type === 'sign-in' && !failure.asked) this.#options.accounts.refused(failure.agentId)
    },
  )
  readonly #displayed: DisplayedSession
  readonly #opener: SessionOpener
  readonly #signIn: SignInFlow
  readonly #slowOptions: SlowOptions
  #nextChange = deferred()

  /** Something other than the conversation itself changed: phase, failures, agent. */
  readonly onDidChange = this.#change.event
  /** The queued prompts of the displayed session changed. */
  readonly onDidChangeQueue = this.#queueChange.event

  constructor(options: ControllerOptions) {
    super()
    this.#options = options
    this.#displayed = this.register(
      new DisplayedSession({
        newKey: options.newKey ?? NEW_KEY,
        expected: () => this.#opener.expected,
        statusChanged: open => this.#statusChanged(open),
        sessionEnded: (open, exit) => this.#sessionEnded(open, exit),
      }),
    )
    const hasPrompts = () => this.queue.prompts.some(({ state }) => state === 'sending')
    const elsewhere = (reference: SessionReference) => options.elsewhere?.(reference, this)
    this.#slowOptions = new SlowOptions(this.#failures, options.slowAfterMs)
    this.register(
      this.#displayed.onDidSwitch(open => {
        this.#slowOptions.look(open)
        this.#showSignIn()
      }),
    )
    this.#opener = new SessionOpener(
      { ...options, elsewhere, hasPrompts, agentChosen: agentId => this.#agentChosen(agentId) },
      this.#displayed,
      this.#failures,
      () => this.#changed(),
    )
    this.#signIn = new SignInFlow({
      ...options,
      displayed: this.#displayed,
      opener: this.#opener,
      failures: this.#failures,
      continued: () => this.#showSignIn(),
      setOption: (optionId, value) => this.setConfigOption(optionId, value),
    })
    this.register(
      options.queues.onDidChange(queue => {
        if (queue.key !== this.key) return
        this.#showSignIn()
        this.#queueChange.fire()
      }),
    )
    this.register(options.agents.onDidChange(() => this.#agentsChanged()))
    this.register(options.accounts.onDidSignIn(agentId => this.#signIn.signedIn(agentId)))
  }

  /** Fires when another session, or none, is displayed. */
  get onDidSwitch(): DisplayedSession['onDidSwitch'] {
    return this.#displayed.onDidSwitch
  }
  get trusted(): boolean {
    return this.#options.trusted()
  }
  get phase(): ViewPhase {
    return this.#opener.phase
  }
  /** How far the view is while the phase is `starting` or `loading`. */
  get step(): OpeningStep | undefined {
    return this.#opener.step
  }
  get current(): OpenSession | undefined {
    return this.#displayed.current
  }
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures.all
  }
  /** The agent that is being started, else the displayed session's. */
  get agentId(): string | undefined {
    return this.#opener.attempt?.agentId ?? this.current?.agentId ?? this.#opener.failed?.agentId
  }
  get agentName(): string | undefined {
    const { agentId } = this
    return agentId === undefined ? undefined : this.#options.runner(agentId).name
  }
  /** The attempt in progress, while the phase is `starting` or `loading`. */
  get attempt(): Attempt | undefined {
    return this.#opener.attempt
  }
  /** The key of drafts and prompts: of the displayed session, else of the one being reopened. */
  get key(): string {
    return this.#displayed.key
  }
  /** The key before a session that was started in this view had an id. */
  get keyBefore(): string | undefined {
    return this.#displayed.keyBefore
  }
  /** The prompts that are not sent yet. */
  get queue(): PromptQueue {
    return this.#options.queues.of(this.key)
  }
  /** The session to restore after a reload, if this window had one. */
  get last(): SessionReference | undefined {
    return this.#opener.last
  }

  /** Starts a session with the agent (by default the default agent), in `cwd` if given. The displayed session stays open. */
  start(wanted?: string, cwd?: string): Promise<void> {
    const { preparing } = this
    if (preparing !== undefined) this.queue.agentReplaced(notFor(preparing))
    return this.#opener.start(wanted, cwd)
  }

  /** Starts a session with the same agent in place of one that can't continue. Takes the draft and returned prompts along. */
  startInstead(): Promise<void> {
    const { drafts, queues } = this.#options
    const { newKey } = this.#displayed
    const { current, key } = this
    if (!current) return this.start()
    const written = drafts.get(key)
    if (!isEmptyDraft(written)) drafts.set(newKey, joinDrafts(drafts.get(newKey), written))
    const returned = this.queue.returned.map(({ id, draft }) => ({ id, draft }))
    queues.of(newKey).addReturned(returned)
    return this.start(current.agentId)
  }

  /** Starts a session with an agent once it is `ready`; prompts wait for it. */
  startAfter(agentName: string, ready: Promise<{ agentId: string } | undefined>): Promise<void> {
    return this.#opener.startAfter(agentName, ready)
  }

  /** The name of the agent that is being prepared. */
  get preparing(): string | undefined {
    return this.#opener.preparing
  }

  reopen(how: Reopening, reference: SessionReference): Promise<void> {
    return this.#opener.reopen(how, reference)
  }

  /** Forks a session and displays the fork. */
  fork(reference: SessionReference): Promise<void> {
    return this.#opener.fork(reference)
  }

  /** Restores the session from before a reload of the window, if there was one. */
  restore(last = this.last): Promise<void> {
    return this.#opener.restore(last)
  }

  /** Displays no session. The previous one stays open in this window. */
  leave(): void {
    this.#replace(undefined)
  }

  /** Displays a session that another view had; reopens it if its agent is gone. */
  take(open: OpenSession): void {
    if (open.session.phase === 'ready') this.show(open)
    else void this.reopen('restore', referenceOf(open))
  }

  /** Displays a session that is open in this window. */
  show(open: OpenSession): void {
    this.#replace(open)
  }

  /**
   * Queues a prompt for the conversation with this key. The prompt waits for a session that is being opened. If there is
   * no session, one is started with the default agent; if the agent ended, it is restarted. A prompt that can't be sent
   * goes back to the composer. `composer`: what the composer holds from now on, if the prompt came from there.
   */
  enqueue(key: string, prompt: StoredPrompt, make: MakePrompt, composer?: Draft<Attachment>): void {
    const queue = this.#queueOf(key)
    const { agentId } = this
    queue.enqueue(prompt, queued => this.#contentFor(queue, queued, make), {
      ...(queue === this.queue && agentId !== undefined && { agentId }),
      ...(composer && { composer }),
    })
  }

  /** The composer with this key has returned prompts in its draft. */
  movedToComposer(key: string, ids: readonly string[], draft: Draft<Attachment>): void {
    this.#queueOf(key).movedToComposer(ids, draft)
  }

  /** Stops the running turn, if any, and sends a queued prompt next. */
  sendNow(id: string): void {
    this.current?.sendNow(id)
  }

  /** A page may still use the key from before its session was started. */
  #queueOf(key: string): PromptQueue {
    return this.#options.queues.of(key === this.keyBefore ? this.key : key)
  }

  async #contentFor(queue: PromptQueue, prompt: Prompt, make: MakePrompt): Promise<ContentBlock[]> {
    const { agentId, agentName, session, plan } = await this.#sessionOf(queue, prompt)
    if (prompt.agentId !== undefined && prompt.agentId !== agentId)
      throw new Error(notFor(this.#options.runner(prompt.agentId).name))
    const content = await make({ agentName, can: session.agent.capabilities, roots: plan.setup })
    if (isEmptyPrompt(content)) throw new Error(l10n.t('The prompt is empty.'))
    if (session.queue !== queue || session.phase !== 'ready')
      throw new Error(l10n.t('The conversation has changed. Try again.'))
    if (this.queue === queue && this.#asksToSignInForPrompts) queue.giveUpSignIn()
    this.#failures.drop('sign-in')
    this.#failures.drop('option')
    const note = isCommand(content) ? undefined : rewindNote(session.state)
    return note ? [...content, note] : content
  }

  /** The session of a queue, once it is ready. Another session may be displayed by then. */
  async #sessionOf(queue: PromptQueue, prompt: Prompt): Promise<OpenSession> {
    if (this.queue === queue) {
      if (!this.#opensSession) await this.#ensureSession()
      // another attempt may have started meanwhile
      while (prompt.state === 'sending' && this.queue === queue && this.#opensSession)
        await (this.#opener.pending ?? this.#nextChange.promise)
    }
    if (this.queue !== queue) {
      const open = this.#options.manager.list().find(({ session }) => session.queue === queue)
      if (open?.session.phase === 'ready') return open
      // read with the input that gets the prompts back, maybe much later
      throw new Error(l10n.t("The session wasn't opened, so nothing was sent. Try again."))
    }
    const open = this.current
    if (!open && !this.trusted)
      throw new Error(l10n.t("Agents don't start in Restricted Mode. Trust this workspace first."))
    if (!open || this.phase !== 'ready') throw new Error(l10n.t('No session is open.'))
    return open
  }

  /** A session is being opened, or will be once the user has signed in; prompts wait for that. */
  get #opensSession(): boolean {
    const waitsForSignIn = [...this.#failures.all.values()].some(
      one => one.type === 'sign-in' && one.attempt !== undefined,
    )
    return this.#opener.pending !== undefined || waitsForSignIn
  }

  get #asksToSignInForPrompts(): boolean {
    return [...this.#failures.all.values()].some(one => one.type === 'sign-in' && one.prompts)
  }

  /** The view starts a session with this agent. Prompts that wait for another agent don't follow. */
  #agentChosen(agentId: string): void {
    const queue = this.#options.queues.of(this.#displayed.newKey)
    queue.agentChosen(agentId, other => notFor(this.#options.runner(other).name))
  }

  /** Starts a session if there is none; reopens one whose agent ended, if the agent can. */
  async #ensureSession(): Promise<void> {
    const { failed } = this.#opener
    if (!this.current) return failed ? this.#opener.retry(failed) : this.start()
    const again = this.phase === 'ended' ? this.#displayed.continuation() : undefined
    if (again) await this.#opener.retry(again)
  }

  /** Cancels the attempt in progress, else the turn. */
  cancel(): void {
    if (!this.#opener.cancel() && this.current) this.current.cancel()
  }

  /**
   * The open session that a page showed under this key. By the time that the user's action arrives, the view may show
   * another one.
   */
  shownAs(key: string): OpenSession | undefined {
    if (key === this.key || key === this.keyBefore) return this.current
    return this.#options.manager.list().find(open => open.key === key)
  }

  async setConfigOption(optionId: string, value: string | boolean): Promise<void> {
    const open = this.current
    if (!open) return
    const name = open.session.state.configOptions.find(option => option.id === optionId)?.name ?? optionId
    this.#failures.drop('option')
    try {
      await open.session.setConfigOption(optionId, value)
    } catch (error) {
      if (isSignInAsked(error)) this.#askToSignIn(open, wordsOf(error), { option: { optionId, value } })
      else
        this.#failures.add({ type: 'option', agentName: open.agentName, optionName: name, ...wordsOf(error) })
    }
  }

  /** Stops waiting for the agent to confirm the option change of this failure. */
  giveUpOption(failureId: string): void {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type === 'slow-option') this.current?.session.giveUpOption(failure.optionId)
  }

  /** Restarts the agent and reopens the session. */
  async restart(): Promise<void> {
    const agentId = this.agentId ?? this.#options.agents.defaultAgentId()
    if (agentId) await this.#opener.restart(agentId)
  }

  /** Continues a session of another window in this one. */
  async takeOver(failureId: string): Promise<void> {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type !== 'elsewhere') return
    this.#failures.remove(failureId)
    await this.#opener.takeOver(failure.attempt)
  }

  retry(attempt: Attempt): Promise<void> {
    return this.#opener.retry(attempt)
  }

  /** Signs in with one of the agent's methods, then continues with what needed it. */
  signIn(failureId: string, methodId: string): Promise<void> {
    return this.#signIn.signIn(failureId, methodId)
  }

  /**
   * Offers the agent's sign-in methods although nothing was refused; runs `then`, which never rejects, once the user is
   * signed in. Rejects as `start` does.
   */
  offerSignIn(agentId: string, then?: () => Promise<void>): Promise<void> {
    return this.#signIn.offer(agentId, then)
  }

  cancelSignIn(): void {
    this.#signIn.cancel()
  }

  dismiss(failureId: string): void {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type === 'sign-in' && failure.prompts) this.queue.signInCanceled()
    this.#failures.remove(failureId)
  }

  /** Continues although the agent hasn't confirmed the cancellation. */
  abandonTurn(): void {
    this.current?.session.abandonTurn()
  }

  override dispose(): void {
    this.#opener.dispose()
    this.#signIn.cancel()
    this.#slowOptions.look(undefined)
    super.dispose()
  }

  #replace(open: OpenSession | undefined): void {
    this.#opener.abort()
    this.#failures.clear()
    this.#displayed.display(open)
    this.#opener.remember(open)
    this.#changed()
  }

  /** The displayed session's agent refused prompts until the user signs in: asks the user to. */
  #showSignIn(): void {
    const open = this.current
    const [refused] = open?.session.queue.awaitingSignIn ?? []
    if (!open || !refused || this.#asksToSignInForPrompts || this.#signIn.isContinuing) return
    const { reason: message = '', detail } = refused
    this.#askToSignIn(open, { message, ...(detail !== undefined && { detail }) }, { prompts: true })
  }

  /** `then`: what to do after sign-in. */
  #askToSignIn(
    open: OpenSession,
    words: Pick<SignInFailure, 'message' | 'detail'>,
    then: Pick<SignInFailure, 'prompts' | 'option'>,
  ): void {
    const { agentId, agentName } = open
    const methods = this.#options.runner(agentId).running?.agent.authMethods ?? []
    this.#failures.add({ type: 'sign-in', agentId, agentName, methods, ...words, ...then })
  }

  #statusChanged(open: OpenSession): void {
    this.#slowOptions.look(open)
    const overdue = open.session.cancelState === 'overdue'
    const isReported = this.#failures.has('unresponsive')
    if (overdue && !isReported) this.#failures.add({ type: 'unresponsive', agentName: open.agentName })
    else if (!overdue && isReported) {
      this.#failures.drop('unresponsive')
      this.#changed()
    }
  }

  /** The agent of the displayed session ended. The conversation stays readable, and continues if the agent can. */
  #sessionEnded(open: OpenSession, exit: AgentExit): void {
    if (this.current !== open) return
    // expected while the session is being reopened with a new process
    if (this.#opener.attempt || this.#opener.isRestarting) return
    this.#failures.drop('unresponsive')
    if (this.#options.manager.isTakenOver(open)) {
      this.#opener.showElsewhere({ type: 'restore', ...referenceOf(open) }, true)
      return
    }
    const { agentId, agentName, session } = open
    const replaced = this.#options.runner(agentId).replaced(session.agent)
    const attempt = this.#displayed.continuation()
    if (replaced && attempt) {
      this.#opener.continueAfter(replaced, attempt)
      return
    }
    const how = replaced ? restartedExit() : exit
    this.#failures.add({ type: 'ended', agentId, agentName, exit: how, attempt })
  }

  /** Also called when the workspace is trusted, which makes agents available. */
  #agentsChanged(): void {
    if (this.trusted) this.#failures.drop('untrusted')
    if (!this.#options.agents.defaultProblem()) this.#failures.drop('default-agent')
    this.#changed()
  }

  #changed(): void {
    this.#displayed.reportKey()
    const change = this.#nextChange
    this.#nextChange = deferred()
    change.resolve()
    this.#change.fire()
  }
}

/** Why a prompt goes back to the composer when another agent is chosen. */
function notFor(agentName: string): string {
  return l10n.t("The prompt was written for {0}, so it wasn't sent.", agentName)
}

/** The exit of a restarted agent that can't resume or load the session. */
function restartedExit(): AgentExit {
  const message = l10n.t("The agent was restarted and can't continue this conversation.")
  return { reason: 'disposed', message, stderrTail: '' }
}
