import type { ContentBlock } from '../../acp/model.ts'
import type { Disposable } from '../../common/disposable.ts'
import { toDisposable } from '../../common/disposable.ts'
import type { Draft } from '../../common/draft.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Attachment, ReturnedPrompt, StoredPrompt } from '../attachment.ts'
import { isEmptyPrompt } from '../blocks.ts'
import { type Prepare, Prompt } from './prompt.ts'
import { isQueued, isReturned, QUEUE_TRANSITIONS, type QueueEvent, type QueueState } from './prompt-states.ts'

/** Stores prompts, so that they outlive the window. */
export interface PromptStorage {
  /**
   * Writes immediately, and in order, which prompts a conversation has; with `draft`, also the composer's content in the same write. A
   * prompt that was stored for another conversation moves to this one.
   */
  save(key: string, prompts: readonly StoredPrompt[], draft?: Draft<Attachment>): void
  /** Whether this window still owns the prompt: another window may have taken the prompt over. */
  holds(id: string): boolean
}

const NOT_STORED: PromptStorage = { save() {}, holds: () => true }

export interface EnqueueOptions {
  /** The agent that the prompt is written for, if an agent is chosen. */
  agentId?: string
  /** The composer's content after the prompt was sent, if the prompt came from there; stored in the same write. */
  composer?: Draft<Attachment>
  /** The user wants the prompt to be added to the running turn. If that isn't possible, the prompt is sent next. */
  joins?: boolean
  /** How many prompts of the queue go before this one; by default, all that the user hasn't paused. */
  at?: number
}

/**
 * The prompts of a conversation, from Enter until the agent has them. Nothing else changes them. The queue exists before the conversation
 * has a session and outlives the session's agent. Every change is stored, so that a crash loses no prompt. Prompts left by another window
 * return to the composer and are never sent automatically. `prompt-states.ts` defines the states of a prompt and of the queue, and their
 * transitions.
 */
export class PromptQueue {
  readonly #storage: PromptStorage
  readonly #change = new Emitter<void>()
  readonly #prompts: Prompt[] = []
  #key: string
  #state: QueueState = 'running'
  #preparing: Prompt | undefined
  #onReady: (() => void) | undefined
  #saveDue = false

  /** Fires when the prompts, their states or their order changed, or the queue was paused or resumed. */
  readonly onDidChange = this.#change.event

  constructor(key = '', storage: PromptStorage = NOT_STORED) {
    this.#key = key
    this.#storage = storage
  }

  /** The key of the conversation. */
  get key(): string {
    return this.#key
  }

  /** All prompts in the queue, in queue order. */
  get prompts(): readonly Prompt[] {
    return this.#prompts
  }

  /** The prompts that are ready to be sent. */
  get queued(): readonly Prompt[] {
    return this.#prompts.filter(({ state }) => isQueued(state))
  }

  /** The prompts that the agent refuses until the user signs in. */
  get awaitingSignIn(): readonly Prompt[] {
    return this.#prompts.filter(({ state }) => state === 'awaitingSignIn')
  }

  /** The prompts that go back to the composer. */
  get returned(): readonly ReturnedPrompt[] {
    return this.#prompts
      .filter(({ state }) => isReturned(state))
      .map(({ id, draft, reason, state }) => ({
        id,
        draft,
        ...(reason !== undefined && { reason }),
        ...(state === 'refused' && { isRefused: true }),
      }))
  }

  /** Whether queued prompts wait until the user resumes the queue. */
  get isPaused(): boolean {
    return this.#state === 'paused' && this.#prompts.some(({ state }) => isQueued(state))
  }

  // ---- the user's actions ------------------------------------------------------------------------------------------

  /**
   * Adds a prompt and stores it before returning. `prepare` creates the content when the prompt is next; if it rejects, this prompt and the
   * later ones are refused with the error's message. A prompt with a known id isn't added again.
   */
  enqueue({ id, draft }: StoredPrompt, prepare: Prepare, options: EnqueueOptions = {}): Prompt {
    const known = this.#prompts.find(prompt => prompt.id === id)
    if (known) return known
    const { agentId, composer, joins, at } = options
    const prompt = new Prompt(id, {
      state: 'sending',
      draft,
      prepare,
      ...(agentId !== undefined && { agentId }),
      ...(joins && { joins }),
    })
    const refused = this.#prompts.find(({ state }) => state === 'refused')
    if (refused) {
      this.#prompts.push(prompt)
      prompt.apply('refuse', { message: refused.reason })
    } else {
      this.#insert(prompt, at)
    }
    this.#save(composer)
    this.#change.fire()
    void this.#prepareNext()
    return prompt
  }

  /**
   * Adds a prompt with known content.
   * @throws `RangeError` if the content is empty: some agents never respond to an empty prompt
   */
  add(content: readonly ContentBlock[]): Prompt {
    if (isEmptyPrompt(content)) throw new RangeError('A prompt must not be empty.')
    const prompt = new Prompt(crypto.randomUUID(), { state: 'queued' })
    prompt.content = [...content]
    this.#insert(prompt)
    this.#changed()
    this.#onReady?.()
    return prompt
  }

  /** Returns a queued prompt to the composer. Returns false if the prompt is no longer queued. */
  edit(id: string): boolean {
    const prompt = this.#find(id)
    if (!prompt) return false
    this.#return(prompt)
    this.#changed()
    return true
  }

  /** Removes a queued prompt. Returns false if the prompt is no longer queued. */
  remove(id: string): boolean {
    const prompt = this.#find(id)
    if (!prompt) return false
    prompt.apply('remove')
    this.#drop(prompt)
    prompt.finish({ type: 'withdrawn' })
    this.#changed()
    return true
  }

  /** Moves a queued prompt to another position; the prompt at position 0 is sent next. */
  move(id: string, to: number): void {
    const prompt = this.#find(id)
    if (!prompt) return
    const others = this.queued.filter(one => one !== prompt)
    const before = others[Math.max(0, to)]
    this.#drop(prompt)
    const at = before ? this.#prompts.indexOf(before) : this.#afterQueued()
    this.#prompts.splice(at, 0, prompt)
    // after a pause, the prompt counts as written before or after the pause like the prompts at its new position
    prompt.wasPaused = before?.wasPaused ?? others.at(-1)?.wasPaused ?? prompt.wasPaused
    this.#changed()
  }

  /** Asks the agent to add a queued prompt to the running turn; see `Turns`. Returns false if the prompt is no longer queued. */
  steer(id: string): boolean {
    const prompt = this.#find(id)
    if (prompt?.state !== 'queued') return false
    this.move(id, 0)
    prompt.joins = true
    this.#onReady?.()
    return true
  }

  /** Moves a queued prompt to the front; a failed turn doesn't stop it. Returns false if the prompt is no longer queued. */
  sendNow(id: string): boolean {
    const prompt = this.#find(id)
    if (!prompt) return false
    this.move(id, 0)
    this.#nothingNext()
    prompt.apply('sendNow')
    return true
  }

  /** Pauses the queue until the user resumes it or sends another prompt. */
  pause(): void {
    this.#nothingNext()
    this.#pause('stop')
  }

  resume(): void {
    for (const prompt of this.#prompts) prompt.wasPaused = false
    if (this.#apply('resume')) this.#changed()
    this.#onReady?.()
  }

  // ---- what happens to the session ---------------------------------------------------------------------------------

  /** Pauses the queue after a failed turn, unless the next prompt is to be sent however the turn ends. */
  turnFailed(): void {
    if (this.queued[0]?.state !== 'next') this.#pause('fail')
  }

  /** Takes the next prompt, which becomes `sent`. Returns `undefined` if no prompt is ready. */
  take(): Prompt | undefined {
    // until the agent has answered about a steering prompt, sending the next prompt could send a prompt twice or in the wrong order
    if (this.isSteering) return undefined
    for (;;) {
      const next = this.#prompts.find(({ state }) => state !== 'awaitingSignIn' && !isReturned(state))
      if (this.#state === 'paused' || !next || !isQueued(next.state)) return undefined
      this.#drop(next)
      if (next.wasPaused) for (const prompt of this.#prompts) prompt.wasPaused = false
      this.#changed()
      if (this.#storage.holds(next.id)) {
        next.apply('send')
        return next
      }
      next.apply('remove')
      next.finish({ type: 'withdrawn' })
    }
  }

  /** Whether the agent hasn't answered yet if it adds a prompt to the running turn. */
  get isSteering(): boolean {
    return this.#prompts.some(({ state }) => state === 'steering')
  }

  /** Returns the prompts that the user wants in the running turn. They become `steering` and stay in the queue. */
  takeSteering(): Prompt[] {
    const joining = this.#prompts.filter(({ state, joins }) => joins && state === 'queued')
    for (const prompt of joining) {
      prompt.joins = false
      if (this.#storage.holds(prompt.id)) prompt.apply('steer')
      else {
        prompt.apply('remove')
        this.#drop(prompt)
        prompt.finish({ type: 'withdrawn' })
      }
    }
    if (joining.length > 0) this.#changed()
    return joining.filter(({ state }) => state === 'steering')
  }

  /**
   * Removes a prompt that the agent has, whether or not its answer was still awaited. Returns false if the prompt is no longer in the
   * queue.
   */
  steered(prompt: Prompt): boolean {
    if (prompt.state !== 'steering' && !isQueued(prompt.state)) return false
    prompt.apply('send')
    this.#drop(prompt)
    this.#changed()
    this.#onReady?.()
    return true
  }

  /** Queues a prompt that the agent didn't take: the prompt is sent next, as a turn of its own. `message`: the reason. */
  notSteered(prompt: Prompt, message?: string): void {
    if (prompt.state !== 'steering') return
    prompt.apply('notTaken', { message })
    this.#changed()
    this.#onReady?.()
  }

  /**
   * Queues the prompts that the agent didn't answer before the turn was over, and pauses the queue. The agent may have the prompts
   * nevertheless, so they are sent again only if the user resumes the queue.
   */
  steeringUnanswered(message: string): void {
    if (!this.isSteering) return
    for (const prompt of this.#prompts) if (prompt.state === 'steering') prompt.apply('notTaken', { message })
    this.#pause('fail')
  }

  /** Puts back a prompt that was sent and that the agent refuses until the user signs in. */
  requireSignIn(prompt: Prompt, reason: { message: string; detail?: string }): void {
    prompt.apply('requireSignIn', reason)
    const at = this.#prompts.findIndex(({ state }) => state !== 'awaitingSignIn')
    this.#prompts.splice(at === -1 ? this.#prompts.length : at, 0, prompt)
    this.#changed()
  }

  /** Sends the prompt that the agent had refused, then the prompts queued after it, since the user signed in. */
  signedIn(): void {
    for (const prompt of this.awaitingSignIn) prompt.apply('signIn')
    this.resume()
    this.#changed()
  }

  /** Returns the prompts that the agent refused to the composer, since the user doesn't sign in. */
  signInCanceled(): void {
    for (const prompt of this.awaitingSignIn) prompt.apply('return')
    this.#changed()
  }

  /** Drops the prompts that the agent refused, since the user continues with another prompt. They stay visible in the conversation. */
  giveUpSignIn(): void {
    for (const prompt of this.awaitingSignIn) {
      prompt.apply('giveUp')
      this.#drop(prompt)
    }
    this.#changed()
  }

  /** Moves the prompts that the agent refused to the queue of the next session: the user signed in, but this session can't continue. */
  moveAwaitingTo(queue: PromptQueue): void {
    const moved = this.awaitingSignIn
    queue.#prompts.unshift(...moved)
    // save there first, which moves the stored prompts to the other conversation
    queue.#save()
    queue.#changed()
    for (const prompt of moved) this.#drop(prompt)
    this.#changed()
  }

  /**
   * Starts a session with this agent: prompts for another agent return to the composer with the reason that `reasonFor` returns, and
   * prompts that were written before an agent was chosen become prompts for this agent.
   */
  agentChosen(agentId: string, reasonFor: (other: string) => string): void {
    for (const prompt of this.#unsent()) {
      prompt.agentId ??= agentId
      if (prompt.agentId !== agentId) this.#withdraw(prompt, reasonFor(prompt.agentId))
    }
    this.#changed()
  }

  /**
   * Returns the prompts without an agent to the composer: they were for an agent that is being installed, and the user doesn't wait for it.
   */
  agentReplaced(reason: string): void {
    for (const prompt of this.#unsent()) if (prompt.agentId === undefined) this.#withdraw(prompt, reason)
    this.#changed()
  }

  /** Calls `onReady` when a prompt may be ready, until the returned disposable is disposed. */
  connect(onReady: () => void): Disposable {
    this.#onReady = onReady
    return toDisposable(() => {
      if (this.#onReady === onReady) this.#onReady = undefined
    })
  }

  /** Returns the queued prompts, and the later ones, to the composer, since the session ended. */
  sessionEnded(error: unknown): void {
    if (this.queued.length === 0 && !this.isSteering) return
    for (const prompt of this.#prompts) {
      if (prompt.state !== 'steering' && !isUnsent(prompt)) continue
      this.#return(prompt)
      prompt.finish({ type: 'failed', error })
    }
    this.#changed()
  }

  /**
   * Gives the prompts that the agent doesn't have to another window, in which the session continues. If `store` returns false, the prompts
   * stay here.
   */
  handOver(store: (prompts: StoredPrompt[]) => boolean): void {
    const leaving = this.#prompts.filter(prompt => prompt.state === 'steering' || isUnsent(prompt))
    if (leaving.length === 0 || !store(leaving.map(({ id, draft }) => ({ id, draft })))) return
    for (const prompt of leaving) {
      prompt.apply('leave')
      this.#drop(prompt)
      prompt.finish({ type: 'withdrawn' })
    }
    this.#save()
    this.#change.fire()
  }

  /** Adds unsent prompts of another window or conversation. They return to the composer, before its text. */
  addReturned(prompts: readonly StoredPrompt[], reason?: string): void {
    const found = prompts.filter(({ id }) => !this.#prompts.some(prompt => prompt.id === id))
    if (found.length === 0) return
    const returned = found.map(({ id, draft }) => new Prompt(id, { state: 'returned', draft }))
    for (const prompt of returned) prompt.reason = reason
    this.#prompts.unshift(...returned)
    this.#changed()
  }

  /** Removes returned prompts that the composer's draft contains now; stores the draft in the same write. */
  movedToComposer(ids: readonly string[], draft: Draft<Attachment>): void {
    for (const prompt of [...this.#prompts]) {
      if (!isReturned(prompt.state) || !ids.includes(prompt.id)) continue
      prompt.apply('moveToComposer')
      this.#drop(prompt)
    }
    this.#save(draft)
    this.#change.fire()
  }

  /** Changes the key when the conversation's session was started. */
  rename(key: string): void {
    if (key === this.#key) return
    this.#key = key
    this.#save()
    this.#change.fire()
  }

  #find(id: string): Prompt | undefined {
    return this.#prompts.find(prompt => prompt.id === id && isQueued(prompt.state))
  }

  /** The prompts that are still to be sent. */
  #unsent(): Prompt[] {
    return this.#prompts.filter(isUnsent)
  }

  #withdraw(prompt: Prompt, reason: string): void {
    this.#return(prompt, reason)
    prompt.finish({ type: 'withdrawn' })
  }

  #drop(prompt: Prompt): void {
    const at = this.#prompts.indexOf(prompt)
    if (at !== -1) this.#prompts.splice(at, 1)
  }

  #afterQueued(): number {
    return this.#prompts.findLastIndex(({ state }) => isQueued(state)) + 1
  }

  /**
   * Inserts a prompt. A prompt that is written while the queue is paused, or that is for the running turn, goes before the already queued
   * prompts.
   */
  #insert(prompt: Prompt, position?: number): void {
    const isBehind = prompt.joins
      ? (one: Prompt) => isUnsent(one) && !one.joins
      : ({ wasPaused }: Prompt) => wasPaused
    const at = position ?? this.#prompts.findIndex(isBehind)
    this.#prompts.splice(at === -1 ? this.#prompts.length : at, 0, prompt)
    this.#apply('enqueue')
  }

  #return(prompt: Prompt, message?: string): void {
    prompt.apply('return', { message })
    prompt.wasPaused = false
  }

  /** Ends the precedence of prompts that were to be sent before the others. */
  #nothingNext(): void {
    for (const prompt of this.#prompts) {
      prompt.joins = false
      if (prompt.state === 'next') prompt.apply('wait')
    }
  }

  #pause(event: 'stop' | 'fail'): void {
    this.#apply(event)
    for (const prompt of this.#prompts) prompt.wasPaused = isUnsent(prompt) || prompt.state === 'steering'
    this.#changed()
  }

  /** Applies an event to the queue's state. Returns whether the state changed. */
  #apply(event: QueueEvent): boolean {
    const before = this.#state
    this.#state = QUEUE_TRANSITIONS[before][event]
    return this.#state !== before
  }

  async #prepareNext(): Promise<void> {
    if (this.#preparing) return
    const next = this.#prompts.find(({ state }) => state === 'sending')
    if (!next?.prepare) return
    this.#preparing = next
    try {
      const content = await next.prepare(next)
      if (next.state === 'sending') {
        next.content = content
        next.apply('prepare')
      }
    } catch (error) {
      if (next.state === 'sending') this.#refuse(next, messageOf(error))
    }
    this.#preparing = undefined
    this.#changed()
    this.#onReady?.()
    void this.#prepareNext()
  }

  /** Refuses a prompt and the later ones, since they may refer to it. */
  #refuse(refused: Prompt, message: string): void {
    const from = this.#prompts.indexOf(refused)
    const { wasPaused } = refused
    for (const prompt of this.#prompts.slice(from)) {
      if (prompt.state !== 'sending' || (prompt.wasPaused && !wasPaused)) continue
      prompt.apply('refuse', { message })
      prompt.wasPaused = false
      prompt.finish({ type: 'withdrawn' })
    }
    if (this.#prompts.some(prompt => prompt.wasPaused)) this.#apply('fail')
  }

  /** Reports a change and saves the queue a microtask later, so that a prompt that is sent immediately isn't stored. */
  #changed(): void {
    this.#change.fire()
    if (this.#saveDue) return
    this.#saveDue = true
    queueMicrotask(() => this.#saveDue && this.#save())
  }

  #save(draft?: Draft<Attachment>): void {
    this.#saveDue = false
    const prompts = this.#prompts.map(({ id, draft: written }) => ({ id, draft: written }))
    this.#storage.save(this.#key, prompts, draft)
  }
}

/** Whether the prompt hasn't been sent yet and doesn't return to the composer. */
function isUnsent({ state }: Prompt): boolean {
  return state === 'sending' || isQueued(state)
}
