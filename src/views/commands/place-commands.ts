import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../../common/errors.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionIndicators } from '../../sessions/session-indicators.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import type { ConversationSurface, ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { ConversationTab } from '../conversation/conversation-tab.ts'
import type { ConversationTabs } from '../conversation/conversation-tabs.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { SessionActions } from '../session-actions.ts'
import { pickOpenSession } from './pick-open-session.ts'

export interface PlaceCommandOptions {
  surfaces: ConversationSurfaces
  sideBar: ConversationSurface
  tabs: ConversationTabs
  manager: SessionManager
  indicators: SessionIndicators
  history: HistoryList
  actions: SessionActions
}

/** Opens conversations, and moves them between the side bar and editor tabs. */
export function placeCommands(options: PlaceCommandOptions) {
  const { surfaces, sideBar, tabs, manager, indicators, history, actions } = options

  const toTab = (where: 'here' | 'beside') => {
    const { current } = sideBar.controller
    // it is in one place at a time
    if (current) sideBar.controller.leave()
    tabs.open(current, where)
  }

  return {
    [CommandId.openSession]: async () => {
      const picked = await pickOpenSession({ manager, indicators, history })
      if (!picked) return
      if ('open' in picked) await surfaces.reveal(picked.open)
      else await actions.act(picked.item.canResume ? 'resume' : 'load', picked.item)
    },
    [CommandId.newSessionInTab]: () => tabs.open(undefined).start(),
    [CommandId.openInTab]: () => {
      // from a tab: another one, to begin a session in
      if (surfaces.active instanceof ConversationTab) tabs.open(undefined)
      else toTab('here')
    },
    [CommandId.openBeside]: () => {
      if (surfaces.active instanceof ConversationTab) surfaces.active.moveBeside()
      else toTab('beside')
    },
    [CommandId.moveToSideBar]: async () => {
      const tab = surfaces.active
      if (!(tab instanceof ConversationTab))
        throw new UnavailableError(l10n.t('The conversation is already in the side bar.'))
      const { current } = tab.controller
      if (!current) throw new UnavailableError(l10n.t('No conversation is open.'))
      // before the tab goes, so that nothing thinks that nobody has it
      tab.controller.leave()
      sideBar.controller.take(current)
      tab.close()
      await sideBar.reveal()
    },
  } satisfies Partial<CommandHandlers>
}
