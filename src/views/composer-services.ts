import type * as vscode from 'vscode'
import type { Disposable } from '../common/disposable.ts'
import type { Logger } from '../common/logger.ts'
import { MentionSearch } from '../editor/mentions/vscode-search.ts'
import { DraftStore } from './storage/draft-store.ts'
import { keepIn, storageForDrafts } from './storage/kept-state.ts'
import { OptionMemory } from './storage/option-memory.ts'

interface Own {
  add<T extends Disposable>(item: T): T
}

/** What the composers of all conversations share. */
export function composerServices(context: vscode.ExtensionContext, log: Logger, own: Own) {
  return {
    drafts: own.add(new DraftStore(storageForDrafts(context, log))),
    mentions: own.add(new MentionSearch(keepIn(context.workspaceState))),
    optionMemory: own.add(new OptionMemory(keepIn(context.globalState))),
  }
}
