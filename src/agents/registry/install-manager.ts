import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import compare from 'semver/functions/compare.js'
import valid from 'semver/functions/valid.js'
import { AGENT_ICON } from '../../common/agent-icon.ts'
import { raceAbort } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { CancelledError, isCancelled, messageOf } from '../../common/errors.ts'
import { Emitter, type Event } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { type AgentPreset, agentIdOf, agentPresets } from '../presets.ts'
import type { AgentIcons } from './agent-icons.ts'
import type { AgentInstaller } from './agent-installer.ts'
import { type InstallPlan, type InstallScript, isSamePlan, type ScriptsAnswer } from './install-plan.ts'
import type { InstalledAgent, InstalledAgents } from './installed-agents.ts'
import type { RegistryClient, RegistrySnapshot } from './registry-client.ts'
import type { RegistryAgent } from './registry-format.ts'

/** The state of an agent's running installation, or of the last failure. */
export type InstallStatus =
  /** `share`: from 0 to 1; absent if it's unknown */
  | { state: 'running'; step: string; share?: number }
  /** The user is asked in the list of agents; see {@link InstallManager.confirm}. */
  | ({ state: 'asking' } & InstallQuestion)
  /** `output`: the last lines of the package manager. `help`: the URL of a page that explains how to install a missing program. */
  | { state: 'failed'; message: string; output: string; help?: string }

/** The question in the list of agents whether to install an agent. */
export interface InstallQuestion {
  /** identifies the question, because a new question follows if the plan changes */
  id: number
  agent: RegistryAgent
  plan: InstallPlan
  /** the installed version that would be replaced */
  replaced: string | undefined
}

export type InstallOutcome = 'installed' | 'failed' | 'canceled'

/** Asks the user about an installation in dialogs. */
export interface InstallConfirmation {
  /** Shows what will run. `replaced` is the installed version. Resolves to whether the user agrees. */
  plan(agent: RegistryAgent, plan: InstallPlan, replaced: string | undefined): Promise<boolean>
  /** Shows the scripts of the downloaded packages and asks whether to run them. */
  scripts(agent: RegistryAgent, scripts: readonly InstallScript[]): Promise<ScriptsAnswer>
}

export interface InstallManagerOptions {
  registry: Pick<RegistryClient, 'isOn' | 'known' | 'refresh'>
  /** Fires when VS Code's network settings change. */
  onDidChangeNetwork: Event<void>
  installed: InstalledAgents
  icons: Pick<AgentIcons, 'get' | 'load' | 'refresh' | 'onDidChange'>
  /** Loads the installer, which includes the libraries for archives. Called only when something is planned or installed. */
  installer: () => Promise<Pick<AgentInstaller, 'plan' | 'install'>>
  confirmation: InstallConfirmation
  trusted: () => boolean
  log: Logger
}

/** The ids of the presets that are offered if no agent is installed. */
const FEATURED = ['claude', 'codex', 'gemini', 'copilot', 'opencode']
const HELP = {
  npm: 'https://nodejs.org/en/download',
  uv: 'https://docs.astral.sh/uv/getting-started/installation/',
}

/**
 * Manages the registry's agents, and all installations of this window. Nothing is fetched before {@link InstallManager.refresh} or
 * {@link InstallManager.install}.
 */
export class InstallManager extends Owner {
  readonly #options: InstallManagerOptions
  readonly #changed = this.register(new Emitter<void>())
  readonly #statuses = new Map<string, InstallStatus>()
  readonly #running = new Map<string, { abort: AbortController; outcome: Promise<InstallOutcome> }>()
  readonly #plans = new Map<string, { agent: RegistryAgent; plan: InstallPlan | Error }>()
  /** By agent: the question in {@link InstallStatus}, and the function that continues when the user agrees. */
  readonly #questions = new Map<string, { id: number; agree: () => void }>()
  #lastQuestion = 0
  /** Confirmed plans whose installation failed. Retrying the same plan doesn't ask again. */
  readonly #confirmed = new Map<string, InstallPlan>()
  #snapshot: RegistrySnapshot | undefined
  #problem: string | undefined
  #networkChanges = 0

  /** Fires when the registry, a status, a plan or an installed agent changes. */
  readonly onDidChange = this.#changed.event

  constructor(options: InstallManagerOptions) {
    super()
    this.#options = options
    this.register(options.installed.onDidChange(() => this.#changed.fire()))
    this.register(options.icons.onDidChange(() => this.#changed.fire()))
    this.register(options.onDidChangeNetwork(() => void this.#networkChanged()))
  }

  /** Whether the user has the registry turned on. */
  get isOn(): boolean {
    return this.#options.registry.isOn
  }

  /** The registry's agents, as far as they are known; empty while the registry is turned off. */
  get agents(): readonly RegistryAgent[] {
    return this.isOn && this.#snapshot ? this.#snapshot.agents.map(withUsualName) : []
  }

  get installed(): readonly InstalledAgent[] {
    return this.#options.installed.agents.map(withUsualName)
  }

  /** Why the registry couldn't be read the last time, as a sentence; `undefined` if it could. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Returns the presets that are offered first, with their ids in the registry. */
  featured(presets: readonly AgentPreset[] = agentPresets): Array<{ id: string; preset: AgentPreset }> {
    return FEATURED.flatMap(id => presets.find(preset => preset.id === id) ?? []).flatMap(preset => {
      const [first] = preset.registryIds
      const id = preset.registryIds.find(one => this.find(one)) ?? first
      return id === undefined ? [] : [{ id, preset }]
    })
  }

  find(id: string): RegistryAgent | undefined {
    return this.agents.find(agent => agent.id === id)
  }

  /** Returns the registry's icon of an agent if it's known, or else the name of a codicon. */
  iconOf(id: string): string {
    const preset = agentPresets.find(one => one.id === agentIdOf(id))
    return this.#options.icons.get(id) ?? preset?.icon ?? AGENT_ICON
  }

  /** Returns the registry's entry if its version is newer than the installed version. */
  updateOf(installed: InstalledAgent): RegistryAgent | undefined {
    const agent = this.find(installed.id)
    return agent && compareVersions(agent.version, installed.version) > 0 ? agent : undefined
  }

  status(id: string): InstallStatus | undefined {
    return this.#statuses.get(id)
  }

  /** Returns the plan or the failure that {@link InstallManager.plan} has determined for an agent. */
  planOf(id: string): InstallPlan | Error | undefined {
    const known = this.#plans.get(id)
    const agent = this.find(id)
    if (!known || !agent) return undefined
    // A new read of the registry creates new objects, which may be equal.
    if (known.agent !== agent && !isDeepStrictEqual(known.agent, agent)) return undefined
    known.agent = agent
    return known.plan
  }

  /** Reads stored data, without the network. Never rejects. */
  async load(): Promise<void> {
    await Promise.all([this.#options.installed.ready(), this.#options.icons.load()])
    if (this.#snapshot) return
    const known = await this.#options.registry.known()
    this.#snapshot ??= known
    this.#changed.fire()
  }

  /** Fetches the registry, because the user looks for agents. Never rejects; see {@link InstallManager.problem}. */
  async refresh(): Promise<void> {
    await this.load()
    await this.#options.installed.read()
    if (!this.isOn) {
      this.#problem = undefined
      this.#snapshot = { agents: [], source: 'bundled' }
      this.#changed.fire()
      return
    }
    const changes = this.#networkChanges
    try {
      this.#snapshot = await this.#options.registry.refresh()
      this.#problem = undefined
      void this.#options.icons.refresh(this.agents)
    } catch (error) {
      if (changes !== this.#networkChanges) return this.refresh()
      this.#problem = messageOf(error)
      // The URL may have changed since the registry was last read.
      this.#snapshot = await this.#options.registry.known()
    }
    this.#changed.fire()
  }

  /**
   * Retries a failed request, which may succeed with the new network settings. In a remote window, the settings may arrive after the first
   * request.
   */
  async #networkChanged(): Promise<void> {
    this.#networkChanges += 1
    if (this.#problem === undefined) return
    await this.refresh()
    await this.plan(this.agents.map(({ id }) => id))
  }

  /** Determines the plans for these agents. This runs the login shell, so it does nothing in an untrusted workspace. */
  async plan(ids: readonly string[]): Promise<void> {
    if (!this.#options.trusted()) return
    const isFinal = (plan: InstallPlan | Error | undefined) => plan && 'action' in plan && !plan.missing
    const wanted = ids.flatMap(id => (isFinal(this.planOf(id)) ? [] : (this.find(id) ?? [])))
    if (wanted.length === 0) return
    const installer = this.#options.installer()
    await Promise.all(
      wanted.map(async agent => {
        const plan = await installer.then(one => one.plan(agent)).catch(asError)
        this.#plans.set(agent.id, { agent, plan })
      }),
    )
    this.#changed.fire()
  }

  /**
   * Asks the user whether to install the registry's version of an agent, or to update the agent to it, and installs exactly what the user
   * confirms. Concurrent calls get the same outcome. `inPlace`: asks in {@link InstallStatus} instead of a dialog.
   */
  install(id: string, { inPlace = false } = {}): Promise<InstallOutcome> {
    const running = this.#running.get(id)
    if (running) return running.outcome
    if (!this.#options.trusted())
      return Promise.reject(
        new Error(l10n.t("Agents can't be installed in Restricted Mode. Trust this workspace first.")),
      )
    const isRetry = this.status(id)?.state === 'failed'
    const abort = new AbortController()
    this.#setStatus(id, { state: 'running', step: l10n.t('Reading the agent registry…') })
    const outcome = this.#install(id, { signal: abort.signal, isRetry, inPlace }).finally(() =>
      this.#running.delete(id),
    )
    this.#running.set(id, { abort, outcome })
    return outcome
  }

  /** Continues an installation, because the user has agreed to the question. Does nothing if the question isn't the current one. */
  confirm(id: string, question: number): void {
    const current = this.#questions.get(id)
    if (current?.id === question) current.agree()
  }

  cancel(id: string): void {
    this.#running.get(id)?.abort.abort(new CancelledError())
  }

  /** Removes the status of a failed installation. */
  dismiss(id: string): void {
    if (this.status(id)?.state !== 'failed') return
    this.#confirmed.delete(id)
    this.#setStatus(id, undefined)
  }

  /** Removes an installed agent with all of its files. */
  async remove(id: string): Promise<void> {
    const { installed } = this.#options
    await installed.exclusively(id, () => installed.remove(id))
    this.#setStatus(id, undefined)
  }

  override dispose(): void {
    for (const id of this.#running.keys()) this.cancel(id)
    super.dispose()
  }

  async #install(id: string, { signal, isRetry, inPlace }: InstallRequest): Promise<InstallOutcome> {
    const { log } = this.#options
    try {
      await raceAbort(this.refresh(), signal)
      const agent = this.find(id)
      if (!agent) throw new Error(this.#problem ?? l10n.t("The agent registry doesn't list this agent."))
      while (!(await this.#installConfirmed(agent, { signal, isRetry, inPlace })));
      this.#confirmed.delete(id)
      this.#setStatus(id, undefined)
      return 'installed'
    } catch (error) {
      if (signal.aborted || isCancelled(error)) {
        this.#confirmed.delete(id)
        this.#setStatus(id, undefined)
        return 'canceled'
      }
      const { message, output, kind } = toFailure(error)
      log.warn(`${id} wasn't installed: ${message}${output && `\n${output}`}`)
      const missing = kind === 'missing-program' ? this.#confirmed.get(id)?.missing : undefined
      const help = missing ? HELP[missing] : kind === 'node-too-old' ? HELP.npm : undefined
      this.#setStatus(id, { state: 'failed', message, output, ...(help !== undefined && { help }) })
      return 'failed'
    }
  }

  /** Asks the user, if necessary, and installs the agent. Resolves to `false` if the plan changed after the user confirmed it. */
  async #installConfirmed(
    agent: RegistryAgent,
    { signal, isRetry, inPlace }: InstallRequest,
  ): Promise<boolean> {
    const { id } = agent
    const { confirmation, installed } = this.#options
    const installer = await this.#options.installer()
    const plan = await raceAbort(installer.plan(agent), signal)
    const confirmed = this.#confirmed.get(id)
    if (!confirmed || !isSamePlan(plan, confirmed)) {
      const replaced = installed.get(id)?.version
      const ask = () => {
        if (inPlace) return this.#ask({ agent, plan, replaced })
        this.#setStatus(id, { state: 'running', step: l10n.t('Waiting for confirmation…') })
        return confirmation.plan(agent, plan, replaced)
      }
      const agreed = await raceAbort(ask(), signal).finally(() => this.#questions.delete(id))
      if (!agreed) throw new CancelledError()
      if (inPlace) this.#setStatus(id, { state: 'running', step: l10n.t('Preparing…') })
    }
    this.#confirmed.set(id, plan)
    try {
      await installer.install(agent, plan, {
        signal,
        isRetry,
        onScripts: scripts => raceAbort(confirmation.scripts(agent, scripts), signal),
        onProgress: ({ step, share }) => {
          const running: InstallStatus = { state: 'running', step, ...(share !== undefined && { share }) }
          this.#setStatus(id, running)
        },
      })
      return true
    } catch (error) {
      if (toFailure(error).kind === 'changed') return false
      throw error
    }
  }

  /** Asks in {@link InstallStatus}. Resolves when the user agrees. A cancellation ends the installation. */
  #ask(question: Omit<InstallQuestion, 'id'>): Promise<true> {
    return new Promise(resolve => {
      const id = ++this.#lastQuestion
      this.#questions.set(question.agent.id, { id, agree: () => resolve(true) })
      this.#setStatus(question.agent.id, { state: 'asking', id, ...question })
    })
  }

  #setStatus(id: string, status: InstallStatus | undefined): void {
    if (status) this.#statuses.set(id, status)
    else this.#statuses.delete(id)
    this.#changed.fire()
  }
}

interface InstallRequest {
  signal: AbortSignal
  isRetry: boolean
  inPlace: boolean
}

/** Returns the agent with the name that Parley uses everywhere else for a well-known agent. */
function withUsualName<T extends { id: string; name: string }>(agent: T): T {
  const preset = agentPresets.find(one => one.id === agentIdOf(agent.id))
  return preset ? { ...agent, name: preset.name } : agent
}

/** Compares versions as semantic versioning does. Other versions are compared number by number. */
function compareVersions(one: string, other: string): number {
  if (valid(one) && valid(other)) return compare(one, other)
  return one.localeCompare(other, 'en', { numeric: true })
}

/** Reads an `InstallError` without loading its module. */
function toFailure(error: unknown): { message: string; output: string; kind?: string } {
  const { output, kind } = error as { output?: unknown; kind?: unknown }
  return {
    message: messageOf(error),
    output: typeof output === 'string' ? output : '',
    ...(typeof kind === 'string' && { kind }),
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
