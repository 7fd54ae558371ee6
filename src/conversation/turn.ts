import type { AgentErrorInfo, ContentBlock, StopReason } from '../acp/model.ts'

/** How a prompt came out. */
export type TurnOutcome =
  /** The turn ended; `error` when the agent said that something failed. */
  | { type: 'ended'; stopReason?: StopReason; error?: AgentErrorInfo }
  /** The agent answered the prompt with an error, or is gone; the error as it was thrown. */
  | { type: 'failed'; error: unknown }
  /** It was taken from the queue before it was sent. */
  | { type: 'withdrawn' }

/** A prompt that waits for the turn before it. */
export interface QueuedPrompt {
  readonly id: string
  readonly content: ContentBlock[]
}

/** A prompt and what becomes of it. */
export class Turn implements QueuedPrompt {
  readonly id: string
  readonly content: ContentBlock[]
  readonly outcome: Promise<TurnOutcome>
  /** The agent said that it works on it. */
  begun = false
  /** The agent answered the request: in v1 at the turn's end, in v2 when it took the prompt. */
  answered = false
  /** The session became idle: how the turn ended. */
  end: TurnOutcome | undefined
  #resolve!: (outcome: TurnOutcome) => void

  constructor(id: string, content: ContentBlock[]) {
    this.id = id
    this.content = content
    this.outcome = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  finish(outcome: TurnOutcome): void {
    this.#resolve(outcome)
  }
}
