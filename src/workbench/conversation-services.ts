import path from 'node:path'
import * as vscode from 'vscode'
import type { ConversationBridgeOptions } from '../app/conversation/conversation-bridge.ts'
import { ConversationSurfaces } from '../app/conversation/conversation-surface.ts'
import { ContextKey } from '../app/ids.ts'
import { DraftStore } from '../app/storage/draft-store.ts'
import { OptionMemory } from '../app/storage/option-memory.ts'
import { MementoState, WindowFiles, type WindowStates } from '../app/storage/window-states.ts'
import { type Disposable, DisposableStore } from '../common/disposable.ts'
import { FolderStore, type KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import type { ConversationController } from '../sessions/conversation-controller.ts'
import { NEW_KEY } from '../sessions/displayed-session.ts'
import { SessionIndicators } from '../sessions/session-indicators.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { MentionSearch } from './mentions/search.ts'
import { mementoStore } from './stores.ts'
import { ConversationTabs } from './webviews/conversation-tabs.ts'
import { ConversationView, type SecondPage } from './webviews/conversation-view.ts'

interface ConversationServicesOptions {
  extensionUri: vscode.Uri
  bridge: Omit<ConversationBridgeOptions, 'controller'>
  manager: SessionManager
  store: KeyValueStore
  /** Which page the side bar shows. */
  shown: KeyValueStore
  /** Each place has its own controller, which remembers its session in `store`. */
  createController: (store: KeyValueStore, newKey: string) => ConversationController
  history: SecondPage
  own: { add<T extends Disposable>(item: T): T }
}

/** The places for conversations: the view in the side bar, and any number of editor tabs. */
export function createConversationServices({
  extensionUri,
  bridge,
  manager,
  store,
  shown,
  createController,
  history,
  own,
}: ConversationServicesOptions): {
  sideBar: ConversationView
  surfaces: ConversationSurfaces
  tabs: ConversationTabs
  indicators: SessionIndicators
} {
  const indicators = own.add(
    new SessionIndicators(manager, (open): boolean => surfaces.showing(open)?.isVisible ?? false),
  )
  const controller = own.add(createController(store, NEW_KEY))
  const sideBar: ConversationView = new ConversationView(
    {
      ...bridge,
      controller,
      tabs: {
        notes: () => tabs.notes(),
        reveal: async key => surfaces.withKey(key)?.reveal(),
        onDidChange: listener => {
          const all = new DisposableStore()
          for (const event of [surfaces.onDidChange, surfaces.onDidLook, indicators.onDidChange])
            all.add(event(listener))
          return all
        },
      },
    },
    {
      onFirstShown: () => {
        // The saved conversation is shown immediately, whereas finding the agents takes as long as the shell's profile.
        void controller.restore()
        void bridge.agents.ready()
      },
      onFocus: focus => surfaces.focused(sideBar, focus),
      onReveal: () => surfaces.activate(sideBar),
      onSeen: () => surfaces.looked(),
    },
    history,
    shown,
  )
  const surfaces = own.add(new ConversationSurfaces(sideBar))
  own.add(surfaces.onDidLook(() => indicators.look()))
  const tabs = own.add(
    new ConversationTabs({ ...bridge, extensionUri, surfaces, indicators, store, createController }),
  )
  return { sideBar, surfaces, tabs, indicators }
}

interface Own {
  add<T extends Disposable>(item: T): T
}

/** Services that the composers of all conversations share. */
export function composerServices(context: vscode.ExtensionContext, log: Logger, own: Own) {
  return {
    drafts: own.add(new DraftStore(draftStorage(context, log))),
    mentions: own.add(new MentionSearch(mementoStore(context.workspaceState))),
    optionMemory: own.add(new OptionMemory(mementoStore(context.globalState))),
  }
}

/** The drafts of this workspace. A window without a workspace has no folder for files. */
function draftStorage(
  { storageUri, workspaceState }: vscode.ExtensionContext,
  log: Logger,
): { windows: WindowStates; items: KeyValueStore } {
  const store = mementoStore(workspaceState)
  if (!storageUri) return { windows: new MementoState(store, 'parley.drafts'), items: store }
  const folder = path.join(storageUri.fsPath, 'drafts')
  // Checks that the window itself responds: with VS Code in a browser, the extension host outlives its window by hours.
  const confirm = () => vscode.commands.executeCommand('setContext', ContextKey.windowIsOpen, true)
  return {
    windows: new WindowFiles({ folder, log, confirm }),
    items: new FolderStore(path.join(storageUri.fsPath, 'draft-items'), log),
  }
}
