import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  type ClientApp,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationResponse,
  client,
  ndJsonStream,
  type PermissionOption,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { createDemoAgent } from '../../../src/demo-agent/agent.ts'
import { SessionStore } from '../../../src/demo-agent/store.ts'
import { bundlePrograms } from '../../support/bundle-program.ts'

const ALL_CAPABILITIES: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  elicitation: { form: {}, url: {} },
}

/** A client with the official SDK and a real folder. Records all updates and requests. */
export class TestClient {
  readonly app: ClientApp
  readonly notifications: SessionNotification[] = []
  readonly permissions: RequestPermissionRequest[] = []
  readonly reads: string[] = []
  readonly writes: string[] = []
  readonly released: string[] = []
  readonly visits: Array<Promise<string>> = []
  readonly completed: string[] = []
  readonly killed: string[] = []
  /** Answers a permission request; by default allows once. */
  answer: (
    request: RequestPermissionRequest,
  ) => RequestPermissionResponse | Promise<RequestPermissionResponse> = request =>
    select(request, 'allow_once')
  /** Answers an elicitation; by default submits the form or opens the URL. */
  elicited: (() => CreateElicitationResponse | Promise<CreateElicitationResponse>) | undefined
  readonly #terminals = new Map<
    string,
    { child: ChildProcess; output: string; ended: Promise<number | null> }
  >()
  readonly #waiting = new Set<() => void>()

  constructor() {
    this.app = client({ name: 'test-client' })
      .onNotification('session/update', ({ params }) => {
        this.notifications.push(params)
        for (const check of [...this.#waiting]) check()
      })
      .onRequest('session/request_permission', ({ params }) => {
        this.permissions.push(params)
        for (const check of [...this.#waiting]) check()
        return this.answer(params)
      })
      .onRequest('fs/read_text_file', async ({ params }) => {
        this.reads.push(params.path)
        const lines = (await fs.readFile(params.path, 'utf8')).split('\n')
        const from = (params.line ?? 1) - 1
        return { content: lines.slice(from, params.limit ? from + params.limit : undefined).join('\n') }
      })
      .onRequest('fs/write_text_file', async ({ params }) => {
        this.writes.push(params.path)
        await fs.writeFile(params.path, params.content)
        return {}
      })
      .onRequest('elicitation/create', ({ params }) => {
        if (this.elicited) return this.elicited()
        if (params.mode !== 'url') return { action: 'accept' as const, content: { name: 'Ada' } }
        this.visits.push(fetch(String(params.url)).then(response => response.text()))
        return { action: 'accept' as const }
      })
      .onNotification('elicitation/complete', ({ params }) => void this.completed.push(params.elicitationId))
      .onRequest('terminal/create', ({ params }) => {
        const env = Object.fromEntries((params.env ?? []).map(({ name, value }) => [name, value]))
        const child = spawn(params.command, params.args ?? [], {
          cwd: params.cwd ?? undefined,
          env: { ...process.env, ...env },
          detached: process.platform !== 'win32',
        })
        const ended = new Promise<number | null>(resolve => child.once('close', resolve))
        const terminal = { child, output: '', ended }
        for (const stream of [child.stdout, child.stderr]) {
          stream?.on('data', data => {
            terminal.output += String(data)
          })
        }
        const terminalId = `terminal-${this.#terminals.size + 1}`
        this.#terminals.set(terminalId, terminal)
        return { terminalId }
      })
      .onRequest('terminal/output', ({ params }) => ({
        output: this.#terminals.get(params.terminalId)?.output ?? '',
        truncated: false,
      }))
      .onRequest('terminal/wait_for_exit', async ({ params }) => {
        const exitCode = await this.#terminals.get(params.terminalId)?.ended
        return { exitCode: exitCode ?? null }
      })
      .onRequest('terminal/kill', ({ params }) => {
        this.killed.push(params.terminalId)
        this.#kill(params.terminalId)
        return {}
      })
      .onRequest('terminal/release', ({ params }) => {
        this.released.push(params.terminalId)
        this.#kill(params.terminalId)
        return {}
      })
  }

  /** Kills the whole process group, since a shell doesn't stop its children. */
  #kill(terminalId: string): void {
    const child = this.#terminals.get(terminalId)?.child
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  }

  updates(sessionId?: string): SessionUpdate[] {
    return this.notifications
      .filter(notification => !sessionId || notification.sessionId === sessionId)
      .map(notification => notification.update)
  }

  updatesOfKind<K extends SessionUpdate['sessionUpdate']>(
    kind: K,
  ): Array<Extract<SessionUpdate, { sessionUpdate: K }>> {
    return this.updates().filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: K }> => update.sessionUpdate === kind,
    )
  }

  /** All messages of the agent, joined. */
  get messageText(): string {
    return this.updatesOfKind('agent_message_chunk')
      .map(({ content }) => (content.type === 'text' ? content.text : `[${content.type}]`))
      .join('')
  }

  /** The latest status of every tool call, by title. */
  get toolStatuses(): Record<string, string> {
    const titles = new Map(this.updatesOfKind('tool_call').map(call => [call.toolCallId, call.title]))
    const entries = this.updatesOfKind('tool_call_update').flatMap(update =>
      update.status ? [[titles.get(update.toolCallId) ?? '', update.status] as const] : [],
    )
    return Object.fromEntries(entries)
  }

  /** Resolves as soon as the condition is true. Checks it after every update and request. */
  waitUntil(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const check = () => {
        if (!condition()) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
      check()
    })
  }

  clear(): void {
    this.notifications.length = 0
  }
}

/** Selects the first option of a kind. */
export function select(
  request: RequestPermissionRequest,
  kind: PermissionOption['kind'],
): RequestPermissionResponse {
  const option = request.options.find(candidate => candidate.kind === kind)
  if (!option) throw new Error(`no option of kind ${kind}`)
  return { outcome: { outcome: 'selected', optionId: option.optionId } }
}

export interface Rig {
  workspace: string
  state: string
  client: TestClient
  agent: ClientContext
  close(): Promise<void>
}

/** Starts a demo agent in this process, without pauses and with one file in its workspace. */
export async function startDemo(
  options: { capabilities?: ClientCapabilities; state?: string; workspace?: string } = {},
): Promise<Rig> {
  const workspace = options.workspace ?? (await temporary('workspace'))
  if (!options.workspace)
    await fs.writeFile(path.join(workspace, 'README.md'), '# Sample\n\nA sample project.\n')
  const state = options.state ?? (await temporary('state'))
  const testClient = new TestClient()
  const demo = createDemoAgent({ store: new SessionStore(state), pace: 0, log: () => {} })
  const connection = testClient.app.connect(demo.app)
  await connection.agent.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? ALL_CAPABILITIES,
  })
  return {
    workspace,
    state,
    client: testClient,
    agent: connection.agent,
    async close() {
      await demo.stop()
      connection.close()
      await connection.closed
      if (!options.workspace) await fs.rm(workspace, { recursive: true, force: true })
      if (!options.state) await fs.rm(state, { recursive: true, force: true })
    },
  }
}

/** Starts the demo agent as a separate process, over stdio. */
export async function spawnDemo(options: { state: string; pace?: string }): Promise<{
  child: ChildProcess
  client: TestClient
  agent: ClientContext
  exited: Promise<{ code: number | null; signal: string | null }>
}> {
  const folder = path.join(options.state, 'program')
  await bundlePrograms(folder, { main: 'src/demo-agent/main.ts' })
  const child = spawn(process.execPath, [path.join(folder, 'main.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PARLEY_DEMO_STATE: options.state, PARLEY_DEMO_PACE: options.pace ?? '0' },
  })
  const exited = new Promise<{ code: number | null; signal: string | null }>(resolve =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const testClient = new TestClient()
  const connection = testClient.app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    ),
  )
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: ALL_CAPABILITIES })
  return { child, client: testClient, agent: connection.agent, exited }
}

export function temporary(name: string): Promise<string> {
  return fs.mkdtemp(path.join(os.tmpdir(), `parley-demo-${name}-`))
}

export function text(value: string): { type: 'text'; text: string } {
  return { type: 'text', text: value }
}
