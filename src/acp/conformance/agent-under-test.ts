import { stripVTControlCharacters } from 'node:util'
import * as l10n from '@vscode/l10n'
import { deferred, raceAbort, withTimeout } from '../../common/async.ts'
import { boundDepth } from '../../common/bound-depth.ts'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { AgentLaunch, ConnectOptions } from '../agent.ts'
import { RpcCode } from '../errors.ts'
import { redactStart } from '../redact.ts'
import { AgentProcess } from '../transport/agent-process.ts'
import { LineSplitter } from '../transport/line-splitter.ts'
import { GENTLE_STOP, type RunningProcess } from '../transport/running-process.ts'

/** The maximum number of frames and bytes that a process may send before it's ended. A check needs a few hundred messages. */
const MAX_FRAMES = 20_000
const MAX_BYTES = 64 * 1024 * 1024
/** The maximum number of lines that are kept although they aren't messages, and the maximum number of characters of each. */
const MAX_NOISE = 20
const MAX_NOISE_LENGTH = 500
/** How long to wait for the rest of the output after the process has exited, in milliseconds. */
const OUTPUT_END_MS = 500

export type Json = Record<string, unknown>

export interface Frame {
  direction: 'send' | 'receive'
  message: Json
  /** in a response: the method of its request, if it's known */
  answers?: string
  /** the text that was sent, if it isn't a message */
  raw?: string
}

/** An answer, unchanged. */
export type Reply = { result: unknown; error?: undefined } | { error: Json; result?: undefined }

/** The connection's options. `secrets` are redacted in everything that the agent sends. */
export type CheckConnectOptions = ConnectOptions & { secrets: SecretRegistry }

/** The agent ended, or was ended because it sent too much. The message says which. */
class AgentEndedError extends Error {}

/** The agent didn't answer in time. The message names the request. */
export class NoAnswerError extends Error {}

/**
 * The process of an agent to which the checks can send any text, even text that isn't a message. Everything that the agent sends is
 * recorded unchanged; unlike in normal use, nothing is corrected.
 */
export class AgentUnderTest {
  readonly frames: Frame[] = []
  /** lines on stdout that aren't messages */
  readonly noise: string[] = []
  noiseCount = 0
  /** problems with ids, such as a response to no request, as sentences */
  readonly idProblems: string[] = []
  /** Returns whether a request of the agent stays without an answer until {@link answer} is called. */
  holds: (method: string) => boolean = () => false
  readonly #process: RunningProcess
  readonly #lines: LineSplitter
  readonly #secrets: SecretRegistry
  readonly #signal: AbortSignal
  readonly #open = new Map<string | number, { method: string; reply: (reply: Reply) => void }>()
  /** unanswered requests of the agent */
  readonly #asked = new Map<unknown, string>()
  readonly #ended = deferred<string>()
  #watchers = new Set<() => void>()
  #bytes = 0
  #nextId = 0
  #end: string | undefined

  /**
   * Starts the agent.
   * @throws SpawnError, ConnectionError
   */
  static async start(launch: AgentLaunch, options: CheckConnectOptions): Promise<AgentUnderTest> {
    const { guard, maxFrameBytes, secrets, signal = new AbortController().signal } = options
    signal.throwIfAborted()
    const connected = launch.remote
      ? await (await import('../transport/remote/remote-agent.ts')).startRemote(launch.remote, options)
      : await AgentProcess.start(launch, { guard, secrets })
    return new AgentUnderTest(connected, maxFrameBytes, secrets, signal)
  }

  private constructor(
    process: RunningProcess,
    maxFrameBytes: number,
    secrets: SecretRegistry,
    signal: AbortSignal,
  ) {
    this.#secrets = secrets
    this.#process = process
    this.#signal = signal
    this.#lines = new LineSplitter(maxFrameBytes)
    const outputEnd = deferred()
    process.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    process.stdout.once('end', () => outputEnd.resolve()).once('close', () => outputEnd.resolve())
    process.stdout.on('error', () => {})
    process.stdin.on('error', () => {})
    void process.exited.then(async ({ exitCode, signal: killedBy, problem }) => {
      await withTimeout(outputEnd.promise, OUTPUT_END_MS)
      this.#finish(
        killedBy
          ? l10n.t('The agent was terminated by {0}.', killedBy)
          : problem
            ? l10n.t('The connection was lost.')
            : l10n.t('The agent exited with code {0}.', String(exitCode)),
      )
    })
  }

  /** Why the agent ended, as a sentence; `undefined` while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  get stderrTail(): string {
    return this.#process.stderrTail
  }

  /** Sends a request and resolves to the answer. `text`: whether the request's id is a text instead of a number. */
  request(method: string, params: unknown, ms: number, text = false): Promise<Reply> {
    return this.within(this.begin(method, params, text), ms, method)
  }

  /** Sends a request. The answer may never come, so await it with {@link within}. */
  begin(method: string, params: unknown, text = false): Promise<Reply> {
    const number = this.#nextId++
    const id = text ? `check-${number}` : number
    const answer = deferred<Reply>()
    this.#open.set(id, { method, reply: answer.resolve })
    this.#send({ jsonrpc: '2.0', id, method, params })
    return answer.promise
  }

  /**
   * Resolves to the result of a promise that must settle in time.
   * @throws NoAnswerError after `ms` milliseconds, AgentEndedError, CancelledError
   */
  async within<T>(promise: Promise<T>, ms: number, method: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new NoAnswerError(l10n.t('No answer to {0} within {1} seconds.', method, ms / 1000)))
      }, ms)
    })
    const ended = this.#ended.promise.then(why => {
      throw new AgentEndedError(why)
    })
    try {
      return await raceAbort(Promise.race([promise, late, ended]), this.#signal)
    } finally {
      clearTimeout(timer)
    }
  }

  notify(method: string, params: unknown): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  /** Sends a response, even to a request that the agent didn't send. */
  respond(id: unknown, result: unknown): void {
    this.#send({ jsonrpc: '2.0', id, result })
  }

  /** Sends a line, which doesn't have to be a message. */
  write(raw: string): void {
    this.frames.push({ direction: 'send', message: {}, raw })
    this.#write(raw)
  }

  /** Resolves to the first received frame at or after the index `from` that matches. Waits up to `ms` milliseconds for such a frame. */
  async find(matches: (frame: Frame) => boolean, from: number, ms: number): Promise<Frame | undefined> {
    const found = deferred<Frame | undefined>()
    let at = from
    const look = () => {
      for (; at < this.frames.length; at++) {
        const frame = this.frames[at]!
        if (frame.direction === 'receive' && matches(frame)) return found.resolve(frame)
      }
      if (this.#end !== undefined) found.resolve(undefined)
    }
    this.#watchers.add(look)
    look()
    try {
      return await raceAbort(withTimeout(found.promise, ms), this.#signal)
    } finally {
      this.#watchers.delete(look)
    }
  }

  /** Resolves when the agent has sent nothing for `ms` milliseconds, at the latest after five times as long. */
  async quiet(ms: number): Promise<void> {
    for (let round = 0; round < 5; round++) {
      const { length } = this.frames
      if (!(await this.find(() => true, length, ms))) return
    }
  }

  /** Answers a request that was held. */
  answer(id: unknown, result: unknown): void {
    this.#asked.delete(id)
    this.#send({ jsonrpc: '2.0', id, result })
  }

  /** Ends the agent's input and resolves to whether the agent exits within `ms` milliseconds. */
  async exitsAtEndOfInput(ms: number): Promise<boolean> {
    this.#process.stdin.end()
    return (await raceAbort(withTimeout(this.#ended.promise, ms), this.#signal)) !== undefined
  }

  /** @param exitMs how long the agent may take to exit by itself */
  async stop(exitMs: number): Promise<void> {
    const terminateAfterMs = Math.min(exitMs, GENTLE_STOP.terminateAfterMs)
    await this.#process.stop({ ...GENTLE_STOP, terminateAfterMs })
    this.#finish(l10n.t('The agent was stopped.'))
  }

  #finish(why: string): void {
    if (this.#end !== undefined) return
    this.#end = why
    this.#ended.resolve(why)
    for (const look of this.#watchers) look()
  }

  #send(message: Json): void {
    this.frames.push({ direction: 'send', message })
    this.#write(JSON.stringify(message))
  }

  #write(line: string): void {
    if (this.#end === undefined) this.#process.stdin.write(`${line}\n`)
  }

  #read(chunk: Buffer): void {
    if (this.#end !== undefined) return
    this.#bytes += chunk.length
    try {
      this.#lines.push(chunk)
      for (let line = this.#lines.next(); line !== undefined; line = this.#lines.next()) this.#line(line)
    } catch (error) {
      this.#refuse(messageOf(error))
      return
    }
    if (this.#bytes > MAX_BYTES || this.frames.length > MAX_FRAMES || this.noiseCount > MAX_FRAMES)
      this.#refuse(l10n.t('The agent sent so much that the check stopped it.'))
  }

  #refuse(why: string): void {
    this.#finish(why)
    void this.#process.stop({ terminateAfterMs: 0, killAfterMs: 500 })
  }

  #line(line: string): void {
    if (line.trim() === '') return
    const message = parsed(line)
    if (!message || line.trimStart()[0] !== '{') {
      this.noiseCount++
      if (this.noise.length < MAX_NOISE) this.noise.push(redactStart(line, MAX_NOISE_LENGTH, this.#secrets))
    }
    if (message) this.#receive(message)
  }

  #receive(message: Json): void {
    const { id, method } = message
    const frame: Frame = { direction: 'receive', message }
    this.frames.push(frame)
    if (typeof method === 'string') {
      if (id !== undefined) this.#asks(id, method, message.params)
    } else this.#answered(frame)
    for (const look of [...this.#watchers]) look()
  }

  #answered(frame: Frame): void {
    const { id, result, error } = frame.message
    // The id is `null` in an error about a message that the agent couldn't read.
    if (id === null || id === undefined) return
    const open = this.#open.get(id as string)
    if (!open) {
      this.idProblems.push(l10n.t('A response has the id {0}, but no request with it is open.', shownId(id)))
      return
    }
    this.#open.delete(id as string)
    frame.answers = open.method
    open.reply(isRecord(error) ? { error } : { result })
  }

  #asks(id: unknown, method: string, params: unknown): void {
    if (this.#asked.has(id))
      this.idProblems.push(l10n.t('Two requests of the agent have the id {0} at the same time.', shownId(id)))
    this.#asked.set(id, method)
    if (this.holds(method)) return
    this.#asked.delete(id)
    const result = refusal(method, params)
    const message = `Method not found: ${method}`
    const answer = result ? { result } : { error: { code: RpcCode.methodNotFound, message } }
    this.#send({ jsonrpc: '2.0', id, ...answer })
  }
}

/** Returns the answer to a request of the agent that allows nothing; `undefined` if the check doesn't support the method. */
function refusal(method: string, params: unknown): Json | undefined {
  if (method === 'elicitation/create') return { action: 'decline' }
  if (method !== 'session/request_permission') return undefined
  const options = isRecord(params) && Array.isArray(params.options) ? params.options.filter(isRecord) : []
  const option =
    options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always')
  return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : CANCELLED
}

/** The answer to a permission request of a turn that was canceled. */
export const CANCELLED = { outcome: { outcome: 'cancelled' } }

function shownId(id: unknown): string {
  return (JSON.stringify(id) ?? '').slice(0, 80)
}

/** Returns the message on a line, even if terminal escape codes precede the message. */
function parsed(line: string): Json | undefined {
  try {
    const text = stripVTControlCharacters(line)
    const value: unknown = boundDepth(JSON.parse(text), text.length)
    const isMessage = isRecord(value) && ('method' in value || 'id' in value || 'error' in value)
    return isMessage ? value : undefined
  } catch {
    return undefined
  }
}
