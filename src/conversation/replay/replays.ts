import type { SessionUpdate } from '../../acp/model.ts'
import type { Disposable } from '../../common/disposable.ts'
import { LATE_REPLAY_END_MS, LATE_REPLAY_MS } from '../../common/limits.ts'
import type { ConversationState } from '../conversation-state.ts'
import type { ReducingState } from '../reducer/reducing-state.ts'
import type { Schedule } from '../turns.ts'
import { Load, type Loaded } from './load.ts'
import { runAllSteps, type SteppedWork } from './stepped-work.ts'

/** A merge in progress. */
interface Merging {
  /** delivers the updates that arrived during the merge */
  held: Array<() => void>
  /** Runs the remaining steps immediately. */
  finish: () => void
}

export interface ReplaysOptions {
  conversation: ConversationState
  /** Returns the saved conversation, in case a load replays nothing. */
  saved: (() => ReducingState | undefined) | undefined
  /** Shows the result of merging a late replay. */
  show(merged: ReducingState): void
  schedule: Schedule
}

/**
 * The replays of a session: before the agent's response to a load, a resume or a fork, or some time after it. Merges a replay with the
 * known conversation, in steps if the conversation is long; updates that arrive during a merge wait.
 */
export class Replays {
  readonly #options: ReplaysOptions
  readonly #load: Load
  #merging: Merging | undefined
  #lateMerge: Disposable | undefined
  #lateEnd: Disposable | undefined

  constructor(options: ReplaysOptions) {
    this.#options = options
    this.#load = new Load(options.saved)
  }

  /** Starts with the conversation of a session that is resumed. If the agent replays the conversation anyway, nothing is duplicated. */
  resume(known: ReducingState): void {
    this.#load.resume(known)
  }

  /** Begins a load. Returns the conversation to show during the replay. */
  start(before: Loaded): ReducingState {
    this.end()
    return this.#load.start(before)
  }

  /** Whether a merge is in progress. If so, `deliver` is called after the merge. */
  holds(deliver: () => void): boolean {
    this.#merging?.held.push(deliver)
    return this.#merging !== undefined
  }

  /** Whether the update is part of a late replay; if so, the update is shown a moment later, together with the following updates. */
  takes(update: SessionUpdate, within?: string): boolean {
    if (!this.#load.takes(update, within)) return false
    this.#lateMerge ??= this.#options.schedule(() => this.#mergeLate(), LATE_REPLAY_MS)
    this.awaitLate()
    return true
  }

  /** Accepts replayed updates until none has arrived for a while: some agents replay after their response. */
  awaitLate(): void {
    this.#lateEnd?.dispose()
    this.#lateEnd = this.#load.isReplayed
      ? this.#options.schedule(() => this.end(), LATE_REPLAY_END_MS)
      : undefined
  }

  /** Merges the replay when the agent has responded. Calls `done` with the conversation to show, in a later task if the merge is long. */
  finish(done: (shown: ReducingState) => void): Promise<void> {
    // merge updates that were replayed although the session was only resumed
    this.#merging?.finish()
    return this.#inSteps(() => this.#load.finish(this.#options.conversation.state), done)
  }

  /** Ends a failed load. Returns the conversation from before the load, if any. */
  undo(): Loaded | undefined {
    const before = this.#load.undo()
    if (before) this.#merging = undefined
    return before
  }

  /** Ends the wait for a late replay, since the user continues or the agent works: later updates aren't part of a replay. */
  end(): void {
    // finish a running merge immediately
    this.#merging?.finish()
    while (this.#lateMerge) {
      this.#mergeLate()
      this.#merging?.finish()
    }
    this.#lateEnd?.dispose()
    this.#lateEnd = undefined
    this.#load.end()
  }

  /**
   * Adds a note below a conversation that comes only from Parley's saved copy. `promptFollows`: a prompt follows, so the note stays there.
   */
  addSavedCopyNote(promptFollows: boolean): void {
    const { conversation } = this.#options
    conversation.report(this.#load.addSavedCopyNote(conversation.state, promptFollows))
  }

  #mergeLate(): void {
    if (!this.#lateMerge) return
    this.#lateMerge.dispose()
    this.#lateMerge = undefined
    const { conversation, show } = this.#options
    void this.#inSteps(() => this.#load.merge(conversation.state), show)
  }

  /**
   * Runs a merge, each step in a separate task; a short merge runs immediately. Starts over if the conversation changes in between, and
   * stops if the load is undone.
   */
  async #inSteps(
    merge: () => SteppedWork<ReducingState>,
    done: (merged: ReducingState) => void,
  ): Promise<void> {
    let steps = merge()
    let step = steps.next()
    if (step.done) {
      done(step.value)
      return
    }
    const merging: Merging = {
      held: [],
      finish: () => {
        this.#merging = undefined
        done(runAllSteps(merge()))
        for (const deliver of merging.held) deliver()
      },
    }
    this.#merging = merging
    let isChanged = false
    const listener = this.#options.conversation.onDidChange(changes => {
      if (changes.some(({ type }) => type === 'entry' || type === 'text')) isChanged = true
    })
    try {
      for (; !step.done; step = steps.next()) {
        await new Promise(setImmediate)
        if (this.#merging !== merging) return
        if (!isChanged) continue
        isChanged = false
        steps = merge()
      }
    } finally {
      listener.dispose()
    }
    this.#merging = undefined
    done(step.value)
    for (const deliver of merging.held) deliver()
  }
}
