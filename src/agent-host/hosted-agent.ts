import { randomBytes } from 'node:crypto'
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { AgentProcess, STDERR_TAIL } from '../acp/transport/agent-process.ts'
import type { HostChannel, HostMessage } from '../acp/transport/host/channel.ts'
import { journalName } from '../acp/transport/host/endpoint.ts'
import type {
  AgentTag,
  HostedAgentInfo,
  HostedAgentState,
  OutliveTimes,
} from '../acp/transport/host/hosted-agent-state.ts'
import type { ProcessExit, StopTimes } from '../acp/transport/running-process.ts'
import {
  COMMANDS_KEEP_AGENT_MS,
  ENDED_AGENT_KEPT_MS,
  JOURNAL_DELAY_MS,
  JOURNAL_WINDOW_DELAY_MS,
} from '../common/limits.ts'
import type { ProcessGuard } from '../common/processes/process-guard.ts'
import type { SpawnRequest } from '../common/processes/spawn-process.ts'
import { SecretRegistry } from '../common/secrets.ts'
import { AttachedWindow } from './attached-window.ts'
import { Envelope, type StoredEnvelope } from './envelope.ts'
import { FrameSplitter } from './frame-splitter.ts'
import type { HeldPorts } from './held-ports.ts'
import { HostedCommands } from './hosted-commands.ts'
import { Journal, type JournalContents, readJournal } from './journal.ts'
import { StoredFrames } from './stored-frames.ts'
import { isWindowMessage } from './window-messages.ts'

export interface HostedAgentOptions {
  guard: ProcessGuard
  /** the folder of the journal */
  folder: string
  /** the start time of the host's process */
  started: number
  ports: HeldPorts
  onEnd: (agent: HostedAgent) => void
}

interface AgentStart {
  launch: SpawnRequest
  /** the maximum size of a frame; a longer frame is passed on in pieces */
  maxFrameBytes: number
  tag: AgentTag
}

/** The state of an agent that the journal stores in addition to the frames. */
interface StoredAgent {
  pid: number
  command: string
  cwd: string
  tag: AgentTag
  since: number
  /** Whether the agent should continue without a window. */
  isKept: boolean
  envelope: StoredEnvelope
}

type Process = Pick<AgentProcess, 'pid' | 'stdin' | 'stdout' | 'stderr' | 'exited' | 'stop'>

const MiB = 1024 * 1024
/** The maximum size of each agent's unconfirmed output, in bytes: first in memory, then in a file. */
const MAX_MEMORY = 8 * MiB
const MAX_FILE = 256 * MiB

/** An agent of the host. It runs whether or not a window is attached. */
export class HostedAgent {
  readonly id: string
  readonly #launch: SpawnRequest
  readonly #process: Process
  readonly #options: HostedAgentOptions
  #tag: AgentTag
  readonly #journal: Journal
  readonly #envelope: Envelope
  /** the secrets that the agent's windows know */
  readonly #secrets = new SecretRegistry()
  readonly #commands: HostedCommands
  readonly #splitter: FrameSplitter
  readonly #since: number
  /** Whether the agent died with an earlier host. */
  readonly #isOfDeadHost: boolean
  #window: AttachedWindow | undefined
  #attachments = 0
  #stderr = Buffer.alloc(0)
  #stderrEnded = false
  #outputEnded = false
  #exit: ProcessExit | undefined
  #ending: Promise<void> | undefined
  #isHostEnding = false
  /** the envelope's number of changes when the journal was last notified */
  #changes = 0
  #keep: OutliveTimes = { silentMs: 0 }
  /** when the agent last wrote a frame or the window left, as returned by `performance.now()`, which clock changes don't affect */
  #lastFrameAt = 0
  /** when the agent (or, soon after it, one of its commands) last wrote output, or the window left */
  #lastActiveAt = 0
  #detachedAt = 0
  #timer: NodeJS.Timeout | undefined

  /** @throws SpawnError */
  static async start(start: AgentStart, options: HostedAgentOptions): Promise<HostedAgent> {
    const process = await AgentProcess.start(start.launch, { guard: options.guard })
    return new HostedAgent(process, start, options)
  }

  /**
   * Creates an agent whose host has crashed from that host's `journal`, which then belongs to this host. Returns `undefined` if no window
   * needs the agent. Throws if another host was faster.
   */
  static revive(id: string, journal: string, options: HostedAgentOptions): HostedAgent | undefined {
    const file = journalPath(id, options)
    renameSync(journal, file)
    try {
      const contents = readJournal(file)
      const agent = contents && (JSON.parse(contents.state) as StoredAgent)
      if (contents && agent?.isKept && agent.envelope.initialize) {
        const { pid, command, cwd, tag } = agent
        const start = { launch: { command, cwd, args: [], env: {} }, tag, maxFrameBytes: 0 }
        return new HostedAgent(endedProcess(pid), start, options, { id, agent, contents })
      }
    } catch {
      // Another version of Parley wrote the journal.
    }
    rmSync(file, { force: true })
    return undefined
  }

  private constructor(
    process: Process,
    { launch, maxFrameBytes, tag }: AgentStart,
    options: HostedAgentOptions,
    stored?: { id: string; agent: StoredAgent; contents: JournalContents },
  ) {
    this.id = stored?.id ?? randomBytes(8).toString('hex')
    this.#process = process
    this.#launch = launch
    this.#options = options
    this.#tag = tag
    this.#since = stored?.agent.since ?? Date.now()
    this.#isOfDeadHost = stored !== undefined
    this.#envelope = stored ? Envelope.restore(stored.agent.envelope) : new Envelope()
    if (stored) this.#keep = { silentMs: ENDED_AGENT_KEPT_MS }
    this.#changes = this.#envelope.changes
    const frames = new StoredFrames(this.#secrets)
    this.#journal = new Journal(
      {
        ...{ file: journalPath(this.id, options), maxMemory: MAX_MEMORY, maxFile: MAX_FILE },
        outliving: {
          isOn: () => this.#isOutliving,
          state: () => this.#stored(),
          delayMs: () => (this.#window ? JOURNAL_WINDOW_DELAY_MS : JOURNAL_DELAY_MS),
          written: (all, isLast) => frames.written(all, isLast),
        },
      },
      stored?.contents,
    )
    this.#splitter = new FrameSplitter(maxFrameBytes)
    this.#commands = new HostedCommands(
      options.guard,
      () => {
        const now = performance.now()
        if (now - this.#lastFrameAt < COMMANDS_KEEP_AGENT_MS) this.#lastActiveAt = now
      },
      id => this.#envelope.isAsked(id),
    )
    const { stdin, stdout, stderr } = process
    stdout.on('data', (chunk: Buffer) => this.#onOutput(chunk))
    stdout.once('close', () => this.#onOutputEnd())
    stderr.on('data', (chunk: Buffer) => this.#onStderr(chunk))
    stderr.once('close', () => {
      this.#stderrEnded = true
      this.#window?.send({ type: 'stderrEnd' })
    })
    stdin.once('close', () => this.#window?.send({ type: 'inputClosed' }))
    void process.exited.then(exit => {
      this.#exit = exit
      this.#window?.send({ type: 'exited', ...exit })
      void this.#commands.end()
      this.#endIfUnneeded()
    })
  }

  get info(): HostedAgentInfo {
    const { command, args, cwd } = this.#launch
    const isAttached = this.#window !== undefined
    const hasExited = this.#exit !== undefined
    const { id } = this
    const { pid } = this.#process
    const sessions = Object.keys(this.#envelope.notes)
    const attachments = this.#attachments
    return {
      ...{ id, pid, command, args, cwd, tag: this.#tag, sessions, since: this.#since },
      ...{ attachments, isAttached, hasExited },
    }
  }

  /**
   * Whether a window can attach. `attachments` is the number of windows that had attached when this window listed the agents. If more
   * windows have attached since, another window was faster.
   */
  accepts(attachments: unknown): boolean {
    return !this.#ending && (attachments === undefined || attachments === this.#attachments)
  }

  /** Moves the agent to the workspace of the window that takes it over. */
  moveTo(workspace: string): void {
    this.#tag = { ...this.#tag, workspace }
  }

  /**
   * Sends a window all unconfirmed output and all later output, and detaches the previous window. `confirmed` is the last frame that the
   * window has stored; the previous window may not have confirmed it. `read` is the last frame that the window got from the previous host.
   */
  attach(channel: HostChannel, confirmed = 0, read = 0): void {
    this.#window?.takenOver()
    this.#journal.confirm(confirmed)
    const window = new AttachedWindow(channel, this.#journal, read)
    this.#window = window
    this.#attachments++
    clearTimeout(this.#timer)
    this.#holdPorts()
    this.#envelope.confirmed(this.#journal.confirmed)
    const { initialize, sessions, toAgent, toWindow, lastId, notes } = this.#envelope
    const state: HostedAgentState = {
      ...{ initialize, sessions, toAgent, toWindow, lastId, notes },
      ...(this.#exit && { isOver: true }),
      confirmed: this.#journal.confirmed,
      last: this.#journal.last,
    }
    const commands = this.#commands.all
    window.send({ type: 'attached', id: this.id, pid: this.#process.pid, state, commands })
    this.#commands.attach(channel)
    if (this.#stderr.length > 0) window.send({ type: 'stderr' }, this.#stderr)
    if (this.#stderrEnded) window.send({ type: 'stderrEnd' })
    if (this.#process.stdin.destroyed) window.send({ type: 'inputClosed' })
    if (this.#exit) window.send({ type: 'exited', ...this.#exit })
    channel.listen((message, body) => {
      if (this.#window === window) this.#onMessage(window, message, body)
    })
    void channel.closed.then(() => this.#detach(window))
    this.#pump()
  }

  /** Ends the agent with all of its processes. Resolves when all of them have exited. */
  end(times?: StopTimes): Promise<void> {
    this.#ending ??= this.#end(times)
    return this.#ending
  }

  /** Ends the agent because the host ends. Leaves output that no window has stored to another host. */
  endWithHost(): Promise<void> {
    this.#isHostEnding = true
    return this.end()
  }

  /** Whether a window is attached, or may attach later. */
  get needsHost(): boolean {
    return this.#window !== undefined || !this.#isOfDeadHost
  }

  /**
   * Whether the agent may outlive its window, and another host could use its journal. Without a note, no window knows the agent's sessions.
   */
  get #isOutliving(): boolean {
    return this.#keep.silentMs > 0 && this.#envelope.hasNotes
  }

  /** Whether the next window must still store something: output, or the reason for the end of a turn. */
  get #isUnstored(): boolean {
    const isTurnOpen = !this.#envelope.isIdle && (this.#exit === undefined || this.#attachments === 0)
    return this.#journal.keepsConversation || isTurnOpen
  }

  #stored(): string {
    const { command, cwd } = this.#launch
    const { pid } = this.#process
    const agent: StoredAgent = {
      ...{ pid, command, cwd, tag: this.#tag, since: this.#since, isKept: this.#isOutliving },
      envelope: this.#envelope.stored,
    }
    return this.#secrets.redactJson(JSON.stringify(agent))
  }

  async #end(times?: StopTimes): Promise<void> {
    const outlivesHost = this.#isHostEnding && this.#isOutliving && this.#isUnstored
    clearTimeout(this.#timer)
    if (outlivesHost) this.#journal.flush(true)
    this.#options.ports.keepOnly(new Set(), this)
    await Promise.all([this.#process.stop(times), this.#commands.end()])
    this.#window?.endOutput()
    this.#window?.send({ type: 'gone' })
    this.#journal.dispose(outlivesHost)
    this.#options.onEnd(this)
  }

  #onMessage(window: AttachedWindow, message: HostMessage, body: Buffer): void {
    if (!isWindowMessage(message)) {
      refuse(window, message)
      return
    }
    switch (message.type) {
      case 'write':
        window.wrote()
        this.#write(window, body)
        return
      case 'endInput':
        this.#process.stdin.end()
        return
      case 'taken':
        window.took(Number(message.number))
        // If the agent ends with its window, no other window needs the output.
        if (this.#keep.silentMs === 0) this.#confirm(window, Number(message.number))
        else this.#pump()
        return
      case 'confirm':
        this.#confirm(window, Number(message.number))
        return
      case 'keep':
        this.#keep = message.times as OutliveTimes
        this.#journal.stateChanged()
        return
      case 'secrets':
        for (const value of message.values as string[]) this.#secrets.add(value)
        return
      case 'note':
        this.#note(String(message.sessionId), message.note)
        return
      case 'serve':
        this.#serve(Number(message.port))
        return
      case 'stop':
        // The agent has exited, but another window must still store its output.
        if (this.#exit && this.#isOutliving && this.#journal.keepsConversation) window.send({ type: 'gone' })
        else void this.end(message.times as StopTimes | undefined)
        return
      default:
        this.#commands.receive(message)
    }
  }

  #note(sessionId: string, note: unknown): void {
    const { begun, stopped } = this.#envelope.note(sessionId, note)
    this.#noteChanges()
    const { ports } = this.#options
    if (this.#ending) return
    if (begun !== undefined) ports.serve(begun, this)
    if (stopped !== undefined) ports.hold(stopped, this)
    ports.keepOnly(this.#envelope.ports, this)
  }

  /** Occupies the agent's ports, because no window serves them anymore. The last window may not have closed them yet. */
  #holdPorts(): void {
    const { ports } = this.#envelope
    this.#options.ports.keepOnly(ports, this)
    for (const port of ports) this.#options.ports.hold(port, this)
  }

  /** Frees a port for the window that is about to serve it. Until now, the host kept the port from other programs. */
  #serve(port: number): void {
    if (this.#envelope.ports.has(port)) this.#options.ports.serve(port, this)
    this.#window?.send({ type: 'serving', port })
  }

  #write(window: AttachedWindow, bytes: Buffer): void {
    // A window only sends whole lines.
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      this.#envelope.sent(bytes.subarray(start, end))
      this.#commands.sent(bytes.subarray(start, end))
      start = end + 1
    }
    this.#noteChanges()
    this.#process.stdin.write(bytes, error => window.send({ type: 'written', ok: !error }))
  }

  #confirm(window: AttachedWindow, number: number): void {
    this.#journal.confirm(Math.min(number, window.sent))
    this.#envelope.confirmed(this.#journal.confirmed)
    this.#noteChanges()
    this.#pump()
    this.#endIfUnneeded()
  }

  #noteChanges(): void {
    const { changes } = this.#envelope
    if (changes !== this.#changes) this.#journal.stateChanged()
    this.#changes = changes
  }

  #onOutput(chunk: Buffer): void {
    for (const frame of this.#splitter.push(chunk)) this.#append(frame)
    this.#pump()
  }

  #onOutputEnd(): void {
    const rest = this.#splitter.flush()
    if (rest) this.#append(rest)
    this.#outputEnded = true
    this.#pump()
    this.#endIfUnneeded()
  }

  #append(frame: Buffer): void {
    if (this.#ending) return
    this.#lastFrameAt = performance.now()
    this.#lastActiveAt = this.#lastFrameAt
    const wasIdle = this.#envelope.isIdle
    this.#journal.append(frame, this.#envelope.received(frame, this.#journal.last + 1))
    this.#noteChanges()
    if (this.#envelope.isIdle !== wasIdle) this.#endIfUnneeded()
  }

  /** Sends the output that the window can take, and reads as much from the agent as the limits allow. */
  #pump(): void {
    if (this.#ending) return
    const window = this.#window
    if (window && !window.pass()) {
      // Another program changed the journal's file. Without the unreadable frame, the later frames are useless.
      void this.end()
      return
    }
    if (window && this.#outputEnded && window.sent === this.#journal.last) window.endOutput()
    const { stdout } = this.#process
    if (window?.isBehind || this.#journal.isFull) stdout.pause()
    else if (stdout.isPaused()) stdout.resume()
  }

  #onStderr(chunk: Buffer): void {
    this.#window?.send({ type: 'stderr' }, chunk)
    this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_TAIL)
  }

  #detach(window: AttachedWindow): void {
    if (this.#window !== window) return
    this.#window = undefined
    this.#commands.detach()
    if (this.#isOutliving && !this.#ending) this.#journal.flush()
    if (!this.#ending) this.#holdPorts()
    this.#lastFrameAt = performance.now()
    this.#lastActiveAt = this.#lastFrameAt
    this.#detachedAt = this.#lastFrameAt
    this.#endIfUnneeded()
    this.#pump()
  }

  /** If no window is attached, ends the agent when its time is over. Otherwise, sets a timer for the end. */
  #endIfUnneeded(): void {
    if (this.#window || this.#ending) return
    clearTimeout(this.#timer)
    const isOver = this.#exit !== undefined && this.#outputEnded
    if (isOver && !this.#isUnstored) return void this.end()
    const { silentMs, idleMs = Number.POSITIVE_INFINITY, totalMs = Number.POSITIVE_INFINITY } = this.#keep
    const idleEnd = this.#envelope.isIdle ? this.#lastFrameAt + idleMs : Number.POSITIVE_INFINITY
    const end = isOver
      ? this.#lastActiveAt + ENDED_AGENT_KEPT_MS
      : Math.min(this.#lastActiveAt + silentMs, this.#detachedAt + totalMs, idleEnd)
    const remainingMs = silentMs === 0 ? 0 : end - performance.now()
    if (remainingMs <= 0) {
      // Only the agent's process is ended, because the next window must still store the last output.
      if (!isOver && silentMs > 0 && this.#journal.keepsConversation) void this.#process.stop()
      else void this.end()
      return
    }
    // The delay is limited to the maximum of `setTimeout`.
    this.#timer = setTimeout(() => this.#endIfUnneeded(), Math.min(remainingMs, 2 ** 31 - 1))
  }
}

/** Refuses a message. If the message is about a command, the command fails, because the window would wait for its end. */
function refuse(window: AttachedWindow, message: HostMessage): void {
  const reason = `The agent host doesn't accept this message: ${message.type}`
  window.send({ type: 'refused', reason })
  const { id = (message.info as { id?: unknown } | null | undefined)?.id } = message
  if (typeof id === 'string') window.send({ type: 'commandFailed', id, message: reason })
}

function journalPath(id: string, { folder, started }: HostedAgentOptions): string {
  return path.join(folder, journalName(process.pid, started, id))
}

/** Returns a process that has exited with an unknown exit code. */
function endedProcess(pid: number): Process {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {}).destroy()
  const exited = Promise.resolve({ exitCode: null, signal: null })
  return { pid, stdin, stdout, stderr, exited, stop: async () => {} }
}
