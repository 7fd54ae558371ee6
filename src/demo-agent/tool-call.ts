import type { SessionUpdate, ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'

export interface ToolCallStart {
  title: string
  kind: ToolKind
  locations?: Array<{ path: string; line?: number }>
  content?: ToolCallContent[]
  rawInput?: unknown
}
export type ToolCallChange = Omit<ToolCallUpdate, 'toolCallId'>
type Emit = (update: SessionUpdate, recordAs?: SessionUpdate) => Promise<void>

/** A tool call of a turn, from its first update to its last. */
export class ToolCall {
  readonly id: string
  readonly start: ToolCallStart
  readonly #emit: Emit
  #open = true

  constructor(id: string, start: ToolCallStart, emit: Emit) {
    this.id = id
    this.start = start
    this.#emit = emit
  }

  get isOpen(): boolean {
    return this.#open
  }

  announce(): Promise<void> {
    return this.#emit({ sessionUpdate: 'tool_call', toolCallId: this.id, status: 'pending', ...this.start })
  }

  /** @param recordAs content for a replay, instead of content that won't exist by then (a terminal) */
  update(change: ToolCallChange, recordAs?: ToolCallChange): Promise<void> {
    return this.#emit(this.#patch(change), recordAs && this.#patch(recordAs))
  }

  run(): Promise<void> {
    return this.update({ status: 'in_progress' })
  }

  complete(change: ToolCallChange = {}, recordAs?: ToolCallChange): Promise<void> {
    return this.#end('completed', change, recordAs)
  }

  /** Like {@link complete}, for failed work whose content already shows the reason. */
  endFailed(change: ToolCallChange, recordAs?: ToolCallChange): Promise<void> {
    return this.#end('failed', change, recordAs)
  }

  fail(message: string, content: ToolCallContent[] = []): Promise<void> {
    return this.#end('failed', { content: [...content, text(message)] })
  }

  /** Still open if its end couldn't be reported, as when the turn was just canceled. */
  async #end(
    status: 'completed' | 'failed',
    change: ToolCallChange,
    recordAs?: ToolCallChange,
  ): Promise<void> {
    await this.update({ ...change, status }, recordAs && { ...recordAs, status })
    this.#open = false
  }

  #patch(change: ToolCallChange): SessionUpdate {
    return { sessionUpdate: 'tool_call_update', toolCallId: this.id, ...change }
  }
}

/** Marks calls that the user stopped, since v1 has no status for that. */
export const STOPPED = 'parley.demo/stopped'

/** Text as the content of a tool call. */
export function text(value: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: value } }
}

/** Plain text in a fence that is longer than any fence in it. */
export function fenced(value: string, language = ''): ToolCallContent {
  const longest = Math.max(2, ...[...value.matchAll(/`{3,}/g)].map(match => match[0].length))
  const fence = '`'.repeat(longest + 1)
  return text(`${fence}${language}\n${value.replace(/\n$/, '')}\n${fence}`)
}
