import { randomUUID } from 'node:crypto'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, delimiter } from 'node:path'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  type JSONRPCNotification,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Disposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { visible } from '../../common/visible.ts'
import { bearerToken, listenLocally, portOf, refuse } from '../server/local-http.ts'
import { AgentDiffs } from './agent-diffs.ts'
import { removeStaleFiles, sharedFolder } from './discovery-files.ts'
import { LocalIde } from './local-ide.ts'
import {
  MAX_CONNECTIONS,
  MAX_MESSAGE,
  type TerminalEditor,
  type TerminalIde,
  type TerminalIdeOptions,
} from './terminal-editor.ts'
import { type TerminalTool, terminalTool, toolsServer } from './tools-server.ts'

/**
 * Lets Gemini CLI in a terminal use the editor, as its companion extension does: MCP over HTTP, which it finds by a file or the
 * environment. https://github.com/google-gemini/gemini-cli/blob/main/docs/ide-integration/ide-companion-spec.md
 */

/** Limits of the context that Gemini CLI reads. */
const MAX_FILES = 10
const MAX_SELECTED = 16 * 1024
/** Maximum number of agents; beyond it, the agent with the oldest request is forgotten. */
const MAX_SESSIONS = 16
/** After this time without its stream of notifications, an agent counts as gone. */
const GONE_MS = 10_000

/** `folder`: the folder with the files of all editors. */
export async function startGeminiIde(
  options: TerminalIdeOptions,
  folder = () => sharedFolder(tmpdir(), 'gemini', 'ide'),
): Promise<TerminalIde> {
  return new GeminiIde(await listenLocally(MAX_CONNECTIONS), folder, options)
}

class GeminiIde extends LocalIde {
  /** by id, the last used one at the end */
  readonly #sessions = new Map<string, GeminiSession>()
  /** when files were active, in milliseconds since 1970 */
  readonly #activeAt = new Map<string, number>()

  constructor(http: HttpServer, folder: () => string, options: TerminalIdeOptions) {
    super('Gemini CLI', http, options)
    this.#writeFile(folder)
    http.on('request', (request, response) => void this.#answer(request, response))
  }

  /** Terminals of this window find the server by their environment, even without the file. */
  #writeFile(folder: () => string): void {
    try {
      const own = folder()
      removeStaleFiles(own, /^gemini-ide-server-\d+-\d+\.json(\.\d+)?$/, this.options.log)
      // Gemini CLI looks for an ancestor of the terminal
      this.announce(own, `gemini-ide-server-${process.ppid}-${portOf(this.http)}.json`)
    } catch (error) {
      this.report(error)
    }
  }

  get #workspacePath(): string {
    return this.options.editor.paths().join(delimiter)
  }

  /**
   * Without `ideInfo`, which the companion extension also omits: only a Gemini CLI in a terminal of VS Code should use the editor, not one
   * in a session of Parley, where its edits are already shown.
   */
  protected override content() {
    return { port: portOf(this.http), workspacePath: this.#workspacePath, authToken: this.token }
  }

  get variables(): Record<string, string> {
    return {
      GEMINI_CLI_IDE_SERVER_PORT: String(portOf(this.http)),
      GEMINI_CLI_IDE_WORKSPACE_PATH: this.#workspacePath,
      GEMINI_CLI_IDE_AUTH_TOKEN: this.token,
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = this.refusal(request, bearerToken(request))
    if (status) return refuse(request, response, status)
    if ((request.url ?? '').split('?', 1)[0] !== '/mcp') return refuse(request, response, 404)
    if (Number(request.headers['content-length'] ?? 0) > MAX_MESSAGE) return refuse(request, response, 413)
    const id = request.headers['mcp-session-id']
    const session = id === undefined ? this.#newSession() : this.#sessions.get(String(id))
    // 404, as the specification demands for an ended session
    if (!session) return refuse(request, response, 404)
    if (id !== undefined) this.#keep(String(id), session)
    await session.answer(request, response)
    if (!session.isOpen) session.dispose()
  }

  #newSession(): GeminiSession {
    const { editor, version, log } = this.options
    const session: GeminiSession = new GeminiSession(editor, version, log, {
      opened: id => {
        this.#keep(id, session)
        const [oldest] = this.#sessions.values()
        if (this.#sessions.size > MAX_SESSIONS) oldest?.dispose()
      },
      listens: () => void this.#context().then(context => session.tell('ide/contextUpdate', context)),
      closed: id => this.#sessions.delete(id),
    })
    return session
  }

  #keep(id: string, session: GeminiSession): void {
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
  }

  protected override selectionChanged(): void {
    const now = Date.now()
    void this.options.editor.selection().then(active => active && this.#activeAt.set(active.path, now))
    super.selectionChanged()
  }

  protected override async sendSelection(isLatest: () => boolean): Promise<void> {
    const context = await this.#context()
    if (isLatest()) for (const session of this.#sessions.values()) session.tell('ide/contextUpdate', context)
  }

  async #context() {
    const { editor } = this.options
    const selection = await editor.selection()
    const paths = (await editor.within(await editor.editors())).map(({ path }) => path)
    for (const path of this.#activeAt.keys()) if (!paths.includes(path)) this.#activeAt.delete(path)
    const openFiles = paths
      .map(path => {
        const file = { path, timestamp: this.#activeAt.get(path) ?? 0 }
        if (selection?.path !== path) return file
        const { line, column } = selection.end
        return {
          ...file,
          ...(file.timestamp === 0 && { timestamp: Date.now() }),
          isActive: true,
          cursor: { line, character: column },
          ...(selection.text !== '' && { selectedText: selection.text.slice(0, MAX_SELECTED) }),
        }
      })
      .sort((a, b) => b.timestamp - a.timestamp)
      .slice(0, MAX_FILES)
    // nothing starts in Restricted Mode
    return { workspaceState: { openFiles, isTrusted: true } }
  }

  override dispose(): void {
    for (const session of [...this.#sessions.values()]) session.dispose()
    super.dispose()
  }
}

interface SessionEvents {
  opened(id: string): void
  /** The agent gets notifications from now on. */
  listens(): void
  closed(id: string): void
}

/** One agent, from its first request. */
class GeminiSession implements Disposable {
  readonly #events: SessionEvents
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #report: (error: unknown) => void
  readonly #connected: Promise<void>
  /** by the path of the file */
  readonly #diffs: AgentDiffs
  /** Notifications about diffs that wait until the agent has a stream. */
  readonly #unsent: JSONRPCNotification[] = []
  #stream: ServerResponse | undefined
  #gone: NodeJS.Timeout | undefined
  #isOver = false

  constructor(
    editor: TerminalEditor,
    version: string,
    log: TerminalIdeOptions['log'],
    events: SessionEvents,
  ) {
    this.#diffs = new AgentDiffs(editor)
    this.#events = events
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: events.opened,
      maxRequestBodySize: MAX_MESSAGE,
    })
    this.#report = error => log.debug(`Gemini CLI in a terminal: ${messageOf(error)}`)
    const server = toolsServer(this.#tools, version, log)
    server.onerror = this.#report
    server.onclose = () => this.dispose()
    this.#connected = server.connect(this.#transport)
  }

  /** Whether the agent has initialized its session, and hasn't ended it. */
  get isOpen(): boolean {
    return this.#transport.sessionId !== undefined && !this.#isOver
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#connected
    const fetch = async (given: Request) => {
      const answer = await this.#transport.handleRequest(given)
      if (given.method === 'GET' && answer.ok) this.#listens(response)
      return answer
    }
    await toNodeHandler({ fetch }, { maxRequestBodySize: MAX_MESSAGE, onerror: this.#report })(
      request,
      response,
    )
  }

  /** The stream of notifications is open. */
  #listens(stream: ServerResponse): void {
    clearTimeout(this.#gone)
    this.#stream = stream
    stream.once('close', () => {
      this.#stream = undefined
      this.#transport.closeStandaloneSSEStream()
      // the agent may only have lost the connection
      this.#gone = setTimeout(() => this.dispose(), GONE_MS).unref()
    })
    this.#events.listens()
    for (const message of this.#unsent.splice(0)) void this.#transport.send(message)
  }

  tell(method: string, params: Record<string, unknown>): void {
    if (this.#stream) void this.#transport.send({ jsonrpc: '2.0', method, params })
  }

  readonly #tools: readonly TerminalTool[] = [
    terminalTool({
      name: 'openDiff',
      input: z.object({ filePath: z.string().min(1).max(4096), newContent: z.string() }),
      run: async ({ filePath, newContent }) => {
        const title = visible(`${basename(filePath)} (Gemini CLI)`)
        const file = { path: filePath, oldPath: filePath, text: newContent, title }
        await this.#diffs.open(filePath, file, content => this.#answered(filePath, content))
        return []
      },
    }),
    terminalTool({
      name: 'closeDiff',
      input: z.object({ filePath: z.string() }),
      run: async ({ filePath }) => [JSON.stringify({ content: await this.#diffs.close(filePath) })],
    }),
  ]

  #answered(filePath: string, content: string | undefined): void {
    const message: JSONRPCNotification =
      content === undefined
        ? { jsonrpc: '2.0', method: 'ide/diffRejected', params: { filePath } }
        : { jsonrpc: '2.0', method: 'ide/diffAccepted', params: { filePath, content } }
    if (this.#stream) void this.#transport.send(message)
    else this.#unsent.push(message)
  }

  dispose(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#gone)
    this.#diffs.dispose()
    void this.#transport.close()
    if (this.#transport.sessionId !== undefined) this.#events.closed(this.#transport.sessionId)
  }
}
