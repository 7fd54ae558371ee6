import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Logger } from '../common/logger.ts'
import type { AgentDirectory } from '../sessions/ports.ts'
import type { AgentLogs } from './agent-logs.ts'
import type { Attachment } from './bridge/conversation.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import type { ConversationTabs } from './conversation/conversation-tabs.ts'
import { CommandId, ViewId } from './ids.ts'
import type { ProtocolTraffic } from './protocol-traffic.ts'

export interface CommandParts {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  tabs: ConversationTabs
  logs: AgentLogs
  traffic: ProtocolTraffic
  log: Logger & { show(preserveFocus?: boolean): void }
  selection: () => Attachment | undefined
  pickSession: (how: 'load' | 'resume') => Promise<void>
  refreshHistory: () => void
  /** Resolves to how many there were. */
  forgetMcpInputs: () => Promise<number>
}

/** Registers every command of package.json. A command that fails says so. */
export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { surfaces, agents, tabs, logs, traffic, log } = parts
  const shown = () => surfaces.active.controller
  const registered = new DisposableStore()
  const on = (id: string, run: (...args: unknown[]) => unknown) =>
    registered.add(
      vscode.commands.registerCommand(id, async (...args: unknown[]) => {
        try {
          return await run(...args)
        } catch (error) {
          log.error(`${id}: ${messageOf(error)}`)
          void vscode.window.showErrorMessage(messageOf(error))
        }
      }),
    )

  on(CommandId.newSession, async () => {
    await surfaces.active.reveal()
    await shown().start()
  })
  on(CommandId.newSessionWithAgent, async (agentId?: unknown) => {
    const picked = typeof agentId === 'string' ? agentId : await pickAgent(agents)
    if (picked === undefined) return
    await surfaces.active.reveal()
    await shown().start(picked)
  })
  on(CommandId.loadSession, () => parts.pickSession('load'))
  on(CommandId.resumeSession, () => parts.pickSession('resume'))
  on(CommandId.cancelTurn, () => shown().cancel())
  on(CommandId.restartAgent, async () => {
    await surfaces.active.reveal()
    await shown().restart()
  })
  on(CommandId.showAgentLog, (wanted?: unknown) => {
    const named = typeof wanted === 'string' ? wanted : undefined
    const agentId = named ?? shown().agentId ?? agents.defaultAgentId()
    if (agentId === undefined) log.show(true)
    else logs.for(agentId, agents.get(agentId)?.name ?? agentId).show(true)
  })
  on(CommandId.showProtocolTraffic, () => traffic.show())
  on(CommandId.addSelection, async () => {
    const selection = parts.selection()
    if (!selection) {
      void vscode.window.showInformationMessage(l10n.t('Select some text in an editor first.'))
      return
    }
    surfaces.active.attach(selection)
    await surfaces.active.reveal()
  })
  on(CommandId.openSettings, () =>
    vscode.commands.executeCommand('workbench.action.openSettings', '@ext:parley.parley'),
  )
  on(CommandId.openInTab, () => {
    const { controller } = surfaces.active
    const { current } = controller
    tabs.open(current)
    // it is in one place at a time
    if (current) controller.leave()
  })
  on(CommandId.openHistory, () => vscode.commands.executeCommand(`${ViewId.history}.focus`))
  on(CommandId.refreshHistory, () => parts.refreshHistory())
  on(CommandId.forgetMcpInputs, async () => {
    const count = await parts.forgetMcpInputs()
    void vscode.window.showInformationMessage(
      count === 0
        ? l10n.t('No values of MCP servers are kept.')
        : l10n.t('{0} kept values were forgotten. Each is asked for again when it is needed.', count),
    )
  })
  return registered
}

async function pickAgent(agents: AgentDirectory): Promise<string | undefined> {
  const sources = {
    settings: l10n.t('settings'),
    preset: l10n.t('found on this machine'),
    demo: l10n.t('no account needed'),
  }
  const items = agents.list().map(agent => ({
    label: `$(${agent.icon ?? 'robot'}) ${agent.name}`,
    description: sources[agent.source],
    detail: agent.description,
    agentId: agent.agentId,
  }))
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('New Session with Agent'),
    placeHolder: l10n.t('Which agent?'),
    matchOnDescription: true,
  })
  return picked?.agentId
}
