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
import { CANCEL_GRACE_MS, LATE_REPLAY_MS } from '../common/limits.ts'
import { atOnce, type Steps } from './align-turns.ts'
import { Load } from './load.ts'
import { OptionChanges } from './option-changes.ts'
import { PendingRequests } from './pending-requests.ts'
import { PromptQueue, type TurnOutcome } from './prompt-queue.ts'
import { isIdle, reduce } from './reducer/reduce.ts'
import type { LocalEvent } from './reducer/reduce-local.ts'
import { entriesOfRequests, openRequests } from './reducer/reduce-requests.ts'
import { toolCallOf } from './reducer/reduce-tool-calls.ts'
import { reduceLocalWithin, reduceWithin } from './reducer/reduce-within.ts'
import {
  asksForBackground,
  createSessionState,
  isAboutBackground,
  type ReducingState,
  reportedBackground,
} from './reducer/reducing-state.ts'
import { followState, type KeptConversation } from './restore-state.ts'
import type {
  AnswerByRule,
  Change,
  ElicitationEntry,
  Entry,
  EntryId,
  NoticeEntry,
  PermissionEntry,
  SessionState,
  ToolCallEntry,
} from './state.ts'
import { type CancelState, type IdleUpdate, type Schedule, scheduleTimer, Turns } from './turns.ts'

/** A replay that comes after the answer is over when nothing more of it has come for so long. */
const LATE_REPLAY_END_MS = 2000

/** A merge that is under way. */
interface Merging {
  /** what the agent said meanwhile */
  held: Array<() => void>
  /** All that is left of it, at once. */
  finish: () => void
}

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
 * (phase, queue, cancel, options that wait, what is set aside) by `onDidChangeStatus`.
 */
export class Session implements Disposable {
  readonly agent: Agent
  readonly sessionId: string
  readonly #options: SessionOptions
  readonly #changes = new Emitter<Change[]>()
  readonly #status = new Emitter<void>()
  readonly #end = new Emitter<AgentExit | undefined>()
  readonly #requests: PendingRequests
  readonly #optionChanges: OptionChanges
  readonly #turns: Turns
  readonly #now: () => number
  readonly #schedule: Schedule
  #setup: SessionSetup
  #state: ReducingState
  #phase: SessionPhase
  readonly #load: Load
  /** A replay is being merged, in steps: what the agent says meanwhile waits. */
  #merging: Merging | undefined
  /** how often an entry changed */
  #edits = 0
  #lateMerge: Disposable | undefined
  #lateEnd: Disposable | undefined
  #exit: AgentExit | undefined
  #givenTitle: string | undefined
  /** changes that are reported together, while there are such */
  #collected: Change[] | undefined

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
    if (options.phase === 'loading') this.#load.resume(this.#state)
    this.#now = options.now ?? Date.now
    this.#schedule = options.schedule ?? scheduleTimer
    this.#requests = new PendingRequests({
      show: event => this.#local(event),
      shown: () => this.#state.memory.openRequests.keys(),
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
      queue: new PromptQueue(),
      send: content => this.#send(content),
      sendCancel: () => this.agent.cancel(this.sessionId),
      canBegin: () => this.#phase === 'ready' && !this.#state.memory.running,
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

  /** The prompts that are not sent yet. A session has one of its own until it is given that of its conversation. */
  get queue(): PromptQueue {
    return this.#turns.queue
  }
  set queue(queue: PromptQueue) {
    this.#turns.queue = queue
  }

  /** A turn runs, or other foreground work: there is something to stop. */
  get isWorking(): boolean {
    return this.#state.memory.running || this.#turns.hasTurn
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
    if (!this.#isLive()) return Promise.resolve({ type: 'failed', error: this.#endError() })
    return this.queue.add(content).outcome
  }

  /** Stops the running turn, if any, and sends this prompt of the queue next. False: it is not queued any more. */
  sendNow(id: string): boolean {
    const works = this.isWorking
    if (!this.#isLive() || !this.queue.putFirst(id)) return false
    if (works) this.#turns.cancel()
    this.queue.resume()
    this.#withdrawRequests()
    return true
  }

  /**
   * Asks the agent to stop what it does and answers every open question `cancelled`, but for those of work that goes on
   * apart from the turn. The queue is paused. An agent that does not stop within the grace makes `cancelState` `overdue`;
   * `abandonTurn` then goes on without it.
   */
  cancel(): void {
    if (!this.#isLive()) return
    if (this.isWorking) {
      this.queue.pause()
      this.#turns.cancel()
    }
    this.#withdrawRequests()
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
    return this.#requests.answerPermission(requestId, optionId)
  }

  /**
   * Answers a form, or agrees to (or refuses) an address, which the caller opens. Returns false when it does not wait
   * (any more) or the form does not take these values, and then nothing happens.
   */
  answerElicitation(requestId: string, answer: ElicitationOutcome): boolean {
    return this.#requests.answerElicitation(requestId, answer)
  }

  /** The form or address that is pending under this id. */
  elicitation(requestId: string): ElicitationRequest | undefined {
    return this.#requests.elicitation(requestId)
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
    const running = this.#state.memory.running
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
    if (this.#merging) {
      this.#merging.held.push(() => this.receive(update))
      return
    }
    if (this.#takesLate(update)) return
    if (update.type !== 'state') {
      if (update.type === 'config_options' || update.type === 'config_value') this.#optionChanges.reported()
      this.#together(() => {
        this.#tell(reduce(this.#state, this.#asStopped(update), this.#timeOfUpdate()))
        this.#withdrawOfIdleSubagent(update)
      })
      return
    }
    if (isIdle(update)) {
      if (!this.#turns.admits(update)) return
      this.#endWork(update)
    } else {
      if (this.#phase === 'ready') this.#endLoad()
      this.#tell(reduce(this.#state, update, this.#time()))
    }
    this.#turns.stateReported(update)
  }

  /** Whether the update is part of a replay that comes late; it is shown a moment later, with what follows. */
  #takesLate(update: SessionUpdate, within?: string): boolean {
    if (!this.#load.takes(update, within)) return false
    this.#lateMerge ??= this.#schedule(() => this.#mergeLate(), LATE_REPLAY_MS)
    this.#awaitLateEnd()
    return true
  }

  #awaitLateEnd(): void {
    this.#lateEnd?.dispose()
    this.#lateEnd = this.#load.isReplayed
      ? this.#schedule(() => this.#endLoad(), LATE_REPLAY_END_MS)
      : undefined
  }

  #mergeLate(): void {
    if (!this.#lateMerge) return
    this.#lateMerge.dispose()
    this.#lateMerge = undefined
    void this.#inSteps(
      () => this.#load.merge(this.#state),
      merged => this.#reset(merged),
    )
  }

  /**
   * Merges, in as many tasks as that has steps; a short one at once. Begins anew when the conversation changes in between,
   * and ends without a result when the session does.
   */
  async #inSteps(begin: () => Steps<ReducingState>, done: (merged: ReducingState) => void): Promise<void> {
    let steps = begin()
    let step = steps.next()
    if (step.done) {
      done(step.value)
      return
    }
    const merging: Merging = {
      held: [],
      finish: () => {
        this.#merging = undefined
        done(atOnce(begin()))
        for (const tell of merging.held) tell()
      },
    }
    this.#merging = merging
    for (let edits = this.#edits; !step.done; step = steps.next()) {
      await new Promise(setImmediate)
      if (this.#merging !== merging) return
      if (edits === this.#edits) continue
      edits = this.#edits
      steps = begin()
    }
    this.#merging = undefined
    done(step.value)
    for (const tell of merging.held) tell()
  }

  /** What comes from now on is no replay. */
  #endLoad(): void {
    // nothing waits for the rest of a merge that is under way
    this.#merging?.finish()
    while (this.#lateMerge) {
      this.#mergeLate()
      this.#merging?.finish()
    }
    this.#lateEnd?.dispose()
    this.#lateEnd = undefined
    this.#load.end()
  }

  /** Takes in one update of the session of a subagent that was announced here. */
  receiveWithin(subagent: string, update: SessionUpdate): void {
    if (!this.#isLive()) return
    if (this.#merging) {
      this.#merging.held.push(() => this.receiveWithin(subagent, update))
      return
    }
    if (this.#takesLate(update, subagent)) return
    this.#together(() => {
      this.#tell(reduceWithin(this.#state, subagent, this.#asStopped(update), this.#time()))
      this.#withdrawOfIdleSubagent(update, subagent)
    })
  }

  /** Asks the rules, then the person. Resolves `cancelled` when the turn is stopped, the agent withdraws it (`signal`) or is gone. */
  requestPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    return this.#requests.requestPermission(request, signal)
  }

  /** Like `requestPermission`, for what no rule of the settings may answer. */
  askPerson(request: PermissionRequest, signal: AbortSignal): Promise<PermissionOutcome> {
    return this.#requests.askPerson(request, signal)
  }

  /** The requests that wait for the person, oldest first. */
  get pendingRequests(): Array<PermissionEntry | ElicitationEntry> {
    return openRequests(this.#state)
  }

  /** The entries that the pending requests are drawn with: themselves, their tool calls, the subagents they are in. */
  get pendingEntries(): Entry[] {
    return entriesOfRequests(this.#state)
  }

  /** The permission that is pending under this id, with its tool call as it is now. */
  permission(requestId: string): { request: PermissionRequest; tool: ToolCallEntry | undefined } | undefined {
    const request = this.#requests.permission(requestId)
    return request && { request, tool: toolCallOf(this.#stateOf(request), request) }
  }

  /** Asks the person for more than a yes or no. Resolves `cancel` as `requestPermission` does `cancelled`. */
  createElicitation(request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationOutcome> {
    return this.#requests.createElicitation(request, signal)
  }

  /** What the person went to an address for is done there; an id that is not of this session does nothing. */
  elicitationComplete(elicitationId: string): void {
    if (this.#isLive()) this.#local({ type: 'visit_done', elicitationId })
  }

  /** Shows a notice of Parley's own. `files`: absolute paths of changed files that it is about. */
  notify({ files, rewind, ...notice }: Omit<NoticeEntry, 'kind' | 'id' | 'turn'>): void {
    if (!this.#isLive()) return
    const changes = reduce(this.#state, { type: 'notice', ...notice }, this.#time())
    const entry = this.#state.entries.at(-1)
    if (entry?.kind === 'notice') Object.assign(entry, { ...(files && { files }), ...(rewind && { rewind }) })
    this.#tell(changes)
    if (rewind) this.#status.fire()
  }

  /** The person took back that they went back; `title` says so. */
  withdrawRewind(id: EntryId, title: string): void {
    const entry = this.#state.entries[this.#state.index.get(id) ?? -1]
    if (entry?.kind !== 'notice' || !entry.rewind) return
    entry.rewind = { ...entry.rewind, withdrawn: true }
    entry.title = title
    delete entry.description
    this.#tell([{ type: 'entry', id }])
    this.#status.fire()
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
    this.#endLoad()
    const shown = this.#load.begin({ state: this.#state, setup: this.#setup })
    this.#optionChanges.clear()
    this.#setup = setup
    this.#phase = 'loading'
    this.#reset(shown)
    this.#status.fire()
  }

  /** @internal Shows a conversation that is not open here as it was saved last. */
  follow(saved: KeptConversation): void {
    if (this.#isLive()) return
    this.#tell(followState(this.#state, saved))
  }

  /**
   * @internal The replay is over, but for what some agents send after their answer. Resolves once it is merged with what
   * was known: at once, but for a long one.
   */
  loaded(): Promise<void> {
    if (this.#phase !== 'loading') return Promise.resolve()
    // what was replayed although the session was resumed
    this.#merging?.finish()
    return this.#inSteps(
      () => this.#load.finish(this.#state),
      shown => this.#showLoaded(shown),
    )
  }

  #showLoaded(shown: ReducingState): void {
    const isMerged = shown !== this.#state
    this.#phase = 'ready'
    if (isMerged) this.#reset(shown)
    this.#local({ type: 'load_finished' })
    this.#awaitLateEnd()
    this.#status.fire()
    // A prompt that waited must not get between the replay's entries.
    if (this.queue.prompts.length === 0 && !isMerged) return
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
    this.#merging = undefined
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
    return this.#state.memory.subagentStates.get(sessionId) ?? this.#state
  }

  #withdrawRequests(): void {
    this.#requests.withdraw(request => isOfTurn(request) && !asksForBackground(this.#state, request))
  }

  /** Many agents report as failed what the user stopped. */
  #asStopped(update: SessionUpdate): SessionUpdate {
    if (update.type !== 'tool_call' || update.toolCall.status !== 'failed') return update
    if (this.#turns.cancelState === 'none') return update
    return { ...update, toolCall: { ...update.toolCall, status: 'cancelled' } }
  }

  /** A subagent that became idle waits for no answer any more. `within`: the subagent whose update it is. */
  #withdrawOfIdleSubagent(update: SessionUpdate, within?: string): void {
    const idle =
      update.type === 'subagent'
        ? update.subagent.state?.activity === 'idle' && update.subagent.sessionId
        : update.type === 'state' && isIdle(update) && within
    const subagent = idle ? this.#state.memory.subagentStates.get(idle) : undefined
    if (!subagent) return
    const { background } = subagent.memory
    this.#requests.withdraw(
      request => request.sessionId === idle && !isAboutBackground(subagent, background, request),
    )
  }

  #isLive(): boolean {
    return this.#phase === 'loading' || this.#phase === 'ready'
  }

  #send(content: ContentBlock[]): Promise<undefined | { messageId?: string }> {
    this.#endLoad()
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
    const { running, subagentStates } = this.#state.memory
    const background = reportedBackground(idle)
    this.#together(() => {
      this.#tell(reduce(this.#state, this.#turns.attribute(idle), this.#time()))
      if (!running) return
      this.#requests.withdraw(request => {
        if (!isOfTurn(request) || subagentStates.has(request.sessionId)) return false
        return !(background && isAboutBackground(this.#state, background, request))
      })
    })
  }

  #finish(phase: 'ended' | 'closed', exit: AgentExit | undefined): void {
    const event: LocalEvent = { type: 'agent_gone' }
    if (exit) {
      event.message = new AgentClosedError(exit).message
      if (typeof exit.exitCode === 'number') event.code = exit.exitCode
    }
    this.#endLoad()
    // A load that did not come to its end must not cost the conversation that was there.
    const before = this.#load.undo()
    this.#together(() => {
      if (before) this.#reset(before.state)
      this.#local(event)
      this.#requests.withdraw()
    })
    this.#optionChanges.clear()
    this.#phase = phase
    this.#exit = exit
    this.#turns.end(this.#endError())
    this.#options.onEnd?.()
    this.#status.fire()
    this.#end.fire(exit)
  }

  #endError(): Error {
    return this.#exit ? new AgentClosedError(this.#exit) : new Error(l10n.t('The session is closed.'))
  }

  /** Shows another conversation. What is pending is shown in it, too. */
  #reset(state: ReducingState): void {
    this.#together(() => {
      this.#state = state
      this.#tell([{ type: 'reset' }])
      this.#requests.showAgain()
    })
  }

  #local(event: LocalEvent): void {
    this.#tell(reduceLocalWithin(this.#state, event, this.#time()))
  }

  #tell(changes: Change[]): void {
    if (this.#merging && changes.some(({ type }) => type === 'entry' || type === 'text')) this.#edits += 1
    if (this.#collected) for (const change of changes) this.#collected.push(change)
    else if (changes.length > 0) this.#changes.fire(changes)
  }

  /** Reports all changes that `work` makes at once: nobody sees, or answers, a request between them. */
  #together(work: () => void): void {
    if (this.#collected) {
      work()
      return
    }
    const changes: Change[] = []
    this.#collected = changes
    try {
      work()
    } finally {
      this.#collected = undefined
      this.#tell(changes)
    }
  }
}

/** Whether a request ends with the turn. One that belongs to a request of the client's ends with that request. */
function isOfTurn<R extends PermissionRequest | ElicitationRequest>(
  request: R,
): request is R & { sessionId: string } {
  return request.sessionId !== undefined
}

/** Work of a session that may be stopped by itself, by the id that the agent gave it. */
type CancellableWork = { toolCallId: string } | { terminalId: string } | { subagentId: string }

/** Stops what the agent said can be stopped; does nothing for what it did not, or does not know. Rejects when it refuses. */
async function cancelWork(
  agent: Agent,
  sessionId: string,
  state: ReducingState,
  work: CancellableWork,
): Promise<void> {
  if ('terminalId' in work) {
    const { terminalId } = work
    const terminal = state.terminals.get(terminalId)
    if (terminal?.canCancel) await agent.cancelTerminal?.(terminal.within ?? sessionId, terminalId)
    return
  }
  for (const { memory, within } of [state, ...state.memory.subagentStates.values()]) {
    const position =
      'toolCallId' in work ? memory.tools.get(work.toolCallId) : memory.subagents.get(work.subagentId)
    const entry = state.entries[position ?? -1]
    if (entry?.kind === 'subagent' && entry.canCancel) agent.cancel(entry.sessionId)
    if (entry?.kind !== 'tool_call' || !entry.canCancel) continue
    await agent.cancelToolCall?.(within ?? sessionId, entry.toolCallId)
    return
  }
}
