import { AgentStartError } from '../../acp/agent.ts'
import type { AuthMethod } from '../../acp/model.ts'
import type { Disposable } from '../../common/disposable.ts'
import { CancelledError, isCancelled } from '../../common/errors.ts'
import type { ViewPhase } from '../../conversation/phases.ts'
import type { DisplayedSession } from '../displayed-session.ts'
import { type Failure, type Failures, isSignInAsked, messageAndDetail, methodsIn } from '../failures.ts'
import type { OpenSession } from '../open-session.ts'
import type { OpeningFailures } from '../opening-failures.ts'
import type { SessionOpener } from '../session-opener.ts'
import type { Accounts } from './accounts.ts'
import { type SignInOptions, SignInUnavailableError, signIn } from './sign-in.ts'

export type SignInFailure = Extract<Failure, { type: 'sign-in' }>

export interface SignInFlowOptions extends SignInOptions {
  displayed: DisplayedSession
  opener: SessionOpener
  failures: Failures
  reports: Pick<OpeningFailures, 'isReady'>
  accounts: Pick<Accounts, 'get' | 'signedIn'>
  setOption: (optionId: string, value: string | boolean) => Promise<void>
}

/** Signs in for a conversation view, and then repeats the operations that needed the sign-in. */
export class SignInFlow implements Disposable {
  readonly #options: SignInFlowOptions
  readonly #following: Disposable
  #abort: AbortController | undefined
  #continuing = 0

  constructor(options: SignInFlowOptions) {
    this.#options = options
    this.#following = options.displayed.onDidSwitch(() => this.askForPrompts())
  }

  /** Whether the user is asked to sign in so that the session can be opened. */
  get isAskedForSession(): boolean {
    return this.#isAsked(({ attempt }) => attempt !== undefined)
  }

  /** Whether the user is asked to sign in so that refused prompts can be sent. */
  get isAskedForPrompts(): boolean {
    return this.#isAsked(({ prompts }) => prompts === true)
  }

  /** Asks the user to sign in because the agent refused something. `then`: what to do after the sign-in. */
  ask(
    open: OpenSession,
    refusal: Pick<SignInFailure, 'message' | 'detail'>,
    then: Pick<SignInFailure, 'prompts' | 'option'>,
  ): void {
    const { agentId, agentName } = open
    const methods = this.#options.runner(agentId).running?.agent.authMethods ?? []
    this.#options.failures.add({ type: 'sign-in', agentId, agentName, methods, ...refusal, ...then })
  }

  /** Asks the user to sign in if the displayed session's agent refuses prompts until then. */
  askForPrompts(): void {
    const open = this.#options.displayed.current
    const [refused] = open?.session.turns.queue.awaitingSignIn ?? []
    // after the user has signed in, the session may still be reopening before it sends the refused prompts
    if (!open || !refused || this.isAskedForPrompts || this.#continuing > 0) return
    const { reason: message = '', detail } = refused
    this.ask(open, { message, ...(detail !== undefined && { detail }) }, { prompts: true })
  }

  /** Signs in with one of the agent's methods, then repeats the failed attempt. */
  async signIn(failureId: string, methodId: string): Promise<void> {
    const { failures } = this.#options
    const failure = failures.all.get(failureId)
    if (failure?.type !== 'sign-in') return
    const abort = new AbortController()
    this.#abort?.abort()
    this.#abort = abort
    failures.replace(failureId, { ...failure, running: methodId })
    try {
      const method = failure.methods.find(each => each.methodId === methodId)
      const done = await signIn(this.#options, failure.agentId, methodId, method, abort.signal)
      if (abort.signal.aborted) throw new CancelledError()
      failures.remove(failureId)
      if (done === 'outdated') void this.#options.runner(failure.agentId).renew()
      this.#options.accounts.signedIn(failure.agentId)
      await this.#continue(failure)
      // Start the agent so that its sessions can be listed. If that fails, the code that needs the agent reports it.
      this.#options
        .runner(failure.agentId)
        .ensure()
        .catch(() => {})
    } catch (error) {
      const cancelled = abort.signal.aborted || isCancelled(error)
      const unavailable = error instanceof SignInUnavailableError
      const why = { ...messageAndDetail(error), tried: methodId, unavailable }
      failures.replace(failureId, cancelled ? failure : { ...failure, ...why })
    }
  }

  /** Called when the user signed in, in this view or another one: repeats all operations that needed the sign-in. */
  signedIn(agentId: string): void {
    const { failures } = this.#options
    for (const [id, failure] of [...failures.all]) {
      if (failure.type !== 'sign-in' || failure.agentId !== agentId || failure.running !== undefined) continue
      failures.remove(id)
      this.#continue(failure).catch(error => failures.replace(id, { ...failure, ...messageAndDetail(error) }))
    }
  }

  /**
   * Offers the agent's sign-in methods although the agent refused nothing. Runs `then`, which never rejects, once the user is signed in.
   * Rejects as starting a session does.
   */
  async offer(agentId: string, then?: () => Promise<void>): Promise<void> {
    const { reports, failures, accounts, runner } = this.#options
    if (!reports.isReady(agentId)) return
    const agentName = runner(agentId).name
    const account = accounts.get(agentId)
    let methods: readonly AuthMethod[]
    try {
      methods = (await runner(agentId).ensure()).agent.authMethods
    } catch (error) {
      if (!isSignInAsked(error) || !(error instanceof AgentStartError)) throw error
      methods = methodsIn(error.failure)
    }
    failures.drop('sign-in')
    failures.add({
      type: 'sign-in',
      agentId,
      agentName,
      methods,
      message: '',
      asked: true,
      account,
      ...(then && { then }),
    })
  }

  cancel(): void {
    this.#abort?.abort(new CancelledError())
  }

  dispose(): void {
    this.#following.dispose()
    this.cancel()
  }

  #isAsked(isFor: (failure: SignInFailure) => boolean): boolean {
    return [...this.#options.failures.all.values()].some(one => one.type === 'sign-in' && isFor(one))
  }

  async #continue(failure: SignInFailure): Promise<void> {
    this.#continuing++
    try {
      await this.#continueAll(failure)
    } finally {
      this.#continuing--
      this.askForPrompts()
    }
  }

  /** Repeats the operations that needed the sign-in. */
  async #continueAll({ agentId, attempt, prompts, option, then }: SignInFailure): Promise<void> {
    const { displayed, opener, runner, setOption } = this.#options
    const refusing = displayed.current?.session.turns.queue
    if (attempt) await opener.retry(attempt)
    // the session may be reopening with a process that was started after the sign-in
    else await opener.pending
    const isMine = (phase: ViewPhase) => displayed.current?.agentId === agentId && opener.phase === phase
    // an ended session that the agent can't reopen stays as it is; its refused prompts start a new session
    if (prompts && isMine('ended')) {
      await opener.start(agentId)
      const next = displayed.current?.session.turns.queue
      if (next && isMine('ready')) refusing?.moveAwaitingTo(next)
    }
    const open = displayed.current
    if (open && isMine('ready')) {
      if (prompts) open.session.turns.queue.signedIn()
      if (option) void setOption(option.optionId, option.value)
    }
    if (!then) return
    await runner(agentId).ensure()
    await then()
  }
}
