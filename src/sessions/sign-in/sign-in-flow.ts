import { AgentStartError } from '../../acp/agent.ts'
import type { AuthMethod, ContentBlock } from '../../acp/model.ts'
import { CancelledError } from '../../common/errors.ts'
import { type Failure, type Failures, isSignInAsked, methodsIn, wordsOf } from '../failures.ts'
import type { OpenSession } from '../open-session.ts'
import type { Opening } from '../opening.ts'
import type { SignedInAccounts } from '../ports.ts'
import type { ShownSession } from '../shown-session.ts'
import { type SignInOptions, SignInUnavailableError, signIn } from './sign-in.ts'

export type SignInFailure = Extract<Failure, { type: 'sign-in' }>

export interface SignInFlowOptions extends SignInOptions {
  shown: ShownSession
  opening: Opening
  failures: Failures
  accounts: SignedInAccounts
  send: (open: OpenSession, content: ContentBlock[]) => Promise<void>
  setOption: (optionId: string, value: string | boolean) => Promise<void>
}

/** Signs in where a conversation asks for it, and does afterwards what the person had asked for. */
export class SignInFlow {
  readonly #options: SignInFlowOptions
  #abort: AbortController | undefined

  constructor(options: SignInFlowOptions) {
    this.#options = options
  }

  /** Signs in by one of the agent's methods, then does what the person had asked for. */
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
      if (done === 'outdated') void this.#options.host(failure.agentId).renew()
      this.#options.accounts.signedIn(failure.agentId)
      await this.#goOn(failure)
      // it ran before, and what lists its sessions goes on by itself; who needs it is told when it cannot start
      this.#options
        .host(failure.agentId)
        .ensure()
        .catch(() => {})
    } catch (error) {
      const cancelled = abort.signal.aborted || error instanceof CancelledError
      const unavailable = error instanceof SignInUnavailableError
      const why = { ...wordsOf(error), tried: methodId, unavailable }
      failures.replace(failureId, cancelled ? failure : { ...failure, ...why })
    }
  }

  /** The person signed in, here or in another conversation: whatever else was refused to them goes on, too. */
  signedIn(agentId: string): void {
    const { failures } = this.#options
    for (const [id, failure] of [...failures.all]) {
      if (failure.type !== 'sign-in' || failure.agentId !== agentId || failure.running !== undefined) continue
      failures.remove(id)
      this.#goOn(failure).catch(error => failures.replace(id, { ...failure, ...wordsOf(error) }))
    }
  }

  /**
   * Offers the agent's ways to sign in, without having been refused anything here; `then` is done once the person is
   * signed in, and rejects never. Rejects as a start does.
   */
  async offer(agentId: string, then?: () => Promise<void>): Promise<void> {
    const { opening, failures, accounts, host } = this.#options
    if (!opening.isReady(agentId)) return
    const agentName = host(agentId).name
    const account = accounts.get(agentId)
    let methods: readonly AuthMethod[]
    try {
      methods = (await host(agentId).ensure()).agent.authMethods
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

  /** Does what the person had asked for. */
  async #goOn({ agentId, attempt, again, option, then }: SignInFailure): Promise<void> {
    const { shown, opening, host, send, setOption } = this.#options
    if (attempt) await opening.retry(attempt)
    // the conversation may be on its way to a process that knows of the sign-in
    else await opening.pending
    const isMine = () => shown.current?.agentId === agentId
    // one that the agent cannot take up again is left as it is; what was asked for has a new one
    if (again && isMine() && shown.phase === 'ended') await opening.start(agentId)
    const open = shown.current
    if (open && isMine() && shown.phase === 'ready') {
      if (again) void send(open, again)
      if (option) void setOption(option.optionId, option.value)
    }
    if (!then) return
    await host(agentId).ensure()
    await then()
  }
}
