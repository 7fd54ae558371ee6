import * as l10n from '@vscode/l10n'
import { type Agent, AgentStartError } from '../../acp/agent.ts'
import type { CatalogAgent } from '../../agents/agent-catalog.ts'
import { agentIdOf } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import { effectiveScope, type SettingsSource } from '../../agents/setting-layers.ts'
import type { AgentCheck, AgentRow } from '../../bridge/agents.ts'
import { type AgentAction, type AgentsHostMessages, agentsMessages } from '../../bridge/agents-messages.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentRunner } from '../../sessions/runners/agent-runner.ts'
import type { AgentRunners } from '../../sessions/runners/agent-runners.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import { startCard } from '../cards/start-card.ts'
import { CommandId, MANAGE_AGENTS_VIEW_TYPE } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import { settingOf } from '../workbench.ts'
import { agentRows, type CheckedAgent } from './agent-rows.ts'
import { runningAccounts } from './running-accounts.ts'

interface ManageAgentsOptions extends WebviewTabOptions {
  installs: InstallManager
  agents: AgentDirectory
  /** The agents of the catalog, with how they start. */
  definitions: () => readonly CatalogAgent[]
  runners: AgentRunners
  accounts: Accounts
  settings: SettingsSource
  /** Where the folders of new accounts are. */
  accountsFolder: string
  /** Deletes the values stored for signing in. */
  forget: (agentId: string) => Promise<unknown>
}

/** The editor tab *Manage Agents*. */
export class ManageAgents extends WebviewTab<AgentsHostMessages> {
  readonly #options: ManageAgentsOptions
  /** by agent */
  readonly #checks = new Map<string, CheckedAgent>()
  #isRefreshing = false
  #isScheduled = false

  constructor(options: ManageAgentsOptions) {
    super(options, { viewType: MANAGE_AGENTS_VIEW_TYPE, page: 'agents' })
    this.#options = options
  }

  /** Registers the handlers. Reads the registry if the user opened the tab, since they look for agents, but not after a reload. */
  protected connect(
    connection: WebviewConnection<AgentsHostMessages>,
    own: DisposableStore,
    isAsked: boolean,
  ): void {
    const { installs, agents, runners, accounts, workbench } = this.#options
    // don't send updates before the page has requested the list
    this.#isRefreshing = true
    // only the first load of the page reads the registry: a hidden tab loads its page again when it's shown
    let readsRegistry = isAsked
    const rowWith = (key: string) => this.#rows().find(one => one.key === key)
    connection.handle(agentsMessages, {
      'manageAgents/ready': () => {
        const loading = this.#load(readsRegistry)
        readsRegistry = false
        return loading
      },
      'manageAgents/refresh': () => this.#load(true),
      'manageAgents/act': async ({ action, key }) => {
        const row = rowWith(key)
        if (!row) return
        await this.#act(action, row).catch((error: unknown) => {
          void workbench.dialogs.error(plainMessage(messageOf(error)))
        })
      },
      'manageAgents/confirmInstall': ({ key, question }) => {
        const id = rowWith(key)?.registryId
        if (id !== undefined) installs.confirm(id, question)
      },
    })
    for (const event of [installs.onDidChange, agents.onDidChange, runners.onDidChange, accounts.onDidChange])
      own.add(event(() => this.#schedule()))
    own.add(workbench.settings.onDidChange('agentRegistry', () => void this.#load(true)))
  }

  protected shown(): void {
    this.#send()
  }

  async #load(readsRegistry: boolean): Promise<void> {
    const { installs, agents } = this.#options
    this.#isRefreshing = true
    this.#send()
    try {
      const plan = () => installs.plan(installs.agents.map(({ id }) => id))
      await Promise.all([agents.ready(), installs.load()])
      await plan()
      if (!readsRegistry) return
      await installs.refresh()
      await plan()
    } finally {
      this.#isRefreshing = false
      this.#send()
    }
  }

  async #act(action: AgentAction, { agentId, registryId, name }: AgentRow): Promise<void> {
    const { definitions, installs, runners, workbench } = this.#options
    const { dialogs, execute: run, settings } = workbench
    if (registryId !== undefined)
      switch (action) {
        case 'install': {
          const outcome = await installs.install(registryId, { inPlace: true })
          const running = runningAccounts(agentIdOf(registryId), this.#options)
          const names = running.map(id => definitions().find(one => one.id === id)?.name ?? name)
          if (outcome === 'installed' && running.length > 0)
            void dialogs.info(plainMessage(l10n.t('Restart {0} to use the new version.', names.join(', '))))
          return
        }
        case 'cancel':
          return installs.cancel(registryId)
        case 'remove':
          return void (await run(CommandId.removeAgent, registryId))
        case 'openRepository': {
          const repository = installs.find(registryId)?.repository
          if (repository !== undefined) await workbench.openExternal(repository)
          return
        }
      }
    if (agentId === undefined) return
    switch (action) {
      case 'newSession':
        return void (await run(CommandId.newSessionWithAgent, agentId))
      case 'setDefault':
        return settings.update(
          'defaultAgent',
          agentId,
          effectiveScope(this.#options.settings, 'defaultAgent'),
        )
      case 'signIn':
        return void (await run(CommandId.signIn, agentId))
      case 'signOut':
        return void (await run(CommandId.signOut, agentId))
      case 'configure':
        return settings.open('agents')
      case 'showLog':
        return void (await run(CommandId.showAgentLog, agentId))
      case 'restart': {
        if (!workbench.isTrusted) return
        const runner = runners.get(agentId)
        return runner.renew(() => runner.ensure())
      }
      case 'check':
        return this.#check(agentId)
      case 'checkConformance':
        return void (await run(CommandId.checkAgent, agentId))
      case 'addAccount':
      case 'removeAccount':
        return this.#changeAccounts(action, agentId)
      case 'showFolder': {
        const folder = this.#options.definitions().find(({ id }) => id === agentId)?.account?.folder
        if (folder) await workbench.showFolder(folder)
      }
    }
  }

  async #changeAccounts(action: 'addAccount' | 'removeAccount', agentId: string): Promise<void> {
    const { accountsFolder: folder, ...options } = this.#options
    const actions = await import('./account-actions.ts')
    await actions[action]({ ...options, folder }, agentId)
  }

  async #check(agentId: string): Promise<void> {
    if (!this.#options.workbench.isTrusted || this.#checks.get(agentId)?.check === 'running') return
    const agent = this.#options.definitions().find(({ id }) => id === agentId)
    if (!agent) return
    this.#checks.set(agentId, { agent, check: 'running' })
    this.#send()
    this.#checks.set(agentId, { agent, check: await checkAgent(this.#options.runners.get(agentId)) })
    this.#send()
  }

  #rows(): AgentRow[] {
    const { installs, definitions, runners, accounts, workbench } = this.#options
    return agentRows({
      installs,
      agents: definitions(),
      // also an agent that isn't available
      defaultAgentId: settingOf(workbench, 'defaultAgent').trim() || undefined,
      isRunning: agentId => runners.peek(agentId)?.running !== undefined,
      account: agentId => accounts.describe(agentId),
      checks: this.#checks,
    })
  }

  /** Sends the state soon. Many changes at once are sent in one message. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.#send()
    }, 50)
  }

  #send(): void {
    if (!this.isVisible) return
    const { installs, workbench } = this.#options
    this.send('manageAgents/state', {
      rows: this.#rows(),
      trusted: workbench.isTrusted,
      refreshing: this.#isRefreshing,
      registryOn: installs.isOn,
      ...(installs.problem !== undefined && { problem: installs.problem }),
    })
  }
}

/** Starts an agent, or uses the running one, and reports its capabilities or the reason why it can't be used. */
async function checkAgent(runner: AgentRunner): Promise<AgentCheck> {
  try {
    const { agent } = await runner.ensure()
    return { ok: true, summary: summaryOf(agent), details: capabilitiesOf(agent) }
  } catch (error) {
    if (!(error instanceof AgentStartError)) return { ok: false, summary: messageOf(error), details: [] }
    const { title, text, details = [] } = startCard(runner.name, error.failure)
    return { ok: false, summary: `${title}. ${text}`, details }
  }
}

function summaryOf({ info, protocolVersion }: Agent): string {
  const program = [info.title ?? info.name, info.version].filter(Boolean).join(' ')
  return l10n.t('{0} started and uses ACP version {1}.', program, protocolVersion)
}

function capabilitiesOf({ capabilities, authMethods }: Agent): AgentCheck['details'] {
  const { load, resume, list, fork, prompt, mcp, logout, providers, systemPrompt } = capabilities
  const able = (pairs: Array<[boolean | undefined, string]>) =>
    pairs.flatMap(([can, words]) => (can ? [words] : [])).join(', ') || l10n.t('none')
  return [
    {
      label: l10n.t('Sessions'),
      text: able([
        [load, l10n.t('load')],
        [resume, l10n.t('resume')],
        [list, l10n.t('list')],
        [fork, l10n.t('fork')],
      ]),
    },
    {
      label: l10n.t('Prompts'),
      text: able([
        [true, l10n.t('text')],
        [prompt.image, l10n.t('images')],
        [prompt.audio, l10n.t('audio')],
        [prompt.embeddedContext, l10n.t('embedded files')],
      ]),
    },
    {
      label: l10n.t('MCP servers'),
      text: able([
        [mcp.stdio, 'stdio'],
        [mcp.http, 'HTTP'],
        [mcp.sse, 'SSE'],
        [mcp.acp, 'ACP'],
      ]),
    },
    {
      label: l10n.t('Other'),
      text: able([
        [providers, l10n.t('provider configuration')],
        [systemPrompt !== undefined, l10n.t('system prompt')],
        [logout, l10n.t('sign-out')],
      ]),
    },
    {
      label: l10n.t('Sign-in methods'),
      text: authMethods.map(({ name }) => name).join(', ') || l10n.t('none'),
    },
  ]
}
