import * as l10n from '@vscode/l10n'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import { UnavailableError } from '../../common/errors.ts'
import { isSettingName } from '../../common/settings.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { HistoryTab } from '../history/history-tab.ts'
import { type CommandHandlers, CommandId, HiddenCommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { pickAgent, selectDefaultAgent } from './pick-agent.ts'

export interface GeneralCommandOptions {
  workbench: Workbench
  settings: SettingsSource
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  accounts: Pick<Accounts, 'get'>
  /** Shows the log of an agent; without an id, Parley's own log. */
  showLog: (agentId: string | undefined) => void
  showTraffic: () => void
  /** The path of the help's first page. */
  help: string
  refreshHistory: () => void
  deleteSessions: () => Promise<void>
  exportAll: () => Promise<void>
  importConversations: () => Promise<void>
  sideBar: { showHistory(): Promise<void> }
  historyTab: Pick<HistoryTab, 'open'>
  /** Deletes the stored inputs of MCP servers. Resolves to their number. */
  forgetMcpInputs: () => Promise<number>
}

/** Commands for sessions, agents, logs, settings and History. */
export function generalCommands(options: GeneralCommandOptions) {
  const { workbench, surfaces, agents, accounts } = options
  const shown = () => surfaces.active.controller
  return {
    [CommandId.newSession]: () => surfaces.open(surfaces.active, opener => opener.start()),
    [CommandId.newSessionWithAgent]: async (agentId?: unknown) => {
      const title = l10n.t('New Session with Agent')
      const picked =
        typeof agentId === 'string' ? agentId : await pickAgent(workbench, agents, accounts, title)
      if (picked === undefined) return
      await surfaces.open(surfaces.active, opener => opener.start(picked))
    },
    [CommandId.selectDefaultAgent]: () => selectDefaultAgent(workbench, options.settings, agents, accounts),
    [CommandId.cancelTurn]: () => {
      const controller = shown()
      const { current, phase } = controller
      const isAtWork = phase === 'starting' || phase === 'loading' || isRunning(current)
      if (!isAtWork) throw new UnavailableError(l10n.t('No turn is running.'))
      controller.cancel()
    },
    [CommandId.restartAgent]: async () => {
      if (shown().agentId === undefined && agents.defaultAgentId() === undefined)
        throw new UnavailableError(l10n.t('No agent is running. Start a session first.'))
      await surfaces.active.reveal()
      await shown().opener.restart()
    },
    [CommandId.showAgentLog]: (wanted?: unknown) => {
      const named = typeof wanted === 'string' ? wanted : undefined
      options.showLog(named ?? shown().agentId ?? agents.defaultAgentId())
    },
    [CommandId.showHelp]: () => workbench.editors.previewMarkdown(options.help),
    [CommandId.showProtocolTraffic]: () => options.showTraffic(),
    [CommandId.openSettings]: (name?: unknown) =>
      workbench.settings.open(isSettingName(name) ? name : undefined),
    [CommandId.openHistory]: () => options.sideBar.showHistory(),
    [HiddenCommandId.focusFormerHistory]: () => options.sideBar.showHistory(),
    [CommandId.openHistoryInTab]: () => options.historyTab.open(),
    [CommandId.showConversation]: () => surfaces.active.reveal(),
    [CommandId.refreshHistory]: async () => {
      await options.sideBar.showHistory()
      options.refreshHistory()
    },
    [CommandId.deleteSessions]: () => options.deleteSessions(),
    [CommandId.exportAll]: () => options.exportAll(),
    [CommandId.importConversations]: () => options.importConversations(),
    [CommandId.forgetMcpInputs]: async () => {
      const count = await options.forgetMcpInputs()
      void workbench.dialogs.info(
        count === 0
          ? l10n.t('No values for MCP servers are stored.')
          : count === 1
            ? l10n.t("1 stored value was deleted. Parley asks for it again when it's needed.")
            : l10n.t(
                "{0} stored values were deleted. Parley asks for each one again when it's needed.",
                count,
              ),
      )
    },
  } satisfies Partial<CommandHandlers>
}

function isRunning(open: OpenSession | undefined): boolean {
  return open !== undefined && open.session.state.activity !== 'idle'
}
