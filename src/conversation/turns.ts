import { AgentClosedError, AgentRequestError } from '../acp/agent.ts'
import type { AgentErrorInfo, ContentBlock, SessionUpdate } from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import { isEmptyPrompt } from './blocks.ts'
import { type QueuedPrompt, Turn, type TurnOutcome } from './turn.ts'

/** How long after the session became idle the answer to the prompt may still come. */
const ANSWER_WAIT_MS = 1000

export type IdleUpdate = Extract<SessionUpdate, { type: 'state'; state: 'idle' }>

/** Runs something once after a time, unless it is disposed before. */
export type Schedule = (run: () => void, ms: number) => Disposable

/** What the turns need of their session. */
export interface TurnsHost {
  /** Sends a prompt to the agent, after it was put into the conversation. */
  send(content: ContentBlock[]): Promise<undefined | { messageId?: string }>
  sendCancel(): void
  /** Whether a turn may begin: the session is ready and no foreground work goes on. */
  canBegin(): boolean
  /** Puts the end of the turn into the conversation. */
  endWork(idle: IdleUpdate): void
  accepted(messageId: string): void
  /** The queue, or what is known of a cancel, changed. */
  changed(): void
  schedule: Schedule
  cancelGraceMs: number
}

/**
 * - `none`: nobody asked to stop.
 * - `requested`: the agent was asked to stop the turn.
 * - `overdue`: it was asked and did not stop within the grace. The person may give the turn up or restart the agent.
 */
export type CancelState = 'none' | 'requested' | 'overdue'

/**
 * The turns of a session, one at a time: agents queue a second prompt, drop the first for it, or never answer it.
 * Prompts written meanwhile wait in the order they were written. A turn that the person stopped, or that failed, holds
 * the queue: nothing more happens until the person sends another prompt or the queue.
 *
 * A turn given up stays unanswered at the agent. When its end comes after all, it must not end the turn after it: an
 * idle state that comes while both are unanswered waits for the answer that tells whose it was.
 */
export class Turns {
  readonly #host: TurnsHost
  readonly #queue: Turn[] = []
  readonly #abandoned = new Set<Turn>()
  #current: Turn | undefined
  #held = false
  #cancelState: CancelState = 'none'
  #timer: Disposable | undefined
  #undecided: IdleUpdate | undefined
  #ended: { error: unknown } | undefined
  #last = 0
  /** id of the prompt for which the running turn was stopped: it goes out however that turn ends */
  #next: string | undefined

  constructor(host: TurnsHost) {
    this.#host = host
  }

  get queued(): readonly QueuedPrompt[] {
    return this.#queue
  }

  /** Whether the queue waits for the person. */
  get held(): boolean {
    return this.#held && this.#queue.length > 0
  }

  get cancelState(): CancelState {
    return this.#cancelState
  }

  get hasTurn(): boolean {
    return this.#current !== undefined
  }

  prompt(content: readonly ContentBlock[]): Turn {
    if (isEmptyPrompt(content)) throw new RangeError('A prompt must not be empty.')
    this.#last += 1
    const turn = new Turn(`q${this.#last}`, [...content])
    if (this.#ended) {
      turn.finish({ type: 'failed', error: this.#ended.error })
      return turn
    }
    this.#queue.push(turn)
    this.#held = false
    this.#host.changed()
    this.pump()
    return turn
  }

  withdraw(id: string): ContentBlock[] | undefined {
    const found = this.#queue.findIndex(turn => turn.id === id)
    const [turn] = found === -1 ? [] : this.#queue.splice(found, 1)
    if (!turn) return undefined
    turn.finish({ type: 'withdrawn' })
    this.#host.changed()
    return turn.content
  }

  sendQueued(): void {
    if (!this.#held) return
    this.#held = false
    this.#host.changed()
    this.pump()
  }

  /** Puts a prompt that waits at another place among those that wait; 0 is the next one. */
  move(id: string, to: number): void {
    const from = this.#queue.findIndex(turn => turn.id === id)
    const [turn] = from === -1 ? [] : this.#queue.splice(from, 1)
    if (!turn) return
    this.#queue.splice(Math.max(0, Math.min(this.#queue.length, to)), 0, turn)
    this.#host.changed()
  }

  /** Sends a prompt that waits before all others, once the work that goes on, if any, was stopped. False: it is gone. */
  sendNow(id: string, works: boolean): boolean {
    if (!this.#queue.some(turn => turn.id === id)) return false
    this.move(id, 0)
    this.#next = id
    if (works) this.cancel()
    this.#held = false
    this.#host.changed()
    this.pump()
    return true
  }

  /** Begins the next turn when one waits and nothing stands in its way. */
  pump(): void {
    if (this.#current || this.#held || this.#ended || !this.#host.canBegin()) return
    const turn = this.#queue.shift()
    if (!turn) return
    if (turn.id === this.#next) this.#next = undefined
    this.#current = turn
    this.#host.changed()
    this.#host.send(turn.content).then(
      accepted => this.#answered(turn, accepted?.messageId),
      (error: unknown) => this.#failed(turn, error),
    )
  }

  /**
   * Whether an idle state is to be taken in now. One from before the turn began is not: agents tell of an idle session
   * more than once, with the reason of its last end. Where no other state comes before the answer, it was the turn's own.
   */
  admits(idle: IdleUpdate): boolean {
    const turn = this.#current
    if (!turn || turn.answered) return true
    if (!turn.begun && idle.stopReason === undefined && idle.error === undefined) return false
    if (turn.begun && this.#abandoned.size === 0) return true
    this.#undecided = idle
    return false
  }

  /** A state of the agent was taken in. */
  stateTold(update: Extract<SessionUpdate, { type: 'state' }>): void {
    const turn = this.#current
    if (update.state !== 'idle') {
      if (turn && !turn.begun) this.#undecided = undefined
      if (turn) turn.begun = true
      return
    }
    this.#setCancelState('none')
    if (!turn) {
      this.pump()
      return
    }
    const { stopReason, error } = update as IdleUpdate
    turn.end = { type: 'ended' }
    if (stopReason !== undefined) turn.end.stopReason = stopReason
    if (error !== undefined) turn.end.error = error
    if (error !== undefined || stopReason === 'error') this.#held = true
    if (turn.answered) this.#finish(turn, turn.end)
    else this.#timer = this.#host.schedule(() => turn.end && this.#finish(turn, turn.end), ANSWER_WAIT_MS)
  }

  cancel(): void {
    this.#held = true
    // Its end was told: only the answer to the prompt is still on its way.
    if (this.#current?.end) return
    this.#host.sendCancel()
    if (this.#cancelState !== 'none') return
    this.#setCancelState('requested')
    this.#timer = this.#host.schedule(() => this.#setCancelState('overdue'), this.#host.cancelGraceMs)
  }

  /** Goes on without the turn's end, after a cancel that was asked for. */
  abandon(): void {
    if (this.#cancelState === 'none') return
    const turn = this.#current
    if (turn && !turn.answered) this.#abandoned.add(turn)
    this.#host.endWork({ type: 'state', state: 'idle', stopReason: 'cancelled' })
    this.#setCancelState('none')
    if (turn) this.#finish(turn, { type: 'ended', stopReason: 'cancelled' })
    else this.pump()
  }

  /** Nothing more will be sent. What waits stays readable in `queued`. */
  end(error: unknown): void {
    if (this.#ended) return
    this.#ended = { error }
    this.#setCancelState('none')
    const turn = this.#current
    this.#current = undefined
    turn?.finish(turn.end ?? { type: 'failed', error })
    for (const waiting of this.#queue) waiting.finish({ type: 'failed', error })
    this.#host.changed()
  }

  #answered(turn: Turn, messageId: string | undefined): void {
    turn.answered = true
    if (this.#forget(turn) || turn !== this.#current) return
    if (messageId !== undefined) this.#host.accepted(messageId)
    this.#decide()
    if (turn.end && turn === this.#current) this.#finish(turn, turn.end)
  }

  #failed(turn: Turn, error: unknown): void {
    turn.answered = true
    if (this.#forget(turn) || turn !== this.#current) return
    const cancelled = error instanceof AgentRequestError && error.kind === 'cancelled'
    this.#undecided = undefined
    if (!turn.end) {
      this.#host.endWork(
        cancelled
          ? { type: 'state', state: 'idle', stopReason: 'cancelled' }
          : { type: 'state', state: 'idle', stopReason: 'error', error: errorInfo(error) },
      )
    }
    this.#held = true
    this.#finish(turn, cancelled ? { type: 'ended', stopReason: 'cancelled' } : { type: 'failed', error })
  }

  /** Whether the turn was given up before; an end that could not be told apart was its own then. */
  #forget(turn: Turn): boolean {
    if (!this.#abandoned.delete(turn)) return false
    this.#undecided = undefined
    return true
  }

  /** The running turn was answered: an end that could not be told apart is its own. */
  #decide(): void {
    const idle = this.#undecided
    if (!idle) return
    this.#undecided = undefined
    this.#host.endWork(idle)
    this.stateTold(idle)
  }

  #finish(turn: Turn, outcome: TurnOutcome): void {
    if (this.#current !== turn) return
    this.#current = undefined
    if (this.#next !== undefined && this.#queue[0]?.id === this.#next) this.#held = false
    this.#setCancelState('none')
    turn.finish(outcome)
    this.#host.changed()
    this.pump()
  }

  #setCancelState(state: CancelState): void {
    if (state !== 'overdue') {
      this.#timer?.dispose()
      this.#timer = undefined
    }
    if (this.#cancelState === state) return
    this.#cancelState = state
    this.#host.changed()
  }
}

/** An error in words, as it stands at the end of a turn. */
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
