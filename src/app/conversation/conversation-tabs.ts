import { Owner } from '../../common/disposable.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { LAST_SESSION, sessionKey } from '../../common/session-key.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { NEW_KEY } from '../../sessions/displayed-session.ts'
import type { OpenSession, SessionReference } from '../../sessions/open-session.ts'
import type { SessionIndicators } from '../../sessions/session-indicators.ts'
import { TAB_VIEW_TYPE } from '../ids.ts'
import { TABS } from '../storage/stores.ts'
import type { ShownTab } from '../webviews.ts'
import type { ConversationPageOptions } from './conversation-page.ts'
import type { ConversationSurface, ConversationSurfaces } from './conversation-surface.ts'
import { ConversationTab } from './conversation-tab.ts'
import { tabTitles } from './tab-titles.ts'

const MAX_STORED_TABS = 100

export interface ConversationTabsOptions extends Omit<ConversationPageOptions, 'controller'> {
  surfaces: ConversationSurfaces
  indicators: SessionIndicators
  store: KeyValueStore
  createController: (store: KeyValueStore, newKey: string) => ConversationController
}

/** Opens conversations in editor tabs, and restores them after a reload. */
export class ConversationTabs extends Owner {
  readonly #options: ConversationTabsOptions
  /** the keys of the drafts of tabs without a conversation */
  readonly #newKeys = new Set<string>()
  readonly #tabs = new Set<ConversationTab>()

  constructor(options: ConversationTabsOptions) {
    super()
    this.#options = options
  }

  /** Returns the tab that this surface is, if any. */
  find(surface: ConversationSurface): ConversationTab | undefined {
    return [...this.#tabs].find(tab => tab === surface)
  }

  /** The tab that is the active editor. */
  get active(): ConversationTab | undefined {
    return [...this.#tabs].find(tab => tab.isActive)
  }

  /** Opens a tab with the session, or an empty tab in which a session can be started. */
  open(open: OpenSession | undefined, where: 'here' | 'beside' = 'here'): ConversationController {
    const shown = this.#options.workbench.openTab({
      viewType: TAB_VIEW_TYPE,
      page: 'conversation',
      where,
      retain: true,
    })
    const tab = this.#tab(shown, this.#freeKey())
    // VS Code gives a page the focus only once, possibly before the page has loaded
    tab.focusComposer()
    if (open) tab.controller.take(open)
    return tab.controller
  }

  /** Restores a tab after a reload. `state`: the page's stored state, unchecked. */
  restore(shown: ShownTab, state: unknown): void {
    const key = keyIn(state)
    const reference = key === undefined ? undefined : this.#stored()[key]
    const mine = key !== undefined && isNewKey(key) && !this.#newKeys.has(key) ? key : this.#freeKey()
    const { controller } = this.#tab(shown, mine)
    if (!reference) return
    // if another view has already restored the conversation, this tab would be empty
    if (this.#options.surfaces.elsewhere(reference, controller)) shown.panel.close()
    else void controller.opener.restore(reference)
  }

  /** Returns the key of an unused draft. Each empty tab has its own draft; the next empty tab gets the draft of a closed one. */
  #freeKey(): string {
    let number = 2
    while (this.#newKeys.has(newKeyOf(number))) number += 1
    return newKeyOf(number)
  }

  #tab(shown: ShownTab, newKey: string): ConversationTab {
    const { surfaces, indicators, createController, ...options } = this.#options
    this.#newKeys.add(newKey)
    const controller = createController(
      { get: () => undefined, set: (key, value) => this.#keep(key, value) },
      newKey,
    )
    const tab: ConversationTab = new ConversationTab(
      shown,
      { ...options, controller },
      indicators,
      focus => surfaces.focused(tab, focus),
      () => surfaces.activate(tab),
      () => surfaces.visibilityChanged(),
      () => this.#updateTitles(),
    )
    surfaces.add(tab)
    this.#tabs.add(tab)
    this.#updateTitles()
    this.register(tab)
    shown.panel.onDidClose(() => {
      // a closed tab isn't restored, so its preview is no longer kept up to date
      options.previews.remove(controller.key)
      surfaces.remove(tab)
      this.#newKeys.delete(newKey)
      this.#tabs.delete(tab)
      this.owned.release(tab)
      this.#updateTitles()
    })
    return tab
  }

  #updateTitles(): void {
    const tabs = [...this.#tabs]
    const titles = tabTitles(tabs.map(tab => tab.titled))
    for (const [i, tab] of tabs.entries()) tab.title = titles[i]!
  }

  #stored(): Record<string, SessionReference> {
    return this.#options.store.get<Record<string, SessionReference>>(TABS) ?? {}
  }

  /** Stores a reference to the session that the tab shows. */
  #keep(name: string, value: unknown): void {
    if (name !== LAST_SESSION || value === undefined) return
    const reference = value as SessionReference
    const key = sessionKey(reference.agentId, reference.sessionId)
    const { [key]: _, ...others } = this.#stored()
    const latest = [...Object.entries(others).slice(1 - MAX_STORED_TABS), [key, reference] as const]
    this.#options.store.set(TABS, Object.fromEntries(latest))
  }
}

/** Returns the key in a page's stored state, which may contain anything. */
function keyIn(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('key' in state)) return undefined
  return typeof state.key === 'string' ? state.key : undefined
}

function newKeyOf(number: number): string {
  return `${NEW_KEY} ${number}`
}

function isNewKey(key: string): boolean {
  return /^new \d+$/.test(key)
}
