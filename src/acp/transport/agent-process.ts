import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { withTimeout } from '../../common/async.ts'
import { FOLLOW_PROCESSES_MS } from '../../common/limits.ts'
import { OutputDecoder } from '../../common/processes/decode-output.ts'
import type { ProcessGuard } from '../../common/processes/process-guard.ts'
import type { ProcessTree } from '../../common/processes/process-tree.ts'
import { SpawnError, type SpawnRequest, spawnProcess } from '../../common/processes/spawn-process.ts'
import { SecretRegistry, type StreamRedactor } from '../../common/secrets.ts'
import {
  type AgentProcessOptions,
  GENTLE_STOP,
  type ProcessExit,
  type RunningProcess,
  type StopTimes,
} from './running-process.ts'

/** How many more times the process tree is recorded after traffic: a program that the agent starts may take some time to start others. */
const LOOKS_AFTER_TRAFFIC = 4

/**
 * The environment variable by which the guard finds an agent's processes that are no longer its descendants. Processes inherit the
 * variable.
 */
const TREE_VARIABLE = 'PARLEY_AGENT_TREE'

/** maximum number of characters of stderr that a failure card shows */
export const STDERR_TAIL = 8 * 1024

/** An agent whose parent process is this process. */
export class AgentProcess implements RunningProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exited: Promise<ProcessExit>
  readonly #child: ChildProcess
  readonly #stderr = new Tail(STDERR_TAIL)
  readonly #stderrEnded: Promise<void>
  readonly #guard: ProcessGuard | undefined
  readonly #tree: ProcessTree
  readonly #following: NodeJS.Timeout
  #traffic = 0
  #remainingLooks = 0
  #isLooking = false
  #hasExited = false
  #stopping: Promise<void> | undefined
  #ending: Promise<void> | undefined

  private constructor(child: ChildProcess, tree: ProcessTree, id: string, options: AgentProcessOptions) {
    const { stdin, stdout, stderr } = child
    if (!stdin || !stdout || !stderr) throw new SpawnError('other', 'The process has no standard streams.')
    this.#child = child
    this.pid = tree.root
    this.stdin = stdin
    this.stdout = stdout
    this.stderr = stderr
    this.#tree = tree
    this.#guard = options.guard
    this.#guard?.add(this.pid, `${TREE_VARIABLE}=${id}`)
    this.#stderrEnded = this.#readStderr(stderr, options)
    this.exited = new Promise(resolve => {
      child.once('exit', (exitCode, signal) => {
        this.#hasExited = true
        clearInterval(this.#following)
        resolve({ exitCode, signal })
        void this.#endTree(GENTLE_STOP)
      })
    })
    this.#following = setInterval(() => void this.#follow(), FOLLOW_PROCESSES_MS)
    this.#following.unref()
    // If the process exits during a write, its exit is reported. The stream's error must not be uncaught.
    stdin.on('error', () => {})
    stdout.on('error', () => {})
  }

  /** Starts the agent in its own process group. Implements {@link StartProcess}. */
  static async start(launch: SpawnRequest, options: AgentProcessOptions = {}): Promise<AgentProcess> {
    const id = randomUUID()
    const env = { ...launch.env, [TREE_VARIABLE]: id }
    const { child, tree } = await spawnProcess({ ...launch, env }, { stdio: ['pipe', 'pipe', 'pipe'] })
    return new AgentProcess(child, tree, id, options)
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  get stderrTail(): string {
    return this.#stderr.text
  }

  async stderrRead(ms: number): Promise<void> {
    await withTimeout(this.#stderrEnded, ms)
  }

  stop(times: StopTimes = GENTLE_STOP): Promise<void> {
    this.#stopping ??= this.#stop(times)
    return this.#stopping
  }

  dispose(): void {
    void this.stop()
  }

  async #stop(times: StopTimes): Promise<void> {
    // Records the descendants before the input ends: once the agent has exited, shells that it leaves behind can't be identified.
    await this.#tree.recordDescendants()
    if (!this.stdin.writableEnded) this.stdin.end()
    // The agent's further output isn't needed, but a full pipe must not keep the agent from exiting.
    this.stdout.resume()
    if (!this.#hasExited) await withTimeout(this.exited, times.terminateAfterMs)
    await this.#endTree(times)
    this.stdout.destroy()
    this.stderr.destroy()
  }

  /**
   * Keeps the process tree up to date while the agent is active and for some time afterward, because the remaining processes of a killed
   * agent can't be identified anymore. An idle agent costs nothing.
   */
  async #follow(): Promise<void> {
    const bytes = (stream: unknown, name: 'bytesRead' | 'bytesWritten') =>
      (stream as Partial<Socket>)[name] ?? 0
    const { stdin, stdout, stderr } = this.#child
    const traffic = bytes(stdin, 'bytesWritten') + bytes(stdout, 'bytesRead') + bytes(stderr, 'bytesRead')
    if (traffic !== this.#traffic) this.#remainingLooks = LOOKS_AFTER_TRAFFIC
    this.#traffic = traffic
    if (this.#remainingLooks === 0 || this.#isLooking) return
    this.#remainingLooks -= 1
    this.#isLooking = true
    await this.#tree.follow()
    if (!this.#hasExited) this.#guard?.follow(this.pid, this.#tree.descendants, this.#tree.seen)
    this.#isLooking = false
  }

  /** Ends the rest of the process tree, even after the agent has exited by itself, because the agent may leave children behind. */
  #endTree(times: StopTimes): Promise<void> {
    this.#ending ??= (async () => {
      await this.#tree.end(times.killAfterMs)
      await this.exited
      this.#guard?.remove(this.pid)
    })()
    return this.#ending
  }

  #readStderr(stream: Readable, { onStderr = () => {}, secrets }: AgentProcessOptions): Promise<void> {
    const lines = new LineDecoder(onStderr, secrets)
    stream.on('data', (chunk: Buffer) => this.#stderr.append(lines.push(chunk)))
    stream.on('error', () => {})
    return new Promise(resolve => {
      stream.once('close', () => {
        this.#stderr.append(lines.end())
        resolve()
      })
    })
  }
}

/** Keeps the last part of a text that arrives in chunks, starting at a new line if there is one. */
export class Tail {
  readonly #maxLength: number
  #text = ''

  /** @param maxLength the maximum number of characters to keep */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  append(text: string): void {
    this.#text += text
    // The text is trimmed rarely, so that appending stays cheap.
    if (this.#text.length > this.#maxLength * 2) this.#text = this.#cut()
  }

  get text(): string {
    return this.#cut().trimEnd()
  }

  #cut(): string {
    if (this.#text.length <= this.#maxLength) return this.#text
    let start = this.#text.length - this.#maxLength
    const newline = this.#text.indexOf('\n', start)
    if (newline >= 0 && newline + 1 < this.#text.length) start = newline + 1
    else if (isLowSurrogate(this.#text.charCodeAt(start))) start++
    return this.#text.slice(start)
  }
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

/** the maximum length of an unfinished line, in characters; a longer line is reported before it ends */
const MAX_LINE_LENGTH = 16 * 1024

/** Decodes output and reports complete lines, without their line breaks. */
export class LineDecoder {
  readonly #decoder = new OutputDecoder()
  readonly #onLine: (line: string) => void
  readonly #redactor: StreamRedactor
  #rest = ''

  constructor(onLine: (line: string) => void, secrets = new SecretRegistry()) {
    this.#onLine = onLine
    this.#redactor = secrets.stream()
  }

  /** Returns the decoded text, without the secrets. */
  push(chunk: Buffer): string {
    const text = this.#redactor.push(this.#decoder.write(chunk))
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
    while (this.#rest.length > MAX_LINE_LENGTH) {
      this.#onLine(this.#rest.slice(0, MAX_LINE_LENGTH))
      this.#rest = this.#rest.slice(MAX_LINE_LENGTH)
    }
    return text
  }

  end(): string {
    const text = this.#redactor.push(this.#decoder.end()) + this.#redactor.end()
    const line = this.#rest + text
    this.#rest = ''
    if (line !== '') this.#onLine(line)
    return text
  }
}
