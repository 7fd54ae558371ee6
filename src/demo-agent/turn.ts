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
import { configOptions, type ModeId, modelOf } from './settings.ts'
import { STOPPED, ToolCall, type ToolCallChange, type ToolCallStart } from './tool-call.ts'

/** Milliseconds between two pieces of text at the pace of a usual model. */
const BETWEEN_PIECES = 28

/**
 * What a scene can do in a turn: talk, think, plan, call tools. Everything said is recorded for a later load. Every
 * step rejects with {@link TurnCancelled} once the turn is canceled, so that a scene needs no thought of it.
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

  /** For a scene that catches what its work threw: a canceled turn is not a failure to tell of. */
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

  /** Streams a thought, unless the user switched thoughts off. */
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

  /** Tells how full the context is and what the session has cost; answers with the tokens of the turn. */
  async usage(inputTokens: number): Promise<TokenUsage> {
    const { session } = this
    const outputTokens = Math.max(0, session.used - inputTokens)
    const totalTokens = inputTokens + outputTokens
    session.change({ credits: Math.round((session.meta.credits + totalTokens / 1000) * 1000) / 1000 })
    await this.client.notify('session/update', { sessionId: session.id, update: usageOf(session) })
    return { totalTokens, inputTokens, outputTokens }
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

/**
 * Asks before a tool call is run, unless the mode or a standing answer has settled it.
 *
 * @param topic what "always" would be about: `edit` or `run`
 * @param subject what the user is shown besides the title: the diff, the command
 * @returns whether it may run; a rejected call has been marked as failed
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
    await call.fail('Not done: you chose never to allow this in this session.', subject.content ?? [])
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

/** The option the user chose. Their canceling the question cancels the turn. */
export async function choose(
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

/** The turn was canceled; nothing more may be done or said but to answer so. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}

/** Waits, and rejects with {@link TurnCancelled} as soon as the signal aborts. */
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

/** Cuts a text as a model would stream it: about a word at a time, spaces kept, so that the pieces joined are the text. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S{1,24}\s*/gu) ?? (text ? [text] : [])
}

/** A command of the agent's own, told as it runs. */
export interface OwnTerminal {
  output(data: Uint8Array): void
  end(exit: { exitCode: number | null; signal: string | null }): void
}

/** What a turn needs of its client, in the terms of v1; in v2 an agent shows terminals of its own. */
export interface DemoClient extends Pick<AgentContext, 'notify' | 'request' | 'createTerminal'> {
  showTerminal?(sessionId: string, terminal: { id: string; command: string; cwd: string }): OwnTerminal
}

/** What the client offers, as questions. What it does not name it does not have. */
export interface ClientFeatures {
  readTextFile: boolean
  writeTextFile: boolean
  terminal: boolean
  booleans: boolean
  notices: boolean
  compaction: boolean
  forms: boolean
  visits: boolean
  subagents: boolean
}

export const NO_FEATURES: ClientFeatures = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  booleans: false,
  notices: false,
  compaction: false,
  forms: false,
  visits: false,
  subagents: false,
}

export function clientFeatures(capabilities: ClientCapabilities | undefined): ClientFeatures {
  return {
    readTextFile: capabilities?.fs?.readTextFile === true,
    writeTextFile: capabilities?.fs?.writeTextFile === true,
    terminal: capabilities?.terminal === true,
    booleans: isOffered(capabilities?.session?.configOptions?.boolean),
    notices: isOffered(capabilities?.session?.notices),
    compaction: isOffered(capabilities?.session?.compaction),
    forms: isOffered(capabilities?.elicitation?.form),
    visits: isOffered(capabilities?.elicitation?.url),
    subagents: isOffered(capabilities && Reflect.get(capabilities, 'subagents')),
  }
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false
}

/** The tokens of one turn, which the protocol's draft adds to its end: no released schema has them yet. */
export interface TokenUsage {
  totalTokens: number
  inputTokens: number
  outputTokens: number
}

/** How full the context is, and what the session has cost since it began. */
export function usageOf(session: DemoSession): SessionUpdate {
  const size = modelOf(session.settings).context
  return {
    sessionUpdate: 'usage_update',
    used: Math.min(session.used, size),
    size,
    cost: { amount: session.meta.credits, currency: 'credits' },
  }
}
