import * as l10n from '@vscode/l10n'
import type { PermissionOption } from '../acp/model.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import { plainMessage } from '../common/plain-message.ts'
import { hasHidden } from '../common/visible.ts'
import type { Session } from '../conversation/session.ts'
import type { ElicitationEntry, PermissionEntry } from '../conversation/state.ts'
import { commandOf } from '../conversation/tool-command.ts'
import type { OpenSession } from './open-session.ts'
import { type SessionManager, watchSessions } from './session-manager.ts'

/** What the user chose in a notification: an answer, or to view the request. */
export type NotificationAnswer = { optionId: string } | 'show'

export interface RequestNotificationsOptions {
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  /** whether the session is visible to the user now */
  isSeen: (open: OpenSession) => boolean
  /** What is visible to the user may have changed. */
  onDidChangeVisibility: Event<void>
  /**
   * Notifies the user; `undefined` if they dismiss it. `question` is absent if the agent only reports that it's waiting.
   * `over` aborts when the request is answered or withdrawn elsewhere; then the notification closes.
   */
  call: (
    open: OpenSession,
    question: RequestSummary | undefined,
    over: AbortSignal,
  ) => Promise<NotificationAnswer | undefined>
  reveal: (open: OpenSession, requestId: string | undefined) => Promise<void>
  /** The request was already answered elsewhere when the user answered in the notification. */
  tooLate: () => void
}

/** While focus moves between two views, neither is visible for a moment. Milliseconds. */
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
    const isPending = (id: string) => Boolean(id === '' || session.permission(id) || session.elicitation(id))
    if (called && !isPending(called.id)) called.over.abort()
    if (this.#options.isSeen(open)) return
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
    else if (!open.session.answerPermission(question.requestId, answer.optionId)) this.#options.tooLate()
  }
}

/** A pending request of a session, as text for a notification. */
export interface RequestSummary {
  requestId: string
  text: string
  /** number of pending requests */
  count: number
  /** The text contains the whole request. */
  isWhole: boolean
  /** Empty if the request must be viewed before it can be answered. */
  options: readonly PermissionOption[]
}

/**
 * Longer text doesn't fit on a line of a notification, so such requests are answered only in the conversation.
 * Characters.
 */
const MAX_LENGTH = 200
/** The pending requests of a session, oldest first. */
export function requestSummaries(session: Pick<Session, 'pendingRequests' | 'permission'>): RequestSummary[] {
  const { pendingRequests } = session
  return pendingRequests.map(request => describe(session, request, pendingRequests.length))
}

/** The oldest pending request of a session. */
export function requestSummary(
  session: Pick<Session, 'pendingRequests' | 'permission'>,
): RequestSummary | undefined {
  const { pendingRequests } = session
  const [first] = pendingRequests
  return first && describe(session, first, pendingRequests.length)
}

function describe(
  session: Pick<Session, 'permission'>,
  request: PermissionEntry | ElicitationEntry,
  count: number,
): RequestSummary {
  const { requestId } = request
  if (request.kind === 'elicitation') return { requestId, ...shown(request.message), count, options: [] }
  // answers with Parley's wording would say something else
  if (request.isChoice) return { requestId, ...shown(request.title), count, options: [] }
  const tool = session.permission(requestId)?.tool
  const command =
    request.command?.command ?? (tool?.toolKind === 'execute' ? commandOf(tool)?.command : undefined)
  const about = command ?? (tool?.title || request.description)
  const text =
    about === undefined || about === request.title ? request.title : `${request.title} ${about}`.trim()
  const whole = shown(text)
  return { requestId, ...whole, count, options: whole.isWhole ? request.options : [] }
}

/** The text, if all of it can be shown on one line and its appearance isn't misleading. */
function shown(text: string): { text: string; isWhole: boolean } {
  const isWhole =
    // a bracket could join a link that follows it
    text.length <= MAX_LENGTH && !/[\n\t[]/.test(text) && !hasHidden(text) && plainMessage(text) === text
  return { text: isWhole ? text : l10n.t("This request can't be shown here."), isWhole }
}
