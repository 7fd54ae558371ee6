import { deferred, withTimeout } from '../common/async.ts'
import type { Disposable } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import { SecretRegistry } from '../common/secrets.ts'
import {
  AgentClosedError,
  type AgentExit,
  type AgentLaunch,
  type ConnectOptions,
  type HostedAgent,
  type StartRemote,
} from './agent.ts'
import { Connection, type ConnectionHandlers, UnreadAnswersError } from './connection.ts'
import { ConnectionError } from './remote-address.ts'
import { AgentProcess, Tail } from './transport/agent-process.ts'
import type { HostedAgentState } from './transport/host/hosted-agent-state.ts'
import { hostExited } from './transport/host/hosted-process.ts'
import { LineTooLongError } from './transport/line-splitter.ts'
import { NdjsonReader, NOISE_LENGTH } from './transport/ndjson-reader.ts'
import { NdjsonWriter } from './transport/ndjson-writer.ts'
import type { RunningProcess, StopTimes } from './transport/running-process.ts'

/** the maximum number of characters on stdout outside of messages that a failure card shows */
const NOISE_TAIL = 4 * 1024
/** the maximum number of lines that are logged although they aren't messages */
const NOISE_LINES = 1000
/** the maximum number of logged notes about messages from which something was cut */
const CUT_MESSAGES = 100
/**
 * The longest time between two signs of an agent's end, in milliseconds. The signs are its exit, its last messages and its output's end.
 */
const END_SPREAD = 1000
/** How long stderr is still read after the agent has ended, in milliseconds. */
const STDERR_SPREAD = 250

/** A running agent and its connection, which end together. Only this class determines how and why they ended. */
export class AgentLink implements Disposable {
  readonly connection: Connection
  /** The state that an earlier window left, if that window started the agent. Nothing is read from the agent before `begin`. */
  readonly earlier: HostedAgentState | undefined
  readonly #reader: NdjsonReader
  readonly #writer: NdjsonWriter
  readonly #begun = deferred()
  readonly #caughtUp = deferred()
  readonly #process: RunningProcess
  readonly #noise = new Tail(NOISE_TAIL)
  readonly #onDidClose = new Emitter<AgentExit>()
  readonly #outputEnd = deferred()
  /** the error that stopped the reading of output, known even while earlier output waits to be handled */
  #readError: Error | undefined
  #ending = false
  #exit: AgentExit | undefined

  /** @throws SpawnError, ConnectionError */
  static async open(
    launch: AgentLaunch,
    options: ConnectOptions,
    handlers: ConnectionHandlers,
  ): Promise<AgentLink> {
    const { onStderr, guard, secrets, startProcess = AgentProcess.start, startRemote = loadRemote } = options
    const process = launch.remote
      ? await startRemote(launch.remote, options)
      : await startProcess(launch, { onStderr, guard, secrets })
    return new AgentLink(process, options, handlers)
  }

  private constructor(process: RunningProcess, options: ConnectOptions, handlers: ConnectionHandlers) {
    const { log, maxFrameBytes, tap, secrets = new SecretRegistry() } = options
    this.#process = process
    const earlier = process.hosted?.ranBefore ? process.hosted.state : undefined
    this.earlier = earlier
    const logNoise = limitLog(line => log.info(`[stdout] ${line}`), NOISE_LINES)
    const logCut = limitLog(log.warn.bind(log), CUT_MESSAGES)
    const reader = new NdjsonReader(process.stdout, {
      maxFrameBytes,
      onNoise: noise => {
        // A line that was cut may end in the middle of a secret, which `stream` also redacts.
        const line = noise.length < NOISE_LENGTH ? secrets.redact(noise) : secrets.stream().push(noise)
        logNoise(line)
        this.#noise.append(`${line}\n`)
      },
      onCut: () => logCut('A message has too many members, so the further ones were dropped.'),
      ...(earlier && {
        resumed: {
          before: earlier.confirmed,
          last: earlier.last,
          open: earlier.toWindow,
          onCaughtUp: () => this.#caughtUp.resolve(),
        },
      }),
    })
    this.#reader = reader
    reader.onError(error => {
      this.#readError = error
    })
    const writer = new NdjsonWriter(process.stdin)
    this.#writer = writer
    const lastId = earlier?.lastId
    this.connection = new Connection({ reader, writer, handlers, log, tap, secrets, lastId })
    this.connection.onDidClose(error => {
      this.#outputEnd.resolve()
      if (error instanceof LineTooLongError || error instanceof UnreadAnswersError)
        void this.#endByProtocol(error)
      else void this.#endOfStream('The agent closed its output.')
    })
    writer.onClose(() => void this.#endOfStream('The agent closed its input.'))
    void process.exited.then(() => this.#endByExit())
    if (earlier) reader.pause()
    else this.#begun.resolve()
    this.connection.listen()
  }

  /**
   * Starts reading the agent's output. Resolves when all output from before this window attached has been handled and the open requests
   * have been shown again. If the agent has exited by then, resolves after `onDidClose` has fired.
   */
  async begin(): Promise<void> {
    this.#reader.resume()
    this.#begun.resolve()
    await Promise.race([this.#caughtUp.promise, this.#outputEnd.promise])
    if (this.#process.hasExited) await new Promise<void>(resolve => this.onDidClose(() => resolve()))
  }

  /** The agent's connection to the agent host; `undefined` if the agent can't outlive this window. */
  get hosted(): HostedAgent | undefined {
    const { hosted } = this.#process
    if (!hosted) return undefined
    const reader = this.#reader
    const writer = this.#writer
    const { connection } = this
    return {
      id: hosted.id,
      get outlivesWindow() {
        return hosted.outlivesWindow
      },
      get arrived() {
        return reader.line
      },
      get handled() {
        return reader.handled - (connection.isDispatching ? 1 : 0)
      },
      keep: times => hosted.keep(times),
      confirm: number => hosted.confirm(number),
      commandsOf: sessionId => hosted.commandsOf(sessionId),
      note: (sessionId, note) => hosted.note(sessionId, note),
      serve: port => hosted.serve(port),
      leave: async () => {
        writer.flush()
        return promptedSessions(await hosted.detach())
      },
      onDidLose: hosted.onDidLose,
    }
  }

  /** Fires once, when the agent has ended for any reason. All requests are rejected before this event. */
  get onDidClose(): Event<AgentExit> {
    return listener => {
      if (!this.#exit) return this.#onDidClose.event(listener)
      const exit = this.#exit
      queueMicrotask(() => listener(exit))
      return { dispose() {} }
    }
  }

  /** The last part of the agent's stdout that wasn't messages. */
  get stdoutNoise(): string {
    return this.#noise.text
  }

  get stderrTail(): string {
    return this.#process.stderrTail
  }

  dispose(): void {
    this.#finish({ reason: 'disposed', stderrTail: this.stderrTail })
    this.#process.dispose()
  }

  /** Ends the agent and resolves when all of its processes have exited. */
  async stop(times?: StopTimes): Promise<void> {
    this.#finish({ reason: 'disposed', stderrTail: this.stderrTail })
    await this.#process.stop(times)
  }

  #endByProtocol({ message }: Error): Promise<void> {
    return this.#end({ reason: 'protocol', message })
  }

  /** Handles the end of a stream. Usually the process is about to exit, and its exit code is more informative than the stream's end. */
  async #endOfStream(message: string): Promise<void> {
    await this.#begun.promise
    if (this.#ending) return
    await withTimeout(this.#process.exited, END_SPREAD)
    await this.#outputRead()
    if (this.#process.hasExited) await this.#endByExit()
    else await this.#end({ reason: 'stream', message })
  }

  async #endByExit(): Promise<void> {
    const { exitCode, signal, problem } = await this.#process.exited
    await this.#begun.promise
    await this.#outputRead()
    if (this.#readError instanceof LineTooLongError) return this.#endByProtocol(this.#readError)
    if (problem) {
      const { message } = new ConnectionError(problem)
      return this.#end({ reason: 'connection', problem, message })
    }
    const isHostGone = signal === null && exitCode === null
    const how = signal ? `was terminated by ${signal}` : `exited with code ${exitCode}`
    const message = isHostGone ? hostExited() : `The agent ${how}.`
    await this.#end({ reason: 'exited', exitCode, signal, message })
  }

  /**
   * Resolves when all of the agent's output has been read. If a child process keeps the pipe open, resolves when no message has arrived for
   * {@link END_SPREAD} milliseconds.
   */
  async #outputRead(): Promise<void> {
    const ended = this.#outputEnd.promise.then(() => true)
    for (let seen = -1; seen !== this.connection.received; ) {
      seen = this.connection.received
      if (await withTimeout(ended, END_SPREAD)) return
      // If this process was busy the whole time, it hasn't read from the pipe yet, so it gets the chance now.
      await new Promise(setImmediate)
    }
  }

  async #end(exit: Omit<AgentExit, 'stderrTail'>): Promise<void> {
    if (this.#ending) return
    this.#ending = true
    await this.#process.stderrRead(STDERR_SPREAD)
    this.#finish({ ...exit, stderrTail: this.stderrTail })
    this.#process.dispose()
  }

  #finish(exit: AgentExit): void {
    if (this.#exit) return
    this.#ending = true
    this.#exit = exit
    this.connection.end(new AgentClosedError(exit))
    // Nothing is read from the agent anymore.
    this.#outputEnd.resolve()
    this.#onDidClose.fire(exit)
    this.#onDidClose.dispose()
  }
}

/** Loads the code for agents on a server only when it's needed, because few users have such an agent. */
const loadRemote: StartRemote = async (address, options) =>
  (await import('./transport/remote/remote-agent.ts')).startRemote(address, options)

/** Returns the ids of the sessions that get a prompt in these messages. */
function promptedSessions(lines: string): string[] {
  return lines.split('\n').flatMap(line => {
    if (!line.includes('"session/prompt"')) return []
    const { method, params } = JSON.parse(line) as { method?: string; params?: { sessionId?: string } }
    return method === 'session/prompt' && params?.sessionId !== undefined ? [params.sessionId] : []
  })
}

/**
 * Passes on a limited number of messages, then reports once that the rest is dropped, so that a flood doesn't fill the
 * log.
 */
export function limitLog(write: (message: string) => void, max: number): (message: string) => void {
  let count = 0
  return message => {
    if (count > max) return
    count++
    write(count > max ? `${message} (further messages of this kind aren't logged)` : message)
  }
}
