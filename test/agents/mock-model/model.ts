/**
 * A model that is asked by agents and answers from a script, told in terms of no vendor's interface. A dialect
 * translates.
 */

/** What the script wants done, to be put into whichever tool the agent offers. */
export type Work =
  | { do: 'read'; path: string }
  | { do: 'edit'; path: string; oldText: string; newText: string }
  | { do: 'write'; path: string; content: string }
  | { do: 'shell'; command: string }
  /** A subagent is to do it; its own prompt is the task. */
  | { do: 'delegate'; task: string }
  /** A tool of an MCP server, by the end of its name: each agent puts the server's before it in its own way. */
  | { do: 'tool'; name: string; text: string }
  | { do: 'plan'; entries: Array<{ content: string; status: 'pending' | 'in_progress' | 'completed' }> }

/** One answer of the model. */
export interface Step {
  thoughts?: string[]
  text?: string[]
  work?: Work[]
  /** Milliseconds between two pieces; 2 if not told. */
  pause?: number
}

/** A tool as the agent offers it; `schema` is the JSON schema of its arguments. */
export interface OfferedTool {
  name: string
  schema: JsonSchema
  /** Of a tool that is one of a group. */
  namespace?: string
}
export interface JsonSchema {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  enum?: unknown[]
  anyOf?: JsonSchema[]
}

/** A message of the conversation so far. */
export interface Message {
  role: 'user' | 'call' | 'result' | 'other'
  text: string
}

/** What an agent asks. */
export interface Question {
  messages: Message[]
  tools: OfferedTool[]
  /** The agent wants JSON of this schema, not a conversation. */
  answerSchema?: JsonSchema
}

export interface ToolUse {
  id: string
  name: string
  namespace?: string
  arguments: Record<string, unknown>
}

/** What the model says to one question. */
export interface Answer {
  thoughts: string[]
  text: string[]
  uses: ToolUse[]
  pause: number
}

/** One vendor's interface. */
export interface Dialect {
  /** `undefined`: the request is not of this dialect. */
  read(path: string, body: Record<string, unknown>): { question: Question; stream: boolean } | undefined
  /** Server-sent events, or the milliseconds to wait before the next. */
  stream(answer: Answer): Generator<string | number>
  /** The answer in one piece. */
  whole(answer: Answer): unknown
}

/** Tokens, the same for every answer. */
export const USAGE = { input: 1000, output: 50 }

let count = 0
export function nextId(prefix: string): string {
  count += 1
  return `${prefix}_mock${String(count).padStart(4, '0')}`
}

/** Text in pieces, as arguments are streamed. */
export function cut(text: string, size = 60): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? ['']
}

export function list(value: unknown): Array<Record<string, unknown>> {
  return Array.isArray(value)
    ? value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    : []
}
