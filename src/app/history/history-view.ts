import * as l10n from '@vscode/l10n'
import type * as bridge from '../../bridge/history.ts'
import {
  type ActionForMany,
  type HistoryAction,
  type HistoryHostMessages,
  historyMessages,
} from '../../bridge/history-messages.ts'
import { type Disposable, Owner, toDisposable } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { FindQuery } from '../../common/find-pattern.ts'
import { hasFilters, hasText, matchesFilters, parseSearch } from '../../common/search-query.ts'
import { type SessionId, sessionKey } from '../../common/session-key.ts'
import type { SearchClient } from '../../history/search/search-client.ts'
import type { Transcripts } from '../../history/transcripts.ts'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionDeletions } from '../../sessions/listing/session-deletions.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { Interrupted, SessionIndicators } from '../../sessions/session-indicators.ts'
import { type Accounts, describeAccount } from '../../sessions/sign-in/accounts.ts'
import { showFailureOrSignIn, waitForAgent } from '../ask-agent.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'
import type { SessionActions } from '../session-actions.ts'
import { showInWindow } from '../show-in-window.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import type { WindowSessions } from '../window-sessions.ts'
import type { WindowWorktrees } from '../window-worktrees.ts'
import type { Workbench } from '../workbench.ts'
import { cannotUndoText, deleteExpired, notDeletedText } from './delete-sessions.ts'
import { previewOf } from './preview.ts'
import { HistoryPageState, type HistorySurroundings, historyState } from './rows.ts'

export interface HistoryViewOptions {
  history: HistoryList
  agents: Pick<AgentDirectory, 'get'>
  accounts: Pick<Accounts, 'get' | 'onDidChange'>
  surfaces: Pick<ConversationSurfaces, 'withKey' | 'onDidChangeVisibility'>
  indicators: SessionIndicators
  interrupted: Interrupted
  deletions: SessionDeletions
  /** Returns the size of all saved conversations in bytes, and the limit; 0 for no limit. */
  storage: () => { used: number; max: number }
  search: SearchClient
  transcripts: Pick<Transcripts, 'ends' | 'readEnd' | 'has'>
  actions: SessionActions
  windows: Pick<WindowSessions, 'others' | 'find' | 'request' | 'onDidChange'>
  workbench: Workbench
  worktrees: Pick<WindowWorktrees, 'isOpen' | 'lookup' | 'onDidChange' | 'refresh'>
}

/** A webview that shows History, and whether it's visible. */
interface HistoryPage {
  connection: WebviewConnection<HistoryHostMessages>
  isShown: () => boolean
  /** the last state that the page got; absent until the page listens */
  sent?: HistoryPageState
  /** whether the page is drawing the first rows, after which it asks for the rest */
  isDrawing: boolean
}

/** The delay, once the first rows are drawn, before Parley prepares to open a conversation, in milliseconds. */
const PREPARE_MS = 50
/** The number of entries to read in advance. They usually include messages and tool calls. */
const PREPARED_ENTRIES = 20

/** The commands that a webview may run. */
const VIEW_COMMANDS = new Set<string>(Object.values(CommandId))

/** History in the side bar and in an editor tab, with the sessions of all agents. Changes are sent while History is visible. */
export class HistoryView extends Owner {
  readonly #options: HistoryViewOptions
  readonly #show = this.register(new Emitter<void>())
  /** Fires when the user sees History. */
  readonly onDidShow = this.#show.event
  readonly #pages = new Map<bridge.HistorySurface, HistoryPage>()
  #scheduled = false
  /** whether a conversation was read in advance */
  #isPrepared = false

  constructor(options: HistoryViewOptions) {
    super()
    this.#options = options
    this.register(options.history.onDidChange(() => this.#schedule()))
    this.register(options.accounts.onDidChange(() => this.#schedule()))
    this.register(options.indicators.onDidChange(() => this.#schedule()))
    this.register(options.surfaces.onDidChangeVisibility(() => this.#schedule()))
    this.register(options.windows.onDidChange(() => this.#schedule()))
    this.register(options.worktrees.onDidChange(() => this.#schedule()))
    this.register(options.search.onDidChange(() => this.#schedule()))
    this.register(options.deletions.onDidChange(() => this.#schedule()))
    this.register(
      options.deletions.onDidExpire(items => {
        const { actions, deletions } = options
        void deleteExpired(items, actions, deletions, (agentId, work) => this.#tell(agentId, work))
      }),
    )
  }

  /** Handles the messages of a page that shows History. Must be called before the connection delivers messages. */
  listen(
    where: bridge.HistorySurface,
    connection: WebviewConnection<HistoryHostMessages>,
    isShown: () => boolean,
  ): Disposable {
    const page: HistoryPage = { connection, isShown, isDrawing: false }
    this.#pages.set(where, page)
    const { history, actions, workbench } = this.#options
    connection.handle(historyMessages, {
      'history/ready': () => {
        page.sent = new HistoryPageState()
        page.isDrawing = false
        this.shown()
      },
      'history/rest': () => {
        page.isDrawing = false
        this.#sendTo(page, true)
      },
      'history/more': ({ agentId }) => history.more(agentId),
      'history/act': ({ action, agentId, sessionId }) => this.#act(action, agentId, sessionId),
      'history/actOnMany': ({ action, sessions }) => this.#actOnMany(action, sessions),
      'history/search': ({ id, text, here }) => this.#search(connection, id, text, here),
      'history/preview': session => {
        connection.send('history/preview', previewOf(this.#options.transcripts, session))
      },
      'history/showHit': ({ agentId, sessionId, entry, matches }) => {
        const item = history.find(agentId, sessionId)
        const query = findQueryOf(matches)
        return item && this.#tell(agentId, () => actions.showMatch(item, { query, entry }))
      },
      'history/rename': ({ agentId, sessionId, title }) => {
        const item = history.find(agentId, sessionId)
        return item && this.#tell(agentId, () => actions.rename(item, title))
      },
      'history/undoDeletion': () => {
        if (!actions.undoDeletion()) void workbench.dialogs.info(cannotUndoText())
      },
      'history/startAgent': ({ agentId }) => this.#tell(agentId, () => this.#start(agentId)),
      'history/signIn': ({ agentId }) => workbench.execute(CommandId.signIn, agentId),
      'history/openSizeSetting': () => workbench.settings.open('history.maximumSize'),
      'history/command': ({ command }) => {
        if (VIEW_COMMANDS.has(command)) return workbench.execute(command)
      },
    })
    return toDisposable(() => {
      if (this.#pages.get(where) === page) this.#pages.delete(where)
    })
  }

  /** Must be called when the user opens History, whose list may be outdated. */
  shown(): void {
    if ([...this.#pages.values()].some(({ isShown }) => isShown())) this.#show.fire()
    this.#send()
    void this.#options.history.update()
    void this.#options.worktrees.refresh()
  }

  #search(connection: WebviewConnection<HistoryHostMessages>, id: number, text: string, here: boolean): void {
    const { search, history } = this.#options
    const query = parseSearch(text, Date.now())
    if (!hasText(query)) {
      search.stop()
      connection.send('history/hits', { id, hits: [], isLimited: false })
      return
    }
    const isHere = workspaceCheck(this.#options.worktrees)
    const isWanted = (item: HistoryItem) => matchesFilters(query, item) && (!here || isHere(item.cwd))
    const sessions =
      here || hasFilters(query)
        ? history.items().flatMap(item => (isWanted(item) ? sessionKey(item.agentId, item.sessionId) : []))
        : undefined
    search.search(query, sessions, (hits, isDone, isLimited) => {
      if (isDone || hits.length > 0) connection.send('history/hits', { id, hits, isLimited })
    })
  }

  /**
   * Reads a stored conversation in advance. The first one that a window reads takes ten times as long as later ones, so the user shouldn't
   * wait for it.
   */
  #prepareOpening(after: number): void {
    if (this.#isPrepared) return
    this.#isPrepared = true
    setTimeout(() => {
      const { history, transcripts } = this.#options
      const saved = history.items().find(({ agentId, sessionId }) => transcripts.has(agentId, sessionId))
      if (saved) transcripts.readEnd(saved.agentId, saved.sessionId, 0, PREPARED_ENTRIES)
    }, after).unref()
  }

  #start(agentId: string): Promise<void> {
    const { history, workbench } = this.#options
    const name = history.agents().find(agent => agent.agentId === agentId)?.name ?? agentId
    return waitForAgent(workbench.dialogs, name, l10n.t('Start Agent'), givenUp =>
      history.start(agentId, givenUp),
    )
  }

  #tell(agentId: string, work: () => Promise<void>): Promise<void> {
    const { actions, workbench } = this.#options
    return showFailureOrSignIn(workbench.dialogs, agentId, actions.offerSignIn, work)
  }

  /** Runs an action from a row's context menu. A new title is entered in the row itself. */
  async act(
    action: HistoryAction | 'rename',
    agentId: string,
    sessionId: string,
    where: bridge.HistorySurface,
  ): Promise<void> {
    if (action === 'rename') {
      this.#pages.get(where)?.connection.send('history/editTitle', { agentId, sessionId })
      return
    }
    await this.#act(action, agentId, sessionId)
  }

  /** Reveals a session that is open; otherwise loads the session, or resumes it if its agent can't load sessions. */
  async open(agentId: string, sessionId: string): Promise<void> {
    const item = this.#options.history.find(agentId, sessionId)
    if (item) await this.#act(item.open ? 'show' : item.canLoad ? 'load' : 'resume', agentId, sessionId)
  }

  async #act(action: HistoryAction, agentId: string, sessionId: string): Promise<void> {
    const { history, actions, windows } = this.#options
    const item = history.find(agentId, sessionId)
    const other = action === 'show' && windows.find(agentId, sessionId)
    if (other) await showInWindow(other, this.#options)
    else if (item) await this.#tell(agentId, () => actions.act(action, item))
  }

  /** Runs an action for several sessions, one after the other, so that errors and sign-in requests appear one at a time. */
  async #actOnMany(action: ActionForMany, sessions: readonly SessionId[]): Promise<void> {
    const { history, actions, workbench } = this.#options
    const keys = new Set(sessions.map(({ agentId, sessionId }) => sessionKey(agentId, sessionId)))
    const items = history.items().filter(item => keys.has(sessionKey(item.agentId, item.sessionId)))
    if (action === 'delete') {
      const deletable = items.filter(({ canDelete }) => canDelete)
      if (!(await actions.mayDelete(deletable))) return
      const notDeleted = items.length - (await actions.deleteAll(deletable))
      if (notDeleted > 0) void workbench.dialogs.info(notDeletedText(notDeleted))
      return
    }
    for (const item of items) {
      const isPossible = action === 'pin' || action === 'unpin' || item.canArchive
      if (isPossible) await this.#tell(item.agentId, () => actions.act(action, item))
    }
  }

  /** Sends changes soon. Many changes at once are sent in one message. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => {
      this.#scheduled = false
      this.#send()
    }, 50)
  }

  #send(): void {
    for (const page of this.#pages.values()) this.#sendTo(page)
  }

  /** Sends changes to a page. `isRest` means that the page requests the remaining rows. */
  #sendTo(page: HistoryPage, isRest = false): void {
    const { connection, sent } = page
    if (!sent || page.isDrawing || !page.isShown()) return
    const options = this.#options
    const stateOf = (most?: number) => historyState(options.history, surroundings(options), most)
    const changes = isRest ? sent.rest(stateOf) : sent.update(stateOf)
    if (!changes) return
    page.isDrawing = changes.more === true
    connection.send('history/state', changes)
    // a page that asks for the rest has already drawn the first rows
    if (isRest || !changes.more) this.#prepareOpening(isRest ? 0 : PREPARE_MS)
  }
}

/**
 * Returns a function that checks whether a directory is in a folder that is open in this window, or in a worktree of its repository.
 * Results are cached, since many sessions are in few directories.
 */
export function workspaceCheck(
  worktrees: HistoryViewOptions['worktrees'],
  worktreeOf = worktrees.lookup(),
): (cwd: string) => boolean {
  const known = new Map<string, boolean>()
  const isOpen = worktrees.isOpen()
  const isHere = (cwd: string) => isOpen(cwd) || worktreeOf(cwd) !== undefined
  return cwd => known.get(cwd) ?? known.set(cwd, isHere(cwd)).get(cwd)!
}

/** Returns the query for the conversation's own search, made of the texts that the search of History matched. */
function findQueryOf(matches: readonly string[]): FindQuery {
  const texts = [...new Set(matches.map(match => match.toLowerCase()))]
  const plain = { matchCase: false, wholeWord: false }
  if (texts.length === 1) return { ...plain, text: texts[0]!, regex: false }
  // the longest alternative comes first, since a regular expression takes the first one that matches
  const all = texts
    .sort((a, b) => b.length - a.length)
    .map(text => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return { ...plain, text: all.join('|'), regex: true }
}

/** Returns the inputs of History's rows besides the list. */
export function surroundings(
  options: Omit<HistoryViewOptions, 'history' | 'actions' | 'transcripts'>,
): HistorySurroundings {
  const {
    agents,
    accounts,
    indicators,
    interrupted,
    deletions,
    storage,
    search,
    surfaces,
    windows,
    workbench,
    worktrees,
  } = options
  const worktreeOf = worktrees.lookup()
  return {
    trusted: workbench.isTrusted,
    hasFolder: workbench.folders.length > 0,
    storage: storage(),
    deleted: deletions.undoable,
    search: search.state,
    others: windows.others(),
    isHere: workspaceCheck(worktrees, worktreeOf),
    worktreeOf,
    iconOf: agentId => agents.get(agentId)?.icon,
    accountOf: agentId =>
      agents.get(agentId)?.source === 'demo' ? undefined : describeAccount(accounts.get(agentId)),
    isShown: ({ agentId, sessionId }) => surfaces.withKey(sessionKey(agentId, sessionId)) !== undefined,
    endedOf: ({ agentId, sessionId }) =>
      indicators.endedOf(agentId, sessionId) ??
      (interrupted.has(agentId, sessionId) ? 'interrupted' : undefined),
  }
}
