import { DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { OpenSession, SessionManager } from '../session-manager.ts'
import { type WaitingQuestion, waitingQuestion } from './waiting-question.ts'

/** What a person chose in a call: an answer of the question, or to look at it. */
export type CallAnswer = { optionId: string } | 'show'

export interface QuestionCallsParts {
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  /** whether a person has the session before them now */
  isSeen: (open: OpenSession) => boolean
  /** What a person has before them may be something else now. */
  onDidLook: Event<void>
  /** Calls the person; `undefined`: they did not take notice. `question` is absent where an agent only says that it waits. */
  call: (open: OpenSession, question: WaitingQuestion | undefined) => Promise<CallAnswer | undefined>
  reveal: (open: OpenSession) => Promise<void>
  /** The question was answered elsewhere before the call was. */
  tooLate: () => void
}

/** Who goes from one view to another sees neither for a moment. Milliseconds. */
const SETTLE_MS = 300

/** Calls the person once to each question that waits and is not seen: as it comes, or as soon as it is out of sight. */
export class QuestionCalls extends Owner {
  readonly #parts: QuestionCallsParts
  /** the question that a session's last call was about */
  readonly #called = new Map<OpenSession, string>()
  readonly #following = new Map<OpenSession, DisposableStore>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: QuestionCallsParts) {
    super()
    this.#parts = parts
    this.register(parts.manager.onDidChange(() => this.#follow()))
    this.register(parts.onDidLook(() => this.#lookSoon()))
    this.register(
      toDisposable(() => {
        clearTimeout(this.#timer)
        for (const following of this.#following.values()) following.dispose()
      }),
    )
    this.#follow()
  }

  #follow(): void {
    const sessions = new Set(this.#parts.manager.list())
    for (const [open, following] of this.#following) {
      if (sessions.has(open)) continue
      following.dispose()
      this.#following.delete(open)
      this.#called.delete(open)
    }
    for (const open of sessions) {
      if (this.#following.has(open)) continue
      const following = new DisposableStore()
      this.#following.set(open, following)
      following.add(open.session.onDidChange(() => this.#look(open)))
      this.#look(open)
    }
  }

  #lookSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      for (const open of this.#following.keys()) this.#look(open)
    }, SETTLE_MS)
  }

  #look(open: OpenSession): void {
    if (open.session.state.activity !== 'requires_action') {
      this.#called.delete(open)
      return
    }
    if (this.#parts.isSeen(open)) return
    const question = waitingQuestion(open.session)
    const id = question?.requestId ?? ''
    if (this.#called.get(open) === id) return
    this.#called.set(open, id)
    void this.#call(open, question)
  }

  async #call(open: OpenSession, question: WaitingQuestion | undefined): Promise<void> {
    const answer = await this.#parts.call(open, question)
    if (answer === undefined) return
    if (answer === 'show' || !question) await this.#parts.reveal(open)
    else if (!open.session.answerPermission(question.requestId, answer.optionId)) this.#parts.tooLate()
  }
}
