import { Owner } from '../common/disposable.ts'
import { SLOW_ANSWER_MS } from '../common/limits.ts'
import type { DisplayedSession } from './displayed-session.ts'
import { type Failures, isSignInAsked, messageAndDetail } from './failures.ts'
import type { OpenSession } from './open-session.ts'
import type { SignInFailure } from './sign-in/sign-in-flow.ts'

interface DisplayedOptionsOptions {
  displayed: Pick<DisplayedSession, 'current' | 'onDidSwitch'>
  failures: Failures
  /** Asks the user to sign in, then sets the option. */
  askToSignIn: (open: OpenSession, error: unknown, then: Pick<SignInFailure, 'option'>) => void
  /** How long the agent may take to answer before a notice says that it's slow, in milliseconds. */
  slowAfterMs?: number
}

/**
 * The config options of the session that a view displays. Reports changes that the agent refuses. Also reports changes that the agent
 * hasn't confirmed for a long time, until the agent confirms them or the user stops waiting.
 */
export class DisplayedOptions extends Owner {
  readonly #options: DisplayedOptionsOptions
  readonly #slowAfterMs: number
  /** by the id of an option whose change isn't confirmed yet */
  readonly #timers = new Map<string, NodeJS.Timeout>()
  #open: OpenSession | undefined

  constructor(options: DisplayedOptionsOptions) {
    super()
    this.#options = options
    this.#slowAfterMs = options.slowAfterMs ?? SLOW_ANSWER_MS
    this.register(options.displayed.onDidSwitch(() => this.update()))
  }

  async set(optionId: string, value: string | boolean): Promise<void> {
    const { displayed, failures, askToSignIn } = this.#options
    const open = displayed.current
    if (!open) return
    const optionName = nameOf(open, optionId)
    failures.drop('option')
    try {
      await open.session.optionChanges.set(optionId, value)
    } catch (error) {
      if (isSignInAsked(error)) askToSignIn(open, error, { option: { optionId, value } })
      else failures.add({ type: 'option', agentName: open.agentName, optionName, ...messageAndDetail(error) })
    }
  }

  /** Stops waiting for the agent to confirm the option change of this failure. */
  giveUp(failureId: string): void {
    const { displayed, failures } = this.#options
    const failure = failures.all.get(failureId)
    if (failure?.type === 'slow-option') displayed.current?.session.optionChanges.giveUp(failure.optionId)
  }

  /** Called when another session is displayed, or the options that wait for confirmation changed. */
  update(): void {
    const open = this.#options.displayed.current
    const pending = open && open.session.phase === 'ready' ? open.session.optionChanges.ids : []
    const isSame = this.#open === open
    this.#open = open
    for (const optionId of this.#timers.keys())
      if (!isSame || !pending.includes(optionId)) this.#stop(optionId)
    if (!open) return
    for (const optionId of pending) {
      if (this.#timers.has(optionId)) continue
      const timer = setTimeout(() => this.#report(open, optionId), this.#slowAfterMs)
      this.#timers.set(optionId, timer)
    }
  }

  override dispose(): void {
    for (const optionId of this.#timers.keys()) this.#stop(optionId)
    super.dispose()
  }

  #report(open: OpenSession, optionId: string): void {
    const { agentId, agentName } = open
    const seconds = Math.round(this.#slowAfterMs / 1000)
    const optionName = nameOf(open, optionId)
    this.#options.failures.add({ type: 'slow-option', agentId, agentName, optionId, optionName, seconds })
  }

  /** Stops the timer, and removes the notice if it has fired. */
  #stop(optionId: string): void {
    const { failures } = this.#options
    clearTimeout(this.#timers.get(optionId))
    this.#timers.delete(optionId)
    for (const [id, failure] of failures.all) {
      if (failure.type === 'slow-option' && failure.optionId === optionId) failures.remove(id)
    }
  }
}

function nameOf({ session }: OpenSession, optionId: string): string {
  return session.state.configOptions.find(({ id }) => id === optionId)?.name ?? optionId
}
