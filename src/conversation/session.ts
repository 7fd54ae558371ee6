import * as l10n from '@vscode/l10n'
import { type Agent, AgentClosedError, type AgentExit } from '../acp/agent.ts'
import type {
  ContentBlock,
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
  SessionSetup,
  SessionStart,
  SessionUpdate,
  TerminalPatch,
} from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { AnswerByRule } from './applied-rule.ts'
import { type CancellableWork, cancelWork } from './cancel-work.ts'
import { Load } from './load.ts'
import { openQuestions } from './open-questions.ts'
import { OptionChanges } from './option-changes.ts'
import { Questions } from './questions.ts'
import { asksForBackground } from './reducer/background.ts'
import { createSessionState, type ReducingState } from './reducer/books.ts'
import { isIdle, reduce } from './reducer/reduce.ts'
import type { LocalEvent } from './reducer/reduce-local.ts'
import { toolCallOf } from './reducer/reduce-tool-calls.ts'
import { reduceLocalWithin, reduceWithin } from './reducer/reduce-within.ts'
import type { Change, ElicitationEntry, PermissionEntry, SessionState, ToolCallEntry } from './state.ts'
import type { QueuedPrompt, TurnOutcome } from './turn.ts'
import { type CancelState, type IdleUpdate, type Schedule, scheduleTimer, Turns } from './turns.ts'

/** How long an agent may take to stop a turn before the person is offered to go on without its end. */
const CANCEL_GRACE_MS = 10_000

/** How long it waits for a replay after the agent's answer: a prompt written during the load, and the word that none came. */
const LATE_REPLAY_MS = 250

/**
 * - `loading`: the agent replays the conversation; it is shown as it comes, prompts wait.
 * - `ready`: prompts can be sent.
 * - `ended`: the agent is gone; the conversation stays readable.
 * - `closed`: the session was closed on this side; the conversation stays readable.
 */
export type SessionPhase = 'loading' | 'ready' | 'ended' | 'closed'

export interface SessionOptions {
  agent: Agent
  sessionId: string
  setup: SessionSetup
  phase: 'loading' | 'ready'
  /** A conversation to go on with: of the same session in an agent that is gone. */
  state?: ReducingState
  /** What is known of the conversation besides, should a load replay nothing. */
  kept?: () => ReducingState | undefined
  now?: () => number
  schedule?: Schedule
  cancelGraceMs?: number
  /** Told once, when the session is closed or its agent is gone. */
  onEnd?: () => void
}

/**
 * One conversation with one agent. The agent's updates come in through `receive` (by {@link AgentSessions}, in the
 * order they were sent); what the person does goes out. Every change of `state` is told by `onDidChange`; of all else
 * (phase, queue, cancel, options that wait) by `onDidChangeStatus`.
 */
export class Session implements Disposable {
  readonly agent: Agent
  readonly sessionId: string
  readonly #options: SessionOptions
  readonly #changes = new Emitter<Change[]>()
  readonly #status = new Emitter<void>()
  readonly #end = new Emitter<AgentExit | undefined>()
  readonly #questions: Questions
  readonly #optionChanges: OptionChanges
  readonly #turns: Turns
  readonly #now: () => number
  readonly #schedule: Schedule
  #setup: SessionSetup
  #state: ReducingState
  #phase: SessionPhase
  readonly #load: Load
  #exit: AgentExit | undefined
  #givenTitle: string | undefined

  /** Answers questions by the person's rules, once somebody who knows them has the session. */
  answerByRule: AnswerByRule | undefined

  constructor(options: SessionOptions) {
    this.agent = options.agent
    this.sessionId = options.sessionId
    this.#options = options
    this.#setup = options.setup
    this.#phase = options.phase
    this.#load = new Load(options.kept)
    this.#state = options.state ?? createSessionState()
    this.#now = options.now ?? Date.now
    this.#schedule = options.schedule ?? scheduleTimer
    this.#questions = new Questions({
      tell: event => this.#local(event),
      isLive: () => this.#isLive(),
      answerByRule: (request, signal) =>
        this.answerByRule?.(request, toolCallOf(this.#stateOf(request), request), signal),
    })
    this.#optionChanges = new OptionChanges({
      options: () => this.#state.configOptions,
      show: (optionId, value) => this.#local({ type: 'config_option', optionId, value }),
      send: (optionId, value) => this.agent.setConfigOption(this.sessionId, optionId, value),
      changed: () => this.#status.fire(),
    })
    this.#turns = new Turns({
      send: content => this.#send(content),
      sendCancel: () => this.agent.cancel(this.sessionId),
      canBegin: () => this.#phase === 'ready' && !this.#state.books.running,
      endWork: idle => this.#endWork(idle),
      accepted: messageId => this.#local({ type: 'prompt_accepted', messageId }),
      changed: () => this.#status.fire(),
      schedule: this.#schedule,
      cancelGraceMs: options.cancelGraceMs ?? CANCEL_GRACE_MS,
    })
  }

  /** What changed of `state`, after it changed. A `reset` means that `state` is another object. */
  get onDidChange(): Event<Change[]> {
    return this.#changes.event
  }

  get onDidChangeStatus(): Event<void> {
    return this.#status.event
  }

  /** Fires once, with how the agent ended, or `undefined` when the session was closed on this side. */
  get onDidEnd(): Event<AgentExit | undefined> {
    return this.#end.event
  }

  get state(): SessionState {
    return this.#state
  }

  /** @internal for a session that goes on with this one's conversation */
  get reducingState(): ReducingState {
    return this.#state
  }

  /** What the person calls it; stands over the agent's title, through loads too. */
  get givenTitle(): string | undefined {
    return this.#givenTitle
  }

  /** `undefined`: the agent's title counts again. */
  giveTitle(title: string | undefined): void {
    if (this.#givenTitle === title) return
    this.#givenTitle = title
    this.#tell([{ type: 'head', key: 'title' }])
  }

  get setup(): SessionSetup {
    return this.#setup
  }

  get phase(): SessionPhase {
    return this.#phase
  }

  /** How the agent ended, once it did. */
  get exit(): AgentExit | undefined {
    return this.#exit
  }

  get cancelState(): CancelState {
    return this.#turns.cancelState
  }

  /** Prompts that wait; still there when the session ended before they were sent. */
  get queued(): readonly QueuedPrompt[] {
    return this.#turns.queued
  }

  /** The queue waits for the person: `sendQueued` or another prompt sends it. */
  get queueHeld(): boolean {
    return this.#turns.held
  }

  /** ids of config options whose change the agent has not confirmed yet */
  get pendingOptions(): string[] {
    return this.#optionChanges.ids
  }

  // ---- what the person does ----------------------------------------------------------------------------------------

  /**
   * Sends a prompt, or queues it behind the turn that runs. The promise tells how it came out and never rejects.
   * Throws `RangeError` for a prompt that is empty or white space: such a prompt hangs some agents for good.
   */
  prompt(content: readonly ContentBlock[]): Promise<TurnOutcome> {
    return this.#turns.prompt(content).outcome
  }

  /** Takes a prompt from the queue and returns it; `undefined` when it is no longer there. */
  withdraw(id: string): ContentBlock[] | undefined {
    return this.#turns.withdraw(id)
  }

  /** Sends what is held in the queue. */
  sendQueued(): void {
    this.#turns.sendQueued()
  }

  /** Puts a prompt that waits at another place in the queue; 0 is the next one. */
  moveQueued(id: string, to: number): void {
    this.#turns.move(id, to)
  }

  /** Stops the running turn as `cancel` does, and sends this prompt of the queue next. */
  sendNow(id: string): void {
    const works = this.#state.books.running || this.#turns.hasTurn
    if (!this.#isLive() || !this.#turns.sendNow(id, works)) return
    this.#cancelQuestions()
  }

  /**
   * Asks the agent to stop what it does and answers every open question `cancelled`, but for those of work that goes on
   * apart from the turn. The queue is held. An agent that does not stop within the grace makes `cancelState` `overdue`;
   * `abandonTurn` then goes on without it.
   */
  cancel(): void {
    if (!this.#isLive()) return
    if (this.#state.books.running || this.#turns.hasTurn) this.#turns.cancel()
    this.#cancelQuestions()
  }

  /** Gives up on the turn that was asked to stop and does not. Does nothing before `cancel`. */
  abandonTurn(): void {
    this.#turns.abandon()
  }

  /**
   * Answers a question; `undefined` cancels it. Returns false when it does not wait (any more) or has no such option,
   * and then nothing happens.
   */
  answerPermission(requestId: string, optionId: string | undefined): boolean {
    return this.#questions.answerPermission(requestId, optionId)
  }

  /**
   * Answers a form, or agrees to (or refuses) an address, which the caller opens. Returns false when it does not wait
   * (any more) or the form does not take these values, and then nothing happens.
   */
  answerElicitation(requestId: string, answer: ElicitationOutcome): boolean {
    return this.#questions.answerElicitation(requestId, answer)
  }

  /** The form or address that waits under this id. */
  elicitation(requestId: string): ElicitationRequest | undefined {
    return this.#questions.elicitation(requestId)
  }

  /**
   * Changes an option: shown at once, listed in `pendingOptions` until the agent answers, and taken back when it
   * refuses. Rejects with the agent's error, or when there is no such option or the value does not fit it.
   */
  setConfigOption(optionId: string, value: string | boolean): Promise<void> {
    return this.#optionChanges.set(optionId, value)
  }

  /** Waits no longer for the agent to confirm an option: what it is known to have is shown. A late answer still counts. */
  giveUpOption(optionId: string): void {
    this.#optionChanges.giveUp(optionId)
  }

  /**
   * Closes the session: what it does is stopped, updates that still come are dropped. Tells the agent when it has the
   * capability; rejects when the agent refuses, the session being closed on this side all the same.
   */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    const live = this.#isLive()
    const running = this.#state.books.running
    const { agent, sessionId } = this
    this.#finish('closed', undefined)
    if (!live) return
    if (agent.capabilities.close) await agent.closeSession(sessionId)
    else if (running) agent.cancel(sessionId)
  }

  /** Stops one tool call, one subagent, or the command in one terminal, that the agent said can be stopped; the turn goes on. */
  cancelWork(work: CancellableWork): Promise<void> {
    return cancelWork(this.agent, this.sessionId, this.#state, work)
  }

  // ---- what the agent does -----------------------------------------------------------------------------------------

  /** Takes in one update of the agent. */
  receive(update: SessionUpdate): void {
    if (!this.#isLive()) return
    const late = this.#load.replaysLate(update, this.#state)
    if (late) this.#reset(late)
    if (update.type !== 'state') {
      if (update.type === 'config_options' || update.type === 'config_value') this.#optionChanges.told()
      this.#tell(reduce(this.#state, update, this.#timeOfUpdate()))
      // A subagent that is idle waits for no answer any more.
      if (update.type === 'subagent') this.#questions.answerClosed(this.#state)
      return
    }
    if (isIdle(update)) {
      if (!this.#turns.admits(update)) return
      this.#endWork(update)
    } else {
      this.#tell(reduce(this.#state, update, this.#time()))
    }
    this.#turns.stateTold(update)
  }

  /** Takes in one update of the session of a subagent that was announced here. */
  receiveWithin(subagent: string, update: SessionUpdate): void {
    if (!this.#isLive()) return
    this.#tell(reduceWithin(this.#state, subagent, update, this.#time()))
    if (update.type === 'state' && isIdle(update)) this.#questions.answerClosed(this.#state)
  }

  /** Asks the rules, then the person. Resolves `cancelled` when the turn is stopped, the agent withdraws it (`signal`) or is gone. */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    return this.#questions.askPermission(request, signal)
  }

  /** Like `requestPermission`, for what no rule of the settings may answer. */
  askPerson(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    return this.#questions.askPerson(request, signal)
  }

  /** What waits for the person, the oldest first. */
  get openQuestions(): Array<PermissionEntry | ElicitationEntry> {
    return openQuestions(this.#state)
  }

  /** The question that waits under this id, with its tool call as it is now. */
  permission(requestId: string): { request: PermissionRequest; tool: ToolCallEntry | undefined } | undefined {
    const request = this.#questions.permission(requestId)
    return request && { request, tool: toolCallOf(this.#stateOf(request), request) }
  }

  /** Asks the person for more than a yes or no. Resolves `cancel` as `requestPermission` does `cancelled`. */
  createElicitation(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    return this.#questions.askElicitation(request, signal)
  }

  /** What the person went to an address for is done there; an id that is not of this session does nothing. */
  elicitationComplete(elicitationId: string): void {
    if (this.#isLive()) this.#local({ type: 'visit_done', elicitationId })
  }

  /** Shows a terminal that the client runs for the agent. */
  upsertTerminal(terminal: TerminalPatch & { truncated?: boolean }): void {
    this.#local({ type: 'terminal', terminal })
  }

  appendTerminalOutput(terminalId: string, text: string): void {
    this.#local({ type: 'terminal_output', terminalId, text })
  }

  // ---- for AgentSessions -------------------------------------------------------------------------------------------

  /** @internal What the agent told when it made, loaded or resumed the session. */
  start(start: SessionStart): void {
    if (!this.#isLive()) return
    if (start.configOptions) this.receive({ type: 'config_options', options: start.configOptions })
    if (start.commands) this.receive({ type: 'commands', commands: start.commands })
  }

  /** @internal Empties the conversation, for a replay. */
  beginLoad(setup: SessionSetup): void {
    this.#load.begin({ state: this.#state, setup: this.#setup })
    this.#optionChanges.clear()
    this.#setup = setup
    this.#phase = 'loading'
    this.#reset(createSessionState())
    this.#status.fire()
  }

  /** @internal The replay is over, but for what some agents send after their answer. */
  loaded(): void {
    if (this.#phase !== 'loading') return
    const shown = this.#load.finish(this.#state)
    const standsIn = shown !== this.#state
    this.#phase = 'ready'
    if (standsIn) this.#reset(shown)
    this.#local({ type: 'load_finished' })
    this.#status.fire()
    // A prompt that waited must not get between the replay's entries.
    if (this.#turns.queued.length === 0 && !standsIn) return
    this.#schedule(() => {
      if (!this.#isLive()) return
      this.#tell(this.#load.mark(this.#state, false))
      this.#turns.pump()
    }, LATE_REPLAY_MS)
  }

  /** @internal The load failed: the conversation is as it was before, if there was one. */
  loadFailed(): void {
    const before = this.#phase === 'loading' ? this.#load.undo() : undefined
    if (!before) return
    this.#setup = before.setup
    this.#phase = 'ready'
    this.#reset(before.state)
    this.#status.fire()
    this.#turns.pump()
  }

  /** @internal The agent is gone. */
  agentEnded(exit: AgentExit): void {
    if (!this.#isLive()) return
    this.#finish('ended', exit)
  }

  dispose(): void {
    if (this.#isLive()) this.#finish('closed', undefined)
    this.#changes.dispose()
    this.#status.dispose()
    this.#end.dispose()
  }

  /** The state that a question is about: a subagent's, when it is its session that asks. */
  #stateOf({ sessionId }: PermissionRequest): ReducingState {
    return this.#state.books.subagentStates.get(sessionId) ?? this.#state
  }

  #cancelQuestions(): void {
    this.#questions.cancelAll(request => asksForBackground(this.#state, request))
  }

  #isLive(): boolean {
    return this.#phase === 'loading' || this.#phase === 'ready'
  }

  #send(content: ContentBlock[]): Promise<undefined | { messageId?: string }> {
    this.#tell(this.#load.mark(this.#state, true))
    this.#local({ type: 'prompt', content })
    return this.agent.prompt(this.sessionId, content).then(accepted => accepted ?? undefined)
  }

  /** The time of what happens now, in milliseconds since the epoch; a replay has none. */
  #time(): number | undefined {
    return this.#phase === 'loading' ? undefined : this.#now()
  }

  /** Like `#time`, of what the agent says: while the session is idle it may be a late replay. */
  #timeOfUpdate(): number | undefined {
    return this.#state.activity === 'idle' ? undefined : this.#time()
  }

  #endWork(idle: IdleUpdate): void {
    this.#tell(reduce(this.#state, idle, this.#time()))
    this.#questions.answerClosed(this.#state)
  }

  #finish(phase: 'ended' | 'closed', exit: AgentExit | undefined): void {
    const event: LocalEvent = { type: 'agent_gone' }
    if (exit) {
      event.message = new AgentClosedError(exit).message
      if (typeof exit.exitCode === 'number') event.code = exit.exitCode
    }
    // A load that did not come to its end must not cost the conversation that was there.
    const before = this.#load.undo()
    if (before) this.#reset(before.state)
    this.#local(event)
    this.#questions.cancelAll()
    this.#optionChanges.clear()
    this.#phase = phase
    this.#exit = exit
    this.#turns.end(exit ? new AgentClosedError(exit) : new Error(l10n.t('The session is closed.')))
    this.#options.onEnd?.()
    this.#status.fire()
    this.#end.fire(exit)
  }

  #reset(state: ReducingState): void {
    this.#state = state
    this.#changes.fire([{ type: 'reset' }])
  }

  #local(event: LocalEvent): void {
    this.#tell(reduceLocalWithin(this.#state, event, this.#time()))
  }

  #tell(changes: Change[]): void {
    if (changes.length > 0) this.#changes.fire(changes)
  }
}
