import type * as vscode from 'vscode'
import type { Disposable } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import { MentionSearch } from '../editor/mentions/vscode-search.ts'
import { registerContextCommands } from './commands/context-commands.ts'
import { registerOptionCommands } from './commands/option-commands.ts'
import type { ConversationSurfaces } from './conversation/conversation-surface.ts'
import { KeptDrafts } from './storage/kept-drafts.ts'
import { keepForDrafts, keepIn } from './storage/kept-state.ts'
import { OptionMemory } from './storage/option-memory.ts'

interface Own {
  add<T extends Disposable>(item: T): T
}

/** What the composers of all conversations share. */
export function composerParts(context: vscode.ExtensionContext, log: Logger, own: Own) {
  return {
    drafts: own.add(new KeptDrafts(keepForDrafts(context, log))),
    mentions: own.add(new MentionSearch()),
    optionMemory: own.add(new OptionMemory(keepIn(context.globalState))),
  }
}

/** The commands for the composer of the conversation that the person works in. */
export function registerComposerCommands(
  surfaces: ConversationSurfaces,
  memory: OptionMemory,
  log: Logger,
  own: Own,
): void {
  own.add(registerContextCommands(surfaces, log))
  own.add(registerOptionCommands({ surfaces, memory, log }))
}
