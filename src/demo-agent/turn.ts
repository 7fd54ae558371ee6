import { randomUUID } from 'node:crypto'
import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PermissionOption,
  PlanEntry,
  RequestPermissionResponse,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk'
import type { DemoSession } from './session.ts'
import { modelOf } from './settings.ts'
import { STOPPED, ToolCall, type ToolCallChange, type ToolCallStart } from './tool-call.ts'

/** Milliseconds between two chunks of text at the pace of a typical model. */
const BETWEEN_PIECES = 28

/**
 * What a scene can do in a turn: send text and thoughts, plan, call tools. Everything is recorded for a later load. Every
 * step rejects with {@link TurnCancelled} once the turn is canceled, so that scenes don't have to handle it.
 */
export class Turn {
  readonly session: DemoSession
  readonly client: DemoClient
  readonly features: ClientFeatures
  readonly signal: AbortSignal
  readonly prompt: readonly ContentBlock[]
  /** The stop reason unless the turn is canceled. */
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

  /** For scenes that catch errors of their work: a canceled turn isn't reported as a failure. */
  rethrowCancelled(error: unknown): void {
    this.check()
    if (error instanceof TurnCancelled) throw error
  }

  /** Waits for this many milliseconds, scaled to the selected model. */
  scaled(milliseconds: number): number {
    return milliseconds * this.#pace * modelOf(this.session.settings).pause
  }

  /** A pause, scaled to the selected model. */
  async rest(milliseconds: number): Promise<void> {
    const scaled = this.scaled(milliseconds)
    if (scaled > 0) await pause(scaled, this.signal)
    this.check()
  }

  /** Streams markdown as one message. */
  async say(markdown: string, messageId: string = randomUUID()): Promise<void> {
    await this.#stream('agent_message_chunk', markdown, messageId)
  }

  /** Streams a thought, unless the user turned thoughts off. */
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

  /** Marks the step as in progress and all steps before it as completed. A step after the last one completes the plan. */
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

  /** Reports the context's size and the session's cost; returns the tokens of the turn. */
  async usage(inputTokens: number): Promise<TokenUsage> {
    const { session } = this
    const outputTokens = Math.max(0, session.used - inputTokens)
    const totalTokens = inputTokens + outputTokens
    session.change({ credits: Math.round((session.meta.credits + totalTokens / 1000) * 1000) / 1000 })
    await this.client.notify('session/update', { sessionId: session.id, update: usageOf(session) })
    return { totalTokens, inputTokens, outputTokens }
  }

  /** After a cancellation, reports that no work of this turn is running anymore. */
  async closeOpenCalls(): Promise<void> {
    for (const call of this.#calls.filter(candidate => candidate.isOpen)) {
      const update: SessionUpdate = {
        sessionUpdate: 'tool_call_update',
        toolCallId: call.id,
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: 'Canceled.' } }],
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

/**
 * Asks for permission for a tool call, unless the mode or an earlier "always" answer decides.
 *
 * @param topic what an "always" answer applies to: `edit` or `run`
 * @param subject what is shown besides the title: the diff or the command
 * @returns whether it may run; a rejected call is marked as failed
 */
export async function mayRun(
  turn: Turn,
  call: ToolCall,
  topic: 'edit' | 'run',
  subject: ToolCallChange = {},
): Promise<boolean> {
  const standing = turn.session.standing.get(topic)
  const free = topic === 'edit' && turn.session.settings.mode === 'edit'
  if (standing === 'allow' || (free && standing === undefined)) return true
  if (standing === 'reject') {
    await call.fail('Rejected: you chose to reject all of these in this session.', subject.content ?? [])
    return false
  }
  const things = topic === 'edit' ? 'edits' : 'commands'
  const chosen = await choose(turn, call, subject, [
    { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'allow-all', name: `Allow all ${things} in this session`, kind: 'allow_always' },
    { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    { optionId: 'reject-all', name: `Reject all ${things} in this session`, kind: 'reject_always' },
  ])
  if (chosen === 'allow-all') turn.session.standing.set(topic, 'allow')
  if (chosen === 'reject-all') turn.session.standing.set(topic, 'reject')
  if (chosen === 'allow' || chosen === 'allow-all') return true
  await call.fail('Rejected.', subject.content ?? [])
  return false
}

/** The option that the user chose. If they cancel the request, the turn is canceled. */
async function choose(
  turn: Turn,
  call: ToolCall,
  subject: ToolCallChange,
  options: PermissionOption[],
): Promise<string> {
  turn.check()
  let response: RequestPermissionResponse
  try {
    response = await turn.client.request(
      'session/request_permission',
      {
        sessionId: turn.session.id,
        toolCall: { toolCallId: call.id, ...call.start, status: 'pending', ...subject },
        options,
      },
      { cancellationSignal: turn.signal, stopWaitingOnCancel: true },
    )
  } catch (error) {
    turn.check()
    throw error
  }
  turn.check()
  if (response.outcome.outcome !== 'selected') throw new TurnCancelled()
  return response.outcome.optionId
}

/** The turn was canceled; nothing more may be done except to respond with that. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}

/** Waits; rejects with {@link TurnCancelled} as soon as the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new TurnCancelled())
    const stop = () => {
      clearTimeout(timer)
      reject(new TurnCancelled())
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}

/**
 * Splits a text as a model would stream it: about a word at a time, including spaces, so that the joined chunks are the
 * text.
 */
export function pieces(text: string): string[] {
  return text.match(/\s*\S{1,24}\s*/gu) ?? (text ? [text] : [])
}

/** A command that the agent runs itself and reports live. */
export interface OwnTerminal {
  output(data: Uint8Array): void
  end(exit: { exitCode: number | null; signal: string | null }): void
}

/** What a turn needs from its client, in terms of v1; in v2, an agent reports its own terminals. */
export interface DemoClient extends Pick<AgentContext, 'notify' | 'request' | 'createTerminal'> {
  showTerminal?(sessionId: string, terminal: { id: string; command: string; cwd: string }): OwnTerminal
}

/** Capabilities of a client: their description in `/where`, and how to read them in v1. */
export const FEATURES = {
  readTextFile: ['Reads files, including unsaved changes', ({ fs }) => fs?.readTextFile],
  writeTextFile: ['Writes files', ({ fs }) => fs?.writeTextFile],
  terminal: ['Runs commands in terminals', ({ terminal }) => terminal],
  booleans: ['Options to turn on and off', ({ session }) => session?.configOptions?.boolean],
  notices: ['Notices', ({ session }) => session?.notices],
  compaction: ['Summaries of the context', ({ session }) => session?.compaction],
  forms: ['Forms', ({ elicitation }) => elicitation?.form],
  visits: ['Opens URLs', ({ elicitation }) => elicitation?.url],
  // only in the draft of the protocol
  subagents: ['Subagents', capabilities => Reflect.get(capabilities, 'subagents')],
} satisfies Record<string, [about: string, (capabilities: ClientCapabilities) => unknown]>

export type ClientFeatures = Record<keyof typeof FEATURES, boolean>

/** The features for which a function returns a value other than `false`. */
export function featuresOf(has: (name: keyof ClientFeatures) => unknown): ClientFeatures {
  const names = Object.keys(FEATURES) as Array<keyof ClientFeatures>
  return Object.fromEntries(names.map(name => [name, (has(name) ?? false) !== false])) as ClientFeatures
}

/** The tokens of a turn, which the draft of the protocol reports at its end; no released schema has them yet. */
export interface TokenUsage {
  totalTokens: number
  inputTokens: number
  outputTokens: number
}

/** The context's size and the session's cost so far. */
export function usageOf(session: DemoSession): SessionUpdate {
  const size = modelOf(session.settings).context
  return {
    sessionUpdate: 'usage_update',
    used: Math.min(session.used, size),
    size,
    cost: { amount: session.meta.credits, currency: 'credits' },
  }
}
