import { randomUUID } from 'node:crypto'
import type { ContentBlock, PlanEntry, SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import type { ClientFeatures } from './client-features.ts'
import type { DemoClient } from './demo-client.ts'
import { pause, pieces, TurnCancelled } from './pace.ts'
import type { DemoSession } from './session.ts'
import { configOptions, type ModeId, modelOf } from './settings.ts'
import { STOPPED, ToolCall, type ToolCallStart } from './tool-call.ts'

/** Milliseconds between two pieces of text at the pace of a usual model. */
const BETWEEN_PIECES = 28

/**
 * What a scene can do in a turn: talk, think, plan, call tools. Everything said is recorded for a later load. Every
 * step rejects with {@link TurnCancelled} once the turn is cancelled, so that a scene needs no thought of it.
 */
export class Turn {
  readonly session: DemoSession
  readonly client: DemoClient
  readonly features: ClientFeatures
  readonly signal: AbortSignal
  readonly prompt: readonly ContentBlock[]
  /** How the turn ends when nothing cancels it. */
  stopReason: StopReason = 'end_turn'
  readonly #pace: number
  readonly #calls: ToolCall[] = []
  #plan: PlanEntry[] = []

  constructor(options: {
    session: DemoSession
    client: DemoClient
    features: ClientFeatures
    signal: AbortSignal
    prompt: readonly ContentBlock[]
    pace: number
  }) {
    this.session = options.session
    this.client = options.client
    this.features = options.features
    this.signal = options.signal
    this.prompt = options.prompt
    this.#pace = options.pace
  }

  async emit(update: SessionUpdate, recordAs: SessionUpdate = update): Promise<void> {
    this.check()
    this.session.record(recordAs)
    await this.client.notify('session/update', { sessionId: this.session.id, update })
  }

  check(): void {
    if (this.signal.aborted) throw new TurnCancelled()
  }

  /** For a scene that catches what its work threw: a cancelled turn is not a failure to tell of. */
  rethrowCancelled(error: unknown): void {
    this.check()
    if (error instanceof TurnCancelled) throw error
  }

  /** Milliseconds as long as the chosen model would take for them. */
  scaled(milliseconds: number): number {
    return milliseconds * this.#pace * modelOf(this.session.settings).pause
  }

  /** A pause at the pace of the chosen model. */
  async rest(milliseconds: number): Promise<void> {
    const scaled = this.scaled(milliseconds)
    if (scaled > 0) await pause(scaled, this.signal)
    this.check()
  }

  /** Streams markdown as one message. */
  async say(markdown: string, messageId: string = randomUUID()): Promise<void> {
    await this.#stream('agent_message_chunk', markdown, messageId)
  }

  /** Streams a thought, unless the person switched thoughts off. */
  async think(markdown: string): Promise<void> {
    if (!this.session.settings.thoughts) return
    await this.#stream('agent_thought_chunk', markdown, randomUUID())
    await this.rest(150)
  }

  /** Sends one block of content that is not streamed. */
  async show(content: ContentBlock): Promise<void> {
    this.session.used += 250
    await this.emit({ sessionUpdate: 'agent_message_chunk', messageId: randomUUID(), content })
  }

  async plan(steps: string[]): Promise<void> {
    this.#plan = steps.map((content, index) => ({
      content,
      priority: index === 0 ? 'high' : 'medium',
      status: 'pending',
    }))
    await this.#sendPlan()
  }

  /** Marks the step as begun, and every step before it as done. A step past the last one ends the plan. */
  async step(number: number): Promise<void> {
    if (this.#plan.length === 0) return
    this.#plan = this.#plan.map((entry, index) => ({
      ...entry,
      status: index < number ? 'completed' : index === number ? 'in_progress' : entry.status,
    }))
    await this.#sendPlan()
  }

  async tool(start: ToolCallStart): Promise<ToolCall> {
    const call = new ToolCall(randomUUID(), start, (update, recordAs) => this.emit(update, recordAs))
    this.#calls.push(call)
    await call.announce()
    return call
  }

  /** Changes the mode on the agent's own account and tells the client, in the old and in the new way. */
  async changeMode(mode: ModeId): Promise<void> {
    const settings = { ...this.session.settings, mode }
    this.session.change({ settings })
    const { id } = this.session
    await this.client.notify('session/update', {
      sessionId: id,
      update: { sessionUpdate: 'current_mode_update', currentModeId: mode },
    })
    const options = configOptions(settings, this.features.booleans)
    await this.client.notify('session/update', {
      sessionId: id,
      update: { sessionUpdate: 'config_option_update', configOptions: options },
    })
  }

  async usage(): Promise<void> {
    const size = modelOf(this.session.settings).context
    const update: SessionUpdate = {
      sessionUpdate: 'usage_update',
      used: Math.min(this.session.used, size),
      size,
      cost: { amount: 0, currency: 'USD' },
    }
    await this.client.notify('session/update', { sessionId: this.session.id, update })
  }

  /** After a cancel: tells the client that nothing of this turn is still at work. */
  async closeOpenCalls(): Promise<void> {
    for (const call of this.#calls.filter(candidate => candidate.isOpen)) {
      const update: SessionUpdate = {
        sessionUpdate: 'tool_call_update',
        toolCallId: call.id,
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: 'Cancelled.' } }],
        _meta: { [STOPPED]: true },
      }
      this.session.record(update)
      await this.client.notify('session/update', { sessionId: this.session.id, update })
    }
  }

  async #sendPlan(): Promise<void> {
    await this.emit({ sessionUpdate: 'plan', entries: this.#plan })
  }

  async #stream(
    sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
    markdown: string,
    messageId: string,
  ): Promise<void> {
    this.session.used += Math.ceil(markdown.length / 4)
    for (const piece of pieces(markdown)) {
      await this.emit({ sessionUpdate, messageId, content: { type: 'text', text: piece } })
      await this.rest(BETWEEN_PIECES)
    }
  }
}
