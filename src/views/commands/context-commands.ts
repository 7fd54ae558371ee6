import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { UnavailableError } from '../../common/errors.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import { selectionAttachment, terminalAttachment } from '../../editor/mentions/vscode-attachments.ts'
import { menuAttachments } from '../../editor/mentions/vscode-menu-context.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'

/** What of the editor goes into the conversation that the user works in, from menus, keys and the palette. */
export function contextCommands(surfaces: ConversationSurfaces) {
  const attach = async (attachments: readonly Attachment[], none: string) => {
    if (attachments.length === 0) throw new UnavailableError(none)
    for (const attachment of attachments) surfaces.active.attach(attachment)
    await surfaces.active.reveal()
  }
  return {
    [CommandId.addSelection]: () => {
      const selection = selectionAttachment()
      return attach(selection ? [selection] : [], l10n.t('Select text in an editor first.'))
    },
    [CommandId.addTerminalSelection]: async () => {
      const selection = await terminalAttachment()
      return attach(selection ? [selection] : [], l10n.t('Select text in the terminal first.'))
    },
    [CommandId.addFile]: async (...args) =>
      attach(
        await menuAttachments(args.length > 0 ? args : activeFile()),
        l10n.t('Open or select a file on this machine first.'),
      ),
    [CommandId.addToConversation]: async (...args) =>
      attach(
        await menuAttachments(args),
        l10n.t("There's nothing here that can be added to the conversation."),
      ),
  } satisfies Partial<CommandHandlers>
}

function activeFile(): vscode.Uri[] {
  const active = vscode.window.tabGroups.activeTabGroup.activeTab?.input
  if (active instanceof vscode.TabInputText || active instanceof vscode.TabInputCustom) return [active.uri]
  const document = vscode.window.activeTextEditor?.document
  return document ? [document.uri] : []
}
