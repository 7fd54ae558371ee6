import { setTimeout as delay } from 'node:timers/promises'
import {
  type Agent,
  type AgentClient,
  type AgentExit,
  AgentGoneError,
  type AgentLaunch,
  AgentStartError,
  type ConnectOptions,
  type StartAgent,
} from '../../acp/agent.ts'
import type { EarlierAgent } from '../../acp/start-hosted.ts'
import { deferred, raceAbort } from '../../common/async.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import { CancelledError } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { RECONNECT_MS } from '../../common/limits.ts'
import { AgentSessions } from '../../conversation/agent-sessions.ts'
import type { Session } from '../../conversation/session.ts'

export interface RunningAgent {
  agent: Agent
  sessions: AgentSessions
  /** the folder in which the agent started */
  cwd: string
}

export interface AgentRunnerOptions {
  agentId: string
  /** Returns the agent's display name. */
  name: () => string
  /** Called at every start, since settings and PATH may have changed. Rejects with {@link AgentStartError}. */
  resolveLaunch: () => Promise<AgentLaunch>
  /**
   * Resolves to an agent process that an earlier window left running and that wasn't tried yet. The runner reuses the process without
   * waiting for the settings or the login shell.
   */
  nextEarlier?: () => Promise<EarlierAgent | undefined>
  start: StartAgent
  /** Called before a new process starts; the returned function is called once the process can be used. */
  starting?: (launch: AgentLaunch) => (() => void) | undefined
  /** Creates the client of a new process. `running` returns the sessions of the process once it's connected. */
  client: (running: () => AgentSessions | undefined) => AgentClient
  connectOptions: () => Omit<ConnectOptions, 'signal'>
  /** Called for a new process before it is used. Doesn't reject. */
  prepare?: (agent: Agent) => Promise<void>
  /** Called with an agent that an earlier window started, before it is used. Doesn't reject. */
  reattach?: (running: RunningAgent) => Promise<void>
}

interface Starting {
  promise: Promise<RunningAgent>
  /** number of callers */
  waiting: number
  abort: AbortController
}

/**
 * Runs a configured agent in this window: starts a process on first use, which all sessions of the agent share. Concurrent callers share
 * one start; if all of them cancel, the start is canceled.
 */
export class AgentRunner extends Owner {
  readonly agentId: string
  readonly #options: AgentRunnerOptions
  readonly #change = this.register(new Emitter<void>())
  readonly #end = this.register(new Emitter<{ running: RunningAgent; exit: AgentExit }>())
  /**
   * processes besides the current one: replaced processes whose sessions are finishing a turn, and processes taken over from other windows
   */
  readonly #retired = new Set<RunningAgent>()
  /** by the replaced process: resolves when the new one can open sessions */
  readonly #replaced = new WeakMap<Agent, Promise<void>>()
  #running: RunningAgent | undefined
  #starting: Starting | undefined
  /** aborted when this window doesn't need the agent anymore */
  readonly #over = new AbortController()
  /** number of consecutive connections to a server that were lost quickly */
  #shortLived = 0
  /** cancels the start of a process that is to replace the running one */
  #succession: AbortController | undefined

  /** Fires when the agent is starting, has started or has stopped. */
  readonly onDidChange = this.#change.event
  /** Fires when a process of the agent ended, for any reason. */
  readonly onDidEnd = this.#end.event

  constructor(options: AgentRunnerOptions) {
    super()
    this.#options = options
    this.agentId = options.agentId
  }

  get name(): string {
    return this.#options.name()
  }

  get running(): RunningAgent | undefined {
    return this.#running
  }

  get isStarting(): boolean {
    return this.#starting !== undefined
  }

  /** Resolves to the running agent, after starting it if needed. Rejects with {@link AgentStartError}, or {@link CancelledError}. */
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
      if (starting.waiting === 0 && this.#starting === starting) this.#abortStart()
    }
  }

  /**
   * Takes over a process that another window leaves. If a process already runs here, both run: new sessions use the existing process, and
   * the other one ends with its last session. Resolves to `undefined` if the process ended, or has no session anymore.
   */
  async adopt(earlier: EarlierAgent): Promise<RunningAgent | undefined> {
    const abort = new AbortController()
    const adopted = await this.#connect(abort.signal, earlier)
    if (!adopted) return undefined
    if (adopted.sessions.sessions.size === 0) {
      // another window got all sessions meanwhile, and needs the process
      await adopted.agent.hosted?.leave()
      this.#endProcess(adopted)
      return undefined
    }
    if (!this.#running && !this.#starting) this.#running = adopted
    else {
      const { sessions } = adopted
      this.#retired.add(adopted)
      const review = () => {
        if (sessions.sessions.size === 0) this.#endProcess(adopted)
      }
      sessions.onDidChangeSessions(review)
      review()
    }
    this.#change.fire()
    return adopted
  }

  /**
   * Replaces a process with a newly started process, in which each session continues once it's idle and not `isBusy`. If no new process
   * can start, rejects and keeps the old process.
   */
  async replace(agent: Agent, isBusy: (session: Session) => boolean): Promise<void> {
    const before = this.#findProcess(agent)
    if (before && before === this.#running) {
      const abort = new AbortController()
      this.#succession = abort
      const next = (await this.#connect(abort.signal))!
      // the old process has ended or was replaced meanwhile
      if (this.#running !== before) return this.#endProcess(next)
      this.#running = next
      this.#retired.add(before)
      this.#change.fire()
    }
    this.#retire(agent, session => isAtWork(session) || isBusy(session))
  }

  /** Ends a process whose agent isn't configured anymore, after the current turns of its sessions, which start no new turn. */
  endAfterTurns(agent: Agent): void {
    const running = this.#findProcess(agent)
    if (!running) return
    if (running === this.#running) {
      this.#running = undefined
      this.#retired.add(running)
      this.#change.fire()
    }
    for (const session of running.sessions.sessions.values()) session.holdPrompts()
    this.#retire(agent, isInTurn)
  }

  /** Ends the agent's processes and their sessions. The conversations stay. */
  stop(): void {
    this.#abortStart()
    this.#succession?.abort(new CancelledError())
    for (const retired of this.#retired) this.#endProcess(retired)
    const running = this.#running
    if (!running) return
    // removed immediately, so that the next caller gets a new process while the old process is still ending
    this.#running = undefined
    this.#endProcess(running)
    this.#change.fire()
  }

  /**
   * Replaces the running process. `ready` may start the new process; once it resolves, conversations may continue there, see `replaced`.
   * Sessions with running work finish it first, unless `now` is set. Rejects as `ready` does.
   */
  async renew(ready: () => Promise<unknown> = async () => {}, now = false): Promise<void> {
    const replaced = deferred()
    const running = this.#running
    this.#succession?.abort(new CancelledError())
    if (running) this.#replaced.set(running.agent, replaced.promise)
    if (now || !running) this.stop()
    else {
      this.#running = undefined
      this.#retired.add(running)
      endWhenAtRest(running.sessions, isAtWork, () => this.#endProcess(running))
      this.#change.fire()
    }
    try {
      await ready()
    } finally {
      replaced.resolve()
    }
  }

  /** Resolves when sessions of the process can continue in its replacement. Returns `undefined` if there is no replacement. */
  replaced(agent: Agent): Promise<void> | undefined {
    return this.#replaced.get(agent)
  }

  override dispose(): void {
    this.#over.abort()
    this.stop()
    super.dispose()
  }

  /**
   * Tries to connect to a server again, with growing pauses. Also resolves when it gives up: the next caller of `ensure` gets the error
   * of a new attempt.
   */
  async #reconnect(): Promise<void> {
    const { signal } = this.#over
    for (const pause of RECONNECT_MS.slice(Math.max(0, this.#shortLived - 1))) {
      try {
        await delay(pause, undefined, { signal, ref: false })
        await this.ensure(signal)
        return
      } catch (error) {
        // the user may have to enter a value, or has canceled entering a value
        if (!(error instanceof AgentStartError) || error.failure.kind !== 'unreachable') return
        if (error.failure.problem.isRefused) return
      }
    }
  }

  #findProcess(agent: Agent): RunningAgent | undefined {
    return [this.#running, ...this.#retired].find(one => one?.agent === agent)
  }

  /** Ends a process once its sessions are idle. The sessions continue with another process. */
  #retire(agent: Agent, isAtWork: (session: Session) => boolean): void {
    const retired = this.#findProcess(agent)
    if (!retired) return
    this.#replaced.set(agent, Promise.resolve())
    endWhenAtRest(retired.sessions, isAtWork, () => this.#endProcess(retired))
  }

  #endProcess(running: RunningAgent): void {
    this.#retired.delete(running)
    running.sessions.dispose()
    running.agent.dispose()
  }

  #begin(): Starting {
    const abort = new AbortController()
    const promise = this.#start(abort.signal).finally(() => {
      if (this.#starting === starting) this.#starting = undefined
      this.#change.fire()
    })
    const starting = { promise, waiting: 0, abort }
    promise.catch(() => {})
    queueMicrotask(() => this.#change.fire())
    return starting
  }

  /** Cancels the start. The next caller gets a new process while the canceled process is still ending. */
  #abortStart(): void {
    const starting = this.#starting
    this.#starting = undefined
    starting?.abort.abort(new CancelledError())
  }

  /** Sends the first requests to a new process. If the process never answers, the start can be canceled. */
  async #prepare(agent: Agent, { command }: AgentLaunch, signal: AbortSignal): Promise<void> {
    // an earlier window has prepared the process that it left
    if (!this.#options.prepare || agent.attached) return
    let ended: AgentExit | undefined
    const watching = agent.onDidClose(exit => {
      ended = exit
    })
    try {
      await raceAbort(this.#options.prepare(agent), signal)
    } catch {
      // canceled; the caller checks the signal
    } finally {
      watching.dispose()
    }
    if (ended && !signal.aborted) throw endedStart(command, ended)
  }

  async #start(signal: AbortSignal): Promise<RunningAgent> {
    const running = (await this.#continueEarlier(signal)) ?? (await this.#connect(signal))!
    this.#running = running
    return running
  }

  /** Attaches to a process that an earlier window left. Resolves to `undefined` if no such process still runs. */
  async #continueEarlier(signal: AbortSignal): Promise<RunningAgent | undefined> {
    const { nextEarlier } = this.#options
    for (let earlier = await nextEarlier?.(); earlier; earlier = await nextEarlier?.()) {
      try {
        const running = await this.#connect(signal, earlier)
        // `undefined` means that the process ended while no window was attached
        if (running) return running
      } catch (error) {
        if (!(error instanceof AgentGoneError)) throw error
      }
    }
    return undefined
  }

  /** Starts a process, or attaches to the `earlier` one. Resolves to `undefined` if the earlier process has ended. */
  async #connect(signal: AbortSignal, earlier?: EarlierAgent): Promise<RunningAgent | undefined> {
    const launch = earlier?.launch ?? (await this.#options.resolveLaunch())
    if (signal.aborted) throw cancelledStart()
    const started = earlier ? undefined : this.#options.starting?.(launch)
    let sessions: AgentSessions | undefined
    const client = this.#options.client(() => sessions)
    const connectOptions = this.#options.connectOptions()
    const agent = await this.#options.start(launch, client, {
      ...connectOptions,
      ...(earlier && { startProcess: earlier.startProcess }),
      signal,
    })
    const connectedAt = performance.now()
    // registered before the listeners that end the sessions, so that the sessions can wait for the reconnection
    agent.onDidClose(({ reason }) => {
      if (reason !== 'connection' || !sessions?.sessions.size) return
      this.#shortLived = performance.now() - connectedAt < MAX_RECONNECT_MS ? this.#shortLived + 1 : 0
      // give up on a server that closes every connection soon
      if (this.#shortLived <= RECONNECT_MS.length) this.#replaced.set(agent, this.#reconnect())
      else this.#shortLived = 0
    })
    await this.#prepare(agent, launch, signal)
    if (signal.aborted || this.owned.isDisposed) {
      agent.dispose()
      throw cancelledStart()
    }
    sessions = new AgentSessions(agent, { log: connectOptions.log })
    const running: RunningAgent = { agent, sessions, cwd: launch.cwd }
    const owned = new DisposableStore()
    owned.add(sessions)
    let isOver = false
    owned.add(
      agent.onDidClose(exit => {
        isOver = true
        this.#retired.delete(running)
        if (this.#running === running) {
          this.#running = undefined
        }
        this.#end.fire({ running, exit })
        this.#change.fire()
        owned.dispose()
      }),
    )
    if (agent.attached) await this.#options.reattach?.(running)
    if (signal.aborted || this.owned.isDisposed) {
      sessions.dispose()
      agent.dispose()
      throw cancelledStart()
    }
    started?.()
    return isOver && agent.attached ? undefined : running
  }
}

/** A connection that is lost within this time counts as short-lived, in milliseconds. */
const MAX_RECONNECT_MS = Math.max(...RECONNECT_MS)

function cancelledStart(): AgentStartError {
  return new AgentStartError({ kind: 'cancelled' }, 'The start was cancelled.')
}

function endedStart(command: string, exit: AgentExit): AgentStartError {
  const message = exit.message ?? 'The agent ended before it was ready.'
  return new AgentStartError({ kind: 'exited', command, exit, stdoutNoise: '' }, message)
}

/**
 * Ends the sessions of a process that is replaced: each one immediately, or when it isn't at work anymore. Calls `onEnd` when no session
 * is left.
 */
function endWhenAtRest(
  { sessions, onDidChangeSessions }: AgentSessions,
  isAtWork: (session: Session) => boolean,
  onEnd: () => void,
): void {
  const watched = new Map<Session, DisposableStore>()
  const following = new DisposableStore()
  let ended = false
  const review = (): void => {
    for (const session of [...sessions.values()]) {
      if (!isAtWork(session)) session.dispose()
      else if (!watched.has(session)) watch(session)
    }
    if (sessions.size > 0 || ended) return
    ended = true
    following.dispose()
    onEnd()
  }
  const watch = (session: Session): void => {
    const watching = following.add(new DisposableStore())
    watched.set(session, watching)
    // first apply the updates that arrive together with the end of a turn
    const soon = () => {
      if (!isAtWork(session)) setImmediate(() => ended || review())
    }
    watching.add(session.onDidChange(soon))
    watching.add(session.onDidChangeStatus(soon))
  }
  following.add(onDidChangeSessions(() => void (ended || review())))
  review()
}

/** Whether the session is in a turn, or has queued prompts that will be sent. */
function isAtWork(session: Session): boolean {
  const { queue } = session.turns
  return isInTurn(session) || (queue.queued.length > 0 && !queue.isPaused)
}

function isInTurn({ phase, state }: Session): boolean {
  return phase === 'loading' || state.activity !== 'idle'
}
