import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type {
  ClientRequestMethod,
  ClientRequestParamsByMethod,
  ClientRequestResponsesByMethod,
  ContentBlock,
  PlanEntry,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk'
import type { ClientFeatures, DemoClient } from './client.ts'
import type { DemoSession } from './session.ts'
import { modelOf } from './settings.ts'
import { STOPPED, ToolCall, type ToolCallChange, type ToolCallStart, text } from './tool-call.ts'

/** Time between two chunks of text at the pace of a typical model, in milliseconds. */
const BETWEEN_PIECES = 28

export interface TurnContext {
  session: DemoSession
  client: DemoClient
  features: ClientFeatures
  signal: AbortSignal
  prompt: readonly ContentBlock[]
  /** Factor of every pause; 0 for no pauses. */
  pace: number
}

/** The numbers of tokens of a turn, which the draft of the protocol reports at the turn's end; no released schema has them yet. */
export interface TokenUsage {
  totalTokens: number
  inputTokens: number
  outputTokens: number
}

/**
 * The actions of a scene in a turn: sending text and thoughts, planning, calling tools. Everything is recorded for a later load. Every
 * action rejects with {@link TurnCancelled} once the turn is canceled, so that scenes don't have to handle the cancellation.
 */
export class Turn {
  readonly session: DemoSession
  readonly client: DemoClient
  readonly features: ClientFeatures
  readonly signal: AbortSignal
  readonly prompt: readonly ContentBlock[]
  /** The stop reason with which the turn ends unless it's canceled. */
  stopReason: StopReason = 'end_turn'
  readonly #context: TurnContext
  readonly #subagent: string | undefined
  readonly #calls: ToolCall[] = []
  #plan: PlanEntry[] = []

  /** @param subagent id of the subagent's session, whose updates aren't recorded */
  constructor(context: TurnContext, subagent?: string) {
    this.session = context.session
    this.client = context.client
    this.features = context.features
    this.signal = context.signal
    this.prompt = context.prompt
    this.#context = context
    this.#subagent = subagent
  }

  async emit(update: SessionUpdate): Promise<void> {
    this.check()
    this.#record(update)
    await this.#send(update)
  }

  check(): void {
    if (this.signal.aborted) throw new TurnCancelled()
  }

  /** Returns the turn of a subagent, which has a session of its own. */
  delegate(sessionId: string): Turn {
    return new Turn(this.#context, sessionId)
  }

  /** Resolves to the client's answer. Rejects as soon as the turn is canceled, even if the client never answers. */
  async request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
  ): Promise<ClientRequestResponsesByMethod[Method]> {
    this.check()
    try {
      const options = { cancellationSignal: this.signal, stopWaitingOnCancel: true }
      return await this.client.request(method, params, options)
    } finally {
      // A client that stops the turn also answers its requests, and the connection may deliver the answers before the cancellation.
      await setImmediate()
      this.check()
    }
  }

  /** Returns the milliseconds of a pause, at the pace of the selected model. */
  scaled(milliseconds: number): number {
    return milliseconds * this.#context.pace * modelOf(this.session.settings).pause
  }

  /** Pauses, at the pace of the selected model. */
  async rest(milliseconds: number): Promise<void> {
    const scaled = this.scaled(milliseconds)
    if (scaled > 0) await this.wait(scaled)
    this.check()
  }

  async wait(milliseconds: number): Promise<void> {
    // `setTimeout` rejects only if the turn is canceled
    await setTimeout(milliseconds, undefined, { signal: this.signal }).catch(() => {})
    this.check()
  }

  /** Streams Markdown as one message. */
  async say(markdown: string, messageId: string = randomUUID()): Promise<void> {
    await this.#stream('agent_message_chunk', markdown, messageId)
  }

  /** Streams a thought, unless the user turned thoughts off. */
  async think(markdown: string): Promise<void> {
    if (!this.session.settings.thoughts) return
    await this.#stream('agent_thought_chunk', markdown, randomUUID())
    await this.rest(150)
  }

  /** Sends one block of content without streaming. */
  async show(content: ContentBlock): Promise<void> {
    this.session.used += 250
    await this.emit({ sessionUpdate: 'agent_message_chunk', messageId: randomUUID(), content })
  }

  async plan(steps: string[]): Promise<void> {
    const priority = (index: number) => (index === 0 ? 'high' : 'medium')
    this.#plan = steps.map((content, index) => ({ content, priority: priority(index), status: 'pending' }))
    await this.emit({ sessionUpdate: 'plan', entries: this.#plan })
  }

  /** Marks a plan step as in progress and all steps before it as completed. A number after the last step completes the plan. */
  async step(number: number): Promise<void> {
    const status = (index: number) => (index < number ? 'completed' : 'in_progress')
    this.#plan = this.#plan.map((entry, index) =>
      index > number ? entry : { ...entry, status: status(index) },
    )
    await this.emit({ sessionUpdate: 'plan', entries: this.#plan })
  }

  async tool(start: ToolCallStart): Promise<ToolCall> {
    const call = new ToolCall(start, update => this.emit(update))
    this.#calls.push(call)
    await call.announce()
    return call
  }

  /** Ends a tool call with the error of its work, unless the turn was canceled. */
  async fail(call: ToolCall, problem: string, error: unknown): Promise<void> {
    this.check()
    if (error instanceof TurnCancelled) throw error
    await call.fail(`${problem}: ${error instanceof Error ? error.message : String(error)}`)
  }

  /** Reports the context's size and the session's cost. Returns the numbers of tokens of the turn. */
  async usage(inputTokens: number): Promise<TokenUsage> {
    const { session } = this
    const outputTokens = Math.max(0, session.used - inputTokens)
    const totalTokens = inputTokens + outputTokens
    session.change({ credits: Math.round((session.meta.credits + totalTokens / 1000) * 1000) / 1000 })
    await this.#send(usageOf(session))
    return { totalTokens, inputTokens, outputTokens }
  }

  /** Reports the end of tool calls that are still open after a cancellation. */
  async closeOpenCalls(): Promise<void> {
    for (const { id, isOpen } of this.#calls) {
      if (!isOpen) continue
      const update: SessionUpdate = {
        ...{ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'failed' },
        ...{ content: [text('Canceled.')], _meta: { [STOPPED]: true } },
      }
      this.#record(update)
      await this.#send(update)
    }
  }

  #record(update: SessionUpdate): void {
    if (this.#subagent === undefined) this.session.record(update)
  }

  #send(update: SessionUpdate): Promise<void> {
    return this.client.notify('session/update', { sessionId: this.#subagent ?? this.session.id, update })
  }

  /** Sends a text in pieces, and records the sent pieces as one text. */
  async #stream(
    sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
    markdown: string,
    messageId: string,
  ): Promise<void> {
    const chunk = (text: string) => ({ sessionUpdate, messageId, content: { type: 'text' as const, text } })
    this.session.used += Math.ceil(markdown.length / 4)
    this.check()
    let sent = ''
    try {
      for (const piece of pieces(markdown)) {
        await this.#send(chunk(piece))
        sent += piece
        await this.rest(BETWEEN_PIECES)
      }
    } finally {
      if (sent) this.#record(chunk(sent))
    }
  }
}

/** Thrown when the turn was canceled. A scene must end then, and the prompt is answered with the cancellation. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}

/**
 * Asks for permission for a tool call, unless the mode or an earlier "always" answer decides.
 *
 * @param topic the kind of actions to which an "always" answer applies
 * @param subject shown besides the title: the diff or the command
 * @returns whether the tool call may run; a rejected call is marked as failed
 */
export async function mayRun(
  turn: Turn,
  call: ToolCall,
  topic: 'edits' | 'commands',
  subject: ToolCallChange,
): Promise<boolean> {
  const { session } = turn
  const standing = session.standing.get(topic)
  if (standing === 'reject') {
    const reason = 'Rejected: you chose to reject all of these in this session.'
    await call.fail(reason, subject.content ?? [])
    return false
  }
  if (standing === 'allow' || (topic === 'edits' && session.settings.mode === 'edit')) return true
  const { outcome } = await turn.request('session/request_permission', {
    sessionId: session.id,
    toolCall: { toolCallId: call.id, ...call.start, status: 'pending', ...subject },
    options: [
      { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'allow-all', name: `Allow all ${topic} in this session`, kind: 'allow_always' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
      { optionId: 'reject-all', name: `Reject all ${topic} in this session`, kind: 'reject_always' },
    ],
  })
  // If the user cancels the request, the turn is canceled.
  if (outcome.outcome !== 'selected') throw new TurnCancelled()
  const allowed = outcome.optionId.startsWith('allow')
  if (outcome.optionId.endsWith('-all')) session.standing.set(topic, allowed ? 'allow' : 'reject')
  if (!allowed) await call.fail('Rejected.', subject.content ?? [])
  return allowed
}

/** Splits a text as a model would stream it: into pieces of about one word, including spaces, so that the joined pieces are the text. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S{1,24}\s*/gu) ?? (text ? [text] : [])
}

/** Returns the update that reports the context's size and the session's cost so far. */
export function usageOf(session: DemoSession): SessionUpdate {
  const size = modelOf(session.settings).context
  const cost = { amount: session.meta.credits, currency: 'credits' }
  return { sessionUpdate: 'usage_update', used: Math.min(session.used, size), size, cost }
}
