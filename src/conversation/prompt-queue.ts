import type { AgentErrorInfo, ContentBlock, StopReason } from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import { toDisposable } from '../common/disposable.ts'
import { type Draft, draftOf } from '../common/draft.ts'
import { messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import { type Attachment, attachmentOf, type ReturnedPrompt, type StoredPrompt } from './attachment.ts'
import { isEmptyPrompt } from './blocks.ts'

/**
 * - `sending`: it left the composer. Its agent starts, or its content is being read.
 * - `queued`: ready to send; waits for the prompts and the turn before it.
 * - `sent`: the agent has it. It is no longer in the queue.
 * - `returned`: goes back to the composer, which removes it from the queue: it was refused (with a reason), taken back
 *   for editing, or never sent because its agent or its window is gone.
 */
export type PromptState = 'sending' | 'queued' | 'sent' | 'returned'

/** How a prompt ended. */
export type TurnOutcome =
  /** The turn ended; `error` when the agent reported one. */
  | { type: 'ended'; stopReason?: StopReason; error?: AgentErrorInfo }
  /** The agent answered the prompt with an error, or is gone; the error as it was thrown. */
  | { type: 'failed'; error: unknown }
  /** It left the queue without being sent. */
  | { type: 'withdrawn' }

/** Keeps prompts beyond the window. */
export interface PromptStorage {
  /**
   * Writes at once which prompts a conversation has, in their order; with `draft` also what its composer holds, in the
   * same write. A prompt that was stored for another conversation moves.
   */
  save(key: string, prompts: readonly StoredPrompt[], draft?: Draft<Attachment>): void
  /** Whether the prompt is still this window's: another window may have taken it over. */
  holds(id: string): boolean
}

const NOT_STORED: PromptStorage = { save() {}, holds: () => true }

/** A prompt that the agent doesn't have yet. Only its queue changes it. */
export class Prompt {
  readonly id: string
  state: PromptState
  /** What the agent gets, once that is known. */
  content: ContentBlock[] = []
  /** Why it was returned: a sentence. */
  reason: string | undefined
  /** It was refused: prompts written after it are returned with it. */
  isRefused = false
  /** It was in the queue when the queue was paused: a prompt written after that goes first. */
  isStale = false
  readonly outcome: Promise<TurnOutcome>
  readonly prepare: (() => Promise<ContentBlock[]>) | undefined
  #draft: Draft<Attachment> | undefined
  #resolve!: (outcome: TurnOutcome) => void

  constructor(
    id: string,
    state: PromptState,
    { draft, prepare }: { draft?: Draft<Attachment>; prepare?: () => Promise<ContentBlock[]> },
  ) {
    this.id = id
    this.state = state
    this.prepare = prepare
    this.#draft = draft
    this.outcome = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  /** As it was written, to be shown and to be edited. */
  get draft(): Draft<Attachment> {
    this.#draft ??= draftOf(this.content, attachmentOf)
    return this.#draft
  }

  finish(outcome: TurnOutcome): void {
    this.#resolve(outcome)
  }
}

/**
 * The only owner of a conversation's prompts, from Enter until the agent has them. The queue exists before the conversation
 * has a session and outlives the session's agent. Every change is stored, so that a crash loses no prompt. Prompts left by
 * another window are returned to the composer and never sent automatically.
 *
 * The queue is running or paused. A canceled or failed turn pauses it until the user resumes it or sends another prompt,
 * which then goes first.
 */
export class PromptQueue {
  readonly #storage: PromptStorage
  readonly #change = new Emitter<void>()
  readonly #prompts: Prompt[] = []
  #key: string
  #paused = false
  /** The prompt for which *Send Now* was selected: sent next, however the running turn ends. */
  #now: Prompt | undefined
  #preparing: Prompt | undefined
  #onReady: (() => void) | undefined
  #saveDue = false

  /** The prompts, their states or their order changed, or the queue was paused or resumed. */
  readonly onDidChange = this.#change.event

  constructor(key = '', storage: PromptStorage = NOT_STORED) {
    this.#key = key
    this.#storage = storage
  }

  /** Identifies the conversation. */
  get key(): string {
    return this.#key
  }

  /** All unsent prompts, in the order in which they were written or moved to. */
  get prompts(): readonly Prompt[] {
    return this.#prompts
  }

  get queued(): readonly Prompt[] {
    return this.#prompts.filter(({ state }) => state === 'queued')
  }

  /** The prompts that were returned to the composer. */
  get returned(): readonly ReturnedPrompt[] {
    return this.#prompts
      .filter(({ state }) => state === 'returned')
      .map(({ id, draft, reason, isRefused }) => ({
        id,
        draft,
        ...(reason !== undefined && { reason }),
        ...(isRefused && { isRefused }),
      }))
  }

  /** Prompts are queued, and none is sent before the user resumes the queue. */
  get isPaused(): boolean {
    return this.#paused && this.#prompts.some(({ state }) => state === 'queued')
  }

  /**
   * Adds a prompt from the composer and stores the composer as empty in the same write. `prepare` creates the content when the
   * prompt is next; if it rejects, the prompt and those after it are returned with the error's message. A prompt with a
   * known id isn't added again.
   */
  enqueue({ id, draft }: StoredPrompt, prepare: () => Promise<ContentBlock[]>): Prompt {
    const known = this.#prompts.find(prompt => prompt.id === id)
    if (known) return known
    const prompt = new Prompt(id, 'sending', { draft, prepare })
    const refused = this.#prompts.find(({ isRefused }) => isRefused)
    if (refused) {
      this.#prompts.push(prompt)
      this.#return(prompt, refused.reason, true)
    } else {
      this.#insert(prompt)
    }
    this.#save({ text: '', marks: [], items: [] })
    this.#change.fire()
    void this.#prepareNext()
    return prompt
  }

  /** Adds a prompt whose content is known. Throws `RangeError` if it's empty, since some agents never respond to one. */
  add(content: readonly ContentBlock[]): Prompt {
    if (isEmptyPrompt(content)) throw new RangeError('A prompt must not be empty.')
    const prompt = new Prompt(crypto.randomUUID(), 'queued', {})
    prompt.content = [...content]
    this.#insert(prompt)
    this.#changed()
    this.#onReady?.()
    return prompt
  }

  /** Returns a queued prompt to the composer. Returns false if it's no longer queued. */
  edit(id: string): boolean {
    const prompt = this.#find(id)
    if (!prompt) return false
    this.#return(prompt)
    this.#changed()
    return true
  }

  /** Returns false if the prompt is no longer queued. */
  remove(id: string): boolean {
    const prompt = this.#find(id)
    if (!prompt) return false
    this.#drop(prompt)
    prompt.finish({ type: 'withdrawn' })
    this.#changed()
    return true
  }

  /** Moves a queued prompt to another position; 0 is sent next. */
  move(id: string, to: number): void {
    const prompt = this.#find(id)
    if (!prompt) return
    const others = this.queued.filter(one => one !== prompt)
    const before = others[Math.max(0, to)]
    this.#drop(prompt)
    const at = before ? this.#prompts.indexOf(before) : this.#afterQueued()
    this.#prompts.splice(at, 0, prompt)
    // for the order after a pause, it counts like the prompts at its new position
    prompt.isStale = before?.isStale ?? others.at(-1)?.isStale ?? prompt.isStale
    this.#changed()
  }

  /** Moves a queued prompt to the front; a failed turn doesn't stop it. Returns false if it's no longer queued. */
  putFirst(id: string): boolean {
    const prompt = this.#find(id)
    if (!prompt) return false
    this.move(id, 0)
    this.#now = prompt
    return true
  }

  /** Sends nothing until the user resumes the queue or sends another prompt. */
  pause(): void {
    this.#now = undefined
    this.pauseAfterFailure()
  }

  /** Like `pause`, except for a prompt that *Send Now* was selected for. */
  pauseAfterFailure(): void {
    if (this.#now && this.queued[0] === this.#now) return
    this.#paused = true
    for (const prompt of this.#prompts) prompt.isStale = prompt.state !== 'returned'
    this.#changed()
  }

  resume(): void {
    for (const prompt of this.#prompts) prompt.isStale = false
    if (this.#paused) {
      this.#paused = false
      this.#changed()
    }
    this.#onReady?.()
  }

  /** Takes the next prompt, which becomes `sent`; `undefined` if none is ready. */
  take(): Prompt | undefined {
    for (;;) {
      const next = this.#prompts.find(({ state }) => state !== 'returned')
      if (this.#paused || next?.state !== 'queued') return undefined
      this.#drop(next)
      if (next === this.#now) this.#now = undefined
      if (next.isStale) for (const prompt of this.#prompts) prompt.isStale = false
      this.#changed()
      if (this.#storage.holds(next.id)) {
        next.state = 'sent'
        return next
      }
      next.finish({ type: 'withdrawn' })
    }
  }

  /** Calls `onReady` when a prompt may be ready, until the returned disposable is disposed. */
  connect(onReady: () => void): Disposable {
    this.#onReady = onReady
    return toDisposable(() => {
      if (this.#onReady === onReady) this.#onReady = undefined
    })
  }

  /** The session ended: returns the queued prompts, and those after them, to the composer. */
  returnQueued(error: unknown): void {
    if (this.queued.length === 0) return
    for (const prompt of [...this.#prompts]) if (prompt.state !== 'returned') this.#return(prompt)
    for (const prompt of this.#prompts) prompt.finish({ type: 'failed', error })
    this.#changed()
  }

  /** Returns unsent prompts of another window or conversation to the composer, before its text. */
  giveBack(prompts: readonly StoredPrompt[], reason?: string): void {
    const found = prompts.filter(({ id }) => !this.#prompts.some(prompt => prompt.id === id))
    if (found.length === 0) return
    const returned = found.map(({ id, draft }) => new Prompt(id, 'returned', { draft }))
    for (const prompt of returned) prompt.reason = reason
    this.#prompts.unshift(...returned)
    this.#changed()
  }

  /** The composer has taken these returned prompts; stores its draft in the same write. */
  takenBack(ids: readonly string[], draft: Draft<Attachment>): void {
    for (const prompt of [...this.#prompts])
      if (prompt.state === 'returned' && ids.includes(prompt.id)) this.#drop(prompt)
    this.#save(draft)
    this.#change.fire()
  }

  /** The session of the conversation was started: changes the key. */
  rename(key: string): void {
    if (key === this.#key) return
    this.#key = key
    this.#save()
    this.#change.fire()
  }

  #find(id: string): Prompt | undefined {
    return this.#prompts.find(prompt => prompt.id === id && prompt.state === 'queued')
  }

  #drop(prompt: Prompt): void {
    const at = this.#prompts.indexOf(prompt)
    if (at !== -1) this.#prompts.splice(at, 1)
  }

  #afterQueued(): number {
    return this.#prompts.findLastIndex(({ state }) => state === 'queued') + 1
  }

  /** A prompt written while the queue is paused goes before those that were queued already. */
  #insert(prompt: Prompt): void {
    const at = this.#prompts.findIndex(({ isStale }) => isStale)
    this.#prompts.splice(at === -1 ? this.#prompts.length : at, 0, prompt)
    this.#paused = false
  }

  #return(prompt: Prompt, reason?: string, isRefused = false): void {
    prompt.state = 'returned'
    prompt.reason = reason
    prompt.isRefused = isRefused
    prompt.isStale = false
    if (this.#now === prompt) this.#now = undefined
  }

  async #prepareNext(): Promise<void> {
    if (this.#preparing) return
    const next = this.#prompts.find(({ state }) => state === 'sending')
    if (!next?.prepare) return
    this.#preparing = next
    try {
      const content = await next.prepare()
      if (next.state === 'sending') {
        next.content = content
        next.state = 'queued'
      }
    } catch (error) {
      if (next.state === 'sending') this.#refuse(next, messageOf(error))
    }
    this.#preparing = undefined
    this.#changed()
    this.#onReady?.()
    void this.#prepareNext()
  }

  /** Later prompts may refer to it, so they are returned, too. */
  #refuse(refused: Prompt, reason: string): void {
    const from = this.#prompts.indexOf(refused)
    for (const prompt of this.#prompts.slice(from)) {
      if (prompt.state !== 'sending' || (prompt.isStale && !refused.isStale)) continue
      this.#return(prompt, reason, true)
      prompt.finish({ type: 'withdrawn' })
    }
    if (this.#prompts.some(({ isStale }) => isStale)) this.#paused = true
  }

  /** A prompt that is sent at once leaves the queue within the same call and isn't stored. */
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
