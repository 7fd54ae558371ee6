import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../acp/agent.ts'
import type { ContentBlock, ElicitationOutcome } from '../acp/model.ts'
import { Owner } from '../common/disposable.ts'
import { draftOf, isEmptyDraft, joinDrafts } from '../common/draft.ts'
import { Emitter } from '../common/event.ts'
import { isEmptyPrompt } from '../conversation/blocks.ts'
import type { Attempt, Failure, Reopening } from './failures/failure.ts'
import { isSignInAsked, signInAskedBy, wordsOf } from './failures/failure-of.ts'
import { Failures } from './failures/failures.ts'
import { SlowOptions } from './failures/slow-options.ts'
import type { AgentHost } from './hosts/agent-host.ts'
import { Opening, type OpeningParts } from './opening.ts'
import { Outbox } from './outbox.ts'
import type {
  Drafts,
  MakePrompt,
  PromptInput,
  SignedInAccounts,
  SignInTerminal,
  SignInVariables,
} from './ports.ts'
import { attachmentOf, contentOf } from './prompt-content.ts'
import type { OpenSession, SessionReference } from './session-manager.ts'
import { referenceOf } from './session-reference.ts'
import { type SignInFailure, SignInFlow } from './sign-in/sign-in-flow.ts'
import { NEW_KEY, type Phase, Stage } from './stage.ts'

export interface ControllerParts extends Omit<OpeningParts, 'elsewhere'> {
  /** Leads to the place of the window that shows the session, other than `mine`; `undefined` where none does. */
  elsewhere?: (reference: SessionReference, mine: ConversationController) => (() => Promise<void>) | undefined
  host: (agentId: string) => AgentHost
  drafts: Drafts
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
  accounts: SignedInAccounts
}

/**
 * What one conversation view shows and what its person can do: a session or none, what is under way, what failed.
 * How sessions come onto it is `Opening`, how a person signs in `SignInFlow`, what stands on the screen `Stage`.
 */
export class ConversationController extends Owner {
  readonly #parts: ControllerParts
  readonly #change = this.register(new Emitter<void>())
  readonly #giveBack = this.register(new Emitter<ContentBlock[][]>())
  readonly #failures = new Failures(() => this.#changed())
  readonly #stage: Stage
  readonly #opening: Opening
  readonly #signIn: SignInFlow
  readonly #slowOptions: SlowOptions
  /** the prompts that left the composer, until the conversation took them */
  readonly outbox: Outbox

  /** Anything but the conversation itself changed: phase, failures, agent. */
  readonly onDidChange = this.#change.event
  /** Prompts that were never sent belong into the composer of the conversation on the screen again. */
  readonly onDidGiveBack = this.#giveBack.event

  constructor(parts: ControllerParts) {
    super()
    this.#parts = parts
    this.#stage = this.register(
      new Stage({
        awaited: () => this.#opening.awaited,
        statusChanged: open => this.#statusChanged(open),
        sessionEnded: (open, exit) => this.#sessionEnded(open, exit),
      }),
    )
    const elsewhere = (reference: SessionReference) => parts.elsewhere?.(reference, this)
    this.#slowOptions = new SlowOptions(this.#failures, parts.patienceMs)
    this.register(this.#stage.onDidSwitch(open => this.#slowOptions.look(open)))
    this.#opening = new Opening({ ...parts, elsewhere }, this.#stage, this.#failures, () => this.#changed())
    this.#signIn = new SignInFlow({
      ...parts,
      stage: this.#stage,
      opening: this.#opening,
      failures: this.#failures,
      send: (open, content) => this.#send(open, content),
      setOption: (optionId, value) => this.setConfigOption(optionId, value),
    })
    this.outbox = this.register(
      new Outbox({
        drafts: parts.drafts,
        key: () => this.key,
        keyBefore: () => this.keyBefore,
        prompt: make => this.prompt(make),
      }),
    )
    this.register(parts.agents.onDidChange(() => this.#agentsChanged()))
    this.register(parts.accounts.onDidSignIn(agentId => this.#signIn.signedIn(agentId)))
  }

  /** Another conversation is shown. */
  get onDidSwitch(): Stage['onDidSwitch'] {
    return this.#stage.onDidSwitch
  }
  get trusted(): boolean {
    return this.#parts.trusted()
  }
  get phase(): Phase {
    const { phase } = this.#stage
    return phase === 'empty' && this.#opening.isLooking ? 'starting' : phase
  }
  get current(): OpenSession | undefined {
    return this.#stage.current
  }
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures.all
  }
  /** The agent of the conversation, or the one that is being started. */
  get agentId(): string | undefined {
    return this.#opening.attempt?.agentId ?? this.current?.agentId
  }
  get agentName(): string | undefined {
    const { agentId } = this
    return agentId === undefined ? undefined : this.#parts.host(agentId).name
  }
  /** What is being attempted, while the phase is starting or loading. */
  get attempt(): Attempt | undefined {
    return this.#opening.attempt
  }
  /** Names the conversation on the screen, or the one that is being reopened; drafts are kept by it. */
  get key(): string {
    return this.#stage.key
  }
  /** The key under which the person wrote before a session that was begun here had one of its own. */
  get keyBefore(): string | undefined {
    return this.#stage.keyBefore
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
    const { drafts } = this.#parts
    const { current, key } = this
    if (!current) return this.start()
    const written = drafts.get(key)
    if (!isEmptyDraft(written)) drafts.set(NEW_KEY, joinDrafts(drafts.get(NEW_KEY), written))
    return this.start(current.agentId)
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
   * Sends a prompt; one that is being opened is waited for, without a session one is begun first with the default agent,
   * and an agent that ended is started anew for it. Rejects when nothing was sent, so that the composer keeps the text.
   */
  async prompt(input: PromptInput | MakePrompt): Promise<void> {
    if (typeof input !== 'function' && contentOf(input).length === 0) return
    if (!this.#opening.pending) await this.#haveSession()
    // what is opened may be begun anew meanwhile
    while (this.#opening.pending) await this.#opening.pending
    const open = this.current
    if (!open || this.#stage.phase !== 'ready')
      throw new Error(l10n.t('There is no session to send this to.'))
    const { agentName, session, plan } = open
    const content =
      typeof input === 'function'
        ? await input({ agentName, can: session.agent.capabilities, roots: plan.setup })
        : contentOf(input)
    if (isEmptyPrompt(content)) throw new Error(l10n.t('There is nothing in it to send.'))
    if (this.current !== open) throw new Error(l10n.t('The conversation has changed meanwhile.'))
    this.#failures.drop('sign-in')
    void this.#send(open, content)
  }

  /** Begins a session where there is none, and brings back one whose agent ended, where the agent can. */
  async #haveSession(): Promise<void> {
    if (!this.current) return this.start()
    const again = this.#stage.phase === 'ended' ? this.#stage.continuation() : undefined
    if (again) await this.#opening.retry(again)
  }

  /** Takes a prompt from the queue and answers its content, or `null` when it is no longer there. */
  withdrawPrompt(id: string): ContentBlock[] | null {
    return this.current?.session.withdraw(id) ?? null
  }

  /**
   * Takes a prompt from the queue to be written on: it stays on disk under the id that is answered until the outbox is
   * told that the composer has it. `null` when it is no longer there.
   */
  editQueued(id: string): { id: string; content: ContentBlock[] } | null {
    const open = this.current
    return (open && this.#parts.manager.editQueued(open, id)) ?? null
  }

  /** Cancels whatever is under way: the start, or the turn. */
  cancel(): void {
    if (!this.#opening.giveUp() && this.current) this.#parts.manager.cancel(this.current)
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
    const agentId = this.agentId ?? this.#parts.agents.defaultAgentId()
    if (agentId) await this.#opening.restart(agentId)
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
    this.#opening.abort()
    this.#signIn.cancel()
    this.#slowOptions.look(undefined)
    super.dispose()
  }

  #replace(open: OpenSession | undefined): void {
    this.#opening.abort()
    this.#failures.clear()
    this.#stage.display(open)
    this.#stage.phase = open ? 'ready' : 'empty'
    this.#opening.remember(open)
    this.#changed()
  }

  async #send(open: OpenSession, content: ContentBlock[]): Promise<void> {
    const outcome = await open.session.prompt(content)
    if (this.current !== open) return
    const refusal = signInAskedBy(outcome)
    if (refusal) this.#askToSignIn(open, refusal, { again: content })
  }

  /** `then`: what to do once the person is signed in. */
  #askToSignIn(
    open: OpenSession,
    words: Pick<SignInFailure, 'message' | 'detail'>,
    then: Pick<SignInFailure, 'again' | 'option'>,
  ): void {
    const { agentId, agentName } = open
    const methods = this.#parts.host(agentId).running?.agent.authMethods ?? []
    this.#failures.add({ type: 'sign-in', agentId, agentName, methods, ...words, ...then })
  }

  #statusChanged(open: OpenSession): void {
    this.#slowOptions.look(open)
    const overdue = open.session.cancelState === 'overdue'
    const told = this.#failures.has('unresponsive')
    if (overdue && !told) this.#failures.add({ type: 'unresponsive', agentName: open.agentName })
    else if (!overdue && told) {
      this.#failures.drop('unresponsive')
      this.#changed()
    }
  }

  /** The agent of the shown conversation ended: it stays readable, and goes on where the agent can. */
  #sessionEnded(open: OpenSession, exit: AgentExit): void {
    if (this.current !== open) return
    this.#keepQueued(open)
    // while it is being brought back on a new process, the end of the old one is no news
    if (this.#opening.attempt || this.#opening.isRestarting) return
    this.#failures.drop('unresponsive')
    const { agentId, agentName, session } = open
    const replaced = this.#parts.host(agentId).replaced(session.agent)
    const attempt = this.#stage.continuation()
    if (replaced && attempt) {
      this.#opening.goOnAfter(replaced, attempt)
      return
    }
    this.#stage.phase = 'ended'
    const how = replaced ? startedAnew() : exit
    this.#failures.add({ type: 'ended', agentId, agentName, exit: how, attempt })
  }

  /** Prompts that were never sent go back to where they can be sent from. */
  #keepQueued(open: OpenSession): void {
    const { session } = open
    const queued = [...session.queued].flatMap(({ id }) => [session.withdraw(id) ?? []])
    if (queued.length === 0) return
    const waiting = queued.map(content => draftOf(content, attachmentOf))
    this.#parts.drafts.set(this.key, joinDrafts(...waiting, this.#parts.drafts.get(this.key)))
    this.#giveBack.fire(queued)
  }

  /** Also trust changes what there is of agents. */
  #agentsChanged(): void {
    if (this.trusted) this.#failures.drop('untrusted')
    this.#changed()
  }

  #changed(): void {
    this.#stage.tellKey()
    this.outbox.goAlong()
    this.#change.fire()
  }
}

/** How a conversation ended that the agent cannot take up again. */
function startedAnew(): AgentExit {
  const message = l10n.t('It was started anew, and cannot take up a conversation again.')
  return { reason: 'disposed', message, stderrTail: '' }
}
