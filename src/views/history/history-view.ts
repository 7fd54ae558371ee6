import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { localFolders } from '../../agents/vscode-configuration.ts'
import { Owner } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { Interrupted } from '../../sessions/interrupted.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionMarks } from '../../sessions/session-marks.ts'
import * as bridge from '../bridge/history.ts'
import * as incoming from '../bridge/incoming.ts'
import { historyRename } from '../bridge/incoming-session.ts'
import { CommandId, ViewId } from '../ids.ts'
import type { SessionActions } from '../session-actions.ts'
import { tellFailure } from '../tell-failure.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import { WebviewConnection } from '../webview-connection.ts'
import { openPage } from '../webview-html.ts'
import { registerHistoryMenu } from './history-commands.ts'
import { type HistorySurroundings, historyState } from './rows.ts'

export interface HistoryViewParts {
  history: HistoryList
  marks: SessionMarks
  interrupted: Interrupted
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
    this.register(registerHistoryMenu((action, agentId, sessionId) => this.#menu(action, agentId, sessionId)))
    this.register(parts.history.onDidChange(() => this.#schedule()))
    this.register(parts.marks.onDidChange(() => this.#schedule()))
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
      this.#tell(agentId, () => this.#start(agentId)),
    )
    connection.onNotification(bridge.HistoryAct, incoming.historyAct, ({ action, agentId, sessionId }) => {
      const item = history.find(agentId, sessionId)
      return item && this.#tell(agentId, () => actions.act(action, item))
    })
    connection.onNotification(bridge.HistoryRename, historyRename, ({ agentId, sessionId, title }) => {
      const item = history.find(agentId, sessionId)
      return item && this.#tell(agentId, () => actions.rename(item, title))
    })
    connection.onNotification(bridge.HistorySignIn, incoming.historyStartAgent, ({ agentId }) =>
      vscode.commands.executeCommand(CommandId.signIn, agentId),
    )
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

  #start(agentId: string): Promise<void> {
    const { history } = this.#parts
    const name = history.agents().find(agent => agent.agentId === agentId)?.name ?? agentId
    return waitForAgent(name, l10n.t('Start Agent'), givenUp => history.start(agentId, givenUp))
  }

  #tell(agentId: string, work: () => Promise<void>): Promise<void> {
    return tellFailure(agentId, this.#parts.actions.offerSignIn, work)
  }

  /** What needs a word of the person first is asked for in the row itself. */
  async #menu(action: bridge.HistoryAction | 'rename', agentId: string, sessionId: string): Promise<void> {
    if (action === 'rename' || action === 'delete') {
      this.#connection?.send(bridge.HistoryAsk, { what: action, agentId, sessionId })
      return
    }
    const item = this.#parts.history.find(agentId, sessionId)
    if (item) await this.#tell(agentId, () => this.#parts.actions.act(action, item))
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
    this.#connection?.send(bridge.HistoryUpdate, historyState(history, surroundings(this.#parts)))
  }
}

function surroundings({ marks, interrupted }: HistoryViewParts): HistorySurroundings {
  const rules = new PathRules()
  const folders = localFolders()
  return {
    trusted: vscode.workspace.isTrusted,
    hasFolder: folders.length > 0,
    isHere: cwd => folders.some(folder => rules.contains(folder.path, cwd)),
    endedOf: ({ agentId, sessionId }) =>
      marks.endedOf(agentId, sessionId) ?? (interrupted.has(agentId, sessionId) ? 'interrupted' : undefined),
  }
}
