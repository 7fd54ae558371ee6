import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { localFolders } from '../../agents/vscode-configuration.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { Activities } from '../../sessions/activities.ts'
import type { HistoryList } from '../../sessions/history-list.ts'
import * as bridge from '../bridge/history.ts'
import * as incoming from '../bridge/incoming.ts'
import { CommandId, ViewId } from '../ids.ts'
import type { SessionActions } from '../session-actions.ts'
import { WebviewConnection } from '../webview-connection.ts'
import { openPage } from '../webview-html.ts'
import { type HistorySurroundings, historyState } from './rows.ts'

export interface HistoryViewParts {
  history: HistoryList
  activities: Activities
  actions: SessionActions
  log: Logger
}

/** The commands of Parley that a webview may run. */
const VIEW_COMMANDS = new Set<string>(Object.values(CommandId))

/** The History view: the sessions of every agent, sent whole when they changed and somebody looks. */
export class HistoryView extends Owner implements vscode.WebviewViewProvider {
  readonly #extensionUri: vscode.Uri
  readonly #parts: HistoryViewParts
  #view: vscode.WebviewView | undefined
  #connection: WebviewConnection | undefined
  #scheduled = false

  constructor(extensionUri: vscode.Uri, parts: HistoryViewParts) {
    super()
    this.#extensionUri = extensionUri
    this.#parts = parts
    this.register(vscode.window.registerWebviewViewProvider(ViewId.history, this))
    this.register(parts.history.onDidChange(() => this.#schedule()))
    this.register(parts.activities.onDidChange(() => this.#schedule()))
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view
    const connection = new WebviewConnection(view.webview, this.#parts.log)
    this.#connection = connection
    const { history, actions } = this.#parts
    connection.onNotification(bridge.HistoryReady, incoming.nothing, () => {
      void history.refresh()
      this.#send()
    })
    connection.onNotification(bridge.HistoryRefresh, incoming.nothing, () => history.refresh())
    connection.onNotification(bridge.HistoryMore, incoming.historyMore, ({ agentId }) =>
      history.more(agentId),
    )
    connection.onNotification(bridge.HistoryStartAgent, incoming.historyStartAgent, ({ agentId }) =>
      tell(history.start(agentId)),
    )
    connection.onNotification(bridge.HistoryAct, incoming.historyAct, ({ action, agentId, sessionId }) => {
      const item = history.find(agentId, sessionId)
      return item && tell(actions.act(action, item))
    })
    connection.onNotification(bridge.HistoryCommand, incoming.runCommand, ({ command }) => {
      if (VIEW_COMMANDS.has(command)) return vscode.commands.executeCommand(command)
    })
    connection.listen()
    openPage(view.webview, this.#extensionUri, { name: 'history', title: l10n.t('History') })
    const visibility = view.onDidChangeVisibility(() => {
      if (!view.visible) return
      void history.refresh()
      this.#send()
    })
    view.onDidDispose(() => {
      visibility.dispose()
      connection.dispose()
      if (this.#view === view) this.#view = undefined
      if (this.#connection === connection) this.#connection = undefined
    })
  }

  /** Many changes at once are one message. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => {
      this.#scheduled = false
      this.#send()
    }, 50)
  }

  #send(): void {
    if (!this.#view?.visible) return
    const { history } = this.#parts
    this.#connection?.send(bridge.HistoryUpdate, historyState(history, surroundings()))
  }
}

function surroundings(): HistorySurroundings {
  const rules = new PathRules()
  const folders = localFolders()
  return {
    trusted: vscode.workspace.isTrusted,
    hasFolder: folders.length > 0,
    isHere: cwd => folders.some(folder => rules.contains(folder.path, cwd)),
  }
}

/** Something a person clicked that did not work is said, not only logged. */
async function tell(done: Promise<void>): Promise<void> {
  try {
    await done
  } catch (error) {
    void vscode.window.showErrorMessage(messageOf(error))
  }
}
