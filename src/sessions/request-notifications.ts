import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { FileChange, PermissionOption, SessionSetup } from '../acp/model.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import { plainMessage } from '../common/plain-message.ts'
import { hasHidden } from '../common/visible.ts'
import { mcpToolCall, mcpToolText } from '../conversation/mcp-tool-call.ts'
import type { Session } from '../conversation/session.ts'
import type { ElicitationEntry, PermissionEntry, ToolCallEntry } from '../conversation/state.ts'
import { commandOf } from '../conversation/tool-command.ts'
import { lineEdits, splitLines } from '../editor/line-edits.ts'
import type { OpenSession } from './open-session.ts'
import type { SessionManager } from './session-manager.ts'
import { watchSessions } from './watch-sessions.ts'

/** The user's choice in a notification: an answer, or `show` to view the request. */
export type NotificationAnswer = { optionId: string } | 'show'

export interface RequestNotificationsOptions {
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  /** whether the session is visible to the user now */
  isSeen: (open: OpenSession) => boolean
  /** Fires when the visible sessions and requests may have changed. */
  onDidChangeVisibility: Event<void>
  /**
   * Shows a notification. Resolves to `undefined` if the user dismisses it. `question` is absent if the agent only reports that it's
   * waiting. `over` aborts when the request is answered or withdrawn elsewhere, or visible; then the notification closes.
   */
  call: (
    open: OpenSession,
    question: RequestSummary | undefined,
    over: AbortSignal,
  ) => Promise<NotificationAnswer | undefined>
  reveal: (open: OpenSession, requestId: string | undefined) => Promise<void>
  /** Called if the request was already answered elsewhere when the user answered in the notification. */
  tooLate: () => void
}

/** Delay before a notification, in milliseconds: while focus moves between two views, neither is visible for a moment. */
const FOCUS_MOVE_MS = 300

/** Notifies the user once of each pending request that isn't visible: when it arrives, or as soon as it's hidden. */
export class RequestNotifications extends Owner {
  readonly #options: RequestNotificationsOptions
  /** the request of a session's last notification; `over` aborts when it's no longer pending */
  readonly #called = new Map<OpenSession, { id: string; over: AbortController }>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: RequestNotificationsOptions) {
    super()
    this.#options = options
    this.register(options.onDidChangeVisibility(() => this.#checkSoon()))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.register(
      watchSessions(options.manager, open => {
        const following = open.session.onDidChange(() => this.#check(open))
        this.#check(open)
        return toDisposable(() => {
          following.dispose()
          this.#forget(open)
        })
      }),
    )
  }

  #checkSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      for (const open of this.#options.manager.list()) this.#check(open)
    }, FOCUS_MOVE_MS)
  }

  #check(open: OpenSession): void {
    const { session } = open
    if (session.state.activity !== 'requires_action') {
      this.#forget(open)
      return
    }
    const called = this.#called.get(open)
    const isPending = (id: string) =>
      Boolean(id === '' || session.requests.permission(id) || session.requests.elicitation(id))
    if (called && !isPending(called.id)) called.over.abort()
    if (this.#options.isSeen(open)) {
      // a visible request needs no notification, which VS Code would keep in the status bar once the request is hidden
      called?.over.abort()
      return
    }
    const question = requestSummary(session)
    const id = question?.requestId ?? ''
    if (called?.id === id) return
    called?.over.abort()
    const over = new AbortController()
    this.#called.set(open, { id, over })
    void this.#call(open, question, over.signal)
  }

  #forget(open: OpenSession): void {
    this.#called.get(open)?.over.abort()
    this.#called.delete(open)
  }

  async #call(open: OpenSession, question: RequestSummary | undefined, over: AbortSignal): Promise<void> {
    const answer = await this.#options.call(open, question, over)
    if (answer === undefined) return
    if (answer === 'show' || !question) await this.#options.reveal(open, question?.requestId)
    else if (!open.session.requests.answerPermission(question.requestId, answer.optionId))
      this.#options.tooLate()
  }
}

/** A pending request of a session, as text for a notification. */
export interface RequestSummary {
  requestId: string
  text: string
  /** number of pending requests */
  count: number
  /** Whether the text contains the whole request. */
  isWhole: boolean
  /** whether the request's tool call has a diff */
  hasDiff?: true
  /** the answers to offer; empty if the user must view the request before answering */
  options: readonly PermissionOption[]
}

/**
 * Longer text doesn't fit on a line of a notification, so such requests are answered only in the conversation.
 * Characters.
 */
const MAX_LENGTH = 200
/** The length of the longest text that is compared for a notification, in characters. */
const MAX_COMPARED = 200_000

/** Returns the pending requests of a session, oldest first. */
export function requestSummaries(session: Pick<Session, 'requests' | 'setup'>): RequestSummary[] {
  const { open } = session.requests
  return open.map(request => describe(session, request, open.length))
}

/** Returns the oldest pending request of a session. */
export function requestSummary(session: Pick<Session, 'requests' | 'setup'>): RequestSummary | undefined {
  const { open } = session.requests
  return open[0] && describe(session, open[0], open.length)
}

function describe(
  session: Pick<Session, 'requests' | 'setup'>,
  request: PermissionEntry | ElicitationEntry,
  count: number,
): RequestSummary {
  const { requestId } = request
  if (request.kind === 'elicitation') return { requestId, ...shown(request.message), count, options: [] }
  // the notification words answers in its own way, which doesn't fit the options of a choice
  if (request.isChoice) return { requestId, ...shown(request.title), count, options: [] }
  const tool = session.requests.permission(requestId)?.tool
  const command =
    request.command?.command ?? (tool?.toolKind === 'execute' ? commandOf(tool)?.command : undefined)
  const called = mcpToolCall({
    ...{ title: request.title || (tool?.title ?? ''), toolName: tool?.toolName, rawInput: tool?.rawInput },
  })
  const about = command ?? (tool?.title || request.description)
  const text = called
    ? mcpToolText(called, l10n.t)
    : about === undefined || about === request.title
      ? request.title
      : `${request.title} ${about}`.trim()
  const changes = tool ? listDiffs(tool) : []
  const whole = shown(
    command === undefined ? withChanges(relativeTo(session.setup, text), changes, session.setup) : text,
  )
  return {
    requestId,
    ...whole,
    count,
    ...(changes.length > 0 && { hasDiff: true }),
    options: whole.isWhole ? request.options : [],
  }
}

interface Diff extends FileChange {
  patch?: string
}

function listDiffs({ content }: ToolCallEntry): Diff[] {
  return content.flatMap(part =>
    part.type === 'diff'
      ? part.changes.map(change => ({ ...change, ...(part.patch && { patch: part.patch.text }) }))
      : [],
  )
}

/** Adds the name of the only changed file, unless the text already names it, and the numbers of added and removed lines. */
function withChanges(text: string, changes: readonly Diff[], setup: SessionSetup): string {
  const [first] = changes
  if (!first) return text
  const isNamed = changes.some(change => text.includes(path.basename(change.path)))
  const named = isNamed || changes.length > 1 ? text : `${text} ${relativeTo(setup, first.path)}`
  const edits = changes.flatMap(({ oldText = '', newText = '' }) =>
    oldText.length + newText.length > MAX_COMPARED
      ? []
      : [lineEdits(splitLines(oldText), splitLines(newText))],
  )
  // patches and long texts are compared only in the conversation
  if (edits.length < changes.length || changes.some(({ oldText, newText }) => oldText === newText))
    return named
  const added = edits.flat().reduce((sum, { lines }) => sum + lines.length, 0)
  const removed = edits.flat().reduce((sum, { start, end }) => sum + end - start, 0)
  return l10n.t('{0} (+{1} −{2})', named, added, removed)
}

/** Makes paths in a text relative to the session's directory; paths in another folder begin with the folder's name. */
function relativeTo({ cwd, additionalDirectories }: SessionSetup, text: string): string {
  return [cwd, ...additionalDirectories]
    .map((folder, at) => ({
      root: folder.replace(/[\\/]+$/, ''),
      name: at === 0 ? '' : `${path.basename(folder)}/`,
    }))
    .filter(({ root }) => root !== '')
    .toSorted((a, b) => b.root.length - a.root.length)
    .reduce((words, { root, name }) => {
      const plain = root.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
      const inside = new RegExp(`(?<![\\w/\\\\.~-])(?:file://)?${plain}[\\\\/](?=[^\\s\\\\/])`, 'g')
      return words.replace(inside, () => name)
    }, text)
}

/** Returns the text if it fits on a line and its appearance isn't misleading (`isWhole`), else a sentence in its place. */
function shown(text: string): { text: string; isWhole: boolean } {
  const isWhole =
    // an opening bracket could become part of a Markdown link in the notification
    text.length <= MAX_LENGTH && !/[\n\t[]/.test(text) && !hasHidden(text) && plainMessage(text) === text
  return { text: isWhole ? text : l10n.t("This request can't be shown here."), isWhole }
}
