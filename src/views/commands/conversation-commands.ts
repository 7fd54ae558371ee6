import * as vscode from 'vscode'
import { registerEntryCommands } from './entry-commands.ts'
import { registerNavigationCommands } from './navigation-commands.ts'
import { type PlaceCommandParts, registerPlaceCommands } from './place-commands.ts'

/** The commands about what a conversation says, where one is in it, and where it is. */
export function registerConversationCommands(parts: PlaceCommandParts): vscode.Disposable {
  const { surfaces, log } = parts
  return vscode.Disposable.from(
    registerNavigationCommands(surfaces),
    registerEntryCommands(surfaces, log),
    registerPlaceCommands(parts),
  )
}
