import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentLogs } from '../agents/agent-logs.ts'
import type { ProtocolTraffic } from '../agents/protocol-traffic.ts'
import type { Attachment } from '../bridge/conversation.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId, ViewId } from '../ids.ts'
import { pickAgent } from './pick-agent.ts'
import { registerCommand } from './register-command.ts'

export interface CommandParts {
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  logs: AgentLogs
  traffic: ProtocolTraffic
  log: Logger & { show(preserveFocus?: boolean): void }
  selection: () => Attachment | undefined
  pickSession: (how: 'load' | 'resume') => Promise<void>
  refreshHistory: () => void
  /** Resolves to how many there were. */
  forgetMcpInputs: () => Promise<number>
}

/** The commands that need no more than what is shown: of agents, sessions, logs and settings. */
export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { surfaces, agents, logs, traffic, log } = parts
  const shown = () => surfaces.active.controller
  const registered = new DisposableStore()
  const on = (id: string, run: (...args: unknown[]) => unknown) =>
    registered.add(registerCommand(log, id, run))

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
