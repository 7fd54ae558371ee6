import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../acp/agent.ts'
import type { ContentBlock, ElicitationOutcome } from '../acp/model.ts'
import { deferred } from '../common/async.ts'
import { Owner } from '../common/disposable.ts'
import { type Draft, isEmptyDraft, joinDrafts } from '../common/draft.ts'
import { Emitter } from '../common/event.ts'
import type { Attachment, StoredPrompt } from '../conversation/attachment.ts'
import { isEmptyPrompt } from '../conversation/blocks.ts'
import type { PromptQueue, TurnOutcome } from '../conversation/prompt-queue.ts'
import { isCommand, rewindNote } from '../conversation/rewinds.ts'
import {
  type Attempt,
  type Failure,
  Failures,
  isSignInAsked,
  type Reopening,
  SlowOptions,
  signInAskedBy,
  wordsOf,
} from './failures.ts'
import type { AgentHost } from './hosts/agent-host.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import { Opening, type OpeningOptions } from './opening.ts'
import type {
  Drafts,
  MakePrompt,
  PromptInput,
  SignedInAccounts,
  SignInTerminal,
  SignInVariables,
} from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import { NEW_KEY, type Phase, ShownSession } from './shown-session.ts'
import { type SignInFailure, SignInFlow } from './sign-in/sign-in-flow.ts'

export interface ControllerOptions extends Omit<OpeningOptions, 'elsewhere' | 'hasPrompts'> {
  /** Leads to the place of the window that shows the session, other than `mine`; `undefined` where none does. */
  elsewhere?: (reference: SessionReference, mine: ConversationController) => (() => Promise<void>) | undefined
  host: (agentId: string) => AgentHost
  drafts: Drafts
  queues: PromptQueues
  /** Names what is written here where there is no conversation yet; each place has its own. */
  newKey?: string
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
  accounts: SignedInAccounts
}

/**
 * What one conversation view shows and what its person can do: a session or none, what is under way, what failed.
 * `Opening` opens sessions in it, `SignInFlow` signs in, `ShownSession` holds the session on screen.
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
  readonly #shown: ShownSession
  readonly #opening: Opening
  readonly #signIn: SignInFlow
  readonly #slowOptions: SlowOptions
  #nextChange = deferred()

  /** Anything but the conversation itself changed: phase, failures, agent. */
  readonly onDidChange = this.#change.event
  /** The prompts of the conversation on the screen changed. */
  readonly onDidChangeQueue = this.#queueChange.event

  constructor(options: ControllerOptions) {
    super()
    this.#options = options
    this.#shown = this.register(
      new ShownSession({
        newKey: options.newKey ?? NEW_KEY,
        awaited: () => this.#opening.awaited,
        statusChanged: open => this.#statusChanged(open),
        sessionEnded: (open, exit) => this.#sessionEnded(open, exit),
      }),
    )
    const hasPrompts = () => this.queue.prompts.some(({ state }) => state === 'sending')
    const elsewhere = (reference: SessionReference) => options.elsewhere?.(reference, this)
    this.#slowOptions = new SlowOptions(this.#failures, options.slowAfterMs)
    this.register(this.#shown.onDidSwitch(open => this.#slowOptions.look(open)))
    this.#opening = new Opening({ ...options, elsewhere, hasPrompts }, this.#shown, this.#failures, () =>
      this.#changed(),
    )
    this.#signIn = new SignInFlow({
      ...options,
      shown: this.#shown,
      opening: this.#opening,
      failures: this.#failures,
      send: (open, content) => this.#send(open, content),
      setOption: (optionId, value) => this.setConfigOption(optionId, value),
    })
    this.register(
      options.queues.onDidChange(queue => {
        if (queue.key === this.key) this.#queueChange.fire()
      }),
    )
    this.register(options.agents.onDidChange(() => this.#agentsChanged()))
    this.register(options.accounts.onDidSignIn(agentId => this.#signIn.signedIn(agentId)))
  }

  /** Another conversation is shown. */
  get onDidSwitch(): ShownSession['onDidSwitch'] {
    return this.#shown.onDidSwitch
  }
  get trusted(): boolean {
    return this.#options.trusted()
  }
  get phase(): Phase {
    const { phase } = this.#shown
    return phase === 'empty' && this.#opening.isLooking ? 'starting' : phase
  }
  get current(): OpenSession | undefined {
    return this.#shown.current
  }
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures.all
  }
  /** The agent of the conversation, or the one that is being started. */
  get agentId(): string | undefined {
    return this.#opening.attempt?.agentId ?? this.current?.agentId ?? this.#opening.failed?.agentId
  }
  get agentName(): string | undefined {
    const { agentId } = this
    return agentId === undefined ? undefined : this.#options.host(agentId).name
  }
  /** What is being attempted, while the phase is starting or loading. */
  get attempt(): Attempt | undefined {
    return this.#opening.attempt
  }
  /** Names the conversation on the screen, or the one that is being reopened; drafts are kept by it. */
  get key(): string {
    return this.#shown.key
  }
  /** The key under which the person wrote before a session that was begun here had one of its own. */
  get keyBefore(): string | undefined {
    return this.#shown.keyBefore
  }
  /** The prompts of the conversation on the screen that are not sent yet. */
  get queue(): PromptQueue {
    return this.#options.queues.of(this.key)
  }
  /** The session to come back to after a reload, when this window had one. */
  get last(): SessionReference | undefined {
    return this.#opening.last
  }

  /**
   * Begins a session with the agent, or the default one, in `cwd` when one is named. The conversation on the screen stays
   * open beside it.
   */
  start(wanted?: string, cwd?: string): Promise<void> {
    return this.#opening.start(wanted, cwd)
  }

  /** Begins a session of the same agent in place of one that cannot go on; what is being written goes along. */
  startInstead(): Promise<void> {
    const { drafts, queues } = this.#options
    const { newKey } = this.#shown
    const { current, key } = this
    if (!current) return this.start()
    const written = drafts.get(key)
    if (!isEmptyDraft(written)) drafts.set(newKey, joinDrafts(drafts.get(newKey), written))
    const returned = this.queue.returned.map(({ id, draft }) => ({ id, draft }))
    queues.of(newKey).giveBack(returned)
    return this.start(current.agentId)
  }

  /** Begins a session with an agent that is being made ready; what the user sends meanwhile waits for it. */
  startAfter(agentName: string, ready: Promise<{ agentId: string } | undefined>): Promise<void> {
    return this.#opening.startAfter(agentName, ready)
  }

  /** The name of the agent that is being made ready. */
  get preparing(): string | undefined {
    return this.#opening.preparing
  }

  reopen(how: Reopening, reference: SessionReference): Promise<void> {
    return this.#opening.reopen(how, reference)
  }

  /** Begins a session with the conversation of another, and shows it in place of what is on the screen. */
  fork(reference: SessionReference): Promise<void> {
    return this.#opening.fork(reference)
  }

  /** Brings back the session of before a reload of the window, when there was one. */
  restore(last = this.last): Promise<void> {
    return this.#opening.restore(last)
  }

  /** Leaves the conversation; its session stays open in this window. */
  leave(): void {
    this.#replace(undefined)
  }

  /** Shows the conversation of another place, which leaves it; one whose agent is gone is brought back. */
  take(open: OpenSession): void {
    if (open.session.phase === 'ready') this.show(open)
    else void this.reopen('restore', referenceOf(open))
  }

  /** Shows a session that is open in this window. */
  show(open: OpenSession): void {
    this.#replace(open)
  }

  /**
   * Takes a prompt from the composer of the conversation of this key. It is sent when its turn comes: one that is being
   * opened is waited for, without a session one is begun first with the default agent, and an agent that ended is started
   * anew for it. A prompt that can't be sent returns to its composer.
   */
  enqueue(key: string, prompt: StoredPrompt, make: MakePrompt): void {
    const queue = this.#queueOf(key)
    const queued = queue.enqueue(prompt, async () => (await this.#contentFor(queue, make)).content)
    void queued.outcome.then(outcome => this.#askAgain(queue, outcome, queued.content))
  }

  /** Returned prompts are in the composer of the conversation of this key, whose draft this is. */
  takeBack(key: string, ids: readonly string[], draft: Draft<Attachment>): void {
    this.#queueOf(key).takenBack(ids, draft)
  }

  /** Stops the running turn, if any, and sends a queued prompt next. */
  sendNow(id: string): void {
    this.current?.sendNow(id)
  }

  /** Sends a prompt as `enqueue` does, but one that is not from the composer: it rejects when nothing was sent. */
  async prompt(input: PromptInput | MakePrompt): Promise<void> {
    if (typeof input !== 'function' && contentOf(input).length === 0) return
    const { open, content } = await this.#contentFor(
      this.queue,
      typeof input === 'function' ? input : async () => contentOf(input),
    )
    void this.#send(open, content)
  }

  /** A page may not know yet that its conversation has begun. */
  #queueOf(key: string): PromptQueue {
    return this.#options.queues.of(key === this.keyBefore ? this.key : key)
  }

  async #contentFor(
    queue: PromptQueue,
    make: MakePrompt,
  ): Promise<{ open: OpenSession; content: ContentBlock[] }> {
    const open = await this.#sessionOf(queue)
    const { agentName, session, plan } = open
    const content = await make({ agentName, can: session.agent.capabilities, roots: plan.setup })
    if (isEmptyPrompt(content)) throw new Error(l10n.t('The prompt is empty.'))
    if (session.queue !== queue || session.phase !== 'ready')
      throw new Error(l10n.t('The conversation has changed. Try again.'))
    this.#failures.drop('sign-in')
    this.#failures.drop('option')
    const note = isCommand(content) ? undefined : rewindNote(session.state)
    return { open, content: note ? [...content, note] : content }
  }

  /** The session that a queue's prompts are for, once it is ready. Another conversation may be shown by then. */
  async #sessionOf(queue: PromptQueue): Promise<OpenSession> {
    if (this.queue === queue) {
      if (!this.#opening.pending && !this.#waitsForSignIn) await this.#haveSession()
      // what is opened may be begun anew meanwhile
      while (this.queue === queue && (this.#opening.pending || this.#waitsForSignIn))
        await (this.#opening.pending ?? this.#nextChange.promise)
    }
    if (this.queue !== queue) {
      const open = this.#options.manager.list().find(({ session }) => session.queue === queue)
      if (open?.session.phase === 'ready') return open
      throw new Error(l10n.t('The conversation has changed. Try again.'))
    }
    const open = this.current
    if (!open || this.#shown.phase !== 'ready') throw new Error(l10n.t('No session is open.'))
    return open
  }

  /** The session is refused until the person has signed in: prompts wait for it. */
  get #waitsForSignIn(): boolean {
    return [...this.#failures.all.values()].some(one => one.type === 'sign-in' && one.attempt !== undefined)
  }

  /** Begins a session where there is none, and brings back one whose agent ended, where the agent can. */
  async #haveSession(): Promise<void> {
    const { failed } = this.#opening
    if (!this.current) return failed ? this.#opening.retry(failed) : this.start()
    const again = this.#shown.phase === 'ended' ? this.#shown.continuation() : undefined
    if (again) await this.#opening.retry(again)
  }

  /** Cancels whatever is under way: the start, or the turn. */
  cancel(): void {
    if (!this.#opening.giveUp() && this.current) this.current.cancel()
  }

  answerPermission(requestId: string, optionId: string | undefined): void {
    this.current?.session.answerPermission(requestId, optionId)
  }

  /** False when the question does not wait, or the form does not take the values. */
  answerElicitation(requestId: string, answer: ElicitationOutcome): boolean {
    return this.current?.session.answerElicitation(requestId, answer) ?? false
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

  /** Waits no longer for the agent to answer the change of an option that the card tells of. */
  giveUpOption(failureId: string): void {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type === 'slow-option') this.current?.session.giveUpOption(failure.optionId)
  }

  /** Ends the agent's process and brings the conversation back on a new one. */
  async restart(): Promise<void> {
    const agentId = this.agentId ?? this.#options.agents.defaultAgentId()
    if (agentId) await this.#opening.restart(agentId)
  }

  /** Continues here a session that another window has. */
  async takeOver(failureId: string): Promise<void> {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type !== 'elsewhere') return
    this.#failures.remove(failureId)
    await this.#opening.takeOver(failure.attempt)
  }

  retry(attempt: Attempt): Promise<void> {
    return this.#opening.retry(attempt)
  }

  /** Signs in by one of the agent's methods, then does what the person had asked for. */
  signIn(failureId: string, methodId: string): Promise<void> {
    return this.#signIn.signIn(failureId, methodId)
  }

  /**
   * Offers the agent's ways to sign in, without having been refused anything in the conversation; `then` is done once
   * the person is signed in, and never rejects. Rejects as a start does.
   */
  offerSignIn(agentId: string, then?: () => Promise<void>): Promise<void> {
    return this.#signIn.offer(agentId, then)
  }

  cancelSignIn(): void {
    this.#signIn.cancel()
  }

  dismiss(failureId: string): void {
    this.#failures.remove(failureId)
  }

  /** Goes on although the agent never said that the turn it was asked to stop is over. */
  abandonTurn(): void {
    this.current?.session.abandonTurn()
  }

  override dispose(): void {
    this.#opening.dispose()
    this.#signIn.cancel()
    this.#slowOptions.look(undefined)
    super.dispose()
  }

  #replace(open: OpenSession | undefined): void {
    this.#opening.abort()
    this.#failures.clear()
    this.#shown.display(open)
    this.#shown.phase = open ? 'ready' : 'empty'
    this.#opening.remember(open)
    this.#changed()
  }

  async #send({ session }: OpenSession, content: ContentBlock[]): Promise<void> {
    const { queue } = session
    this.#askAgain(queue, await session.prompt(content), content)
  }

  /** A prompt that was refused until the person has signed in is sent again then. */
  #askAgain(queue: PromptQueue, outcome: TurnOutcome, again: ContentBlock[]): void {
    const refusal = signInAskedBy(outcome)
    const open = this.current
    if (refusal && open?.session.queue === queue) this.#askToSignIn(open, refusal, { again })
  }

  /** `then`: what to do once the person is signed in. */
  #askToSignIn(
    open: OpenSession,
    words: Pick<SignInFailure, 'message' | 'detail'>,
    then: Pick<SignInFailure, 'again' | 'option'>,
  ): void {
    const { agentId, agentName } = open
    const methods = this.#options.host(agentId).running?.agent.authMethods ?? []
    this.#failures.add({ type: 'sign-in', agentId, agentName, methods, ...words, ...then })
  }

  #statusChanged(open: OpenSession): void {
    this.#slowOptions.look(open)
    const overdue = open.session.cancelState === 'overdue'
    const isShown = this.#failures.has('unresponsive')
    if (overdue && !isShown) this.#failures.add({ type: 'unresponsive', agentName: open.agentName })
    else if (!overdue && isShown) {
      this.#failures.drop('unresponsive')
      this.#changed()
    }
  }

  /** The agent of the shown conversation ended: it stays readable, and goes on where the agent can. */
  #sessionEnded(open: OpenSession, exit: AgentExit): void {
    if (this.current !== open) return
    // while it is being brought back on a new process, the end of the old one is no news
    if (this.#opening.attempt || this.#opening.isRestarting) return
    this.#failures.drop('unresponsive')
    if (this.#options.manager.isTakenOver(open)) {
      this.#shown.phase = 'ended'
      this.#opening.sayElsewhere({ type: 'restore', ...referenceOf(open) }, true)
      return
    }
    const { agentId, agentName, session } = open
    const replaced = this.#options.host(agentId).replaced(session.agent)
    const attempt = this.#shown.continuation()
    if (replaced && attempt) {
      this.#opening.goOnAfter(replaced, attempt)
      return
    }
    this.#shown.phase = 'ended'
    const how = replaced ? startedAnew() : exit
    this.#failures.add({ type: 'ended', agentId, agentName, exit: how, attempt })
  }

  /** Also trust changes what there is of agents. */
  #agentsChanged(): void {
    if (this.trusted) this.#failures.drop('untrusted')
    if (!this.#options.agents.defaultProblem()) this.#failures.drop('default-agent')
    this.#changed()
  }

  #changed(): void {
    this.#shown.tellKey()
    const change = this.#nextChange
    this.#nextChange = deferred()
    change.resolve()
    this.#change.fire()
  }
}

/** What is sent of a text and its attachments; nothing when both are empty. */
function contentOf({ text, attachments }: PromptInput): ContentBlock[] {
  return text.trim() ? [{ type: 'text', text }, ...attachments] : [...attachments]
}

/** How a conversation ended that the agent cannot take up again. */
function startedAnew(): AgentExit {
  const message = l10n.t("The agent was restarted and can't continue this conversation.")
  return { reason: 'disposed', message, stderrTail: '' }
}
