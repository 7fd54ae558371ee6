import { Owner, toDisposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { OpenSession } from '../open-session.ts'
import type { SessionManager } from '../session-manager.ts'
import { watchSessions } from '../watch-sessions.ts'
import { type WaitingQuestion, waitingQuestion } from './waiting-question.ts'

/** What a person chose in a call: an answer of the question, or to look at it. */
export type CallAnswer = { optionId: string } | 'show'

export interface QuestionCallsOptions {
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  /** whether a person has the session before them now */
  isSeen: (open: OpenSession) => boolean
  /** What a person has before them may be something else now. */
  onDidLook: Event<void>
  /**
   * Notifies the person; `undefined`: they dismissed it. `question` is absent where an agent only says that it waits.
   * `over` aborts when the request is answered or withdrawn elsewhere: the notification goes away.
   */
  call: (
    open: OpenSession,
    question: WaitingQuestion | undefined,
    over: AbortSignal,
  ) => Promise<CallAnswer | undefined>
  reveal: (open: OpenSession, requestId: string | undefined) => Promise<void>
  /** The question was answered elsewhere before the call was. */
  tooLate: () => void
}

/** Who goes from one view to another sees neither for a moment. Milliseconds. */
const SETTLE_MS = 300

/** Calls the person once to each question that waits and is not seen: as it comes, or as soon as it is out of sight. */
export class QuestionCalls extends Owner {
  readonly #options: QuestionCallsOptions
  /** the request that a session's last call was about; `over` aborts when it is pending no longer */
  readonly #called = new Map<OpenSession, { id: string; over: AbortController }>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: QuestionCallsOptions) {
    super()
    this.#options = options
    this.register(options.onDidLook(() => this.#lookSoon()))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.register(
      watchSessions(options.manager, open => {
        const following = open.session.onDidChange(() => this.#look(open))
        this.#look(open)
        return toDisposable(() => {
          following.dispose()
          this.#forget(open)
        })
      }),
    )
  }

  #lookSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      for (const open of this.#options.manager.list()) this.#look(open)
    }, SETTLE_MS)
  }

  #look(open: OpenSession): void {
    const { session } = open
    if (session.state.activity !== 'requires_action') {
      this.#forget(open)
      return
    }
    const called = this.#called.get(open)
    const isPending = (id: string) => Boolean(id === '' || session.permission(id) || session.elicitation(id))
    if (called && !isPending(called.id)) called.over.abort()
    if (this.#options.isSeen(open)) return
    const question = waitingQuestion(session)
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

  async #call(open: OpenSession, question: WaitingQuestion | undefined, over: AbortSignal): Promise<void> {
    const answer = await this.#options.call(open, question, over)
    if (answer === undefined) return
    if (answer === 'show' || !question) await this.#options.reveal(open, question?.requestId)
    else if (!open.session.answerPermission(question.requestId, answer.optionId)) this.#options.tooLate()
  }
}
