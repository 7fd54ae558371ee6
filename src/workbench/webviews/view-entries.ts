import type * as vscode from 'vscode'
import type { AppServices } from '../../app/app-services.ts'
import {
  COMPARE_VIEW_TYPE,
  HISTORY_TAB_TYPE,
  MANAGE_AGENTS_VIEW_TYPE,
  MCP_SERVERS_VIEW_TYPE,
  PROTOCOL_VIEW_TYPE,
  TAB_VIEW_TYPE,
} from '../../app/ids.ts'
import { sideBarView, tabPanel } from './panels.ts'
import type { WebviewPage } from './webview-page.ts'

/** Connects the views that VS Code shows or restores with their models. */
export function createViewEntries(
  {
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
  >,
  extensionUri: vscode.Uri,
) {
  return {
    showSideBar: (view: vscode.WebviewView, page: WebviewPage) => sideBar.show(sideBarView(view), page),
    /** `state`: what the page stored before a reload, unchecked. */
    restoreTab(panel: vscode.WebviewPanel, page: WebviewPage, state: unknown): void {
      const shown = { panel: tabPanel(panel, extensionUri), page }
      if (panel.viewType === TAB_VIEW_TYPE) tabs.restore(shown, state)
      else if (panel.viewType === HISTORY_TAB_TYPE) historyTab.restore(shown)
      else if (panel.viewType === MANAGE_AGENTS_VIEW_TYPE) manageAgents.restore(shown)
      else if (panel.viewType === MCP_SERVERS_VIEW_TYPE) mcpPage.restore(shown)
      else if (panel.viewType === COMPARE_VIEW_TYPE) comparePage.restore(shown)
      else if (panel.viewType === PROTOCOL_VIEW_TYPE) inspector.restore(shown)
    },
  }
}
