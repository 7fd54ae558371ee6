import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import { type AgentChange, readAgentSettings } from './agent-settings.ts'
import type { AgentDefinition } from './definition.ts'
import { findCommand } from './find-command.ts'
import type { LaunchEnvironment } from './launch-environment.ts'
import { type AgentPreset, agentPresets } from './presets.ts'
import type { SettingsSource } from './setting-layers.ts'
import { describeProblem, kindOf, type SettingProblem, settingProblem } from './setting-problem.ts'

/** An agent of the catalog. */
export interface CatalogAgent extends AgentDefinition {
  startable: boolean
  /** Why it cannot be started, as a sentence. */
  reason?: string
}

/** Whether the workspace is trusted. */
export interface Trust {
  readonly trusted: boolean
  readonly onDidChange: Event<void>
}

/** Keeps the id of the agent that was used last. */
export interface LastUsedAgent {
  get(): string | undefined
  set(id: string): void | PromiseLike<void>
}

export interface AgentCatalogOptions {
  settings: SettingsSource
  /** `get` is asked in a trusted workspace only, since it runs the person's shell. */
  environment: { get(): Promise<LaunchEnvironment>; current(): LaunchEnvironment; refresh(): void }
  trust: Trust
  lastUsed: LastUsedAgent
  log: Logger
  demo?: AgentDefinition
  presets?: readonly AgentPreset[]
}

/**
 * Which agents there are in this window: those of the settings, the presets whose command is on the PATH, the demo
 * agent. Of the same id the settings' one wins. Nothing is searched before `ready` or `refresh` is called.
 */
export class AgentCatalog extends Owner {
  readonly #options: AgentCatalogOptions
  readonly #presets: readonly AgentPreset[]
  readonly #changed = this.register(new Emitter<void>())
  #fromSettings: AgentDefinition[] = []
  #changes: ReadonlyMap<string, AgentChange> = new Map()
  #fromPresets: AgentDefinition[] = []
  #problems: SettingProblem[] = []
  #search: Promise<void> | undefined
  /** The last search is over and looked at the whole PATH: a preset that is missing is not there. */
  #searched = false
  /** Grows with each search, so that an outdated one does not have the last word. */
  #round = 0

  constructor(options: AgentCatalogOptions) {
    super()
    this.#options = options
    this.#presets = options.presets ?? agentPresets
    this.#readSettings()
    this.register(
      options.settings.onDidChange(() => {
        this.#readSettings()
        this.#changed.fire()
      }),
    )
    this.register(
      options.trust.onDidChange(() => {
        this.#readSettings()
        this.#changed.fire()
        // The shell was not asked before; now it may be.
        if (this.#search !== undefined) void this.refresh()
      }),
    )
  }

  /** The agents, the problems or the default agent may be others. */
  get onDidChange(): Event<void> {
    return this.#changed.event
  }

  /** Those of the settings in their order, then presets, then the demo agent. */
  get agents(): CatalogAgent[] {
    const { trust, demo } = this.#options
    const byId = new Map<string, AgentDefinition>()
    for (const agent of [...this.#fromSettings, ...this.#changedPresets(), ...(demo ? [demo] : [])]) {
      if (!byId.has(agent.id)) byId.set(agent.id, agent)
    }
    return [...byId.values()].map(agent =>
      trust.trusted
        ? { ...agent, startable: true }
        : {
            ...agent,
            startable: false,
            reason: l10n.t('No agent is started until this workspace is trusted.'),
          },
    )
  }

  get(id: string): CatalogAgent | undefined {
    return this.agents.find(agent => agent.id === id)
  }

  /** What is wrong in `parley.agents` and `parley.defaultAgent`. */
  get problems(): SettingProblem[] {
    const { problem } = this.#configuredDefault()
    return problem ? [...this.#problems, problem] : [...this.#problems]
  }

  /** The agent that *New Session* starts: the setting's, the one used last, the first there is. */
  get defaultAgent(): CatalogAgent | undefined {
    const { agent } = this.#configuredDefault()
    if (agent) return agent
    const lastUsed = this.#options.lastUsed.get()
    return (lastUsed === undefined ? undefined : this.get(lastUsed)) ?? this.agents[0]
  }

  async markUsed(id: string): Promise<void> {
    if (this.#options.lastUsed.get() === id) return
    await this.#options.lastUsed.set(id)
    this.#changed.fire()
  }

  /** Resolves when the presets have been searched for once. Never rejects. */
  ready(): Promise<void> {
    this.#search ??= this.#searchPresets()
    return this.#search
  }

  /** Searches anew, with a fresh PATH: something may have been installed. */
  refresh(): Promise<void> {
    this.#options.environment.refresh()
    this.#search = this.#searchPresets()
    return this.#search
  }

  #changedPresets(): AgentDefinition[] {
    return this.#fromPresets.map(preset => {
      const change = this.#changes.get(preset.id)
      return change ? { ...preset, ...change, env: { ...preset.env, ...change.env } } : preset
    })
  }

  #readSettings(): void {
    const wellKnown = (id: string) => this.#presets.find(preset => preset.id === id)
    const { agents, changes, problems } = readAgentSettings(
      this.#options.settings.layers('agents'),
      wellKnown,
    )
    for (const problem of problems) this.#options.log.warn(describeProblem(problem))
    this.#fromSettings = agents
    this.#changes = changes
    this.#problems = problems
  }

  async #searchPresets(): Promise<void> {
    const round = ++this.#round
    this.#searched = false
    const { environment, trust, log } = this.#options
    try {
      await this.#found(round, environment.current())
      if (!trust.trusted) return
      await this.#found(round, await environment.get())
      if (round !== this.#round) return
      this.#searched = true
      // The setting's agent may now be known to be missing.
      if (this.#configuredDefault().problem) this.#changed.fire()
    } catch (error) {
      log.error(`Well-known agents could not be searched for: ${messageOf(error)}`)
    }
  }

  async #found(round: number, { env, platform }: LaunchEnvironment): Promise<void> {
    const searches = this.#presets.map(async preset => {
      for (const launch of preset.launches) {
        const search = await findCommand(launch.command, { env, platform, cwd: homedir() })
        if ('path' in search) return presetAgent(preset, launch)
      }
      return undefined
    })
    const found = (await Promise.all(searches)).filter(agent => agent !== undefined)
    if (round !== this.#round) return
    const before = this.#fromPresets
    this.#fromPresets = found
    if (JSON.stringify(before) !== JSON.stringify(found)) this.#changed.fire()
  }

  #configuredDefault(): { agent?: CatalogAgent; problem?: SettingProblem } {
    const layer = this.#options.settings.layers('defaultAgent').findLast(({ value }) => value !== undefined)
    if (!layer || layer.value === '') return {}
    const wrong = (message: string) => ({
      problem: settingProblem('parley.defaultAgent', [], layer, message, false),
    })
    if (typeof layer.value !== 'string')
      return wrong(l10n.t('expected the id of an agent, found {0}', kindOf(layer.value)))
    const id = layer.value.trim()
    const agent = this.get(id)
    if (agent) return { agent }
    const preset = this.#presets.find(candidate => candidate.id === id)
    if (preset) {
      if (!this.#searched) return {}
      const commands = preset.launches.map(({ command }) => command).join(', ')
      return wrong(l10n.t('{0} is a well-known agent, but {1} is not on the PATH', preset.name, commands))
    }
    const ids = this.agents.map(candidate => candidate.id).join(', ')
    return wrong(l10n.t('there is no agent with the id "{0}" (there are: {1})', id, ids))
  }
}

function presetAgent(preset: AgentPreset, launch: AgentPreset['launches'][number]): AgentDefinition {
  return {
    id: preset.id,
    name: preset.name,
    description: preset.description(),
    command: launch.command,
    args: [...launch.args],
    env: { ...launch.env },
    icon: preset.icon,
    source: 'preset',
  }
}
