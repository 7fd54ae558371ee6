import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

type Json = Record<string, unknown>
export interface Frame {
  id?: unknown
  method?: string
  params?: Json & { sessionId?: string; update?: Json & { sessionUpdate?: string } }
  result?: Json | null
  error?: { code: number; message: string; data?: unknown }
}

const FIXTURE = path.resolve(import.meta.dirname, '../../fixtures/agent/main.mjs')

/** A minimal client that keeps the fixture's output byte for byte. */
export class RawClient {
  readonly child: ChildProcess
  readonly exited: Promise<{ code: number | null; signal: string | null }>
  readonly frames: Frame[] = []
  /** Lines that aren't JSON. */
  readonly noise: string[] = []
  readonly chunks: Buffer[] = []
  stderr = ''
  /** Responds to the fixture's own requests; `undefined` leaves one pending. */
  answer: (frame: Frame) => Json | undefined = () => ({
    error: { code: -32601, message: 'Method not found' },
  })
  #rest = Buffer.alloc(0)
  #nextId = 100
  readonly #checks = new Set<() => void>()

  constructor(script?: string, env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, script === undefined ? [FIXTURE] : [FIXTURE, script], {
      stdio: 'pipe',
      env: { ...process.env, ...env },
    })
    this.exited = new Promise(resolve =>
      this.child.once('close', (code, signal) => resolve({ code, signal })),
    )
    this.child.stdout?.on('data', (data: Buffer) => this.#take(data))
    this.child.stderr?.setEncoding('utf8').on('data', (data: string) => {
      this.stderr += data
    })
    // in many tests the fixture exits while it's being written to
    this.child.stdin?.on('error', () => {})
  }

  send(frame: Json): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`)
  }

  /** Resolves with the response frame. */
  async request(method: string, params: Json = {}): Promise<Frame> {
    const id = this.#nextId++
    this.send({ id, method, params })
    return this.find(frame => frame.id === id && frame.method === undefined)
  }

  async open(cwd = '/workspace'): Promise<string> {
    await this.request('initialize', { protocolVersion: 1 })
    const answer = await this.request('session/new', { cwd, mcpServers: [] })
    return String(answer.result?.sessionId)
  }

  prompt(sessionId: string, text: string): Promise<Frame> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  /** Waits for a matching frame; returns the first, which may be an earlier one. */
  async find(isMeant: (frame: Frame) => boolean): Promise<Frame> {
    await this.waitUntil(() => this.frames.some(isMeant))
    return this.frames.find(isMeant) as Frame
  }

  waitUntil(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const check = () => {
        if (!condition()) return
        this.#checks.delete(check)
        resolve()
      }
      this.#checks.add(check)
      check()
    })
  }

  updates(kind?: string): Json[] {
    return this.frames.flatMap(({ method, params }) => {
      const update = method === 'session/update' ? params?.update : undefined
      return update && (!kind || update.sessionUpdate === kind) ? [update] : []
    })
  }

  get messageText(): string {
    return this.updates('agent_message_chunk')
      .map(({ content }) => (content as { text?: string } | null)?.text ?? '')
      .join('')
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.exited
  }

  #take(data: Buffer): void {
    this.chunks.push(data)
    this.#rest = Buffer.concat([this.#rest, data])
    for (let end = this.#rest.indexOf(10); end >= 0; end = this.#rest.indexOf(10)) {
      const line = this.#rest.subarray(0, end).toString('utf8')
      this.#rest = this.#rest.subarray(end + 1)
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        this.noise.push(line)
        continue
      }
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        this.noise.push(line)
        continue
      }
      const frame = value as Frame
      this.frames.push(frame)
      if (frame.method !== undefined && frame.id !== undefined) {
        const answer = this.answer(frame)
        if (answer) this.send({ id: frame.id, ...answer })
      }
    }
    for (const check of [...this.#checks]) check()
  }
}

/** The text of an update that is a chunk of a message. */
export function textOf(update: Json | undefined): string {
  return (update?.content as { text?: string } | undefined)?.text ?? ''
}

/** The value if it's a list, else an empty list. */
export function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : []
}

/** The entries of a `FIXTURE_LOG`. */
export function readLog(file: string): Json[] {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}
