import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WebSocketClient } from './websocket-client.ts'

/** What Claude Code reads of a lock file. */
export interface ClaudeLock {
  port: number
  pid: number
  workspaceFolders: string[]
  ideName: string
  transport: string
  authToken: string
}

/** The lock files of a folder. */
export function claudeLocks(folder: string): ClaudeLock[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.lock'))
    .map(name => ({
      ...JSON.parse(readFileSync(join(folder, name), 'utf8')),
      port: Number.parseInt(name, 10),
    }))
}

interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { message: string }
}

/**
 * A client as Claude Code is one: https://github.com/coder/claudecode.nvim/blob/main/PROTOCOL.md. It connects to what the lock file
 * names, offers the subprotocol `mcp`, sends its token in a header, and says that it's connected.
 */
export class ClaudeClient {
  readonly #socket: WebSocketClient
  readonly #waiting = new Map<number, (message: Message) => void>()
  readonly notifications: Message[] = []
  readonly closed: Promise<number>
  #ids = 0

  private constructor(socket: WebSocketClient) {
    this.#socket = socket
    this.closed = socket.closed.then(code => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'closed' } })
      return code
    })
    socket.onText = text => {
      const message: Message = JSON.parse(text)
      if (message.id === undefined) this.notifications.push(message)
      else this.#waiting.get(message.id)?.(message)
    }
  }

  static async connect({ port, authToken }: Pick<ClaudeLock, 'authToken' | 'port'>): Promise<ClaudeClient> {
    const headers = { 'sec-websocket-protocol': 'mcp', 'x-claude-code-ide-authorization': authToken }
    const client = new ClaudeClient(await WebSocketClient.connect(port, headers))
    await client.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: { roots: {} },
      clientInfo: { name: 'claude-code', version: '2.1.318' },
    })
    client.notify('notifications/initialized')
    client.notify('ide_connected', { pid: process.pid })
    return client
  }

  get protocol(): string | undefined {
    return this.#socket.protocol
  }

  sendText(text: string): void {
    this.#socket.send(text)
  }

  notify(method: string, params: object = {}): void {
    this.sendText(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  async request(method: string, params: object, id = ++this.#ids): Promise<Record<string, unknown>> {
    const answer = new Promise<Message>(resolve => this.#waiting.set(id, resolve))
    this.sendText(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const { result, error } = await answer
    if (!result) throw new Error(error?.message ?? 'no result')
    return result
  }

  /** The texts of a tool's answer; rejects with the text of a failure. */
  async call(name: string, input: object = {}, id?: number): Promise<string[]> {
    const { content, isError } = await this.request('tools/call', { name, arguments: input }, id)
    const texts = (content as Array<{ text: string }>).map(({ text }) => text)
    if (isError) throw new Error(texts.join('\n'))
    return texts
  }

  /** The only text of a tool's answer, which is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests check it
  async read(name: string, input: object = {}): Promise<any> {
    const [text = ''] = await this.call(name, input)
    return JSON.parse(text)
  }

  async close(): Promise<void> {
    this.#socket.close()
    await this.closed
  }
}
