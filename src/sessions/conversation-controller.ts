import * as l10n from '@vscode/l10n'
import type { AgentExit } from '../acp/agent.ts'
import { Owner } from '../common/disposable.ts'
import { EMPTY_DRAFT, isEmptyDraft, joinDrafts } from '../common/draft.ts'
import { messageOf, UnavailableError } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import type { PathMapping } from '../common/path-mapping.ts'
import type { StoredPrompt } from '../conversation/attachment.ts'
import type { ViewPhase } from '../conversation/phases.ts'
import type { Continuing } from './continuation.ts'
import { DisplayedOptions } from './displayed-options.ts'
import { DisplayedSession, NEW_KEY, STOPPED } from './displayed-session.ts'
import { type Failure, Failures, messageAndDetail } from './failures.ts'
import { type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import { OpeningFailures } from './opening-failures.ts'
import type { Drafts, SessionRecords, SignInTerminal, SignInVariables } from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import { PromptSender } from './prompt-sender.ts'
import type { SessionManager } from './session-manager.ts'
import { SessionOpener, type SessionOpenerOptions } from './session-opener.ts'
import type { Accounts } from './sign-in/accounts.ts'
import { SignInFlow } from './sign-in/sign-in-flow.ts'

export interface ControllerOptions
  extends Omit<
    SessionOpenerOptions,
    'elsewhere' | 'reports' | 'hasPrompts' | 'agentChosen' | 'agentReplaced' | 'moved' | 'records'
  > {
  /** How long the agent may take to answer before a notice says that it's slow, in milliseconds. */
  slowAfterMs?: number
  /** Returns a function that reveals the session in another view than `mine`; `undefined` if no other view shows the session. */
  elsewhere?: (reference: SessionReference, mine: ConversationController) => (() => Promise<void>) | undefined
  manager: SessionManager
  records: Pick<SessionRecords, 'agent' | 'get'>
  drafts: Drafts
  queues: PromptQueues
  /** The key of drafts and prompts while this view displays no session; unique for each view. */
  newKey?: string
  signInTerminal: SignInTerminal
  signInVariables: SignInVariables
  accounts: Pick<Accounts, 'get' | 'refused' | 'signedIn' | 'onDidSignIn'>
}

interface ContinueOptions extends Omit<Continuing, 'from'> {
  afterTurn?: AbortSignal
  again?: StoredPrompt
}

/**
 * One conversation view: the displayed session, if any, and its failures. Parts of the controller open sessions, send prompts, sign in and
 * set options.
 */
export class ConversationController extends Owner {
  readonly #options: ControllerOptions
  readonly #change = this.register(new Emitter<void>())
  readonly #queueChange = this.register(new Emitter<void>())
  readonly #displayed: DisplayedSession
  readonly #failures = new Failures(
    () => this.#changed(),
    failure => {
      if (failure.type === 'sign-in' && !failure.asked) this.#options.accounts.refused(failure.agentId)
    },
  )
  readonly #reports: OpeningFailures
  /** Starts, reopens and forks the displayed session. */
  readonly opener: SessionOpener
  readonly prompts: PromptSender
  readonly signIn: SignInFlow
  readonly configOptions: DisplayedOptions

  /** Fires when something other than the conversation itself changed: the phase, the failures or the agent. */
  readonly onDidChange = this.#change.event
  /** Fires when the queued prompts of the displayed session changed. */
  readonly onDidChangeQueue = this.#queueChange.event

  constructor(options: ControllerOptions) {
    super()
    this.#options = options
    const { accounts, agents, queues } = options
    const failures = this.#failures
    const displayed = this.register(
      new DisplayedSession({
        newKey: options.newKey ?? NEW_KEY,
        expected: () => this.opener.expected,
        statusChanged: open => this.#statusChanged(open),
        sessionEnded: (open, exit) => this.#sessionEnded(open, exit),
      }),
    )
    this.#displayed = displayed
    const reports = new OpeningFailures(options, displayed, failures)
    this.#reports = reports
    this.opener = this.register(
      new SessionOpener(
        {
          ...options,
          reports,
          elsewhere: reference => options.elsewhere?.(reference, this),
          hasPrompts: () => this.prompts.isSending,
          agentChosen: agentId => this.prompts.agentChosen(agentId),
          moved: (from, to) => this.#moveWritten(from, to),
          agentReplaced: agentName => this.prompts.agentReplaced(agentName),
        },
        displayed,
        failures,
        () => this.#changed(),
      ),
    )
    const { opener } = this
    this.signIn = this.register(
      new SignInFlow({
        ...options,
        displayed,
        opener,
        failures,
        reports,
        setOption: (optionId, value) => this.configOptions.set(optionId, value),
      }),
    )
    const { signIn } = this
    this.prompts = new PromptSender({ ...options, displayed, opener, signIn, failures })
    this.configOptions = this.register(
      new DisplayedOptions({
        ...options,
        displayed,
        failures,
        askToSignIn: (open, error, then) => signIn.ask(open, messageAndDetail(error), then),
      }),
    )
    this.register(
      queues.onDidChange(queue => {
        if (queue.key !== this.key) return
        signIn.askForPrompts()
        this.#queueChange.fire()
      }),
    )
    // whether the agent fails to end a canceled turn may have changed while its session wasn't displayed
    this.register(displayed.onDidSwitch(open => open && this.#overdueChanged(open)))
    this.register(agents.onDidChange(() => this.#agentsChanged()))
    this.register(accounts.onDidSignIn(agentId => signIn.signedIn(agentId)))
  }

  /** Fires when another session, or none, is displayed. */
  get onDidSwitch(): DisplayedSession['onDidSwitch'] {
    return this.#displayed.onDidSwitch
  }
  get trusted(): boolean {
    return this.#options.trusted()
  }
  get phase(): ViewPhase {
    return this.opener.phase
  }
  /** The folders that the agent's machine shares with this one; `undefined` if the agent's paths are paths of this machine. */
  get pathMappings(): readonly PathMapping[] | undefined {
    const { current, agentId } = this
    if (current) return current.session.agent.capabilities.pathMappings
    return agentId !== undefined && this.#options.agents.get(agentId)?.isElsewhere ? [] : undefined
  }
  /** The displayed session. */
  get current(): OpenSession | undefined {
    return this.#displayed.current
  }
  /**
   * Resolves to the displayed session once its whole conversation is displayed, not only the end. Resolves to `undefined` if there is
   * none, or if another conversation is displayed by then.
   */
  async whole(): Promise<OpenSession | undefined> {
    const { key } = this
    await this.opener.end?.over.promise
    return this.key === key ? this.current : undefined
  }
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures.all
  }
  /** The id of the agent that is being started, else of the displayed session's agent. */
  get agentId(): string | undefined {
    return this.opener.agentId
  }
  get agentName(): string | undefined {
    const { agentId } = this
    return agentId === undefined ? undefined : this.#options.runner(agentId).name
  }
  /** The key of drafts and prompts: the key of the displayed session, else of the session being reopened. */
  get key(): string {
    return this.#displayed.key
  }
  /** The key that the displayed conversation had in this view before its current session began. */
  get keyBefore(): string | undefined {
    return this.#displayed.keyBefore
  }

  /** Returns the open session that the page showed under this key: when an action arrives, the view may already show another session. */
  shownAs(key: string): OpenSession | undefined {
    if (key === this.key || key === this.keyBefore) return this.current
    return this.#options.manager.openSessions.withKey(key)
  }

  /** Displays no session. The previous session stays open in this window. */
  leave(): void {
    this.#replace(undefined)
  }

  /** Displays a session that is open in this window. */
  show(open: OpenSession): void {
    this.#replace(open)
  }

  /** Displays a session from another view, and reopens the session if its agent is gone. */
  take(open: OpenSession): void {
    if (open.session.phase === 'ready') this.show(open)
    else void this.opener.reopen('restore', referenceOf(open))
  }

  /** Starts a session with the same agent to replace a session that can't continue. Moves the draft and the returned prompts. */
  startInstead(): Promise<void> {
    const { current } = this
    if (!current) return this.opener.start()
    const { drafts, queues } = this.#options
    const { newKey } = this.#displayed
    const written = drafts.get(this.key)
    if (!isEmptyDraft(written)) drafts.set(newKey, joinDrafts(drafts.get(newKey), written))
    queues.of(newKey).addReturned(this.prompts.queue.returned.map(({ id, draft }) => ({ id, draft })))
    return this.opener.start(current.agentId)
  }

  /**
   * Continues the displayed conversation in a session of this agent, in the same folder, with its draft and its queue. If the session
   * can't be started, the conversation stays in the current session. Rejects with a sentence if another window has the conversation.
   * `afterTurn`: waits until the turn ends, unless this signal is aborted. `again`: a prompt that returns to the composer. Resolves to
   * false if another conversation is displayed by then.
   */
  async continueWith(agentId: string, { afterTurn, again, ...how }: ContinueOptions = {}): Promise<boolean> {
    const { current: from } = this
    if (!from) return false
    if (this.opener.state.type === 'elsewhere' && (await this.opener.isStillElsewhere()))
      throw new UnavailableError(l10n.t('This session is open in another window. Take it over first.'))
    const { session } = from
    // read before the turn is stopped, which pauses the queue
    const { isPaused } = this.prompts.queue
    const hold = session.holdPrompts()
    try {
      if (afterTurn) await Promise.race([from.idle(), new Promise(done => (afterTurn.onabort = done))])
      else if (session.isAtWork || from.isBusy) await from.stop()
      if (afterTurn?.aborted) return true
      if (this.current !== from) return false
      await this.opener.start(agentId, {
        cwd: from.plan.setup.cwd,
        continues: { from, ...how },
        begun: open => {
          this.#moveQueue(open, from, isPaused)
          if (again) this.prompts.giveBack(open.key, again)
        },
      })
      return true
    } finally {
      hold.dispose()
    }
  }

  /** Moves the queued prompts and the draft to the session in which the conversation continues. */
  #moveQueue(open: OpenSession, from: OpenSession, isPaused: boolean): void {
    const { manager, queues } = this.#options
    const [previous, next] = [queues.of(from.key), queues.of(open.key)]
    // prompts that wait for a sign-in with the previous agent don't wait for it anymore
    previous.signInCanceled()
    this.#moveWritten(from.key, open.key)
    previous.handOver(prompts => {
      for (const prompt of prompts) this.prompts.enqueue(open.key, prompt)
      return true
    })
    if (isPaused) next.pause()
    // it doesn't matter if the agent refuses to close the session
    manager.openSessions
      .close(manager.find(from.agentId, from.session.sessionId) ?? from)
      .catch(error => this.#options.log.warn(`A session that was left: ${messageOf(error)}`))
  }

  /** Moves the draft and the returned prompts of a conversation to its new key. */
  #moveWritten(from: string, to: string): void {
    const { drafts, queues } = this.#options
    const written = drafts.get(from)
    if (!isEmptyDraft(written)) drafts.set(to, joinDrafts(drafts.get(to), written))
    drafts.moveEdits(from, to)
    const previous = queues.of(from)
    const returned = previous.returned.map(({ id, draft }) => ({ id, draft }))
    queues.of(to).addReturned(returned)
    previous.movedToComposer(
      returned.map(({ id }) => id),
      EMPTY_DRAFT,
    )
  }

  /** Cancels opening a session, if one is being opened, else the turn. */
  cancel(): void {
    if (!this.opener.cancel() && this.current) this.current.cancel()
  }

  dismiss(failureId: string): void {
    const failure = this.#failures.all.get(failureId)
    if (failure?.type === 'sign-in' && failure.prompts) this.prompts.queue.signInCanceled()
    this.#failures.remove(failureId)
  }

  #replace(open: OpenSession | undefined): void {
    this.opener.abort()
    this.#failures.clear()
    this.#displayed.display(open)
    this.opener.remember(open)
    if (open?.session.phase === 'ended') this.#sessionEnded(open, open.session.exit ?? STOPPED)
    this.#changed()
  }

  #statusChanged(open: OpenSession): void {
    this.configOptions.update()
    this.#overdueChanged(open)
  }

  #overdueChanged(open: OpenSession): void {
    const overdue = open.session.turns.cancelState === 'overdue'
    const isReported = this.#failures.has('unresponsive')
    if (overdue && !isReported) this.#failures.add({ type: 'unresponsive', agentName: open.agentName })
    else if (!overdue && isReported) {
      this.#failures.drop('unresponsive')
      this.#changed()
    }
  }

  /** Handles the end of the displayed session's agent. The conversation stays readable, and continues if the agent can do that. */
  #sessionEnded(open: OpenSession, exit: AgentExit): void {
    if (this.current !== open) return
    // expected while the session is being reopened with a new process
    if (this.opener.attempt || this.opener.state.type === 'restarting') return
    this.#failures.drop('unresponsive')
    if (open.isTakenOver) {
      const place = open.session.agent.hosted?.outlivesWindow ? 'hostedWindow' : 'window'
      this.opener.showElsewhere({ type: 'restore', ...referenceOf(open) }, place, true)
      return
    }
    const { agentId, agentName, session } = open
    const replaced = this.#options.runner(agentId).replaced(session.agent)
    const attempt = this.#displayed.continuation()
    if (replaced && attempt) {
      this.opener.continueAfter(replaced, attempt)
      return
    }
    // the agent was removed from the settings
    if (replaced && !this.#reports.isReady(agentId, true)) return
    const how = replaced && exit.reason !== 'connection' ? restartedExit() : exit
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
    this.prompts.viewChanged()
    this.#change.fire()
  }
}

/** The exit of a restarted agent that can't resume or load the session. */
function restartedExit(): AgentExit {
  const message = l10n.t("The agent was restarted and can't continue this conversation.")
  return { reason: 'disposed', message, stderrTail: '' }
}
