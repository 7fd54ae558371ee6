import { existsSync } from 'node:fs'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import type { DisposableStore } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { makePrivateFolder } from '../../common/private-files.ts'
import { CloseCode, refuseUpgrade, WebSocketConnection } from '../../common/websocket.ts'
import type { EditorSelection } from '../server/editor-features.ts'
import { listenLocally, portOf, refuse } from '../server/local-http.ts'
import { ClaudeTools, selectionOf } from './claude-tools.ts'
import { alreadyExists, removeStaleFiles } from './discovery-files.ts'
import { LocalIde } from './local-ide.ts'
import { MAX_CONNECTIONS, MAX_MESSAGE, type TerminalIde, type TerminalIdeOptions } from './terminal-editor.ts'
import { toolsServer } from './tools-server.ts'

/**
 * Lets Claude Code in a terminal use the editor, as its own extension does: MCP over a WebSocket, which it finds by a lock file
 * named after the port. The protocol isn't documented by its vendor; read in
 * https://github.com/coder/claudecode.nvim/blob/main/PROTOCOL.md and in Claude Code 2.1.318.
 */

/** Number of attempts with other ports if the file's name is taken. */
const MAX_ATTEMPTS = 5
const LOCK_FILES = /^\d+\.lock(\.\d+)?$/

/** Rejects if the file can't be written, without which Claude Code has no token. */
export async function startClaudeIde(
  options: TerminalIdeOptions,
  folder = lockFolder(),
): Promise<TerminalIde> {
  makePrivateFolder(folder)
  removeStaleFiles(folder, LOCK_FILES, options.log)
  for (let attempt = 1; ; attempt++) {
    const http = await listenLocally(MAX_CONNECTIONS)
    try {
      return new ClaudeIde(http, folder, options)
    } catch (error) {
      if (!alreadyExists(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

function lockFolder(): string {
  return lockFolderIn(process.env.CLAUDE_CONFIG_DIR || join(homedir(), '.claude'))
}

function lockFolderIn(folder: string): string {
  return join(folder, 'ide')
}

class ClaudeIde extends LocalIde {
  readonly #connections = new Set<Connection>()
  #latest: EditorSelection | undefined
  /** by folder: the files for accounts */
  readonly #announced = new Map<string, DisposableStore>()

  constructor(http: HttpServer, folder: string, options: TerminalIdeOptions) {
    super('Claude Code', http, options)
    try {
      this.announce(folder, `${portOf(http)}.lock`)
    } catch (error) {
      this.dispose()
      throw error
    }
    const { accounts } = options
    const announce = () => this.#announceTo(accounts?.folders().map(lockFolderIn) ?? [], folder)
    announce()
    if (accounts) this.register(accounts.onDidChange(announce))
    http.on('request', (request, response) => refuse(request, response, 403))
    http.on('upgrade', (request, socket, head) => this.#connect(request, socket, head))
  }

  /** Claude Code looks only in the folder of its account. */
  #announceTo(folders: readonly string[], usual: string): void {
    for (const [folder, announced] of this.#announced) {
      if (folders.includes(folder)) continue
      this.#announced.delete(folder)
      this.owned.release(announced)
    }
    for (const folder of folders) {
      // an account that was never used, or whose drive isn't there
      if (this.#announced.has(folder) || folder === usual || !existsSync(dirname(folder))) continue
      try {
        makePrivateFolder(folder)
        removeStaleFiles(folder, LOCK_FILES, this.options.log)
        this.#announced.set(folder, this.announce(folder, `${portOf(this.http)}.lock`))
      } catch (error) {
        this.report(error)
      }
    }
  }

  protected override content() {
    return {
      // Claude Code removes the file of a process that has ended, and looks for an ancestor of the terminal
      pid: process.ppid,
      workspaceFolders: this.options.editor.paths(),
      ideName: 'VS Code',
      transport: 'ws',
      authToken: this.token,
    }
  }

  get variables(): Record<string, string> {
    return { CLAUDE_CODE_SSE_PORT: String(portOf(this.http)), ENABLE_IDE_INTEGRATION: 'true' }
  }

  #connect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const status = this.refusal(request, String(request.headers['x-claude-code-ide-authorization'] ?? ''))
    if (status) {
      refuseUpgrade(socket, status)
      return
    }
    const accepted = WebSocketConnection.accept(request, socket, { protocol: 'mcp', maxBytes: MAX_MESSAGE })
    if (!accepted) return
    const { editor, version, log } = this.options
    const tools = new ClaudeTools(editor, () => this.#latest)
    const connection = new Connection(accepted, () => {
      this.#connections.delete(connection)
      tools.dispose()
    })
    this.#connections.add(connection)
    const server = toolsServer(tools.all, version, log)
    server.onerror = error => log.debug(`Claude Code in a terminal: ${messageOf(error)}`)
    server.oninitialized = () => this.selectionChanged()
    void server.connect(connection).then(() => connection.listen(head))
  }

  protected override async sendSelection(isLatest: () => boolean): Promise<void> {
    const { editor } = this.options
    const selection = await editor.selection()
    // a terminal in the editor area may have the focus
    if (!selection) return
    const isInside = await editor.has(selection.path)
    if (!isLatest()) return
    this.#latest = isInside ? selection : undefined
    const params = isInside ? selectionOf(selection) : NOTHING
    for (const connection of this.#connections)
      void connection.send({ jsonrpc: '2.0', method: 'selection_changed', params })
  }

  override dispose(): void {
    for (const connection of this.#connections) connection.destroy()
    super.dispose()
  }
}

/** A WebSocket as the SDK's transport. */
class Connection implements Transport {
  readonly #socket: WebSocketConnection
  readonly #closed: () => void
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(socket: WebSocketConnection, closed: () => void) {
    this.#socket = socket
    this.#closed = closed
  }

  listen(head: Buffer): void {
    this.#socket.listen(head, {
      text: text => this.#receive(text),
      closed: () => {
        this.#closed()
        this.onclose?.()
      },
    })
  }

  #receive(text: string): void {
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(text)
    } catch (error) {
      this.onerror?.(new Error(messageOf(error)))
      this.#socket.close(CloseCode.invalid)
      return
    }
    this.onmessage?.(message)
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.#socket.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    this.#socket.close(CloseCode.normal)
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

/** Replaces the previous selection. */
const NOTHING = {
  text: '',
  selection: { ...{ start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, isEmpty: true },
}
