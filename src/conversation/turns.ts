import * as l10n from '@vscode/l10n'
import { AgentClosedError, AgentRequestError } from '../acp/agent.ts'
import { RpcCode } from '../acp/errors.ts'
import type { AgentErrorInfo, ContentBlock, SessionUpdate, SteeringOutcome } from '../acp/model.ts'
import { type Disposable, DisposableStore } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { LATE_RESPONSE_MS, LATE_STEERING_MS } from '../common/limits.ts'
import { Prompt, type TurnOutcome } from './prompts/prompt.ts'
import type { PromptQueue } from './prompts/prompt-queue.ts'

export type IdleUpdate = Extract<SessionUpdate, { type: 'state'; state: 'idle' }>

/** Runs a function once after a time, unless the returned disposable is disposed before. */
export type Schedule = (run: () => void, ms: number) => Disposable

/** The parts of a session that its turns need. */
export interface TurnsOptions {
  queue: PromptQueue
  /** Adds a prompt to the conversation and sends it to the agent. */
  send(content: ContentBlock[]): Promise<undefined | { messageId?: string }>
  /** Adds a prompt to the conversation and asks the agent to add it to the running turn. Rejects if the agent can't be asked. */
  steer(prompt: Prompt): Promise<SteeringOutcome>
  /** Shows the outcome of a steering prompt, even if the agent answers late. */
  steered(prompt: Prompt, outcome: SteeringOutcome): void
  sendCancel(): void
  /** Whether foreground work is running. */
  isRunning(): boolean
  /** Whether the agent can add prompts to a running turn. */
  canSteer(): boolean
  /** Whether the session accepts prompts now. */
  canBegin(): boolean
  /** Answers the requests that end when the user stops the turn. */
  withdrawRequests(): void
  /** Adds the end of the turn to the conversation. */
  endWork(idle: IdleUpdate): void
  /** Returns the error with which the conversation shows the turn as ended, even if the agent reported none. */
  shownError(): AgentErrorInfo | undefined
  accepted(messageId: string): void
  /** Called when the queue or `cancelState` changed. */
  changed(): void
  schedule: Schedule
  cancelGraceMs: number
}

/**
 * Whether the running turn was canceled:
 * - `none`: the turn wasn't canceled.
 * - `requested`: the agent was asked to cancel the turn.
 * - `overdue`: the agent didn't confirm in time. The user can continue without waiting for it, or restart the agent.
 */
export type CancelState = 'none' | 'requested' | 'overdue'

/** A turn that a prompt started. */
interface Turn {
  readonly prompt: Prompt
  /** The prompts that the agent added to the turn. */
  readonly added: Prompt[]
  /** The agent reported that it's working on the prompt. */
  begun: boolean
  /** The agent responded to the request: at the end of the turn (v1), or when it accepted the prompt (v2). */
  answered: boolean
  /** How the turn ended; set when the session became idle. */
  end?: TurnOutcome
}

/**
 * The turns of a session, one at a time: given a second prompt, agents queue it, drop the first one or never respond. When a turn ends, the
 * next prompt is taken from the session's queue. A canceled or failed turn pauses the queue.
 *
 * An agent with the capability can be asked to add a prompt to the running turn (steering). In any case such a prompt ends either with the
 * agent or in the queue: it stays in the queue until the agent reports that it has taken the prompt, and until then no other prompt is
 * sent.
 *
 * The response to an abandoned turn may still arrive, and must not end the turn after it: an idle state that arrives while both responses
 * are pending is held back until a response shows which turn the idle state belongs to.
 */
export class Turns {
  readonly #options: TurnsOptions
  readonly #abandoned = new Set<Turn>()
  #queue: PromptQueue
  #connected: Disposable
  #current: Turn | undefined
  #cancelState: CancelState = 'none'
  #timer: Disposable | undefined
  #undecided: IdleUpdate | undefined
  #unanswered: Disposable | undefined
  #ended: { error: unknown } | undefined

  constructor(options: TurnsOptions) {
    this.#options = options
    this.#queue = options.queue
    this.#connected = this.#connect()
  }

  /** The queue of prompts that aren't sent yet. A session has a queue of its own until the stored queue replaces it. */
  get queue(): PromptQueue {
    return this.#queue
  }

  /** Switches to another queue. */
  set queue(queue: PromptQueue) {
    if (queue === this.#queue) return
    this.#connected.dispose()
    this.#queue = queue
    if (this.#ended) return
    this.#connected = this.#connect()
    this.pump()
  }

  get cancelState(): CancelState {
    return this.#cancelState
  }

  /** Whether a turn or other foreground work is running and can be stopped. */
  get isWorking(): boolean {
    return this.#options.isRunning() || this.#current !== undefined
  }

  /** The prompt of the running turn. */
  get prompt(): Prompt | undefined {
    return this.#current?.prompt
  }

  /** Whether the agent can be asked to add a prompt to the running turn. */
  get canSteer(): boolean {
    const isEnding = this.#cancelState !== 'none' || this.#current?.end !== undefined
    return !isEnding && !this.#ended && this.#options.canSteer() && this.#options.isRunning()
  }

  /** Adds prompts to the running turn if the user wants to add them, or starts the next turn if none is running. */
  pump(): void {
    if (this.canSteer) for (const prompt of this.#queue.takeSteering()) this.#steer(prompt)
    if (this.isWorking || this.#ended || !this.#options.canBegin()) return
    const prompt = this.#queue.take()
    if (!prompt) return
    this.#begin({ prompt, added: [], begun: false, answered: false }, () =>
      this.#options.send(prompt.content),
    )
  }

  /** Continues a turn that another window started. */
  adopt(answer: ReturnType<TurnsOptions['send']>): void {
    const prompt = new Prompt(crypto.randomUUID(), { state: 'queued' })
    prompt.apply('send')
    this.#begin({ prompt, added: [], begun: true, answered: false }, () => answer)
  }

  #begin(turn: Turn, send: () => ReturnType<TurnsOptions['send']>): void {
    this.#current = turn
    send().then(
      accepted => this.#answered(turn, accepted?.messageId),
      (error: unknown) => this.#failed(turn, error),
    )
  }

  /**
   * Whether to apply an idle state now. An idle state from before the turn started is held back, since agents repeat idle states with the
   * last stop reason. If no other state arrives before the response, the idle state was the turn's own.
   */
  admits(idle: IdleUpdate): boolean {
    const turn = this.#current
    if (!turn || turn.answered) return true
    if (!turn.begun && idle.stopReason === undefined && idle.error === undefined) return false
    if (turn.begun && this.#abandoned.size === 0) return true
    this.#undecided = idle
    return false
  }

  /**
   * Adds to an idle state who ended the turn. Some agents respond with `end_turn` to a cancellation, or with `cancelled` when the user
   * rejected a request or the agent was told to exit.
   */
  attribute(idle: IdleUpdate): IdleUpdate {
    const { stopReason, error } = idle
    if (this.#cancelState === 'none') {
      return stopReason === 'cancelled' ? { ...idle, canceledBy: 'agent' } : idle
    }
    const isOrdinary = error === undefined && (stopReason === undefined || stopReason === 'end_turn')
    return isOrdinary ? { ...idle, stopReason: 'cancelled' } : idle
  }

  /**
   * Returns a tool call update with the status `cancelled` instead of `failed` if the user stopped the turn: many agents report stopped
   * tool calls as failed.
   */
  asStopped(update: SessionUpdate): SessionUpdate {
    if (update.type !== 'tool_call' || update.toolCall.status !== 'failed') return update
    if (this.#cancelState === 'none') return update
    return { ...update, toolCall: { ...update.toolCall, status: 'cancelled' } }
  }

  /** Updates the turn after a state update was applied. */
  stateReported(update: Extract<SessionUpdate, { type: 'state' }>): void {
    const turn = this.#current
    if (update.state !== 'idle') {
      this.#stopWaiting()
      if (turn && !turn.begun) this.#undecided = undefined
      if (turn) turn.begun = true
      return
    }
    const { stopReason, error = this.#options.shownError() } = this.attribute(update as IdleUpdate)
    this.#setCancelState('none')
    this.#awaitSteering()
    if (!turn) {
      this.pump()
      return
    }
    turn.end = { type: 'ended' }
    if (stopReason !== undefined) turn.end.stopReason = stopReason
    if (error !== undefined) turn.end.error = error
    if (error !== undefined || stopReason === 'error') this.#queue.turnFailed()
    if (turn.answered) this.#finish(turn, turn.end)
    else
      this.#timer = this.#options.schedule(() => turn.end && this.#finish(turn, turn.end), LATE_RESPONSE_MS)
  }

  #steer(prompt: Prompt): void {
    const queue = this.#queue
    this.#options.steer(prompt).then(
      outcome => this.#steered(queue, prompt, outcome),
      (error: unknown) => {
        // The end of the session returns the prompt to the composer.
        if (!(error instanceof AgentClosedError)) this.#steered(queue, prompt, 'failed', messageOf(error))
      },
    )
  }

  #steered(queue: PromptQueue, prompt: Prompt, outcome: SteeringOutcome, reason?: string): void {
    const taken = outcome === 'injected' || outcome === 'startedNewTurn'
    const before = this.#current
    if (!taken) {
      const failure =
        outcome === 'failed' ? l10n.t("The agent couldn't add this prompt to the running turn.") : undefined
      this.#options.steered(prompt, outcome)
      queue.notSteered(prompt, reason ?? failure)
    } else if (!this.#ended) {
      this.#options.steered(prompt, outcome)
      if (before) before.added.push(prompt)
      else prompt.finish({ type: 'ended' })
      queue.steered(prompt)
    }
    if (!queue.isSteering) this.#stopWaiting()
    this.#options.changed()
  }

  /** Waits for steering answers after the turn is over: an agent that hasn't answered by then may never do so. */
  #awaitSteering(): void {
    if (this.#unanswered || !this.#queue.isSteering) return
    const queue = this.#queue
    this.#unanswered = this.#options.schedule(() => {
      this.#stopWaiting()
      for (const prompt of queue.prompts)
        if (prompt.state === 'steering') this.#options.steered(prompt, 'failed')
      queue.steeringUnanswered(l10n.t("The agent didn't say whether it received this prompt."))
    }, LATE_STEERING_MS)
  }

  #stopWaiting(): void {
    this.#unanswered?.dispose()
    this.#unanswered = undefined
  }

  /**
   * Asks the agent to add this queued prompt to the running turn. Returns false if the prompt is no longer queued, or no prompt can be
   * added.
   */
  steer(id: string): boolean {
    return this.canSteer && this.#queue.steer(id)
  }

  /** Stops the running turn, if any, and sends this queued prompt next. Returns false if the prompt is no longer queued. */
  sendNow(id: string): boolean {
    const works = this.isWorking
    if (this.#ended || !this.#queue.sendNow(id)) return false
    if (works) this.#stop()
    this.#queue.resume()
    this.#options.withdrawRequests()
    return true
  }

  /**
   * Asks the agent to stop, answers every pending request with `cancelled` (except those of background work) and pauses the queue. If the
   * agent doesn't stop in time, `cancelState` becomes `overdue`; `abandon` then continues without waiting for it.
   */
  cancel(): void {
    if (this.#ended) return
    // prompts that wait until the session may continue are paused, too
    if (this.isWorking || this.#queue.queued.length > 0) this.#queue.pause()
    if (this.isWorking) this.#stop()
    this.#options.withdrawRequests()
  }

  #stop(): void {
    // The end of the turn was reported; only the response to the prompt is missing.
    if (this.#current?.end) return
    this.#options.sendCancel()
    if (this.#cancelState !== 'none') return
    this.#setCancelState('requested')
    this.#timer = this.#options.schedule(() => this.#setCancelState('overdue'), this.#options.cancelGraceMs)
  }

  /** Continues without waiting for the end of a canceled turn. Does nothing unless `cancel` was called. */
  abandon(): void {
    if (this.#cancelState === 'none') return
    const turn = this.#current
    if (turn && !turn.answered) this.#abandoned.add(turn)
    this.#options.endWork({ type: 'state', state: 'idle', stopReason: 'cancelled' })
    this.#setCancelState('none')
    this.#awaitSteering()
    if (turn) this.#finish(turn, { type: 'ended', stopReason: 'cancelled' })
    else this.pump()
  }

  /** Ends the turns with the session: queued prompts return to the composer. */
  end(error: unknown): void {
    if (this.#ended) return
    this.#ended = { error }
    this.#setCancelState('none')
    this.#stopWaiting()
    const turn = this.#current
    this.#current = undefined
    if (turn) finishAll(turn, turn.end ?? { type: 'failed', error })
    this.#connected.dispose()
    this.#queue.sessionEnded(error)
    this.#options.changed()
  }

  #connect(): Disposable {
    const connected = new DisposableStore()
    connected.add(this.#queue.connect(() => this.pump()))
    connected.add(this.#queue.onDidChange(() => this.#options.changed()))
    return connected
  }

  #answered(turn: Turn, messageId: string | undefined): void {
    turn.answered = true
    if (this.#forget(turn) || turn !== this.#current) return
    if (messageId !== undefined) this.#options.accepted(messageId)
    this.#decide()
    if (turn.end && turn === this.#current) this.#finish(turn, turn.end)
  }

  #failed(turn: Turn, error: unknown): void {
    turn.answered = true
    if (this.#forget(turn) || turn !== this.#current) return
    const cancelled = error instanceof AgentRequestError && error.kind === 'cancelled'
    this.#undecided = undefined
    if (!turn.end) {
      this.#options.endWork(
        cancelled
          ? { type: 'state', state: 'idle', stopReason: 'cancelled' }
          : { type: 'state', state: 'idle', stopReason: 'error', error: errorInfo(error) },
      )
    }
    this.#queue.turnFailed()
    this.#finish(turn, cancelled ? { type: 'ended', stopReason: 'cancelled' } : { type: 'failed', error })
  }

  /**
   * Forgets an abandoned turn. Returns false if the turn wasn't abandoned. An idle state that was held back belongs to the abandoned turn.
   */
  #forget(turn: Turn): boolean {
    if (!this.#abandoned.delete(turn)) return false
    this.#undecided = undefined
    return true
  }

  /** Ends the running turn, which got its response, if an idle state was held back: the idle state belongs to this turn. */
  #decide(): void {
    const idle = this.#undecided
    if (!idle) return
    this.#undecided = undefined
    this.#options.endWork(idle)
    this.stateReported(idle)
  }

  #finish(turn: Turn, outcome: TurnOutcome): void {
    if (this.#current !== turn) return
    this.#current = undefined
    this.#setCancelState('none')
    this.#awaitSteering()
    const refusal = signInRequiredBy(outcome)
    if (refusal) this.#queue.requireSignIn(turn.prompt, refusal)
    finishAll(turn, outcome)
    this.#options.changed()
    this.pump()
  }

  #setCancelState(state: CancelState): void {
    if (state !== 'overdue') {
      this.#timer?.dispose()
      this.#timer = undefined
    }
    if (this.#cancelState === state) return
    this.#cancelState = state
    this.#options.changed()
  }
}

function finishAll({ prompt, added }: Turn, outcome: TurnOutcome): void {
  for (const one of [prompt, ...added]) one.finish(outcome)
}

/** Returns the message with which the agent refused the prompt, or the turn that the prompt started (v2), because the user must sign in. */
function signInRequiredBy(outcome: TurnOutcome): { message: string; detail?: string } | undefined {
  if (outcome.type === 'failed') {
    const { error } = outcome
    return error instanceof AgentRequestError && error.kind === 'auth-required' ? errorInfo(error) : undefined
  }
  const error = outcome.type === 'ended' ? outcome.error : undefined
  return error?.code === RpcCode.authRequired ? error : undefined
}

/** Returns the code and text of an error at the end of a turn. */
function errorInfo(error: unknown): AgentErrorInfo {
  if (error instanceof AgentRequestError) {
    const { code, message, detail } = error
    return detail === undefined ? { code, message } : { code, message, detail }
  }
  if (error instanceof AgentClosedError) return { code: error.exit.exitCode ?? 0, message: error.message }
  return { code: 0, message: messageOf(error) }
}

export const scheduleTimer: Schedule = (run, ms) => {
  const timer = setTimeout(run, ms)
  timer.unref()
  return { dispose: () => clearTimeout(timer) }
}
