import * as vscode from 'vscode'
import type { Pages } from '../../app/pages.ts'
import type { ShownTab, SideBarView, TabOptions, TabPanel, TabState } from '../../app/webviews.ts'
import {
  AGENTS_PAGE,
  COMPARE_PAGE,
  CONVERSATION_PAGE,
  HISTORY_PAGE,
  INSPECTOR_PAGE,
  MCP_PAGE,
  WebviewPage,
} from './webview-page.ts'

const PAGES = {
  conversation: () => CONVERSATION_PAGE,
  history: HISTORY_PAGE,
  agents: AGENTS_PAGE,
  mcp: MCP_PAGE,
  compare: COMPARE_PAGE,
  inspector: INSPECTOR_PAGE,
}

/** Opens an editor tab with one of Parley's pages. */
export function openTab(
  extensionUri: vscode.Uri,
  { viewType, page, where = 'here', retain = false }: TabOptions,
): ShownTab {
  const options = PAGES[page]()
  const column = where === 'here' ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside
  const panel = vscode.window.createWebviewPanel(viewType, options.title, column, {
    retainContextWhenHidden: retain,
  })
  return shownTab(panel, new WebviewPage(panel, extensionUri, options), extensionUri)
}

function shownTab(panel: vscode.WebviewPanel, page: WebviewPage, extensionUri: vscode.Uri): ShownTab {
  return { panel: tabPanel(panel, extensionUri), state: stateOf(panel), page }
}

function stateOf({ visible, active }: vscode.WebviewPanel): TabState {
  return { visible, active }
}

/** Returns an interface to a tab of VS Code for the models of the views. */
function tabPanel(panel: vscode.WebviewPanel, extensionUri: vscode.Uri): TabPanel {
  return {
    onDidChangeState: listener => panel.onDidChangeViewState(() => listener(stateOf(panel))),
    onDidClose: listener => panel.onDidDispose(listener),
    setTitle(title) {
      panel.title = title
    },
    setIcon(name) {
      // unlike the activity bar's icon, a tab's icon isn't recolored, so there is a file for each kind of theme
      const file = (theme: string) => vscode.Uri.joinPath(extensionUri, 'media', `${name}-${theme}.svg`)
      panel.iconPath = { light: file('light'), dark: file('dark') }
    },
    reveal: () => panel.reveal(),
    moveBeside: () => panel.reveal(vscode.ViewColumn.Beside),
    close: () => panel.dispose(),
  }
}

/** Returns an interface to the view in VS Code's side bar for its model. */
function sideBarView(view: vscode.WebviewView): SideBarView {
  return {
    visible: view.visible,
    onDidChangeVisibility: listener => view.onDidChangeVisibility(() => listener(view.visible)),
    onDidDispose: listener => view.onDidDispose(listener),
    setBadge(value, tooltip) {
      view.badge = value > 0 ? { value, tooltip } : undefined
    },
  }
}

/** Returns functions that connect the views that VS Code shows or restores with their models. */
export function createViewEntries(pages: Pages, extensionUri: vscode.Uri) {
  return {
    showSideBar: (view: vscode.WebviewView, page: WebviewPage) => pages.showSideBar(sideBarView(view), page),
    /** `state`: what the page stored before a reload, unchecked. */
    restoreTab: (panel: vscode.WebviewPanel, page: WebviewPage, state: unknown) =>
      pages.restoreTab(panel.viewType, shownTab(panel, page, extensionUri), state),
  }
}
