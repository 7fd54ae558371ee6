import { randomBytes, randomUUID } from 'node:crypto'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  Server,
  type Tool,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { ToolServerAddress } from '../../acp/agent.ts'
import { raceAbort } from '../../common/async.ts'
import { EDITOR_SERVER, type EditorToolName, isReadingTool } from '../../common/editor-tool-names.ts'
import { messageOf } from '../../common/errors.ts'
import { READING_TOOL_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { answerText, DataMark } from './answer.ts'
import { debugTools } from './debug-tools.ts'
import { editingTools } from './editing-tools.ts'
import { bearerToken, isLocalRequest, listenLocally, portOf, refuse, TokenCheck } from './local-http.ts'
import { readingTools } from './reading-tools.ts'
import { testTools } from './test-tools.ts'
import type { EditorTool, ToolContext } from './tool.ts'
import { ToolError } from './tool-error.ts'
import { windowTools } from './window-tools.ts'

/** Bytes of a request's body; a whole file for `show_diff` fits. */
const MAX_BODY = 2 * 1024 * 1024
/** Connections of all agents together; further ones are refused. */
const MAX_CONNECTIONS = 256
/** Maximum number of requests of one session that are answered at the same time. */
const MAX_REQUESTS = 64
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
const TURNED_OFF = 'There is no such tool, or the user has turned it off for this session.'

/** The objects behind a session's address. */
export interface EndpointOptions extends Omit<ToolContext, 'signal' | 'allowed'> {
  /** The currently offered tools. */
  tools: () => readonly EditorToolName[]
  /** The agent hides tools with these names from its model, so they're offered with a prefix. */
  hiddenNames?: readonly string[] | undefined
}

/** What an agent knows about an endpoint that another window may serve later. */
export type EndpointAddress = Omit<ToolServerAddress, 'name' | 'port'>

export interface Endpoint extends EndpointAddress {
  url: string
  /** The offered tools have changed. */
  toolsChanged(): void
  /** Nothing is answered anymore, and calls in progress are aborted. */
  close(): void
}

/**
 * The editor's MCP server: one listener on this machine's loopback address, with one address and one token for each session. The token
 * alone decides what a request can access, so no session can access another's tools.
 */
export class ToolServer {
  readonly #http: HttpServer
  readonly #log: Logger
  readonly #version: string
  readonly #readingMs: number
  /** by the path of the address */
  readonly #endpoints = new Map<string, SessionEndpoint>()

  private constructor(http: HttpServer, version: string, log: Logger, readingMs: number) {
    this.#http = http
    this.#readingMs = readingMs
    this.#version = version
    this.#log = log
  }

  /** `readingMs`: how long a tool that only reads may take. `port`: by default, one of the local ports. */
  static async listen(
    version: string,
    log: Logger,
    readingMs = READING_TOOL_MS,
    port?: number,
  ): Promise<ToolServer> {
    const http = await listenLocally(MAX_CONNECTIONS, port)
    const server = new ToolServer(http, version, log, readingMs)
    http.on('request', (request, response) => void server.#answer(request, response))
    http.on('error', error => log.error(`The editor's MCP server: ${messageOf(error)}`))
    return server
  }

  get port(): number {
    return portOf(this.#http)
  }

  get isUsed(): boolean {
    return this.#endpoints.size > 0
  }

  /** `address`: of an earlier window, where the agent still expects the tools. */
  add(options: EndpointOptions, address?: EndpointAddress): Endpoint {
    const path = address?.path ?? `/${randomBytes(12).toString('hex')}`
    const token = address?.token ?? randomBytes(32).toString('base64url')
    const mark = new DataMark(address?.mark)
    const endpoint = new SessionEndpoint(options, token, mark, this.#version, this.#log, this.#readingMs)
    this.#endpoints.get(path)?.close()
    this.#endpoints.set(path, endpoint)
    return {
      url: `http://127.0.0.1:${this.port}${path}`,
      ...{ path, token, mark: mark.id },
      toolsChanged: () => endpoint.toolsChanged(),
      close: () => {
        if (this.#endpoints.get(path) !== endpoint) return
        this.#endpoints.delete(path)
        endpoint.close()
      },
    }
  }

  close(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.close()
    this.#endpoints.clear()
    this.#http.close()
    this.#http.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocalRequest(request, this.#http)) return refuse(request, response, 403)
    const endpoint = this.#endpoints.get((request.url ?? '').split('?', 1)[0]!)
    // the same response as for an unknown address, so that nobody can find out which addresses exist
    if (!endpoint?.accepts(bearerToken(request))) return refuse(request, response, 401)
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) return refuse(request, response, 413)
    await endpoint.answer(request, response)
  }
}

/** The id of each client of the older protocol; an agent may have several. */
const SESSION_HEADER = 'mcp-session-id'
const REVISION_HEADER = 'mcp-protocol-version'

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

class SessionEndpoint {
  readonly #options: EndpointOptions
  readonly #token: TokenCheck
  readonly #log: Logger
  readonly #mark: DataMark
  readonly #allowed = new Set<EditorToolName>()
  readonly #end = new AbortController()
  readonly #mcp: McpHttpHandler
  readonly #handle: ReturnType<typeof toNodeHandler>
  readonly #readingMs: number
  #requests = 0
  readonly #calls = new Set<Call>()

  constructor(
    options: EndpointOptions,
    token: string,
    mark: DataMark,
    version: string,
    log: Logger,
    readingMs: number,
  ) {
    this.#options = options
    this.#mark = mark
    this.#readingMs = readingMs
    this.#token = new TokenCheck(token)
    this.#log = log
    const report = (error: unknown) => log.debug(`The editor's MCP server: ${messageOf(error)}`)
    this.#mcp = createMcpHandler(
      ({ requestInfo }) => this.#server(version, requestInfo?.headers.get(SESSION_HEADER) ?? null),
      {
        maxRequestBodySize: MAX_BODY,
        maxSubscriptions: 8,
        onerror: report,
      },
    )
    this.#handle = toNodeHandler(this.#mcp, { maxRequestBodySize: MAX_BODY, onerror: report })
  }

  accepts(token: string): boolean {
    return this.#token.accepts(token)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#requests >= MAX_REQUESTS) return refuse(request, response, 503)
    this.#requests += 1
    response.once('close', () => {
      this.#requests -= 1
    })
    // `initialize` has neither header
    const isNew = !(SESSION_HEADER in request.headers || REVISION_HEADER in request.headers)
    if (isNew && request.method === 'POST') response.setHeader(SESSION_HEADER, randomUUID())
    await this.#handle(request, response)
  }

  toolsChanged(): void {
    const names = this.#options.tools()
    for (const { tool, turnedOff } of this.#calls) if (!names.includes(tool)) turnedOff.abort()
    this.#mcp.notify.toolsChanged()
  }

  close(): void {
    this.#end.abort()
    void this.#mcp.close()
  }

  /** The SDK needs a server for each request. */
  #server(version: string, session: string | null): Server {
    const server = new Server(
      { name: EDITOR_SERVER, title: 'VS Code', version },
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
