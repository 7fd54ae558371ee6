import { type CallToolResult, Server, type Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { raceAbort } from '../../common/async.ts'
import { EDITOR_SERVER, type EditorToolName, isReadingTool } from '../../common/editor-tool-names.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { answerText, type DataMark } from './answer.ts'
import { debugTools } from './debug-tools.ts'
import { editingTools } from './editing-tools.ts'
import { readingTools } from './reading-tools.ts'
import { testTools } from './test-tools.ts'
import type { EditorTool, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'
import { windowTools } from './window-tools.ts'

/** Members and elements of the arguments of a call. */
const MAX_MEMBERS = 1000
/** Maximum number of concurrent calls of one session. */
const MAX_CALLS = 16

const ALL_TOOLS: ReadonlyMap<string, EditorTool<never>> = new Map(
  [...readingTools, ...editingTools, ...windowTools, ...testTools, ...debugTools].map(tool => [
    tool.name,
    tool as unknown as EditorTool<never>,
  ]),
)

const PREFIX = `${EDITOR_SERVER}_`
const READING: ReadonlySet<string> = new Set(readingTools.map(({ name }) => name))
const REPEATED =
  'The editor was reloaded during this call. It may have been carried out already: look at its effects before you call it again.'
const TURNED_OFF = 'There is no such tool, or the user has turned it off for this session.'

/** What a session's tools work with. */
export interface EndpointOptions extends Omit<ToolContext, 'signal' | 'allowed'> {
  /** The currently offered tools. */
  tools: () => readonly EditorToolName[]
  /** The agent hides tools with these names from its model, so they're offered with a prefix. */
  hiddenNames?: readonly string[] | undefined
}

/** The tools of a session, served to its agent. */
export interface ServedTools {
  /** The offered tools have changed. */
  toolsChanged(): void
  /** Nothing is answered anymore, and calls in progress are aborted. */
  close(): void
}

/** A call in progress. */
interface Call {
  /** id of its request */
  id: string | number
  /** the session id of the client that made the call, if the client has one */
  session: string | null
  tool: EditorToolName
  turnedOff: AbortController
  canceled: AbortController
}

/** The editor's tools as an MCP server of one session, whatever its transport. */
export class ToolCalls {
  readonly #options: EndpointOptions
  readonly #mark: DataMark
  readonly #version: string
  readonly #log: Logger
  readonly #readingMs: number
  readonly #allowed = new Set<EditorToolName>()
  readonly #end = new AbortController()
  readonly #calls = new Set<Call>()
  /** ids of requests that an earlier window may have answered already */
  readonly repeated = new Set<string | number>()

  /** `readingMs`: how long a tool that only reads may take. */
  constructor(options: EndpointOptions, mark: DataMark, version: string, log: Logger, readingMs: number) {
    this.#options = options
    this.#mark = mark
    this.#version = version
    this.#log = log
    this.#readingMs = readingMs
  }

  /** The offered tools have changed. */
  changed(): void {
    const names = this.#options.tools()
    for (const { tool, turnedOff } of this.#calls) if (!names.includes(tool)) turnedOff.abort()
  }

  close(): void {
    this.#end.abort()
  }

  /** The SDK needs a server for each request. `session`: the id of a client of the older protocol. */
  server(session: string | null): Server {
    const server = new Server(
      { name: EDITOR_SERVER, title: 'VS Code', version: this.#version },
      { capabilities: { tools: { listChanged: true } }, instructions: this.#instructions },
    )
    server.setRequestHandler('tools/list', () => ({ tools: this.#tools() }))
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
      this.#call(params.name, params.arguments ?? {}, mcpReq, session),
    )
    // in the older protocol, a cancellation is a separate request, so the SDK doesn't know the call
    server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
      const called = [...this.#calls].filter(call => call.id === requestId && call.session === session)
      if (called.length === 1) called[0]!.canceled.abort()
    })
    return server
  }

  get #instructions(): string {
    return `These tools know what only the editor knows: what language servers say about the code, what the user has open and selected, unsaved text, tasks, tests, terminals and the debugger. Prefer them to a text search for definitions, references and renames, and call "diagnostics" after edits. Lines and columns count from 1; "path:line:column" names a place. ${this.#mark.explanation}`
  }

  #tools(): Tool[] {
    return this.#options.tools().flatMap(name => {
      const tool = ALL_TOOLS.get(name)
      if (!tool) return []
      const described = describeTool(tool)
      return this.#options.hiddenNames?.includes(name) ? [{ ...described, name: PREFIX + name }] : [described]
    })
  }

  async #call(
    name: string,
    input: unknown,
    { id, signal }: { id: string | number; signal: AbortSignal },
    session: string | null,
  ): Promise<CallToolResult> {
    const tool = ALL_TOOLS.get(name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name)
    if (!tool || !this.#options.tools().includes(tool.name)) return failure(TURNED_OFF)
    if (this.repeated.has(id) && !isReadingTool(tool.name)) return failure(REPEATED)
    if (this.#calls.size >= MAX_CALLS)
      return failure('Too many calls at the same time. Wait for some answers first.')
    if (hasTooManyMembers(input)) return failure('The arguments are wrong: they have too many parts.')
    const parsed = tool.input.safeParse(input)
    if (!parsed.success) return failure(`The arguments are wrong: ${z.prettifyError(parsed.error)}`)
    const [turnedOff, canceled] = [new AbortController(), new AbortController()]
    const call: Call = { id, session, tool: tool.name, turnedOff, canceled }
    this.#calls.add(call)
    // languages may never answer, and most of what the editor does can't be stopped
    const late = READING.has(tool.name) ? AbortSignal.timeout(this.#readingMs) : undefined
    try {
      const signals = [signal, this.#end.signal, call.turnedOff.signal, call.canceled.signal]
      const over = AbortSignal.any(late ? [...signals, late] : signals)
      const context = { ...this.#options, allowed: this.#allowed, signal: over }
      const answer = await raceAbort(tool.run(parsed.data, context), over)
      return { content: [{ type: 'text', text: answerText(answer, this.#mark) }] }
    } catch (error) {
      if (call.turnedOff.signal.aborted) return failure(TURNED_OFF)
      if (late?.aborted) return failure("The editor or a language server didn't answer in time.")
      if (error instanceof ToolError)
        return failure(answerText({ text: error.message, data: error.data }, this.#mark))
      this.#log.warn(`The editor tool ${tool.name} failed: ${messageOf(error)}`)
      // a language server's words
      return failure(
        answerText({ text: 'The editor reports a failure.', data: [messageOf(error)] }, this.#mark),
      )
    } finally {
      this.#calls.delete(call)
    }
  }
}

/** Whether a value has more members and elements than the arguments of any tool: each would be a problem to describe. */
function hasTooManyMembers(value: unknown): boolean {
  let members = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const key in next) {
      if (++members > MAX_MEMBERS) return true
      open.push((next as Record<string, unknown>)[key])
    }
  }
  return false
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text: text.slice(0, 30_000) }], isError: true }
}

const described = new Map<string, Tool>()

function describeTool(tool: EditorTool<never>): Tool {
  const known = described.get(tool.name)
  if (known) return known
  const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: 'input' })
  const { name, title, description } = tool
  const made = {
    name,
    title,
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    annotations: { title, readOnlyHint: isReadingTool(name), destructiveHint: false, openWorldHint: false },
  }
  described.set(name, made)
  return made
}
