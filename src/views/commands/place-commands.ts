import * as l10n from '@vscode/l10n'
import type * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import type { SessionMarks } from '../../sessions/session-marks.ts'
import type { ConversationSurface, ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { ConversationTab } from '../conversation/conversation-tab.ts'
import type { ConversationTabs } from '../conversation/conversation-tabs.ts'
import { CommandId } from '../ids.ts'
import type { SessionActions } from '../session-actions.ts'
import { pickOpenSession } from './pick-open-session.ts'
import { registerCommand } from './register-command.ts'

export interface PlaceCommandParts {
  surfaces: ConversationSurfaces
  sideBar: ConversationSurface
  tabs: ConversationTabs
  manager: SessionManager
  marks: SessionMarks
  history: HistoryList
  actions: SessionActions
  log: Logger
}

/** Which conversation is where: from one to another, and each to the place that a person wants it in. */
export function registerPlaceCommands(parts: PlaceCommandParts): vscode.Disposable {
  const { surfaces, sideBar, tabs, manager, marks, history, actions, log } = parts
  const registered = new DisposableStore()
  const on = (id: string, run: () => unknown) => registered.add(registerCommand(log, id, () => run()))

  const toTab = (where: 'here' | 'beside') => {
    const { current } = sideBar.controller
    // it is in one place at a time
    if (current) sideBar.controller.leave()
    tabs.open(current, where)
  }

  on(CommandId.openSession, async () => {
    const picked = await pickOpenSession({ manager, marks, history })
    if (!picked) return
    if ('open' in picked) await surfaces.reveal(picked.open)
    else await actions.act(picked.item.canResume ? 'resume' : 'load', picked.item)
  })
  on(CommandId.openInTab, () => {
    // from a tab: another one, to begin a session in
    if (surfaces.active instanceof ConversationTab) tabs.open(undefined)
    else toTab('here')
  })
  on(CommandId.openBeside, () => {
    if (surfaces.active instanceof ConversationTab) surfaces.active.moveBeside()
    else toTab('beside')
  })
  on(CommandId.moveToSideBar, async () => {
    const tab = surfaces.active
    if (!(tab instanceof ConversationTab)) return
    const { current } = tab.controller
    if (!current) throw new Error(l10n.t('There is no conversation.'))
    // before the tab goes, so that nothing thinks that nobody has it
    tab.controller.leave()
    sideBar.controller.take(current)
    tab.close()
    await sideBar.reveal()
  })
  return registered
}
