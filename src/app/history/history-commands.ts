import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { HistorySurface } from '../../bridge/history.ts'
import type { HistoryAction } from '../../bridge/history-messages.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { SessionId } from '../../common/session-key.ts'
import { type CommandHandlers, HistoryMenuId } from '../ids.ts'

/** The argument of commands in a session's context menu: `data-vscode-context` of the session's row. */
const historyMenuContext = z.object({
  parleyAgentId: z.string().max(4096),
  parleySessionId: z.string().max(4096),
  parleyPlace: z.enum(['sideBar', 'tab']),
})

/** Returns the commands of a session's context menu in History. VS Code passes them the context of the row. */
export function historyMenuCommands(
  act: (
    action: HistoryAction | 'rename',
    agentId: string,
    sessionId: string,
    where: HistorySurface,
  ) => Promise<void>,
  copy: (session: SessionId) => Promise<void>,
  exportSession: (session: SessionId) => Promise<void>,
) {
  const rowOf = (row: unknown) => {
    const context = historyMenuContext.safeParse(row).data
    if (!context) throw new UnavailableError(l10n.t('Select a session in History first.'))
    return context
  }
  const on = (action: HistoryAction | 'rename') => async (row: unknown) => {
    const { parleyAgentId, parleySessionId, parleyPlace } = rowOf(row)
    await act(action, parleyAgentId, parleySessionId, parleyPlace)
  }
  return {
    [HistoryMenuId.show]: on('show'),
    [HistoryMenuId.load]: on('load'),
    [HistoryMenuId.resume]: on('resume'),
    [HistoryMenuId.fork]: on('fork'),
    [HistoryMenuId.rename]: on('rename'),
    [HistoryMenuId.copyLink]: async (row: unknown) => {
      const { parleyAgentId, parleySessionId } = rowOf(row)
      await copy({ agentId: parleyAgentId, sessionId: parleySessionId })
    },
    [HistoryMenuId.export]: async (row: unknown) => {
      const { parleyAgentId, parleySessionId } = rowOf(row)
      await exportSession({ agentId: parleyAgentId, sessionId: parleySessionId })
    },
    [HistoryMenuId.pin]: on('pin'),
    [HistoryMenuId.unpin]: on('unpin'),
    [HistoryMenuId.archive]: on('archive'),
    [HistoryMenuId.unarchive]: on('unarchive'),
    [HistoryMenuId.close]: on('close'),
    [HistoryMenuId.delete]: on('delete'),
  } satisfies Partial<CommandHandlers>
}
