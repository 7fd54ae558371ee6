/**
 * How many updates per second get from an agent's process to the model, in v1 and v2. Compares Parley with the official
 * SDK's client connection for that version (which also validates) and with plain `JSON.parse`, for the same stream in
 * one run.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import { client, ndJsonStream } from '@agentclientprotocol/sdk'
import { client as clientV2, ndJsonStream as streamV2 } from '@agentclientprotocol/sdk/experimental/v2'
import type { AgentClient } from '../../src/acp/agent.ts'
import { startAgent } from '../../src/acp/start-agent.ts'
import { LineSplitter } from '../../src/acp/transport/line-splitter.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { createSessionState, reduce } from '../../src/conversation/reducer/reduce.ts'

const UPDATES = Number(process.env.PARLEY_BENCH_UPDATES ?? 200_000)
const ROUNDS = Number(process.env.PARLEY_BENCH_ROUNDS ?? 3)
/** the minimum as a multiple of the SDK's rate */
const TARGET = 2

const AGENT = path.join(process.env.PARLEY_BENCH_FOLDER ?? import.meta.dirname, 'flood-agent.mjs')
const CLIENT_INFO = { name: 'parley-bench', title: 'Parley benchmark', version: '0.0.0' }

type Version = 1 | 2

interface Result {
  updates: number
  /** from the prompt to its response */
  ms: number
  /** milliseconds of each tenth of the updates, in order */
  tenths: number[]
}

/** Records when each tenth of the updates is done. */
class Clock {
  readonly #tenth = Math.floor(UPDATES / 10)
  readonly #marks: number[] = []
  #start = 0
  #done: () => void = () => {}
  updates = 0
  /** Resolves when all updates have arrived, since the SDK can handle a response before earlier notifications. */
  readonly done = new Promise<void>(resolve => {
    this.#done = resolve
  })

  start(): void {
    this.#start = performance.now()
  }

  tick(): void {
    if (this.updates === 0) this.#marks.push(performance.now())
    if (++this.updates % this.#tenth === 0) this.#marks.push(performance.now())
    if (this.updates === UPDATES) this.#done()
  }

  stop(): Result {
    const ms = performance.now() - this.#start
    if (this.updates !== UPDATES) throw new Error(`${this.updates} of ${UPDATES} updates arrived`)
    return {
      updates: this.updates,
      ms,
      tenths: this.#marks.slice(1).map((mark, i) => mark - this.#marks[i]!),
    }
  }
}

const nothingAsked = new Proxy({} as AgentClient, {
  get: (_, name) => () => Promise.reject(new Error(`the agent asked for ${String(name)}`)),
})

async function ours(version: Version, reducing: boolean): Promise<Result> {
  const clock = new Clock()
  const agent = await startAgent(
    {
      command: process.execPath,
      args: [AGENT, String(UPDATES), String(version)],
      env: { ...process.env } as Record<string, string>,
      cwd: process.cwd(),
    },
    nothingAsked,
    {
      clientInfo: CLIENT_INFO,
      initializeTimeoutMs: 30_000,
      maxFrameBytes: 64 << 20,
      log: silentLogger,
      protocol: version === 2 ? 'latest' : 'stable',
    },
  )
  const state = createSessionState()
  agent.onUpdate(({ update }) => {
    if (reducing) reduce(state, update, 1)
    if (update.type !== 'state') clock.tick()
  })
  const { sessionId } = await agent.newSession({
    cwd: process.cwd(),
    additionalDirectories: [],
    mcpServers: [],
  })
  clock.start()
  await agent.prompt(sessionId, PROMPT)
  const result = clock.stop()
  agent.dispose()
  return result
}

function spawnAgent(version: Version) {
  const args = [AGENT, String(UPDATES), String(version)]
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
}

const PROMPT = [{ type: 'text' as const, text: 'go' }]

async function sdkV1(): Promise<Result> {
  const clock = new Clock()
  const child = spawnAgent(1)
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
  )
  const result = await client()
    .onNotification('session/update', () => clock.tick())
    .connectWith(stream, async context => {
      await context.request('initialize', {
        protocolVersion: 1,
        clientCapabilities: {},
        clientInfo: CLIENT_INFO,
      })
      const { sessionId } = await context.request('session/new', { cwd: process.cwd(), mcpServers: [] })
      clock.start()
      await context.request('session/prompt', { sessionId, prompt: PROMPT })
      await clock.done
      return clock.stop()
    })
  child.kill()
  return result
}

async function sdkV2(): Promise<Result> {
  const clock = new Clock()
  const child = spawnAgent(2)
  const stream = streamV2(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
  )
  const result = await clientV2()
    .onNotification('session/update', () => clock.tick())
    .connectWith(stream, async context => {
      await context.request('initialize', { protocolVersion: 2, capabilities: {}, info: CLIENT_INFO })
      const { sessionId } = await context.request('session/new', { cwd: process.cwd() })
      clock.start()
      await context.request('session/prompt', { sessionId, prompt: PROMPT })
      await clock.done
      return clock.stop()
    })
  child.kill()
  return result
}

async function bare(version: Version): Promise<Result> {
  const clock = new Clock()
  const child = spawnAgent(version)
  const lines = new LineSplitter(64 << 20)
  const send = (id: number, method: string) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: {} })}\n`)
  const result = new Promise<Result>(resolve => {
    child.stdout.on('data', (chunk: Buffer) => {
      lines.push(chunk)
      for (let line = lines.next(); line !== undefined; line = lines.next()) {
        const message = JSON.parse(line)
        if (message.method !== undefined) clock.tick()
        else if (message.id === 1) resolve(clock.stop())
        else {
          clock.start()
          send(1, 'session/prompt')
        }
      }
    })
  })
  send(0, 'initialize')
  try {
    return await result
  } finally {
    child.kill()
  }
}

const RUNNERS = {
  'v1 bare JSON.parse': () => bare(1),
  'v1 official SDK': sdkV1,
  'v1 Parley, to the model': () => ours(1, false),
  'v1 Parley, reduced': () => ours(1, true),
  'v2 bare JSON.parse': () => bare(2),
  'v2 official SDK': sdkV2,
  'v2 Parley, to the model': () => ours(2, false),
  'v2 Parley, reduced': () => ours(2, true),
}
type Name = keyof typeof RUNNERS

const results = new Map<Name, Result[]>()
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, run] of Object.entries(RUNNERS) as Array<[Name, () => Promise<Result>]>) {
    globalThis.gc?.()
    const result = await run()
    // the first round is for warm-up
    if (round > 0) results.set(name, [...(results.get(name) ?? []), result])
  }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
const rate = (name: Name): number =>
  median((results.get(name) ?? []).map(({ updates, ms }) => (updates / ms) * 1000))
const perUpdate = (name: Name, tenth: number): number =>
  median((results.get(name) ?? []).map(({ tenths }) => ((tenths.at(tenth) ?? 0) * 1000) / (UPDATES / 10)))

console.log(`${UPDATES} updates from a child process, median of ${ROUNDS} rounds`)
for (const name of results.keys()) {
  const version = name.startsWith('v2') ? 'v2' : 'v1'
  console.log(
    [
      name.padEnd(24),
      `${Math.round(rate(name)).toLocaleString('en').padStart(9)} updates/s`,
      `${(rate(name) / rate(`${version} official SDK`)).toFixed(2).padStart(6)} × SDK`,
      `${(rate(name) / rate(`${version} bare JSON.parse`)).toFixed(2).padStart(6)} × JSON.parse`,
      `µs an update: ${perUpdate(name, 0).toFixed(2)} in the first tenth, ${perUpdate(name, -1).toFixed(2)} in the last`,
    ].join('  '),
  )
}
for (const version of ['v1', 'v2'] as const) {
  const ratio = rate(`${version} Parley, reduced`) / rate(`${version} official SDK`)
  if (ratio >= TARGET) continue
  console.error(
    `In ${version} Parley reaches ${ratio.toFixed(2)} times the SDK's rate; the target is ${TARGET}.`,
  )
  process.exitCode = 1
}
