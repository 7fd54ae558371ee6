import {
  type Agent,
  type AgentClient,
  type AgentExit,
  type AgentLaunch,
  AgentStartError,
  type ConnectOptions,
  type StartAgent,
} from '../acp/agent.ts'
import { DisposableStore, Owner } from '../common/disposable.ts'
import { CancelledError } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import { AgentSessions } from '../conversation/agent-sessions.ts'

export interface RunningAgent {
  agent: Agent
  sessions: AgentSessions
}

export interface AgentHostParts {
  agentId: string
  /** The name to show. */
  name: () => string
  /** Resolved anew at every start: settings and PATH may have changed. Rejects with {@link AgentStartError}. */
  resolveLaunch: () => Promise<AgentLaunch>
  start: StartAgent
  /** Made anew for every process; told of the conversations it serves. */
  client: (running: () => AgentSessions | undefined) => AgentClient
  connectOptions: () => Omit<ConnectOptions, 'signal'>
}

/**
 * One configured agent in this window: its process, started when first asked for and shared by all its sessions.
 * Whoever asks while it starts waits for the same start; when all of them give up, the start is ended.
 */
export class AgentHost extends Owner {
  readonly agentId: string
  readonly #parts: AgentHostParts
  readonly #change = this.register(new Emitter<void>())
  readonly #end = this.register(new Emitter<{ running: RunningAgent; exit: AgentExit }>())
  #running: RunningAgent | undefined
  #starting: { promise: Promise<RunningAgent>; waiting: number; abort: AbortController } | undefined

  /** Started, stopped or starting. */
  readonly onDidChange = this.#change.event
  /** A running agent ended, for whatever reason. */
  readonly onDidEnd = this.#end.event

  constructor(parts: AgentHostParts) {
    super()
    this.#parts = parts
    this.agentId = parts.agentId
  }

  get name(): string {
    return this.#parts.name()
  }

  get running(): RunningAgent | undefined {
    return this.#running
  }

  get isStarting(): boolean {
    return this.#starting !== undefined
  }

  /** Rejects with {@link AgentStartError}, or {@link CancelledError} when `signal` aborts. */
  async ensure(signal?: AbortSignal): Promise<RunningAgent> {
    if (this.#running) return this.#running
    if (this.owned.isDisposed) throw new CancelledError()
    signal?.throwIfAborted()
    this.#starting ??= this.#begin()
    const starting = this.#starting
    starting.waiting++
    try {
      return await raceAbort(starting.promise, signal)
    } finally {
      starting.waiting--
      if (starting.waiting === 0 && this.#starting === starting) starting.abort.abort(new CancelledError())
    }
  }

  /** Ends the process, if one runs. Its sessions end with it; their conversations stay. */
  stop(): void {
    this.#starting?.abort.abort(new CancelledError())
    const running = this.#running
    if (!running) return
    // Forgotten at once, its sessions too: who asks next gets a new process while this one still ends.
    this.#running = undefined
    running.sessions.dispose()
    running.agent.dispose()
    this.#change.fire()
  }

  override dispose(): void {
    this.stop()
    super.dispose()
  }

  #begin(): { promise: Promise<RunningAgent>; waiting: number; abort: AbortController } {
    const abort = new AbortController()
    const promise = this.#start(abort.signal).finally(() => {
      this.#starting = undefined
      this.#change.fire()
    })
    promise.catch(() => {})
    queueMicrotask(() => this.#change.fire())
    return { promise, waiting: 0, abort }
  }

  async #start(signal: AbortSignal): Promise<RunningAgent> {
    const launch = await this.#parts.resolveLaunch()
    if (signal.aborted) throw cancelledStart()
    let sessions: AgentSessions | undefined
    const client = this.#parts.client(() => sessions)
    const agent = await this.#parts.start(launch, client, { ...this.#parts.connectOptions(), signal })
    if (signal.aborted || this.owned.isDisposed) {
      agent.dispose()
      throw cancelledStart()
    }
    sessions = new AgentSessions(agent)
    const running: RunningAgent = { agent, sessions }
    const owned = new DisposableStore()
    owned.add(sessions)
    owned.add(
      agent.onDidClose(exit => {
        if (this.#running === running) {
          this.#running = undefined
        }
        this.#end.fire({ running, exit })
        this.#change.fire()
        owned.dispose()
      }),
    )
    this.#running = running
    return running
  }
}

function cancelledStart(): AgentStartError {
  return new AgentStartError({ kind: 'cancelled' }, 'The start was cancelled.')
}

async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CancelledError())
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort)
  }
}
