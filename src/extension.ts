import * as vscode from 'vscode'
import { restoreDoneSteps } from './app/done-steps.ts'
import {
  ALL_COMMANDS,
  COMPARE_VIEW_TYPE,
  type CommandHandlers,
  ContextKey,
  HISTORY_TAB_TYPE,
  HiddenCommandId,
  MANAGE_AGENTS_VIEW_TYPE,
  MCP_SERVERS_VIEW_TYPE,
  PROTOCOL_VIEW_TYPE,
  TAB_VIEW_TYPE,
  ViewId,
} from './app/ids.ts'
import { asPreview } from './app/page-preview.ts'
import { reportErrors } from './app/report-errors.ts'
import {
  CODE_CACHE,
  HAS_AGENTS,
  HAS_COMMENTS,
  previewFiles,
  SHOWN_PAGE,
  TABS,
  viewStore,
  type WindowStorage,
} from './app/storage/stores.ts'
import type { Preview } from './bridge/preview.ts'
import { DisposableStore } from './common/disposable.ts'
import { CancelledError, messageOf } from './common/errors.ts'
import type { Logger } from './common/logger.ts'
import { LAST_SESSION, sessionKey } from './common/session-key.ts'
import type { Services } from './services.ts'
import type { SessionReference } from './sessions/open-session.ts'
import { BaseFiles } from './workbench/changes/base-files.ts'
import { createCommentController } from './workbench/comments/comment-controller.ts'
import { registerChatTools } from './workbench/tools/chat-provider.ts'
import { startTerminalAgents } from './workbench/tools/start-terminal-agents.ts'
import {
  AGENTS_PAGE,
  COMPARE_PAGE,
  CONVERSATION_PAGE,
  HISTORY_PAGE,
  INSPECTOR_PAGE,
  MCP_PAGE,
  WebviewPage,
  type WebviewPageOptions,
} from './workbench/webviews/webview-page.ts'
import { windowStorage } from './workbench/window-storage.ts'

/** How long a view that VS Code restores has to ask for its page before the services are loaded. Milliseconds. */
const VIEW_MS = 300

let loading: Promise<Services> | undefined

/** Only these functions, since the whole port would load more at startup. */
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

  const storage = windowStorage(context)
  const commentController = createCommentController(own)
  loading = undefined
  const services = () => {
    // give VS Code time to send messages, such as a view's page, before loading blocks the extension host
    loading ??= new Promise(resolve => setTimeout(resolve))
      .then(() => {
        // absent before Node 22.1; if VS Code has chosen a folder, Node uses that one
        process.getBuiltinModule('node:module').enableCompileCache?.(`${storage.globalFolder}/${CODE_CACHE}`)
        return import('./services.ts')
      })
      .then(
        ({ createServices }) => {
          const created = createServices({ context, log, own, commentController })
          baseFiles.follow(created.changes, created.keyOf)
          return created
        },
        // an update has deleted the files of this version, for example: reported once, and tried again when needed
        error => {
          loading = undefined
          const why = messageOf(error)
          log.error(why)
          void dialogs.error(
            vscode.l10n.t("Parley couldn't be loaded. Reload the window, or reinstall Parley. {0}", why),
          )
          throw new CancelledError()
        },
      )
    return loading
  }
  const baseFiles = own.add(new BaseFiles(services))
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
  restoreDoneSteps(storage.global, setContext)
  const shown = viewStore(storage, log)
  // let a view that VS Code restores load its page first
  if (shown.get(HAS_COMMENTS) || shown.get(HAS_AGENTS))
    setTimeout(() => own.isDisposed || reportErrors(dialogs, 'start', log, services), VIEW_MS)
  own.add(
    vscode.window.registerUriHandler({
      handleUri: ({ path, query }) => vscode.commands.executeCommand(HiddenCommandId.openLink, path, query),
    }),
  )
  own.add(registerCommands(log, async () => (await services()).commands))
  own.add(registerChatTools(context.extension.packageJSON.version, async () => (await services()).chatTools))
  const terminalAgents = async () => (await services()).terminalAgents()
  own.add(startTerminalAgents(() => reportErrors(dialogs, 'start', log, terminalAgents)))
  own.add(
    vscode.window.registerWebviewViewProvider(
      ViewId.conversation,
      {
        async resolveWebviewView(view) {
          const page = openPage(view, CONVERSATION_PAGE, previewOfSideBar(storage, log))
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
    openPage(panel, CONVERSATION_PAGE, previewOfTab(storage, log, state)),
  )
  const pages = [
    [HISTORY_TAB_TYPE, HISTORY_PAGE],
    [MANAGE_AGENTS_VIEW_TYPE, AGENTS_PAGE],
    [MCP_SERVERS_VIEW_TYPE, MCP_PAGE],
    [COMPARE_VIEW_TYPE, COMPARE_PAGE],
    [PROTOCOL_VIEW_TYPE, INSPECTOR_PAGE],
  ] as const
  for (const [type, page] of pages) restoreTabs(type, panel => openPage(panel, page()))
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
  await (await loading)?.processesEnded()
}

/** The side bar's preview, shown until the page's script runs. */
function previewOfSideBar(storage: WindowStorage, log: Logger): Preview | undefined {
  if (viewStore(storage, log).get(SHOWN_PAGE) === 'history') return undefined
  return savedPreview(storage, log, storage.workspace.get(LAST_SESSION))
}

/** The preview of a tab. `state`: the page's stored state, unchecked. */
function previewOfTab(storage: WindowStorage, log: Logger, state: unknown): Preview | undefined {
  const tabs = storage.workspace.get<Record<string, SessionReference>>(TABS) ?? {}
  return savedPreview(storage, log, tabs[String((state as { key?: unknown } | undefined)?.key)])
}

/** The preview of a session that this window restores. */
function savedPreview(
  storage: WindowStorage,
  log: Logger,
  session: SessionReference | undefined,
): Preview | undefined {
  if (!session || !vscode.workspace.isTrusted) return undefined
  return asPreview(previewFiles(storage, log).get(sessionKey(session.agentId, session.sessionId)))
}
