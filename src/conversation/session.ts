import * as l10n from '@vscode/l10n'
import { type Agent, AgentClosedError, type AgentExit } from '../acp/agent.ts'
import type {
  ContentBlock,
  SessionSetup,
  SessionStart,
  SessionUpdate,
  SteeringOutcome,
} from '../acp/model.ts'
import { type Disposable, toDisposable } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import { CANCEL_GRACE_MS, LATE_REPLAY_MS } from '../common/limits.ts'
import { ConversationState } from './conversation-state.ts'
import { OptionChanges } from './option-changes.ts'
import type { SessionPhase } from './phases.ts'
import type { Prompt, TurnOutcome } from './prompts/prompt.ts'
import { PromptQueue } from './prompts/prompt-queue.ts'
import { isIdle } from './reducer/reduce.ts'
import type { LocalEvent } from './reducer/reduce-local.ts'
import { createSessionState, type ReducingState } from './reducer/reducing-state.ts'
import { Replays } from './replay/replays.ts'
import { PendingRequests } from './requests/pending-requests.ts'
import {
  endedSubagent,
  endsWhenStopped,
  endsWithSubagent,
  endsWithTurn,
} from './requests/withdrawn-requests.ts'
import { isCommand } from './rewinds.ts'
import type { Change, EntryId, NoticeEntry, SessionState, TurnFiles } from './state.ts'
import { reportedBackground } from './step.ts'
import { type IdleUpdate, type Schedule, scheduleTimer, Turns } from './turns.ts'
import { isPrompt } from './user-prompts.ts'

export interface SessionOptions {
  agent: Agent
  sessionId: string
  setup: SessionSetup
  phase: 'loading' | 'ready'
  /** A conversation to continue: the one that this session had with an agent that ended. */
  state?: ReducingState
  /** Returns the saved conversation, in case a load replays nothing. */
  saved?: () => ReducingState | undefined
  now?: () => number
  schedule?: Schedule
  cancelGraceMs?: number
  /** Called once, when the session is closed or its agent ended. */
  onEnd?: () => void
}

/**
 * One conversation with one agent. {@link AgentSessions} passes the agent's updates to `receive`, in order; the user's actions are sent to
 * the agent. `onDidChange` reports changes of `state`, and `onDidChangeStatus` reports all other changes: phase, queue, cancellation,
 * unconfirmed options.
 */
export class Session implements Disposable {
  readonly agent: Agent
  readonly sessionId: string
  readonly #options: SessionOptions
  readonly conversation: ConversationState
  readonly #status = new Emitter<void>()
  readonly #end = new Emitter<AgentExit | undefined>()
  readonly requests: PendingRequests
  readonly optionChanges: OptionChanges
  readonly turns: Turns
  readonly #now: () => number
  readonly #schedule: Schedule
  #setup: SessionSetup
  #phase: SessionPhase
  readonly #replays: Replays
  #exit: AgentExit | undefined

  /** The holds during which prompts stay queued. */
  readonly #promptHolds = new Set<object>()
  /** Whether the user doesn't see the session. */
  isHidden = false
  /** Returns the part of the conversation that the agent doesn't know, for the next prompt. */
  contextToTell: () => ContentBlock | undefined = () => undefined

  constructor(options: SessionOptions) {
    this.agent = options.agent
    this.sessionId = options.sessionId
    this.#options = options
    this.#setup = options.setup
    this.#phase = options.phase
    this.#now = options.now ?? Date.now
    this.#schedule = options.schedule ?? scheduleTimer
    this.conversation = new ConversationState(options.state ?? createSessionState(), () => this.#time())
    this.#replays = new Replays({
      conversation: this.conversation,
      saved: options.saved,
      show: merged => this.#replace(merged),
      schedule: this.#schedule,
    })
    if (options.phase === 'loading') this.#replays.resume(this.conversation.state)
    this.requests = new PendingRequests(this.conversation, this.sessionId, () => this.isLive)
    this.optionChanges = new OptionChanges({
      options: () => this.conversation.state.configOptions,
      show: (optionId, value) => this.conversation.applyLocal({ type: 'config_option', optionId, value }),
      send: (optionId, value) => this.agent.setConfigOption(this.sessionId, optionId, value),
      changed: () => this.#status.fire(),
    })
    this.turns = new Turns({
      queue: new PromptQueue(),
      send: content => this.#send(content),
      steer: prompt => this.#steer(prompt),
      steered: (prompt, outcome) =>
        this.conversation.applyLocal({ type: 'prompt_steered', promptId: prompt.id, outcome }),
      isRunning: () => this.conversation.state.memory.running,
      canSteer: () => this.#takesPrompts() && this.agent.capabilities.steering === true,
      sendCancel: () => this.agent.cancel(this.sessionId),
      canBegin: () => this.#takesPrompts(),
      withdrawRequests: () =>
        this.requests.withdraw(request => endsWhenStopped(this.conversation.state, request)),
      endWork: idle => this.#endWork(idle),
      shownError: () => {
        const last = this.conversation.state.entries.at(-1)
        return last?.kind === 'turn_end' ? last.error : undefined
      },
      accepted: messageId => this.conversation.applyLocal({ type: 'prompt_accepted', messageId }),
      changed: () => this.#status.fire(),
      schedule: this.#schedule,
      cancelGraceMs: options.cancelGraceMs ?? CANCEL_GRACE_MS,
    })
  }

  /** Fires with the changes of `state` after they were made. A `reset` means that `state` is a new object. */
  get onDidChange(): Event<Change[]> {
    return this.conversation.onDidChange
  }

  get onDidChangeStatus(): Event<void> {
    return this.#status.event
  }

  /** Fires once when the session ends, with the agent's exit, or with `undefined` if Parley closed the session. */
  get onDidEnd(): Event<AgentExit | undefined> {
    return this.#end.event
  }

  get state(): SessionState {
    return this.conversation.state
  }

  get setup(): SessionSetup {
    return this.#setup
  }

  get phase(): SessionPhase {
    return this.#phase
  }

  get isLive(): boolean {
    return this.#phase === 'loading' || this.#phase === 'ready'
  }

  /** How the agent ended, if it has ended. */
  get exit(): AgentExit | undefined {
    return this.#exit
  }

  /** Whether the agent works or waits for an answer. Questions that outlast a turn don't count while no work is running. */
  get isAtWork(): boolean {
    const { activity, memory } = this.conversation.state
    if (activity !== 'requires_action' || memory.running) return activity !== 'idle'
    const { open } = this.requests
    return !open.every(entry => entry.kind === 'permission' && entry.outlastsTurn) || open.length === 0
  }

  /** Keeps prompts queued until the returned hold, and all others, are disposed. */
  holdPrompts(): Disposable {
    const hold = {}
    this.#promptHolds.add(hold)
    return toDisposable(() => {
      this.#promptHolds.delete(hold)
      this.turns.pump()
    })
  }

  /** Holds the session, or releases it. While a session is held, no prompt is sent or added to a turn, and no rule answers the agent. */
  hold(isHeld: boolean): void {
    if (this.requests.isHeld === isHeld) return
    this.requests.isHeld = isHeld
    this.#status.fire()
    if (isHeld || !this.isLive) return
    this.requests.consultAgain()
    this.turns.pump()
  }

  // ---- the user's actions ------------------------------------------------------------------------------------------

  /**
   * Sends a prompt, or queues it while a turn is running. Resolves to the outcome and never rejects.
   * @throws `RangeError` if the prompt is empty: some agents never respond to an empty prompt
   */
  prompt(content: readonly ContentBlock[]): Promise<TurnOutcome> {
    if (!this.isLive) return Promise.resolve({ type: 'failed', error: this.#endError() })
    return this.turns.queue.add(content).outcome
  }

  /**
   * Closes the session: stops its work and drops later updates. Also closes the session in the agent, if the agent has the capability.
   * Rejects if the agent refuses; the session is closed here anyway.
   */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    const live = this.isLive
    const running = this.conversation.state.memory.running
    const { agent, sessionId } = this
    this.#finish('closed', undefined)
    if (!live) return
    if (agent.capabilities.close) await agent.closeSession(sessionId)
    else if (running) agent.cancel(sessionId)
  }

  // ---- the agent's updates -----------------------------------------------------------------------------------------

  /**
   * Applies an update of the agent. `within`: the id of the subagent's session that the update is for, if it was announced in this session.
   */
  receive(update: SessionUpdate, within?: string): void {
    if (!this.isLive) return
    if (this.#replays.holds(() => this.receive(update, within)) || this.#replays.takes(update, within)) return
    if (update.type === 'state' && within === undefined) {
      this.#receiveState(update)
      return
    }
    const isOwn = within === undefined
    if (isOwn && (update.type === 'config_options' || update.type === 'config_value'))
      this.optionChanges.reported()
    const { entries, memory, activity } = this.conversation.state
    const from = entries.length
    this.conversation.together(() => {
      // updates of an idle session may be a late replay
      const time = isOwn && activity === 'idle' ? undefined : this.#time()
      this.conversation.apply(this.turns.asStopped(update), time, within)
      if (isOwn && this.#phase === 'ready' && !memory.running)
        for (const entry of entries.slice(from)) if (!isPrompt(entry)) entry.outOfTurn = true
      const subagent = endedSubagent(this.conversation.state, update, within)
      if (subagent) this.requests.withdraw(request => endsWithSubagent(subagent, request))
    })
  }

  #receiveState(update: Extract<SessionUpdate, { type: 'state' }>): void {
    if (isIdle(update)) {
      if (!this.turns.admits(update)) return
      this.#endWork(update)
    } else {
      if (this.#phase === 'ready') this.#replays.end()
      this.conversation.apply(update, this.#time())
    }
    this.turns.stateReported(update)
  }

  /** Adds a notice from Parley. `notice.files`: absolute paths of the changed files that the notice is about. */
  notify(notice: Omit<NoticeEntry, 'kind' | 'id' | 'turn'>): void {
    if (!this.isLive) return
    this.conversation.addNotice(notice)
    if (notice.rewind) this.#status.fire()
  }

  /** Sets the number of files and lines that a finished turn changed. */
  noteFiles(turn: number, files: TurnFiles): void {
    if (this.isLive) this.conversation.applyLocal({ type: 'turn_files', turn, files })
  }

  /** Marks the rewind of a notice as undone by the user; `title` is the notice's new title. */
  withdrawRewind(id: EntryId, title: string): void {
    if (this.conversation.withdrawRewind(id, title)) this.#status.fire()
  }

  // ---- for AgentSessions -------------------------------------------------------------------------------------------

  /** @internal Applies the agent's response to creating, loading or resuming the session. */
  start(start: SessionStart): void {
    if (!this.isLive) return
    if (start.configOptions) this.receive({ type: 'config_options', options: start.configOptions })
    if (start.commands) this.receive({ type: 'commands', commands: start.commands })
  }

  /** @internal Runs `work`, which never rejects, after the caller has returned. Prompts wait until `work` is done. */
  beginAfter(work: () => Promise<void>): void {
    const hold = this.holdPrompts()
    void Promise.resolve()
      .then(work)
      .finally(() => hold.dispose())
  }

  /**
   * @internal Continues the conversation with an agent that another window started. `answer`: waits for the response to the other window's
   * prompt, if the agent hasn't sent the response yet.
   */
  reattach(start: SessionStart, answer?: () => ReturnType<Agent['prompt']>): void {
    this.requests.expectShown()
    this.start(start)
    if (!answer) return
    if (!this.conversation.state.memory.running)
      this.conversation.apply({ type: 'state', state: 'running' }, this.#time())
    this.turns.adopt(answer().then(accepted => accepted ?? undefined))
  }

  /** @internal Clears the conversation for a replay. */
  beginLoad(setup: SessionSetup): void {
    const shown = this.#replays.start({ state: this.conversation.state, setup: this.#setup })
    this.optionChanges.clear()
    this.#setup = setup
    this.#phase = 'loading'
    this.#replace(shown)
    this.#status.fire()
  }

  /**
   * @internal Shows the loaded conversation after the agent responded to the load; some agents replay after their response. Resolves when
   * the replay is merged, in several tasks if the replay is long.
   */
  loaded(): Promise<void> {
    if (this.#phase !== 'loading') return Promise.resolve()
    return this.#replays.finish(shown => this.#showLoaded(shown))
  }

  #showLoaded(shown: ReducingState): void {
    const isMerged = shown !== this.conversation.state
    this.#phase = 'ready'
    if (isMerged) this.#replace(shown)
    this.conversation.applyLocal({ type: 'load_finished' })
    this.#replays.awaitLate()
    this.#status.fire()
    // A waiting prompt must not come between the entries of the replay.
    if (this.turns.queue.prompts.length === 0 && !isMerged) return
    this.#schedule(() => {
      if (!this.isLive) return
      this.#replays.addSavedCopyNote(false)
      this.turns.pump()
    }, LATE_REPLAY_MS)
  }

  /** @internal Restores the conversation from before a failed load, if there was one. */
  loadFailed(): void {
    const before = this.#phase === 'loading' ? this.#replays.undo() : undefined
    if (!before) return
    this.#setup = before.setup
    this.#phase = 'ready'
    this.#replace(before.state)
    this.#status.fire()
    this.turns.pump()
  }

  /** @internal Ends the session, since the agent ended. */
  agentEnded(exit: AgentExit): void {
    if (!this.isLive) return
    this.#finish('ended', exit)
  }

  dispose(): void {
    if (this.isLive) this.#finish('closed', undefined)
    this.conversation.dispose()
    this.#status.dispose()
    this.#end.dispose()
  }

  #takesPrompts(): boolean {
    return this.#phase === 'ready' && this.#promptHolds.size === 0 && !this.requests.isHeld
  }

  #send(written: ContentBlock[]): Promise<undefined | { messageId?: string }> {
    const context = isCommand(written) ? undefined : this.contextToTell()
    const content = context ? [...written, context] : written
    this.#replays.end()
    this.optionChanges.turnBegins()
    this.#replays.addSavedCopyNote(true)
    this.conversation.applyLocal({ type: 'prompt', content })
    return this.agent.prompt(this.sessionId, content).then(accepted => accepted ?? undefined)
  }

  async #steer({ id, content }: Prompt): Promise<SteeringOutcome> {
    this.conversation.applyLocal({ type: 'prompt_steering', promptId: id, content })
    const answer = await this.agent.steer?.(this.sessionId, content)
    return answer ?? 'failed'
  }

  /** Returns the current time in milliseconds since the epoch; `undefined` during a replay. */
  #time(): number | undefined {
    return this.#phase === 'loading' ? undefined : this.#now()
  }

  #endWork(idle: IdleUpdate): void {
    const { running } = this.conversation.state.memory
    const background = reportedBackground(idle)
    this.conversation.together(() => {
      this.conversation.apply(this.turns.attribute(idle), this.#time())
      if (running)
        this.requests.withdraw(request => endsWithTurn(this.conversation.state, background, request))
    })
  }

  #finish(phase: 'ended' | 'closed', exit: AgentExit | undefined): void {
    const event: LocalEvent = { type: 'agent_gone' }
    if (exit) {
      event.message = new AgentClosedError(exit).message
      if (typeof exit.exitCode === 'number') event.code = exit.exitCode
    }
    this.#replays.end()
    // An unfinished load must not lose the conversation from before it.
    const before = this.#replays.undo()
    this.conversation.together(() => {
      if (before) this.#replace(before.state)
      this.conversation.applyLocal(event)
      this.requests.withdraw()
    })
    this.optionChanges.clear()
    this.#phase = phase
    this.#exit = exit
    this.turns.end(this.#endError())
    this.#options.onEnd?.()
    this.#status.fire()
    this.#end.fire(exit)
  }

  #endError(): Error {
    return this.#exit ? new AgentClosedError(this.#exit) : new Error(l10n.t('The session is closed.'))
  }

  /** Replaces the conversation. Shows the pending requests in the new one. */
  #replace(state: ReducingState): void {
    this.conversation.together(() => {
      this.conversation.replace(state)
      this.requests.showAgain()
    })
  }
}
