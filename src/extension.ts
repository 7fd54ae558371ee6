import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from './common/disposable.ts'
import { CancelledError, messageOf, UnavailableError } from './common/errors.ts'
import type { Logger } from './common/logger.ts'
import { plainMessage } from './common/plain-message.ts'
import { BaseFiles } from './editor/changes/vscode-base-files.ts'
import type { Services } from './services.ts'
import {
  ALL_COMMANDS,
  type CommandHandlers,
  HISTORY_TAB_TYPE,
  MANAGE_AGENTS_VIEW_TYPE,
  TAB_VIEW_TYPE,
  ViewId,
} from './views/ids.ts'
import {
  AGENTS_PAGE,
  CONVERSATION_PAGE,
  HISTORY_PAGE,
  WebviewPage,
  type WebviewPageOptions,
} from './views/webview-page.ts'

let loading: Promise<Services> | undefined

/**
 * Registers only what VS Code must know at startup. The services are loaded when the first view is shown or the first
 * command runs; a view's page loads at the same time.
 */
export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle })
  const own = new DisposableStore()
  context.subscriptions.push(own)
  const log = own.add(vscode.window.createOutputChannel('Parley', { log: true }))

  loading = undefined
  const services = () => {
    loading ??= import('./services.ts').then(({ createServices }) => {
      const created = createServices({ context, log, own })
      baseFiles.follow(created.tracker)
      return created
    })
    return loading
  }
  const baseFiles = own.add(new BaseFiles(async () => (await services()).tracker))
  const openPage = (view: vscode.WebviewView | vscode.WebviewPanel, options: WebviewPageOptions) =>
    new WebviewPage(view, context.extensionUri, options)

  own.add(
    vscode.languages.registerCodeActionsProvider(
      { scheme: 'file' },
      {
        async provideCodeActions(document, range, context) {
          const { codeActions } = await import('./views/code-actions.ts')
          return codeActions(document, range, context)
        },
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Empty] },
    ),
  )
  own.add(registerCommands(log, async () => (await services()).commands))
  own.add(
    vscode.window.registerWebviewViewProvider(
      ViewId.conversation,
      {
        async resolveWebviewView(view) {
          const page = openPage(view, CONVERSATION_PAGE)
          const { sideBar } = await services()
          if (!page.isDisposed) sideBar.show(view, page)
        },
      },
      // Retained while hidden, because the scroll position is worth more than the page's memory.
      { webviewOptions: { retainContextWhenHidden: true } },
    ),
  )
  own.add(
    vscode.window.registerWebviewPanelSerializer(HISTORY_TAB_TYPE, {
      async deserializeWebviewPanel(panel) {
        const page = openPage(panel, HISTORY_PAGE())
        const { historyTab } = await services()
        if (!page.isDisposed) historyTab.restore(panel, page)
      },
    }),
  )
  own.add(
    vscode.window.registerWebviewPanelSerializer(TAB_VIEW_TYPE, {
      async deserializeWebviewPanel(panel, state: unknown) {
        const page = openPage(panel, CONVERSATION_PAGE)
        const { tabs } = await services()
        if (!page.isDisposed) tabs.restore(panel, page, state)
      },
    }),
  )
  own.add(
    vscode.window.registerWebviewPanelSerializer(MANAGE_AGENTS_VIEW_TYPE, {
      async deserializeWebviewPanel(panel) {
        const page = openPage(panel, AGENTS_PAGE())
        const { manageAgents } = await services()
        if (!page.isDisposed) manageAgents.restore(panel, page)
      },
    }),
  )
}

/**
 * Registers every command. The handlers are loaded by the first command that runs. A handler that throws is reported to
 * the user and in the log, unless the user canceled; its command then returns `undefined`. An {@link UnavailableError}
 * is shown as information.
 */
function registerCommands(log: Logger, handlers: () => Promise<CommandHandlers>): vscode.Disposable {
  const registered = ALL_COMMANDS.map(command =>
    vscode.commands.registerCommand(command, async (...args: unknown[]) => {
      try {
        return await (await handlers())[command](...args)
      } catch (error) {
        if (error instanceof CancelledError) return undefined
        if (error instanceof UnavailableError) {
          void vscode.window.showInformationMessage(plainMessage(error.message))
          return undefined
        }
        log.error(`${command}: ${messageOf(error)}`)
        void vscode.window.showErrorMessage(plainMessage(messageOf(error)))
        return undefined
      }
    }),
  )
  return vscode.Disposable.from(...registered)
}

/** VS Code disposes the subscriptions meanwhile and waits up to 5 s for this, so that agents get time to exit. */
export async function deactivate(): Promise<void> {
  await (await loading)?.processesEnded
}
