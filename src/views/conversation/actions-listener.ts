import * as vscode from 'vscode'
import { type EntryContext, RunEntryCommand } from '../bridge/actions.ts'
import { runEntryCommand } from '../bridge/incoming-actions.ts'
import type { WebviewConnection } from '../webview-connection.ts'

/** The buttons of a conversation's entries run commands that are also in menus and in the palette. */
export function listenForActions(connection: WebviewConnection): void {
  connection.onNotification(RunEntryCommand, runEntryCommand, ({ command, key, entryId }) =>
    vscode.commands.executeCommand(command, { conversation: key, entry: entryId } satisfies EntryContext),
  )
}
