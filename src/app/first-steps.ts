import { Owner, toDisposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import type { AgentDirectory } from '../sessions/ports.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import type { Accounts } from '../sessions/sign-in/accounts.ts'
import { watchSessions } from '../sessions/watch-sessions.ts'
import type { FirstStep } from './done-steps.ts'

interface FirstStepsOptions {
  agents: Pick<AgentDirectory, 'list' | 'get' | 'onDidChange'>
  accounts: Pick<Accounts, 'get' | 'onDidChange'>
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  /** Fires when the user kept or reverted changes of an agent. */
  onDidDecide: Event<unknown>
  onDidShowHistory: Event<void>
}

/** Completes the steps of the walkthrough when the user has actually done them. */
export class FirstSteps extends Owner {
  readonly #options: FirstStepsOptions
  readonly #done: (step: FirstStep) => void

  constructor(options: FirstStepsOptions, done: (step: FirstStep) => void) {
    super()
    this.#options = options
    this.#done = done
    const { agents, accounts, manager, onDidDecide, onDidShowHistory } = options
    this.register(agents.onDidChange(() => this.#lookAtAgents()))
    this.register(accounts.onDidChange(() => this.#lookAtAgents()))
    this.register(onDidDecide(() => done('review')))
    this.register(onDidShowHistory(() => done('history')))
    this.register(
      watchSessions(manager, open => {
        const following = open.session.onDidChange(changes => {
          if (changes.some(change => change.type === 'head' && change.key === 'activity')) this.#lookAt(open)
        })
        return toDisposable(() => following.dispose())
      }),
    )
    this.#lookAtAgents()
  }

  #lookAtAgents(): void {
    const { agents, accounts } = this.#options
    const real = agents.list().filter(({ source }) => source !== 'demo')
    if (real.length > 0) this.#done('agent')
    if (real.some(({ agentId }) => accounts.get(agentId)?.state === 'authenticated')) this.#done('signIn')
  }

  #lookAt({ agentId, session }: OpenSession): void {
    const { entries, activity } = session.state
    for (const entry of entries)
      if (entry.kind === 'permission' && entry.outcome?.type === 'selected' && !entry.rule)
        this.#done('permission')
    // a replay doesn't count, and neither does a turn that failed or was stopped
    if (activity !== 'idle' || session.phase !== 'ready' || entries.at(-1)?.kind === 'turn_end') return
    if (!entries.some(entry => entry.kind === 'message' && entry.role === 'agent')) return
    this.#done('prompt')
    // an agent that answers needs no sign-in, or the user signed in outside of Parley
    if (this.#options.agents.get(agentId)?.source !== 'demo') this.#done('signIn')
  }
}
