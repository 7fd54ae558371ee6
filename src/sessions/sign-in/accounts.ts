import * as l10n from '@vscode/l10n'
import type { Agent } from '../../acp/agent.ts'
import type { AuthStatus } from '../../acp/model.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { AgentDirectory } from '../ports.ts'
import type { AgentRunners } from '../runners/agent-runners.ts'

/**
 * The signed-in users of all agents, as running agents report them on start and after every change. For agents that report nothing, events
 * in this window decide: a refusal, a sign-in, a sign-out.
 */
export class Accounts extends Owner {
  readonly #agents: AgentDirectory
  readonly #runners: AgentRunners
  readonly #log: Logger
  readonly #known = new Map<Agent, { status?: AuthStatus; following: DisposableStore }>()
  readonly #seen = new Map<string, AuthStatus>()
  readonly #change = this.register(new Emitter<void>())

  readonly #sign = this.register(new Emitter<string>())

  readonly onDidChange = this.#change.event
  /** Fires with an agent's id when the user signed in to the agent or out. */
  readonly onDidSign = this.#sign.event

  readonly #signIn = this.register(new Emitter<string>())
  readonly onDidSignIn = this.#signIn.event

  constructor(agents: AgentDirectory, runners: AgentRunners, log: Logger) {
    super()
    this.#agents = agents
    this.#runners = runners
    this.#log = log
    this.register(runners.onDidChange(() => this.#agentsChanged()))
  }

  /** Returns who is signed in to the agent; `undefined` if nothing is known. */
  get(agentId: string): AuthStatus | undefined {
    const agent = this.#running(agentId)
    return (agent && this.#known.get(agent)?.status) ?? this.#seen.get(agentId)
  }

  /** Returns who is signed in, as text; `signedIn` is absent if that isn't known. */
  describe(agentId: string): { text: string; signedIn?: boolean } {
    const status = this.get(agentId)
    const text = describeAccount(status)
    if (text !== undefined) return { text, signedIn: status?.state === 'authenticated' }
    if (status?.state === 'not_required') return { text: l10n.t('Sign-in not required') }
    const unknown = this.#running(agentId)
      ? l10n.t('Sign-in status not reported')
      : l10n.t('Sign-in status not checked yet')
    return { text: unknown }
  }

  /** Called when the agent refused a request because it requires sign-in. */
  refused(agentId: string): void {
    this.#saw(agentId, 'unauthenticated')
  }

  /** Called when the user signed out of the agent. */
  signedOut(agentId: string): Promise<void> {
    this.#saw(agentId, 'unauthenticated')
    return this.refresh(agentId)
  }

  /** Asks the agent who is signed in, after a sign-in or sign-out. Resolves when the agent has answered; never rejects. */
  async refresh(agentId: string): Promise<void> {
    this.#sign.fire(agentId)
    const agent = this.#running(agentId)
    if (agent) await this.#ask(agent)
  }

  signedIn(agentId: string): void {
    this.#saw(agentId, 'authenticated')
    void this.refresh(agentId)
    this.#signIn.fire(agentId)
  }

  override dispose(): void {
    for (const { following } of this.#known.values()) following.dispose()
    this.#known.clear()
    super.dispose()
  }

  #saw(agentId: string, state: AuthStatus['state']): void {
    this.#seen.set(agentId, { state, accounts: [] })
    this.#change.fire()
  }

  #running(agentId: string): Agent | undefined {
    return this.#runners.peek(agentId)?.running?.agent
  }

  #agentsChanged(): void {
    const running = new Set(this.#agents.list().flatMap(({ agentId }) => this.#running(agentId) ?? []))
    for (const [agent, { following }] of this.#known) {
      if (running.has(agent)) continue
      following.dispose()
      this.#known.delete(agent)
      this.#change.fire()
    }
    for (const agent of running) {
      if (this.#known.has(agent)) continue
      const following = new DisposableStore()
      this.#known.set(agent, { following })
      if (!agent.capabilities.authStatus) continue
      if (agent.onAuthStatus) following.add(agent.onAuthStatus(status => this.#update(agent, status)))
      void this.#ask(agent)
    }
  }

  async #ask(agent: Agent): Promise<void> {
    if (!agent.capabilities.authStatus) return
    try {
      const status = await agent.authStatus?.()
      if (status) this.#update(agent, status)
    } catch (error) {
      this.#log.warn(`${agent.info.name} didn't report who is signed in: ${messageOf(error)}`)
    }
  }

  #update(agent: Agent, status: AuthStatus): void {
    const known = this.#known.get(agent)
    if (!known) return
    known.status = status
    this.#change.fire()
  }
}

/** Returns who is signed in, as a short text; `undefined` if unknown. */
export function describeAccount(status: AuthStatus | undefined): string | undefined {
  if (status?.state === 'unauthenticated') return l10n.t('Not signed in')
  if (status?.state !== 'authenticated') return undefined
  const account = status.accounts.find(({ active }) => active) ?? status.accounts[0]
  if (!account) return l10n.t('Signed in')
  const who = account.email ?? account.name ?? account.label
  return account.organization
    ? l10n.t('Signed in as {0} ({1})', who, account.organization)
    : l10n.t('Signed in as {0}', who)
}
