import { randomUUID } from 'node:crypto'
import type { SessionUpdate, ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'

export interface ToolCallStart {
  title: string
  kind: ToolKind
  locations?: Array<{ path: string; line?: number }>
  rawInput?: unknown
}
export type ToolCallChange = Omit<ToolCallUpdate, 'toolCallId'>

/** A tool call of a turn, from its first update to its last. */
export class ToolCall {
  readonly id = randomUUID()
  readonly start: ToolCallStart
  /** Whether the tool call's end is unreported. A call stays open if its end couldn't be reported, such as when the turn was canceled. */
  isOpen = true
  readonly #emit: (update: SessionUpdate) => Promise<void>

  constructor(start: ToolCallStart, emit: (update: SessionUpdate) => Promise<void>) {
    this.start = start
    this.#emit = emit
  }

  announce(): Promise<void> {
    return this.#emit({ sessionUpdate: 'tool_call', toolCallId: this.id, status: 'pending', ...this.start })
  }

  update(change: ToolCallChange): Promise<void> {
    return this.#emit({ sessionUpdate: 'tool_call_update', toolCallId: this.id, ...change })
  }

  run(): Promise<void> {
    return this.update({ status: 'in_progress' })
  }

  async end(status: 'completed' | 'failed', change: ToolCallChange = {}): Promise<void> {
    await this.update({ ...change, status })
    this.isOpen = false
  }

  /** Ends the call as failed, with a message below its content. */
  fail(message: string, content: ToolCallContent[] = []): Promise<void> {
    return this.end('failed', { content: [...content, text(message)] })
  }
}

/** The `_meta` key that marks calls that the user stopped, since v1 has no status for them. */
export const STOPPED = 'parley.demo/stopped'

/** Returns text as the content of a tool call. */
export function text(value: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: value } }
}

/** Returns plain text in a code fence that is longer than any fence in the text. */
export function fenced(value: string, language = ''): ToolCallContent {
  const longest = Math.max(2, ...[...value.matchAll(/`{3,}/g)].map(match => match[0].length))
  const fence = '`'.repeat(longest + 1)
  return text(`${fence}${language}\n${value.replace(/\n$/, '')}\n${fence}`)
}
