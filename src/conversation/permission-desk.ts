import type { PermissionOutcome, PermissionRequest } from '../acp/model.ts'

interface Waiting {
  request: PermissionRequest
  resolve: (outcome: PermissionOutcome) => void
}

/** The questions of a session that wait for the person: each is answered once. */
export class PermissionDesk {
  readonly #waiting = new Map<string, Waiting>()
  #last = 0

  nextId(): string {
    this.#last += 1
    return `p${this.#last}`
  }

  get openIds(): string[] {
    return [...this.#waiting.keys()]
  }

  /** Waits for the answer to a question. */
  wait(requestId: string, request: PermissionRequest): Promise<PermissionOutcome> {
    return new Promise(resolve => {
      this.#waiting.set(requestId, { request, resolve })
    })
  }

  request(requestId: string): PermissionRequest | undefined {
    return this.#waiting.get(requestId)?.request
  }

  /** Whether the question waits and offers that option (`undefined`: to cancel, which every question offers). */
  offers(requestId: string, optionId: string | undefined): boolean {
    const waiting = this.#waiting.get(requestId)
    if (!waiting) return false
    return optionId === undefined || waiting.request.options.some(option => option.optionId === optionId)
  }

  answer(requestId: string, outcome: PermissionOutcome): void {
    const waiting = this.#waiting.get(requestId)
    if (!waiting) return
    this.#waiting.delete(requestId)
    waiting.resolve(outcome)
  }
}
