import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { CatalogAgent } from '../../agents/agent-catalog.ts'
import { agentIdOf } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import { readSetting, updateSetting } from '../../agents/vscode-settings.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { AgentHosts } from '../../sessions/hosts/agent-host.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import {
  type AgentAction,
  type AgentCheck,
  type AgentRow,
  AgentsAct,
  AgentsReady,
  AgentsRefresh,
  AgentsUpdate,
} from '../bridge/agents.ts'
import { nothing } from '../bridge/conversation-messages.ts'
import { agentsAct } from '../bridge/incoming-agents.ts'
import { CommandId, MANAGE_AGENTS_VIEW_TYPE } from '../ids.ts'
import { WebviewConnection } from '../webview-connection.ts'
import { AGENTS_PAGE, WebviewPage } from '../webview-page.ts'
import { agentRows } from './agent-rows.ts'
import { checkAgent } from './check-agent.ts'

export interface ManageAgentsOptions {
  extensionUri: vscode.Uri
  installs: InstallManager
  agents: AgentDirectory
  /** The agents of the catalog, with how they start. */
  definitions: () => readonly CatalogAgent[]
  hosts: AgentHosts
  accounts: Accounts
  log: Logger
}

/** The editor tab *Manage Agents*: one in each window. */
export class ManageAgents extends Owner {
  readonly #options: ManageAgentsOptions
  readonly #checks = new Map<string, AgentCheck | 'running'>()
  #panel: vscode.WebviewPanel | undefined
  #connection: WebviewConnection | undefined
  #isRefreshing = false
  #isScheduled = false

  constructor(options: ManageAgentsOptions) {
    super()
    this.#options = options
    this.register({ dispose: () => this.#panel?.dispose() })
  }

  /** Opens the tab, or shows it. The user looks for agents: the registry is read. */
  open(): void {
    if (this.#panel) {
      this.#panel.reveal()
      return
    }
    const options = AGENTS_PAGE()
    const { Active } = vscode.ViewColumn
    const panel = vscode.window.createWebviewPanel(MANAGE_AGENTS_VIEW_TYPE, options.title, Active)
    this.#show(panel, new WebviewPage(panel, this.#options.extensionUri, options), true)
  }

  /** Brings the tab back after a reload. Nobody asked for anything new: the registry is as it was. */
  restore(panel: vscode.WebviewPanel, page: WebviewPage): void {
    if (this.#panel) panel.dispose()
    else this.#show(panel, page, false)
  }

  /** `isAsked`: the user opened the tab, so the registry is read once. */
  #show(panel: vscode.WebviewPanel, page: WebviewPage, isAsked: boolean): void {
    const { extensionUri, installs, agents, hosts, accounts, log } = this.#options
    this.#panel = panel
    const icon = (file: string) => vscode.Uri.joinPath(extensionUri, 'media', file)
    panel.iconPath = { light: icon('parley-light.svg'), dark: icon('parley-dark.svg') }
    const own = new DisposableStore()
    const connection = own.add(new WebviewConnection(page, log))
    this.#connection = connection
    // a tab that was hidden loads its page anew
    let isWanted = isAsked
    connection.onNotification(AgentsReady, nothing, () => {
      const readsRegistry = isWanted
      isWanted = false
      this.#send()
      return this.#load(readsRegistry)
    })
    connection.onNotification(AgentsRefresh, nothing, () => this.#load(true))
    connection.onNotification(AgentsAct, agentsAct, async ({ action, key }) => {
      const row = this.#rows().find(one => one.key === key)
      if (!row) return
      await this.#act(action, row).catch((error: unknown) => {
        void vscode.window.showErrorMessage(plainMessage(messageOf(error)))
      })
    })
    connection.listen()
    for (const event of [installs.onDidChange, agents.onDidChange, hosts.onDidChange, accounts.onDidChange])
      own.add(event(() => this.#schedule()))
    own.add(panel.onDidChangeViewState(() => this.#send()))
    panel.onDidDispose(() => {
      own.dispose()
      this.#panel = undefined
      this.#connection = undefined
    })
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
    if (!this.#panel?.visible) return
    const { installs } = this.#options
    this.#connection?.send(AgentsUpdate, {
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
