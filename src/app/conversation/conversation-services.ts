import { withTimeout } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import type { ConversationStorage } from '../../history/conversation-storage.ts'
import { StoredUnsentTexts } from '../../history/unsent-texts.ts'
import type { Windows } from '../../history/windows.ts'
import { NEW_KEY } from '../../sessions/displayed-session.ts'
import { DraftStore } from '../storage/draft-store.ts'
import { OptionMemory } from '../storage/option-memory.ts'
import { type WindowStorage, workspaceName } from '../storage/stores.ts'
import type { ConversationPageOptions } from './conversation-page.ts'
import { ConversationTabs, type ConversationTabsOptions } from './conversation-tabs.ts'
import { type SecondPage, SideBar } from './side-bar.ts'

/** How long the search for agents waits until a session that an earlier window left running is shown, in milliseconds. */
const SEARCH_AFTER_MS = 1000

interface ConversationServicesOptions
  extends Pick<ConversationTabsOptions, 'surfaces' | 'indicators' | 'store' | 'createController'> {
  pageOptions: Omit<ConversationPageOptions, 'controller'>
  /** stores which page the side bar shows */
  shown: KeyValueStore
  history: SecondPage
  own: Own
}

/** Creates the surfaces for conversations: the view in the side bar, and any number of editor tabs. */
export function createConversationServices({
  pageOptions,
  surfaces,
  indicators,
  store,
  shown,
  createController,
  history,
  own,
}: ConversationServicesOptions): { sideBar: SideBar; tabs: ConversationTabs } {
  const controller = own.add(createController(store, NEW_KEY))
  const sideBar: SideBar = new SideBar(
    { ...pageOptions, controller },
    {
      onFirstShown: () => {
        // The saved conversation is shown immediately, while finding the agents takes as long as the shell's profile. A turn that continues
        // is shown first, since starting the shell would delay it.
        void withTimeout(controller.opener.restore(), SEARCH_AFTER_MS).finally(() =>
          pageOptions.agents.ready(),
        )
      },
      onFocus: focus => surfaces.focused(sideBar, focus),
      onReveal: () => surfaces.activate(sideBar),
      onSeen: () => surfaces.visibilityChanged(),
    },
    history,
    shown,
  )
  own.add(surfaces).add(sideBar)
  const tabs = own.add(
    new ConversationTabs({ ...pageOptions, surfaces, indicators, store, createController }),
  )
  return { sideBar, tabs }
}

interface Own {
  add<T extends Disposable>(item: T): T
}

/** Creates the services that the composers of all conversations share. */
export function composerServices(
  storage: WindowStorage,
  database: ConversationStorage['database'],
  windows: Windows,
  own: Own,
) {
  const texts = new StoredUnsentTexts({ database, windows, workspace: workspaceName(storage) })
  return {
    drafts: own.add(new DraftStore(texts)),
    optionMemory: own.add(new OptionMemory(storage.global)),
  }
}
