import { Readable, Writable } from 'node:stream'
import * as l10n from '@vscode/l10n'
import { type Deferred, deferred, withTimeout } from '../../../common/async.ts'
import type { Disposable } from '../../../common/disposable.ts'
import { Emitter } from '../../../common/event.ts'
import { PORT_FREED_MS, PROCESS_VANISH_MS } from '../../../common/limits.ts'
import type { CommandHost } from '../../../common/processes/run-command.ts'
import { explainSpawnError, type SpawnRequest } from '../../../common/processes/spawn-process.ts'
import { SecretRegistry } from '../../../common/secrets.ts'
import { LineDecoder, STDERR_TAIL, Tail } from '../agent-process.ts'
import {
  type AgentProcessOptions,
  GENTLE_STOP,
  type HostedLink,
  type ProcessExit,
  type RunningProcess,
  type StopTimes,
} from '../running-process.ts'
import type { HostChannel, HostMessage } from './channel.ts'
import type { AgentClaim, AgentTag, HostedAgentState, OutliveTimes } from './hosted-agent-state.ts'
import { closedInput, HostedInput } from './hosted-input.ts'
import { type HostedCommandInfo, WindowCommands } from './window-commands.ts'

/** Attaches again, after the frame `read`, to an agent whose host has crashed. Resolves to `undefined` if no output is left. */
export type Recover = (id: string, read: number) => Promise<HostChannel | undefined>

/** The number of bytes that the reader takes before the window reports them to the host. */
const TELL_TAKEN_BYTES = 64 * 1024

/**
 * An agent whose parent process is the agent host. When the connection closes, the agent counts as exited for this window. Whether the
 * agent continues in the host depends on the times of the last call of {@link keep}.
 */
export class HostedProcess implements RunningProcess, HostedLink {
  readonly id: string
  readonly ranBefore: boolean
  readonly pid: number
  /** The state of an agent that ran before this window attached. */
  readonly state: HostedAgentState
  readonly stdin: Writable
  readonly stdout: Readable
  readonly exited: Promise<ProcessExit>
  #channel: HostChannel
  #recover: Recover | undefined
  readonly #secrets: SecretRegistry
  #watching: Disposable | undefined
  readonly #commands: WindowCommands
  readonly #exit = deferred<ProcessExit>()
  readonly #gone = deferred()
  readonly #stderrEnd = deferred()
  readonly #stderr = new Tail(STDERR_TAIL)
  readonly #stderrLines: LineDecoder
  readonly #input: HostedInput
  #hasExited = false
  #received = 0
  /** the size of the frames that the reader has taken but that weren't reported to the host, in bytes */
  #unreported = 0
  #isReaderFull = false
  #outlivesWindow = false
  readonly #lose = new Emitter<void>()
  /** by port: a promise that resolves when the host has freed the port */
  readonly #serving = new Map<number, Deferred<void>>()
  #stopping: Promise<void> | undefined

  /**
   * Starts an agent in the host behind a new channel.
   * @throws SpawnError if the agent couldn't be started; another error if the host can't start agents
   */
  static async spawn(
    channel: HostChannel,
    launch: SpawnRequest,
    { maxFrameBytes, tag }: { maxFrameBytes: number; tag: AgentTag },
    options: AgentProcessOptions = {},
    recover?: Recover,
  ): Promise<HostedProcess> {
    channel.send({ type: 'spawn', launch, maxFrameBytes, tag })
    const answer = await channel.next()
    if (answer?.type === 'attached') return new HostedProcess(channel, answer, options, false, recover)
    const error = new Error(String(answer?.message ?? hostExited()))
    if (answer?.code === undefined) throw error
    throw explainSpawnError(Object.assign(error, { code: String(answer.code) }), launch)
  }

  /**
   * Attaches to an agent that runs in the host. Its output begins after the frame `confirmed`. Resolves to `undefined` if the agent is
   * gone, or if another window was faster.
   */
  static async attach(
    channel: HostChannel,
    id: string,
    confirmed: number,
    options: AgentProcessOptions,
    claim?: AgentClaim,
    recover?: Recover,
  ): Promise<HostedProcess | undefined> {
    const answer = await attachTo(channel, id, confirmed, claim)
    return answer && new HostedProcess(channel, answer, options, true, recover)
  }

  private constructor(
    channel: HostChannel,
    attached: HostMessage,
    { onStderr, secrets = new SecretRegistry() }: AgentProcessOptions,
    ranBefore: boolean,
    recover: Recover | undefined,
  ) {
    this.#channel = channel
    this.#input = new HostedInput(channel)
    this.#recover = recover
    this.#secrets = secrets
    this.ranBefore = ranBefore
    this.id = String(attached.id)
    this.pid = Number(attached.pid)
    this.state = attached.state as HostedAgentState
    this.#received = this.state.confirmed
    this.#commands = new WindowCommands({
      channel,
      earlier: attached.commands as HostedCommandInfo[],
      outlivesWindow: () => this.#outlivesWindow || this.#input.isHandedOver,
    })
    this.#stderrLines = new LineDecoder(onStderr ?? (() => {}), secrets)
    this.exited = this.#exit.promise
    this.stdout = new Readable({ read: () => this.#onRead() })
    this.stdin = new Writable({
      decodeStrings: true,
      write: (chunk: Buffer, _, done) => this.#input.write(chunk, done),
      writev: (chunks, done) =>
        this.#input.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
      final: done => {
        this.#input.end()
        done()
      },
    })
    // An error of a stream is followed by the agent's end, which is reported; the error itself must not be uncaught.
    this.stdin.on('error', () => {})
    this.stdout.on('error', () => {})
    this.#listen(channel)
  }

  #listen(channel: HostChannel): void {
    this.#channel = channel
    this.#input.moveTo(channel)
    const tell = (values: readonly string[]) => {
      if (values.length > 0) channel.send({ type: 'secrets', values })
    }
    // The host needs the secrets to redact them, because its files must not contain them.
    tell(this.#secrets.values)
    this.#watching?.dispose()
    this.#watching = this.#secrets.onDidAdd(value => tell([value]))
    channel.listen((message, body) => this.#onMessage(message, body))
    void channel.closed.then(() => this.#onClosed())
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  get stderrTail(): string {
    return this.#stderr.text
  }

  /** The number of the last frame that arrived. */
  get received(): number {
    return this.#received
  }

  async stderrRead(ms: number): Promise<void> {
    await withTimeout(this.#stderrEnd.promise, ms)
  }

  get hosted(): HostedLink {
    return this
  }

  get outlivesWindow(): boolean {
    return this.#outlivesWindow
  }

  get onDidLose(): HostedLink['onDidLose'] {
    return this.#lose.event
  }

  /** Says how long the agent may outlive this window. Until the first call, the agent ends with its window. */
  keep(times: OutliveTimes): void {
    this.#outlivesWindow = times.silentMs > 0
    this.#channel.send({ type: 'keep', times })
  }

  note(sessionId: string, note: unknown): void {
    this.#channel.send({ type: 'note', sessionId, note })
  }

  async serve(port: number): Promise<void> {
    const freed = this.#serving.get(port) ?? deferred()
    this.#serving.set(port, freed)
    this.#channel.send({ type: 'serve', port })
    // A host of another build may not answer.
    await withTimeout(Promise.race([freed.promise, this.#gone.promise]), PORT_FREED_MS)
  }

  confirm(number: number): void {
    this.#channel.send({ type: 'confirm', number })
  }

  stop(times: StopTimes = GENTLE_STOP): Promise<void> {
    this.#stopping ??= this.#stop(times)
    return this.#stopping
  }

  dispose(): void {
    void this.stop()
  }

  commandsOf(sessionId: string): CommandHost {
    return this.#commands.of(sessionId)
  }

  async detach(): Promise<string> {
    this.#input.handOver()
    this.stdin.end()
    this.#channel.end()
    await this.#channel.closed
    return this.#input.unsent
  }

  async #stop(times: StopTimes): Promise<void> {
    if (!this.#input.isHandedOver) this.#channel.send({ type: 'stop', times })
    const { terminateAfterMs, killAfterMs } = times
    // Waits longer than the host may need, in case the host hangs.
    await withTimeout(this.#gone.promise, terminateAfterMs + killAfterMs + 2 * PROCESS_VANISH_MS)
    this.#channel.dispose()
    this.stdin.destroy()
    this.stdout.destroy()
  }

  #onMessage(message: HostMessage, body: Buffer): void {
    switch (message.type) {
      case 'frames':
        this.#onFrames(Number(message.last), body)
        return
      case 'outputEnd':
        this.stdout.push(null)
        return
      case 'written':
        this.#input.written(message.ok === true)
        return
      case 'inputClosed':
        if (!this.stdin.destroyed) this.stdin.destroy(this.stdin.writableEnded ? undefined : closedInput())
        return
      case 'stderr':
        this.#stderr.append(this.#stderrLines.push(body))
        return
      case 'stderrEnd':
        this.#endStderr()
        return
      case 'exited':
        this.#onExit(message as unknown as ProcessExit)
        return
      case 'gone':
        this.#gone.resolve()
        return
      case 'serving':
        this.#serving.get(Number(message.port))?.resolve()
        this.#serving.delete(Number(message.port))
        return
      case 'refused':
        // shown with what the agent itself has to say
        this.#stderr.append(`${String(message.reason)}\n`)
        return
      case 'taken over':
        this.#input.takenOver(Number(message.writes))
        this.#lose.fire()
        return
      default:
        this.#commands.receive(message, body)
    }
  }

  #onFrames(last: number, frames: Buffer): void {
    this.#received = last
    this.#unreported += frames.length
    this.#isReaderFull = !this.stdout.push(frames)
    if (!this.#isReaderFull && this.#unreported >= TELL_TAKEN_BYTES) this.#tellTaken()
  }

  #onRead(): void {
    if (!this.#isReaderFull) return
    this.#isReaderFull = false
    this.#tellTaken()
  }

  #tellTaken(): void {
    this.#unreported = 0
    this.#channel.send({ type: 'taken', number: this.#received })
  }

  #onExit({ exitCode, signal }: ProcessExit): void {
    this.#hasExited = true
    this.#exit.resolve({ exitCode, signal })
  }

  #endStderr(): void {
    this.#stderr.append(this.#stderrLines.end())
    this.#stderrEnd.resolve()
  }

  /** Handles the end of the connection: the host ended, or another window took the agent over. */
  async #onClosed(): Promise<void> {
    const { isHandedOver } = this.#input
    this.#commands.close(isHandedOver)
    const recover = this.#recover
    this.#recover = undefined
    if (recover && this.#outlivesWindow && !isHandedOver && !this.#hasExited && !this.#stopping) {
      // The host may have received more frames than this window has read.
      const channel = await recover(this.id, this.#received).catch(() => undefined)
      if (channel) {
        this.#listen(channel)
        return
      }
    }
    this.#gone.resolve()
    if (!this.#hasExited) this.#onExit({ exitCode: null, signal: null })
    this.#endStderr()
    this.#lose.dispose()
    this.#watching?.dispose()
    this.#input.close()
    this.stdin.destroy()
    if (!this.stdout.destroyed && !this.stdout.readableEnded) this.stdout.push(null)
  }
}

/**
 * Asks the host for the agent. Resolves to the host's answer if this window has the agent now. `read` is the frame after which the output
 * begins, if it's later than `confirmed`.
 */
export async function attachTo(
  channel: HostChannel,
  id: string,
  confirmed: number,
  claim: AgentClaim | { read: number } | undefined,
): Promise<HostMessage | undefined> {
  channel.send({ type: 'attach', id, confirmed, ...claim })
  const answer = await channel.next()
  return answer?.type === 'attached' ? answer : undefined
}

/** Returns the reason for the agent's end that is shown if there is neither an exit code nor a signal. */
export function hostExited(): string {
  return l10n.t('The program that runs agents in the background was ended from outside or crashed.')
}
