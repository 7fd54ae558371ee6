import type { Event } from '../common/event.ts'
import type { PageChannel } from './webview-connection.ts'

/** The view in the side bar, as the window shows it. */
export interface SideBarView {
  /** Whether the view is visible. {@link onDidChangeVisibility} fires when this changes. */
  readonly visible: boolean
  readonly onDidChangeVisibility: Event<boolean>
  readonly onDidDispose: Event<void>
  /** Shows a number on the view's icon; 0 hides it. */
  setBadge(count: number, tooltip: string): void
}

/** The icons of tabs, in `media/`. */
export type TabIcon = 'parley' | 'parley-waiting' | 'parley-running' | 'parley-failed' | 'parley-done'

export interface TabState {
  readonly visible: boolean
  /** Whether the webview is the active editor. */
  readonly active: boolean
}

/** An editor tab with a page, as the window shows it. */
export interface TabPanel {
  /** Fires when the tab became visible or hidden, or active or inactive. */
  readonly onDidChangeState: Event<TabState>
  readonly onDidClose: Event<void>
  setTitle(title: string): void
  setIcon(icon: TabIcon): void
  reveal(): void
  /** Moves the tab to the editor group beside. Creates the group if necessary. */
  moveBeside(): void
  close(): void
}

/** A tab, its initial state, and the channel to its page. */
export interface ShownTab {
  panel: TabPanel
  state: TabState
  page: PageChannel
}

export interface TabOptions {
  /** The type by which the window restores the tab after a reload. */
  viewType: string
  page: 'conversation' | 'history' | 'agents' | 'mcp' | 'compare' | 'inspector'
  where?: 'here' | 'beside'
  /** Keeps the page while the tab is hidden. */
  retain?: boolean
}
