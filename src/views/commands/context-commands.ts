import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { rememberPicked } from '../../editor/mentions/vscode-sources.ts'
import { attachmentsFor } from '../../editor/mentions/vscode-take.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'

/**
 * *Add File to Conversation*: what is selected in the explorer, the tab that was pressed, or the file of the active
 * editor.
 */
export function contextCommands(surfaces: ConversationSurfaces) {
  return {
    [CommandId.addFile]: async (one?: unknown, several?: unknown) => {
      const uris = urisOf(one, several).filter(uri => uri.scheme === 'file')
      rememberPicked(uris)
      const attachments = await attachmentsFor(uris)
      if (attachments.length === 0) {
        void vscode.window.showInformationMessage(l10n.t('Open or select a file on this machine first.'))
        return
      }
      for (const attachment of attachments) surfaces.active.attach(attachment)
      await surfaces.active.reveal()
    },
  } satisfies Partial<CommandHandlers>
}

/** The explorer gives the one that was pressed and all that are selected; a tab gives its own. */
function urisOf(one: unknown, several: unknown): vscode.Uri[] {
  const selected = Array.isArray(several) ? several.filter(uri => uri instanceof vscode.Uri) : []
  if (selected.length > 0) return selected
  if (one instanceof vscode.Uri) return [one]
  const active = vscode.window.tabGroups.activeTabGroup.activeTab?.input
  if (active instanceof vscode.TabInputText || active instanceof vscode.TabInputCustom) return [active.uri]
  const document = vscode.window.activeTextEditor?.document
  return document ? [document.uri] : []
}
