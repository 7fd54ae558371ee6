import * as vscode from 'vscode'
import { reportErrors } from './app/commands/report-errors.ts'
import { restoreDoneSteps } from './app/done-steps.ts'
import {
  ALL_COMMANDS,
  type CommandHandlers,
  ContextKey,
  HISTORY_TAB_TYPE,
  HiddenCommandId,
  MANAGE_AGENTS_VIEW_TYPE,
  MCP_SERVERS_VIEW_TYPE,
  TAB_VIEW_TYPE,
  ViewId,
} from './app/ids.ts'
import { asPreview } from './app/page-preview.ts'
import { HAS_COMMENTS, previewFiles, SHOWN_PAGE, TABS, viewStore } from './app/storage/stores.ts'
import type { Preview } from './bridge/preview.ts'
import { DisposableStore } from './common/disposable.ts'
import type { Logger } from './common/logger.ts'
import { LAST_SESSION, sessionKey } from './common/session-key.ts'
import type { Services } from './services.ts'
import type { SessionReference } from './sessions/open-session.ts'
import { BaseFiles } from './workbench/changes/base-files.ts'
import { createCommentController } from './workbench/comments/comment-controller.ts'
import { registerChatTools } from './workbench/tools/chat-provider.ts'
import {
  AGENTS_PAGE,
  CONVERSATION_PAGE,
  HISTORY_PAGE,
  MCP_PAGE,
  WebviewPage,
  type WebviewPageOptions,
} from './workbench/webviews/webview-page.ts'
import { windowStorage } from './workbench/window-storage.ts'

let loading: Promise<Services> | undefined

/** Not the whole port, which would load more at startup. */
const dialogs = {
  info: async (text: string) => vscode.window.showInformationMessage(text),
  error: async (text: string) => vscode.window.showErrorMessage(text),
}

/**
 * Registers only what VS Code must know at startup. The services are loaded when the first view is shown or the first
 * command runs; a view's page loads at the same time.
 *
 * This file and what it imports are built as one CommonJS file, because VS Code takes several times as long to load an
 * ES module. Everything else is ES modules, which have their own copies of the code that they share with this file. So what
 * is passed between the two must not depend on `instanceof` or a module's variables.
 */
export function activate(context: vscode.ExtensionContext): void {
  const own = new DisposableStore()
  context.subscriptions.push(own)
  const log = own.add(vscode.window.createOutputChannel('Parley', { log: true }))

  const commentController = createCommentController(own)
  loading = undefined
  const services = () => {
    loading ??= import('./services.ts').then(({ createServices }) => {
      const created = createServices({ context, log, own, commentController })
      baseFiles.follow(created.tracker)
      return created
    })
    return loading
  }
  const baseFiles = own.add(new BaseFiles(async () => (await services()).tracker))
  const openPage = (
    view: vscode.WebviewView | vscode.WebviewPanel,
    options: WebviewPageOptions,
    preview?: Preview,
  ) => new WebviewPage(view, context.extensionUri, options, preview)

  own.add(
    vscode.languages.registerCodeActionsProvider(
      // the least specific selector: VS Code lists the actions of more specific ones first
      '*',
      {
        async provideCodeActions(document, range, context) {
          if (document.uri.scheme !== 'file') return []
          const { codeActions } = await import('./workbench/code-actions.ts')
          return codeActions(document, range, context)
        },
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Empty] },
    ),
  )
  const setContext = (key: string, value: unknown) => vscode.commands.executeCommand('setContext', key, value)
  setContext(ContextKey.isActive, true)
  restoreDoneSteps(windowStorage(context).global, setContext)
  if (viewStore(windowStorage(context), log).get(HAS_COMMENTS)) void services()
  own.add(
    vscode.window.registerUriHandler({
      handleUri: ({ path, query }) => vscode.commands.executeCommand(HiddenCommandId.openLink, path, query),
    }),
  )
  own.add(registerCommands(log, async () => (await services()).commands))
  const { version } = context.extension.packageJSON as { version: string }
  own.add(registerChatTools(version, async () => (await services()).chatTools))
  own.add(
    vscode.window.registerWebviewViewProvider(
      ViewId.conversation,
      {
        async resolveWebviewView(view) {
          const page = openPage(view, CONVERSATION_PAGE, previewOfSideBar(context, log))
          const { showSideBar } = await services()
          if (!page.isDisposed) showSideBar(view, page)
        },
      },
      // Retained while hidden, because the scroll position is worth more than the page's memory.
      { webviewOptions: { retainContextWhenHidden: true } },
    ),
  )
  const restoreTabs = (viewType: string, open: (panel: vscode.WebviewPanel, state: unknown) => WebviewPage) =>
    own.add(
      vscode.window.registerWebviewPanelSerializer(viewType, {
        async deserializeWebviewPanel(panel, state: unknown) {
          const page = open(panel, state)
          const { restoreTab } = await services()
          if (!page.isDisposed) restoreTab(panel, page, state)
        },
      }),
    )
  restoreTabs(TAB_VIEW_TYPE, (panel, state) =>
    openPage(panel, CONVERSATION_PAGE, previewOfTab(context, log, state)),
  )
  restoreTabs(HISTORY_TAB_TYPE, panel => openPage(panel, HISTORY_PAGE()))
  restoreTabs(MANAGE_AGENTS_VIEW_TYPE, panel => openPage(panel, AGENTS_PAGE()))
  restoreTabs(MCP_SERVERS_VIEW_TYPE, panel => openPage(panel, MCP_PAGE()))
}

/** Registers every command. The handlers are loaded by the first command that runs; they report their own errors. */
function registerCommands(log: Logger, handlers: () => Promise<CommandHandlers>): vscode.Disposable {
  const registered = ALL_COMMANDS.map(command =>
    vscode.commands.registerCommand(command, (...args: unknown[]) =>
      reportErrors(dialogs, command, log, async () => (await handlers())[command](...args)),
    ),
  )
  return vscode.Disposable.from(...registered)
}

/** VS Code disposes the subscriptions meanwhile and waits up to 5 s for this, so that agents get time to exit. */
export async function deactivate(): Promise<void> {
  await (await loading)?.processesEnded
}

/** What the side bar shows until its page's script shows the saved conversation. */
function previewOfSideBar(context: vscode.ExtensionContext, log: Logger): Preview | undefined {
  const storage = windowStorage(context)
  if (viewStore(storage, log).get(SHOWN_PAGE) === 'history') return undefined
  return savedPreview(context, log, storage.workspace.get(LAST_SESSION))
}

/** The same for a tab. `state`: the page's stored state, unchecked. */
function previewOfTab(context: vscode.ExtensionContext, log: Logger, state: unknown): Preview | undefined {
  const tabs = context.workspaceState.get<Record<string, SessionReference>>(TABS) ?? {}
  return savedPreview(context, log, tabs[String((state as { key?: unknown } | undefined)?.key)])
}

/** Only for a session that this window restores. */
function savedPreview(
  context: vscode.ExtensionContext,
  log: Logger,
  session: SessionReference | undefined,
): Preview | undefined {
  if (!session || !vscode.workspace.isTrusted) return undefined
  return asPreview(
    previewFiles(windowStorage(context), log).get(sessionKey(session.agentId, session.sessionId)),
  )
}
