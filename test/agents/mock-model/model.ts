/**
 * A model that answers agents from a script, independently of any vendor's API, into which a dialect translates.
 */

/** What the script wants to do, with any suitable tool that the agent offers. */
export type Work =
  | { do: 'read'; path: string }
  | { do: 'edit'; path: string; oldText: string; newText: string }
  | { do: 'write'; path: string; content: string }
  | { do: 'shell'; command: string }
  /** For a subagent; the prompt is its task. */
  | { do: 'delegate'; task: string }
  /**
   * A tool of an MCP server, by the end of its name, since agents add different prefixes. With the server's name if the agent has
   * such a tool itself.
   */
  | { do: 'tool'; name: string; server?: string; input: Record<string, unknown> }
  | { do: 'plan'; entries: Array<{ content: string; status: 'pending' | 'in_progress' | 'completed' }> }

/** One answer of the model. */
export interface Step {
  thoughts?: string[]
  text?: string[]
  work?: Work[]
  /** Milliseconds between two chunks; 2 by default. */
  pause?: number
  /** The model waits for this before it answers. */
  after?: Promise<unknown>
  /** The service refuses the request, since the conversation is longer than the model's context. */
  isFull?: boolean
}

/** A tool that the agent offers; `schema` is the JSON schema of its arguments. */
export interface OfferedTool {
  name: string
  schema: JsonSchema
  /** The group that the tool belongs to, if there is one. */
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
  /** of a result: as JSON */
  text: string
}

/** A request of an agent. */
export interface Question {
  messages: Message[]
  tools: OfferedTool[]
  /** The agent wants JSON with this schema instead of a conversation. */
  answerSchema?: JsonSchema
}

export interface ToolUse {
  id: string
  name: string
  namespace?: string
  arguments: Record<string, unknown>
}

/** The model's answer to a request. */
export interface Answer {
  thoughts: string[]
  text: string[]
  uses: ToolUse[]
  pause: number
  after?: Promise<unknown> | undefined
  isFull?: boolean | undefined
}

/** The API of one vendor. */
export interface Dialect {
  /** Reads a request; `undefined` if it has another dialect. */
  read(path: string, body: Record<string, unknown>): { question: Question; stream: boolean } | undefined
  /** Server-sent events, and the milliseconds to wait between them. */
  stream(answer: Answer): Generator<string | number>
  /** The answer to a request without streaming. */
  whole(answer: Answer): unknown
  /** The body of the answer 400 to a conversation that is longer than the model's context. */
  full: unknown
}

/** Token counts, the same for every answer. */
export const USAGE = { input: 1000, output: 50 }

let count = 0
export function nextId(prefix: string): string {
  count += 1
  return `${prefix}_mock${String(count).padStart(4, '0')}`
}

/** Cuts a text into chunks, as models stream it. */
export function cut(text: string, size = 60): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? ['']
}

export function list(value: unknown): Array<Record<string, unknown>> {
  return Array.isArray(value)
    ? value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    : []
}
