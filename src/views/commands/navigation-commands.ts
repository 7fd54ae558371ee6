import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import { ShowFind } from '../bridge/find.ts'
import { Navigate, type NavigateTo } from '../bridge/navigate.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'

const PLACES: Array<[command: string, to: NavigateTo]> = [
  [CommandId.previousTurn, 'previousTurn'],
  [CommandId.nextTurn, 'nextTurn'],
  [CommandId.firstTurn, 'first'],
  [CommandId.latest, 'latest'],
  [CommandId.nextQuestion, 'question'],
]

/** Finding and jumping in the conversation that the person works in. */
export function registerNavigationCommands(surfaces: ConversationSurfaces): vscode.Disposable {
  const registered = new DisposableStore()
  const on = (id: string, run: () => unknown) => registered.add(vscode.commands.registerCommand(id, run))
  on(CommandId.find, async () => {
    const { active } = surfaces
    if (!active.isVisible) await active.reveal()
    active.tell(ShowFind, undefined)
  })
  for (const [command, to] of PLACES) on(command, () => surfaces.active.tell(Navigate, { to }))
  return registered
}
