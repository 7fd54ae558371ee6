import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { CatalogAgent } from '../../agents/agent-catalog.ts'
import { agentIdOf } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import { readSetting, updateSetting } from '../../agents/vscode-settings.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { AgentHosts } from '../../sessions/hosts/agent-host.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import { type AgentCheck, type AgentRow, AgentsUpdate } from '../bridge/agents.ts'
import { type AgentAction, agentsMessages } from '../bridge/agents-messages.ts'
import { CommandId, MANAGE_AGENTS_VIEW_TYPE } from '../ids.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { AGENTS_PAGE } from '../webview-page.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import { agentRows } from './agent-rows.ts'
import { checkAgent } from './check-agent.ts'

export interface ManageAgentsOptions extends WebviewTabOptions {
  installs: InstallManager
  agents: AgentDirectory
  /** The agents of the catalog, with how they start. */
  definitions: () => readonly CatalogAgent[]
  hosts: AgentHosts
  accounts: Accounts
}

/** The editor tab *Manage Agents*. */
export class ManageAgents extends WebviewTab {
  readonly #options: ManageAgentsOptions
  readonly #checks = new Map<string, AgentCheck | 'running'>()
  #isRefreshing = false
  #isScheduled = false

  constructor(options: ManageAgentsOptions) {
    super(options, MANAGE_AGENTS_VIEW_TYPE, AGENTS_PAGE())
    this.#options = options
  }

  /** The person who opens the tab looks for agents: the registry is read. After a reload nobody asked for anything new. */
  protected connect(connection: WebviewConnection, own: DisposableStore, isAsked: boolean): void {
    const { installs, agents, hosts, accounts } = this.#options
    // a tab that was hidden loads its page anew
    let readsRegistry = isAsked
    connection.handle(agentsMessages, {
      'manageAgents/ready': () => {
        const loading = this.#load(readsRegistry)
        readsRegistry = false
        return loading
      },
      'manageAgents/refresh': () => this.#load(true),
      'manageAgents/act': async ({ action, key }) => {
        const row = this.#rows().find(one => one.key === key)
        if (!row) return
        await this.#act(action, row).catch((error: unknown) => {
          void vscode.window.showErrorMessage(plainMessage(messageOf(error)))
        })
      },
    })
    for (const event of [installs.onDidChange, agents.onDidChange, hosts.onDidChange, accounts.onDidChange])
      own.add(event(() => this.#schedule()))
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

  async #act(action: AgentAction, { agentId, registryId, action: stated, name }: AgentRow): Promise<void> {
    const { installs, hosts } = this.#options
    const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args)
    if (registryId !== undefined)
      switch (action) {
        case 'install': {
          const outcome = await installs.install(registryId, stated)
          const host = hosts.peek(agentIdOf(registryId))
          if (outcome === 'installed' && host?.running)
            void vscode.window.showInformationMessage(
              plainMessage(l10n.t('Restart {0} to use the new version.', name)),
            )
          return
        }
        case 'cancel':
          return installs.cancel(registryId)
        case 'remove':
          return void (await run(CommandId.removeAgent, registryId))
        case 'openRepository': {
          const repository = installs.find(registryId)?.repository
          if (repository !== undefined) await vscode.env.openExternal(vscode.Uri.parse(repository))
          return
        }
      }
    if (agentId === undefined) return
    switch (action) {
      case 'newSession':
        return void (await run(CommandId.newSessionWithAgent, agentId))
      case 'setDefault':
        return updateSetting('defaultAgent', agentId, vscode.ConfigurationTarget.Global)
      case 'signIn':
        return void (await run(CommandId.signIn, agentId))
      case 'signOut':
        return void (await run(CommandId.signOut, agentId))
      case 'configure':
        return void (await run('workbench.action.openSettings', '@id:parley.agents'))
      case 'showLog':
        return void (await run(CommandId.showAgentLog, agentId))
      case 'restart': {
        if (!vscode.workspace.isTrusted) return
        const host = hosts.get(agentId)
        return host.renew(() => host.ensure())
      }
      case 'check':
        return this.#check(agentId)
    }
  }

  async #check(agentId: string): Promise<void> {
    if (!vscode.workspace.isTrusted || this.#checks.get(agentId) === 'running') return
    this.#checks.set(agentId, 'running')
    this.#send()
    this.#checks.set(agentId, await checkAgent(this.#options.hosts.get(agentId)))
    this.#send()
  }

  #rows(): AgentRow[] {
    const { installs, definitions, hosts, accounts } = this.#options
    return agentRows({
      installs,
      agents: definitions(),
      defaultAgentId: configuredDefault(),
      isRunning: agentId => hosts.peek(agentId)?.running !== undefined,
      account: agentId => accounts.get(agentId),
      checks: this.#checks,
    })
  }

  /** Many changes at once are one message. */
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
    const { installs } = this.#options
    this.send(AgentsUpdate, {
      rows: this.#rows(),
      trusted: vscode.workspace.isTrusted,
      refreshing: this.#isRefreshing,
      registryOn: installs.isOn,
      ...(installs.problem !== undefined && { problem: installs.problem }),
    })
  }
}

/** The agent that the settings name, whether or not it is there. */
function configuredDefault(): string | undefined {
  return readSetting('defaultAgent').trim() || undefined
}
