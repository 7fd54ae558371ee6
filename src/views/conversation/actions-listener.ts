import * as vscode from 'vscode'
import * as z from 'zod'
import { type EntryContext, RunEntryCommand } from '../bridge/actions.ts'
import type { WebviewConnection } from '../webview-connection.ts'

const runEntryCommand = z.object({
  command: z.enum(['parley.copyMessage', 'parley.editPrompt', 'parley.sendAgain']),
  key: z.string().min(1).max(256),
  entryId: z.string().max(4096),
})

/** The buttons of a conversation's entries run commands that are also in menus and in the palette. */
export function listenForActions(connection: WebviewConnection): void {
  connection.onNotification(RunEntryCommand, runEntryCommand, ({ command, key, entryId }) =>
    vscode.commands.executeCommand(command, { conversation: key, entry: entryId } satisfies EntryContext),
  )
}
