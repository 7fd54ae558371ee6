import type { AppServices } from './app-services.ts'
import {
  COMPARE_VIEW_TYPE,
  HISTORY_TAB_TYPE,
  MANAGE_AGENTS_VIEW_TYPE,
  MCP_SERVERS_VIEW_TYPE,
  PROTOCOL_VIEW_TYPE,
  TAB_VIEW_TYPE,
} from './ids.ts'
import type { PageChannel } from './webview-connection.ts'
import type { ShownTab, SideBarView } from './webviews.ts'

export type Pages = ReturnType<typeof createPages>

/** Returns the functions that connect each view that the window shows or restores with its model. */
export function createPages({
  sideBar,
  tabs,
  historyTab,
  manageAgents,
  mcpPage,
  comparePage,
  inspector,
}: Pick<
  AppServices,
  'sideBar' | 'tabs' | 'historyTab' | 'manageAgents' | 'mcpPage' | 'comparePage' | 'inspector'
>) {
  return {
    showSideBar: (view: SideBarView, page: PageChannel) => sideBar.show(view, page),
    /** `state` is the unchecked state that the page stored before a reload. */
    restoreTab(viewType: string, shown: ShownTab, state: unknown): void {
      if (viewType === TAB_VIEW_TYPE) tabs.restore(shown, state)
      else if (viewType === HISTORY_TAB_TYPE) historyTab.restore(shown)
      else if (viewType === MANAGE_AGENTS_VIEW_TYPE) manageAgents.restore(shown)
      else if (viewType === MCP_SERVERS_VIEW_TYPE) mcpPage.restore(shown)
      else if (viewType === COMPARE_VIEW_TYPE) comparePage.restore(shown)
      else if (viewType === PROTOCOL_VIEW_TYPE) inspector.restore(shown)
    },
  }
}
