import { KeyedQueue } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { Event } from '../../common/event.ts'
import type { TerminalIde } from './terminal-editor.ts'

export const TERMINAL_AGENTS = ['claude', 'gemini'] as const
export type TerminalAgent = (typeof TERMINAL_AGENTS)[number]

export interface TerminalAgentsOptions {
  /** Whether settings, trust and other extensions let the agent reach the editor now. */
  isOn(agent: TerminalAgent): boolean
  /** The settings for agents may have changed, or the variables have. */
  onDidChange: Event<void>
  start: Readonly<Record<TerminalAgent, () => Promise<TerminalIde>>>
  /** The environment of new terminals gets exactly these. */
  setVariables(variables: Readonly<Record<string, string>>): void
  failed(agent: TerminalAgent, message: string): void
}

/** Lets agents in a terminal reach the editor, each only while it's on. */
export class TerminalAgents extends Owner {
  readonly #options: TerminalAgentsOptions
  readonly #open = new Map<TerminalAgent, TerminalIde>()
  /** the last reported failure of each agent's server that is on */
  readonly #failures = new Map<TerminalAgent, string>()
  readonly #queue = new KeyedQueue()

  constructor(options: TerminalAgentsOptions) {
    super()
    this.#options = options
    this.register(options.onDidChange(() => void this.update()))
  }

  /** Resolves once the agents that are on can reach the editor, and no others. */
  async update(): Promise<void> {
    await Promise.all(TERMINAL_AGENTS.map(agent => this.#queue.run(agent, () => this.#update(agent))))
    this.#setVariables()
  }

  async #update(agent: TerminalAgent): Promise<void> {
    const { isOn, start, failed } = this.#options
    const isWanted = () => isOn(agent) && !this.owned.isDisposed
    if (!isWanted()) this.#failures.delete(agent)
    if (isWanted() === this.#open.has(agent)) return
    if (!isWanted()) {
      this.#close(agent)
      return
    }
    try {
      this.#open.set(agent, await start[agent]())
      this.#failures.delete(agent)
      // turned off meanwhile
      if (!isWanted()) this.#close(agent)
    } catch (error) {
      const message = messageOf(error)
      // the name of a file that can't be written has another port each time
      const failure = message.replaceAll(/\d+/g, '')
      if (this.#failures.get(agent) === failure) return
      this.#failures.set(agent, failure)
      failed(agent, message)
    }
  }

  #close(agent: TerminalAgent): void {
    this.#open.get(agent)?.dispose()
    this.#open.delete(agent)
  }

  #setVariables(): void {
    if (this.owned.isDisposed) return
    this.#options.setVariables(
      Object.assign({}, ...[...this.#open.values()].map(({ variables }) => variables)),
    )
  }

  override dispose(): void {
    super.dispose()
    for (const agent of TERMINAL_AGENTS) this.#close(agent)
    this.#options.setVariables({})
  }
}
