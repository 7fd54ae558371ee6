import type { Command, SessionUpdate } from '../model.ts'
import type { Report } from './lenient.ts'
import { SessionOptions } from './session-options.ts'
import type { UpdateSink } from './update.ts'

/** What the surface of either version remembers of one session, and where its updates go. */
export class WireSession implements UpdateSink {
  readonly sessionId: string
  readonly options: SessionOptions
  /** as the agent listed them last: some list them once, and not again when the session is loaded or resumed */
  commands: Command[] | undefined
  /** the permission questions that wait for the person */
  readonly questions = new Set<AbortController>()
  readonly emit: (update: SessionUpdate) => void
  readonly report: Report

  constructor(sessionId: string, emit: (sessionId: string, update: SessionUpdate) => void, report: Report) {
    this.sessionId = sessionId
    this.emit = update => emit(sessionId, update)
    this.report = problem => report(`session ${sessionId}: ${problem}`)
    this.options = new SessionOptions(this.report)
  }

  replaceOptions(raw: unknown): void {
    this.emit(this.options.replace(raw))
  }

  /** Forgets the state of the agent's own terminals: their output is about to come anew. */
  resetTerminals(): void {}

  /** Answers every open permission question with `cancelled`, as a cancelled turn must. */
  withdrawQuestions(): void {
    for (const question of this.questions) question.abort()
    this.questions.clear()
  }
}
