import type { AgentErrorInfo, ContentBlock, StopReason } from '../../acp/model.ts'
import { deferred } from '../../common/async.ts'
import { type Draft, draftOf } from '../../common/draft.ts'
import { type Attachment, attachmentOf } from '../attachment.ts'
import { nextState, type PromptEvent, type PromptState } from './prompt-states.ts'

/** How the turn of a prompt ended. */
export type TurnOutcome =
  /** The turn ended; `error` if the agent reported an error. */
  | { type: 'ended'; stopReason?: StopReason; error?: AgentErrorInfo }
  /** The agent answered the prompt with an error, or is gone; `error`: the thrown error. */
  | { type: 'failed'; error: unknown }
  /** The prompt left the queue without being sent. */
  | { type: 'withdrawn' }

/** Creates the content for the agent when the prompt is next. If it rejects, the prompt is refused with the error's message. */
export type Prepare = (prompt: Prompt) => Promise<ContentBlock[]>

interface PromptOptions {
  state: 'sending' | 'queued' | 'returned'
  draft?: Draft<Attachment>
  prepare?: Prepare
  agentId?: string
  joins?: boolean
}

/** A prompt that the agent doesn't have yet. Only the prompt's queue changes it. */
export class Prompt {
  readonly id: string
  /** milliseconds since the epoch */
  readonly createdAt = Date.now()
  /** The content for the agent; empty until the content is created. */
  content: ContentBlock[] = []
  /** A sentence that says why the prompt returns to the composer, or why the agent requires a sign-in. */
  reason: string | undefined
  /** More details about `reason`, from the agent. */
  detail: string | undefined
  /** The agent that the prompt was written for; `undefined` until an agent is chosen. The prompt is never sent to another agent. */
  agentId: string | undefined
  /** The user wants the prompt to be added to the running turn. */
  joins: boolean
  /** Set if the prompt was in the queue when the queue was paused: a prompt written after the pause goes first. */
  wasPaused = false
  readonly prepare: Prepare | undefined
  #state: PromptState
  #draft: Draft<Attachment> | undefined
  readonly #outcome = deferred<TurnOutcome>()

  constructor(id: string, { state, draft, prepare, agentId, joins = false }: PromptOptions) {
    this.id = id
    this.prepare = prepare
    this.agentId = agentId
    this.joins = joins
    this.#state = state
    this.#draft = draft
  }

  /** Resolves to how the prompt's first turn ended. */
  get outcome(): Promise<TurnOutcome> {
    return this.#outcome.promise
  }

  get state(): PromptState {
    return this.#state
  }

  /** The prompt as the user wrote it, for display and editing. */
  get draft(): Draft<Attachment> {
    this.#draft ??= draftOf(this.content, attachmentOf)
    return this.#draft
  }

  /**
   * Applies an event to the state.
   * @throws if the state has no such transition
   */
  apply(event: PromptEvent, reason?: { message?: string; detail?: string }): void {
    this.#state = nextState(this.#state, event)
    this.reason = reason?.message
    this.detail = reason?.detail
  }

  finish(outcome: TurnOutcome): void {
    this.#outcome.resolve(outcome)
  }
}
