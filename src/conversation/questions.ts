import type {
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
} from '../acp/model.ts'
import type { RuleAnswer } from './applied-rule.ts'
import { matchesInTime } from './bounded-pattern.ts'
import { checkContent } from './elicitation-schema.ts'
import { PermissionDesk } from './permission-desk.ts'
import type { ReducingState } from './reducer/books.ts'
import type { LocalEvent } from './reducer/reduce-local.ts'
import { booksOfQuestion } from './reducer/reduce-within.ts'

export interface QuestionsHost {
  /** Puts it into the conversation. */
  tell(event: LocalEvent): void
  isLive(): boolean
  /** Whether a rule of the settings answers it; `undefined` at once where there are none. Never rejects. */
  answerByRule(request: PermissionRequest, signal: AbortSignal): Promise<RuleAnswer | undefined> | undefined
}

interface WaitingElicitation {
  request: ElicitationRequest
  resolve: (outcome: ElicitationOutcome) => void
}

/** What the agent asks the person in one session: several at once, each answered once. */
export class Questions {
  readonly #host: QuestionsHost
  readonly #desk = new PermissionDesk()
  /** questions that are held against the rules */
  readonly #ruling = new Set<AbortController>()
  readonly #elicitations = new Map<string, WaitingElicitation>()
  #last = 0

  constructor(host: QuestionsHost) {
    this.#host = host
  }

  /** Resolves `cancelled` when the turn is stopped, the agent withdraws it (`signal`) or is gone. */
  async askPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    if (!this.#host.isLive() || signal.aborted) return { type: 'cancelled' }
    const stop = new AbortController()
    const ruling = this.#host.answerByRule(request, AbortSignal.any([signal, stop.signal]))
    const ruled = ruling && (await this.#ruled(request, ruling, signal, stop))
    return ruled ?? this.askPerson(request, signal)
  }

  /** Like `askPermission`, for what no rule may answer. */
  async askPerson(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    if (!this.#host.isLive() || signal.aborted) return { type: 'cancelled' }
    const requestId = this.#desk.nextId()
    const answer = this.#desk.wait(requestId, request)
    const withdraw = () => this.#settlePermission(requestId, { type: 'cancelled' })
    signal.addEventListener('abort', withdraw, { once: true })
    this.#host.tell({ type: 'permission_asked', requestId, request })
    try {
      return await answer
    } finally {
      signal.removeEventListener('abort', withdraw)
    }
  }

  /** A rule's answer, or `cancelled` when the turn was stopped while the rules were looked through. */
  async #ruled(
    request: PermissionRequest,
    ruling: Promise<RuleAnswer | undefined>,
    signal: AbortSignal,
    stop: AbortController,
  ): Promise<PermissionOutcome | undefined> {
    this.#ruling.add(stop)
    const answer = await ruling
    this.#ruling.delete(stop)
    if (stop.signal.aborted || signal.aborted || !this.#host.isLive()) return { type: 'cancelled' }
    if (!answer) return undefined
    this.#host.tell({ type: 'permission_ruled', requestId: this.#desk.nextId(), request, answer })
    return { type: 'selected', optionId: answer.optionId }
  }

  /** `undefined` cancels. False when the question does not wait (any more) or has no such option: nothing happens. */
  answerPermission(requestId: string, optionId: string | undefined): boolean {
    if (!this.#desk.offers(requestId, optionId)) return false
    const outcome: PermissionOutcome =
      optionId === undefined ? { type: 'cancelled' } : { type: 'selected', optionId }
    this.#settlePermission(requestId, outcome)
    return true
  }

  /** Resolves `cancel` when the turn is stopped, the agent withdraws it (`signal`) or is gone. */
  async askElicitation(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    if (!this.#host.isLive() || signal.aborted) return { action: 'cancel' }
    this.#last += 1
    const requestId = `f${this.#last}`
    const answer = new Promise<ElicitationOutcome>(resolve => {
      this.#elicitations.set(requestId, { request, resolve })
    })
    const withdraw = () => this.#settleElicitation(requestId, { action: 'cancel' })
    signal.addEventListener('abort', withdraw, { once: true })
    this.#host.tell({ type: 'elicitation_asked', requestId, request })
    try {
      return await answer
    } finally {
      signal.removeEventListener('abort', withdraw)
    }
  }

  /** `answer` is not checked yet. False when the question does not wait (any more), or the form does not take the content: nothing happens. */
  answerElicitation(requestId: string, answer: ElicitationOutcome): boolean {
    const request = this.#elicitations.get(requestId)?.request
    if (!request) return false
    if (answer.action !== 'accept' || request.mode === 'url') {
      this.#settleElicitation(requestId, { action: answer.action })
      return true
    }
    const checked = checkContent(request.fields, answer.content ?? {}, matchesInTime)
    if (!checked.ok) return false
    this.#settleElicitation(requestId, { action: 'accept', content: checked.content })
    return true
  }

  /** The permission that waits under this id. */
  permission(requestId: string): PermissionRequest | undefined {
    return this.#desk.request(requestId)
  }

  /** The form or address that waits under this id. */
  elicitation(requestId: string): ElicitationRequest | undefined {
    return this.#elicitations.get(requestId)?.request
  }

  /** `unless`: which of them stay open. */
  cancelAll(unless: (request: PermissionRequest | ElicitationRequest) => boolean = () => false): void {
    for (const stop of this.#ruling) stop.abort()
    for (const requestId of this.#desk.openIds) {
      const request = this.#desk.request(requestId)
      if (request && !unless(request)) this.#settlePermission(requestId, { type: 'cancelled' })
    }
    for (const [requestId, { request }] of [...this.#elicitations]) {
      if (!unless(request)) this.#settleElicitation(requestId, { action: 'cancel' })
    }
  }

  /** Gives the agent the outcomes of questions that were closed with the turn they belonged to. */
  answerClosed(state: ReducingState): void {
    for (const requestId of this.#desk.openIds) {
      const { permissions } = booksOfQuestion(state, requestId)
      const entry = state.entries[permissions.get(requestId) ?? -1]
      if (entry?.kind === 'permission' && entry.outcome) this.#desk.answer(requestId, entry.outcome)
    }
    for (const requestId of [...this.#elicitations.keys()]) {
      const { elicitations } = booksOfQuestion(state, requestId)
      const entry = state.entries[elicitations.get(requestId) ?? -1]
      if (entry?.kind === 'elicitation' && entry.outcome) this.#resolve(requestId, entry.outcome)
    }
  }

  #settlePermission(requestId: string, outcome: PermissionOutcome): void {
    this.#host.tell({ type: 'permission_answered', requestId, outcome })
    this.#desk.answer(requestId, outcome)
  }

  #settleElicitation(requestId: string, outcome: ElicitationOutcome): void {
    if (!this.#elicitations.has(requestId)) return
    this.#host.tell({ type: 'elicitation_answered', requestId, outcome })
    this.#resolve(requestId, outcome)
  }

  #resolve(requestId: string, outcome: ElicitationOutcome): void {
    const waiting = this.#elicitations.get(requestId)
    this.#elicitations.delete(requestId)
    waiting?.resolve(outcome)
  }
}
