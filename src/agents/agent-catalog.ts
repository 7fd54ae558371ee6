import { homedir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import { AGENT_ICON } from '../common/agent-icon.ts'
import { Owner } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import { findCommand } from '../common/processes/spawn-process.ts'
import { type AccountDefinition, withAccounts } from './account-definitions.ts'
import { type AgentChange, type AgentSettings, readAgentSettings } from './agent-settings.ts'
import {
  type AgentDefinition,
  chooseSystemPrompt,
  type DefaultOptions,
  type SystemPrompt,
} from './definition.ts'
import type { LaunchEnvironment } from './launch-environment.ts'
import { type AgentPreset, agentIdOf, agentPresets } from './presets.ts'
import type { AgentIcons } from './registry/agent-icons.ts'
import type { InstalledAgent, InstalledAgents } from './registry/installed-agents.ts'
import { type ConfiguredLaunch, configuredLaunch } from './resolve-launch.ts'
import type { SettingsSource } from './setting-layers.ts'
import { describeProblem, jsonKind, type SettingProblem, settingProblem } from './setting-problem.ts'

export interface CatalogAgent extends AccountDefinition {
  startable: boolean
  /** Why the agent can't be started, as a sentence. */
  reason?: string
  /** The workspace's settings define the agent or change how it starts. */
  startedByWorkspace?: true
}

/** Whether the workspace is trusted. */
export interface Trust {
  readonly trusted: boolean
  readonly onDidChange: Event<void>
}

/** Stores the id of the agent that was used last. */
export interface LastUsedAgent {
  get(): string | undefined
  set(id: string): void | PromiseLike<void>
}

export interface AgentCatalogOptions {
  settings: SettingsSource
  /** `get` is called only in a trusted workspace, because it runs the user's shell. */
  environment: { get(): Promise<LaunchEnvironment>; current(): LaunchEnvironment; refresh(): void }
  trust: Trust
  lastUsed: LastUsedAgent
  log: Logger
  demo?: AgentDefinition
  /** The agents that Parley installed. */
  installed?: Pick<InstalledAgents, 'agents' | 'onDidChange' | 'ready'>
  /** The icons of the registry's agents. */
  icons?: Pick<AgentIcons, 'get' | 'load' | 'onDidChange'>
  /** The path of the Node with which VS Code runs extensions. */
  execPath?: string
  presets?: readonly AgentPreset[]
}

/**
 * The agents that are available in this window: the agents of the settings, the agents that Parley installed, the presets whose command is
 * on the PATH, and the demo agent. If several agents have the same id, the first of this order is used. Nothing is searched until `ready`
 * or `refresh` is called.
 */
export class AgentCatalog extends Owner {
  readonly #options: AgentCatalogOptions
  readonly #presets: readonly AgentPreset[]
  readonly #changed = this.register(new Emitter<void>())
  #fromSettings: FromSettings = { agents: [], changes: new Map(), accounts: [] }
  /** The agents according to the settings without the workspace's; `undefined` if the workspace has no settings for agents. */
  #ofUser: FromSettings | undefined
  #fromPresets: AgentDefinition[] = []
  #problems: SettingProblem[] = []
  #search: Promise<void> | undefined
  /** A search has covered the whole PATH, so a preset that it didn't find isn't installed. */
  #searched = false
  /** The last search used the PATH of the user's terminal. */
  #isSure = false
  /** The installed agents have been read. */
  #installedKnown = false
  /** Increases with each search, so that the result of an older search is ignored. */
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
    if (options.installed)
      this.register(
        options.installed.onDidChange(() => {
          this.#readSettings()
          this.#changed.fire()
        }),
      )
    if (options.icons) this.register(options.icons.onDidChange(() => this.#changed.fire()))
    this.register(
      options.trust.onDidChange(() => {
        this.#readSettings()
        this.#changed.fire()
        // In an untrusted workspace, the shell's environment wasn't read. Now it can be read.
        if (this.#search !== undefined) void this.refresh()
      }),
    )
  }

  /** Fires when the agents, the problems or the default agent may have changed. */
  get onDidChange(): Event<void> {
    return this.#changed.event
  }

  /** The agents of the settings in their order, then the installed agents, the presets and the demo agent. Accounts follow their agent. */
  get agents(): CatalogAgent[] {
    const { trust } = this.#options
    const all = this.#allWith(this.#fromSettings)
    const ofUser = this.#ofUser && this.#allWith(this.#ofUser)
    return [...all.values()].map(agent => {
      const isSame =
        !ofUser ||
        isDeepStrictEqual(configuredLaunch(agent), configuredLaunch(ofUser.get(agent.id) ?? NO_LAUNCH))
      const own = isSame ? agent : { ...agent, startedByWorkspace: true as const }
      if (own.problem !== undefined) return { ...own, startable: false, reason: describeProblem(own.problem) }
      return trust.trusted
        ? { ...own, startable: true }
        : { ...own, startable: false, reason: l10n.t("Agents don't start until this workspace is trusted.") }
    })
  }

  #allWith({ agents, changes, accounts }: FromSettings): Map<string, AccountDefinition> {
    const { demo } = this.#options
    const byId = new Map<string, AgentDefinition>()
    for (const agent of [
      ...agents.map(agent => this.#withBrand(agent)),
      ...withChanges([...this.#installed(), ...this.#found(), ...(demo ? [demo] : [])], changes),
    ]) {
      if (!byId.has(agent.id)) byId.set(agent.id, agent)
    }
    if (accounts.length === 0) return byId
    const all = withAccounts(byId, accounts, this.#presets, this.#searched)
    return new Map(all.map(agent => [agent.id, agent]))
  }

  /** Returns the system prompt of an agent, and the prompt that it would have without the settings of the workspace. */
  systemPrompts(id: string): { chosen: SystemPrompt | undefined; ofUser: SystemPrompt | undefined } {
    const chosen = this.get(id)?.systemPrompt
    const layers = this.#options.settings.layers('systemPrompt').filter(({ scope }) => scope !== 'folder')
    const userLayers = layers.filter(({ scope }) => scope === 'default' || scope === 'user')
    return {
      chosen: chooseSystemPrompt(chosen, layers.at(-1)?.value),
      ofUser: chooseSystemPrompt(this.#asOfUser(id)?.systemPrompt, userLayers.at(-1)?.value),
    }
  }

  /**
   * Returns the default options of an agent (`chosen`), and the defaults from the user settings alone (`ofUser`). Settings of the workspace
   * can change the user's defaults in `chosen`, but can't remove them.
   */
  defaultOptions(id: string): { chosen: DefaultOptions; ofUser: DefaultOptions } {
    const ofUser = this.#asOfUser(id)?.defaultOptions ?? {}
    return { chosen: { ...ofUser, ...this.get(id)?.defaultOptions }, ofUser }
  }

  /** Returns the agent as it is without the settings of the workspace. */
  #asOfUser(id: string): AgentDefinition | undefined {
    return this.#ofUser ? this.#allWith(this.#ofUser).get(id) : this.get(id)
  }

  get(id: string): CatalogAgent | undefined {
    return this.agents.find(agent => agent.id === id)
  }

  /** The problems in `parley.agents` and `parley.defaultAgent`. */
  get problems(): SettingProblem[] {
    return [...this.#problems, ...this.#accountProblems()]
  }

  /** Returns the problems of accounts whose entry is valid, but whose agent is missing or can't have accounts. */
  #accountProblems(): SettingProblem[] {
    const isValid = new Set(this.#fromSettings.accounts.flatMap(one => (one.problem ? [] : one.id)))
    if (isValid.size === 0) return []
    const all = this.#allWith(this.#fromSettings).values()
    return [...all].flatMap(({ id, problem }) => (problem && isValid.has(id) ? problem : []))
  }

  /**
   * The agent that *New Session* starts. If `parley.defaultAgent` is set, it's the agent of this setting, and never another agent.
   * Otherwise, it's the agent that was used last, or else the first agent. The demo agent is used only if the setting names it.
   */
  get defaultAgent(): CatalogAgent | undefined {
    const { agent, isSet } = this.#configuredDefault()
    if (isSet) return agent
    const lastUsed = this.#options.lastUsed.get()
    const real = this.agents.filter(({ source }) => source !== 'demo')
    return real.find(({ id }) => id === lastUsed) ?? real[0]
  }

  /** Why the agent in `parley.defaultAgent` can't be used. */
  get defaultProblem(): { agentId?: string; problem: SettingProblem } | undefined {
    const { problem, agentId } = this.#configuredDefault()
    return problem && { problem, ...(agentId !== undefined && { agentId }) }
  }

  /** Whether the whole PATH was searched, so that an unknown agent isn't installed. */
  get isSearched(): boolean {
    return this.#searched
  }

  /** Whether the search has ended and the login shell didn't fail. After a failure, the shell's PATH may later lead to other agents. */
  get isSearchSure(): boolean {
    return this.#searched && this.#isSure
  }

  async markUsed(id: string): Promise<void> {
    if (this.#options.lastUsed.get() === id || this.get(id)?.source === 'demo') return
    await this.#options.lastUsed.set(id)
    this.#changed.fire()
  }

  /** Resolves after the first search for the presets. Never rejects. */
  ready(): Promise<void> {
    this.#search ??= this.#searchPresets()
    return this.#search
  }

  /** Searches again, with a new PATH, because something may have been installed. */
  refresh(): Promise<void> {
    this.#options.environment.refresh()
    return this.searchAgain()
  }

  searchAgain(): Promise<void> {
    this.#search = this.#searchPresets()
    return this.#search
  }

  #installed(): AgentDefinition[] {
    const { installed, execPath = process.execPath } = this.#options
    return (installed?.agents ?? []).map(agent => ({
      ...installedDefinition(agent, this.#presets, execPath),
      ...this.#findIcon([agent.id]),
    }))
  }

  #found(): AgentDefinition[] {
    return this.#fromPresets.map(agent => {
      const preset = this.#presets.find(({ id }) => id === agent.id)
      return { ...agent, ...this.#findIcon(preset?.registryIds ?? []) }
    })
  }

  /** Adds the registry's icon to a well-known agent whose command is in the settings, unless the settings also set an icon. */
  #withBrand(agent: AgentDefinition): AgentDefinition {
    const preset = this.#presets.find(({ id }) => id === agent.id)
    return preset && agent.icon === preset.icon ? { ...agent, ...this.#findIcon(preset.registryIds) } : agent
  }

  /** Returns the registry's icon of an agent, if it's known. */
  #findIcon(registryIds: readonly string[]): { icon?: string } {
    for (const id of registryIds) {
      const icon = this.#options.icons?.get(id)
      if (icon !== undefined) return { icon }
    }
    return {}
  }

  #readSettings(): void {
    const { installed, demo } = this.#options
    const wellKnown = (id: string) => {
      const preset = this.#presets.find(one => one.id === id)
      const isThere = installed?.agents.some(one => agentIdOf(one.id, this.#presets) === id)
      // Until the installed agents are known, an entry without a command isn't a problem.
      return (
        preset ??
        (demo?.id === id ? { name: demo.name, icon: demo.icon ?? AGENT_ICON } : undefined) ??
        (isThere || (installed && !this.#installedKnown) ? { name: id, icon: AGENT_ICON } : undefined)
      )
    }
    const layers = this.#options.settings.layers('agents')
    const found = readAgentSettings(layers, wellKnown)
    const userLayers = layers.filter(({ scope }) => scope === 'default' || scope === 'user')
    this.#ofUser = userLayers.length < layers.length ? readAgentSettings(userLayers, wellKnown) : undefined
    for (const problem of found.problems) this.#options.log.warn(describeProblem(problem))
    this.#fromSettings = found
    this.#problems = found.problems
  }

  async #searchPresets(): Promise<void> {
    const round = ++this.#round
    const { environment, trust, log } = this.#options
    try {
      await Promise.all([this.#options.installed?.ready(), this.#options.icons?.load()])
      if (!this.#installedKnown) {
        this.#installedKnown = true
        this.#readSettings()
        if (this.#problems.length > 0) this.#changed.fire()
      }
      await this.#searchIn(round, environment.current())
      if (!trust.trusted) return
      const found = await environment.get()
      await this.#searchIn(round, found)
      if (round !== this.#round) return
      this.#isSure = found.source !== 'fallback'
      if (this.#searched) return
      // Only now it's known which agents are missing.
      this.#searched = true
      this.#changed.fire()
    } catch (error) {
      log.error(`The search for well-known agents failed: ${messageOf(error)}`)
    }
  }

  async #searchIn(round: number, { env, platform }: LaunchEnvironment): Promise<void> {
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

  /**
   * Reads `parley.defaultAgent`. `isSet`: the setting has a value. `problem`: the value is invalid, or its agent is known to be missing.
   */
  #configuredDefault(): { isSet: boolean; agentId?: string; agent?: CatalogAgent; problem?: SettingProblem } {
    const layer = this.#options.settings.layers('defaultAgent').findLast(({ value }) => value !== undefined)
    if (!layer || (typeof layer.value === 'string' && layer.value.trim() === '')) return { isSet: false }
    const wrong = (message: string, agentId?: string) => ({
      isSet: true,
      ...(agentId !== undefined && { agentId }),
      problem: settingProblem('parley.defaultAgent', [], layer, message, false),
    })
    if (typeof layer.value !== 'string')
      return wrong(l10n.t('expected the ID of an agent, found {0}', jsonKind(layer.value)))
    const id = layer.value.trim()
    const agent = this.get(id)
    if (agent) return { isSet: true, agentId: id, agent }
    // The search for installed agents and for agents on the PATH hasn't ended.
    if (!this.#searched && this.#options.trust.trusted) return { isSet: true, agentId: id }
    const preset = this.#presets.find(candidate => candidate.id === id)
    if (preset) {
      const commands = preset.launches.map(({ command }) => command).join(', ')
      return wrong(l10n.t("{0} is a well-known agent, but {1} isn't on the PATH", preset.name, commands), id)
    }
    const ids = this.agents.map(candidate => candidate.id).join(', ')
    return wrong(l10n.t('unknown agent ID "{0}" (available: {1})', id, ids), id)
  }
}

type FromSettings = Omit<AgentSettings, 'problems'>

const NO_LAUNCH: ConfiguredLaunch = { command: '', args: [], env: {} }

/** Applies the settings' entries without a command to the agents. */
function withChanges(
  agents: readonly AgentDefinition[],
  changes: ReadonlyMap<string, AgentChange>,
): AgentDefinition[] {
  return agents.map(agent => {
    const change = changes.get(agent.id)
    return change ? { ...agent, ...change, env: { ...agent.env, ...change.env } } : agent
  })
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

function installedDefinition(
  { id, name, description, version, directory, launch }: InstalledAgent,
  presets: readonly AgentPreset[],
  execPath: string,
): AgentDefinition {
  const own = agentIdOf(id, presets)
  const preset = presets.find(candidate => candidate.id === own)
  const program = join(directory, launch.path)
  const isScript = launch.type === 'script'
  return {
    id: own,
    name: preset?.name ?? name,
    description: preset?.description() ?? description,
    version,
    command: isScript ? execPath : program,
    args: isScript ? [program, ...launch.args] : launch.args,
    // With this variable, Electron runs the script as Node instead of opening a window. Plain Node ignores the variable.
    env: { ...(isScript && { ELECTRON_RUN_AS_NODE: '1' }), ...launch.env },
    icon: preset?.icon ?? AGENT_ICON,
    source: 'installed',
  }
}
