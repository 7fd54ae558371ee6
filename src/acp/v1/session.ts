import type { SessionUpdate } from '../model.ts'
import type { Report } from '../wire/lenient.ts'
import { SessionOptions } from './session-options.ts'
import type { UpdateSink } from './update.ts'

/** What the v1 surface remembers of one session, and where its updates go. */
export class SessionV1 implements UpdateSink {
  readonly options: SessionOptions
  readonly shownTerminals = new Set<string>()
  /** the permission questions that wait for the person */
  readonly questions = new Set<AbortController>()
  /** The person stopped the running turn. */
  cancelled = false
  readonly emit: (update: SessionUpdate) => void
  readonly report: Report

  constructor(sessionId: string, emit: (sessionId: string, update: SessionUpdate) => void, report: Report) {
    this.emit = update => emit(sessionId, update)
    this.report = problem => report(`session ${sessionId}: ${problem}`)
    this.options = new SessionOptions(this.report)
  }

  mode(modeId: string): void {
    this.emit(this.options.modeChanged(modeId))
  }

  replaceOptions(raw: unknown): void {
    this.emit(this.options.replace(raw))
  }

  /** Answers every open permission question with `cancelled`, as a cancelled turn must. */
  withdrawQuestions(): void {
    for (const question of this.questions) question.abort()
    this.questions.clear()
  }
}
