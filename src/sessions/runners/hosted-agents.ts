import type { Agent, ConnectOptions, SessionNote } from '../../acp/agent.ts'
import {
  type AgentHosts,
  type HostedAgentInfo,
  type KeepTimes,
  QUICK_STOP,
  startHosted,
} from '../../acp/start-hosted.ts'
import { delay } from '../../common/async.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import {
  IDLE_AGENT_KEPT_MS,
  RELEASE_POLL_MS,
  RELOAD_CLOSE_MS,
  RELOADING_AGENT_KEPT_MS,
  WAITING_AGENT_KEPT_MS,
} from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { type SessionId, sessionKey } from '../../common/session-key.ts'
import type { KeepAgentsRunning } from '../../common/settings.ts'
import type { OpenSession } from '../open-session.ts'
import type { AgentDirectory, HostedSessions } from '../ports.ts'
import type { PromptQueues } from '../prompt-queues.ts'
import { type SessionManager, watchSessions } from '../session-manager.ts'
import type { RunningAgent } from './agent-runner.ts'
import type { AgentRunners } from './agent-runners.ts'

export interface HostedAgentsOptions {
  hosts: Pick<AgentHosts, 'start' | 'attach' | 'list'>
  /** Identifies the workspace across windows. */
  workspace: string
  keep: () => KeepAgentsRunning
  trusted: () => boolean
  agents: Pick<AgentDirectory, 'get' | 'ready'>
  nameOf: (agentId: string) => string
  runners: AgentRunners
  manager: SessionManager
  queues: Pick<PromptQueues, 'leave'>
  log: Logger
}

/** How long changes are collected before the host is told, in milliseconds. */
const TELL_AFTER_MS = 100

/** What the host was told about an agent of this window. */
interface Told {
  frame: number
  keep: string
  notes: Map<string, SessionNote>
}

/**
 * Lets agents outlive this window, if the user wants that: starts them in the agent host, goes on with those that earlier
 * windows of the workspace left there, and leaves them to the next window. The host keeps what an agent says until the
 * conversation with it is stored.
 */
export class HostedAgents extends Owner implements HostedSessions {
  readonly #options: HostedAgentsOptions
  readonly #told = new WeakMap<Agent, Told>()
  /** keys of sessions that were in a turn, whose queued prompts follow it */
  readonly #continuing = new Set<string>()
  /** the agents that earlier windows left, until this window has them */
  #left: Promise<HostedAgentInfo[]> | undefined
  /** ids of agents that this window was attached to */
  readonly #tried = new Set<string>()
  /** ids of agents that this window took over from one that is open */
  readonly #taken = new Set<string>()
  /** by the id of an agent: while this window takes it over, for any of its sessions */
  readonly #taking = new Map<string, Promise<boolean>>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: HostedAgentsOptions) {
    super()
    this.#options = options
    this.register(
      watchSessions(options.manager, open => {
        const { agent } = open.session
        if (!agent.hosted) return toDisposable(() => {})
        this.#tell(agent)
        const watching = [
          agent.hosted.onDidLose(() => void options.manager.handOver(agent, true)),
          open.session.onDidChange(() => this.#tellSoon()),
          open.session.onDidChangeStatus(() => this.#tellSoon()),
        ]
        return toDisposable(() => {
          for (const one of watching) one.dispose()
        })
      }),
    )
  }

  /** Goes on with what earlier windows of this workspace left. */
  async start(): Promise<void> {
    const { agents, runners, log } = this.#options
    if (!this.#isOn) return
    // the search for agents takes as long as the login shell, so it begins now
    const ready = agents.ready()
    this.#left = this.#findLeft()
    const left = await this.#left
    if (left.length > 0) await ready
    const ids = new Set(left.map(({ tag }) => tag.agentId).filter(agentId => agents.get(agentId)))
    await Promise.all(
      [...ids].map(agentId =>
        runners
          .get(agentId)
          .ensure()
          .catch((error: unknown) => log.warn(`An agent of an earlier window: ${messageOf(error)}`)),
      ),
    )
    this.#left = undefined
  }

  /** What makes the agent host the parent of an agent; `undefined` if the window is. */
  startProcess(agentId: string): ConnectOptions['startProcess'] {
    if (!this.#isOn) return undefined
    const { hosts, workspace, nameOf, log } = this.#options
    return startHosted({
      hosts,
      tag: { agentId, name: nameOf(agentId), workspace },
      nextLeft: () => this.#nextLeft(agentId),
      keep: () => this.#timesFor(false),
      log,
    })
  }

  /** Continues the sessions of an agent that an earlier window left. Doesn't reject. */
  async reattach(agentId: string, running: RunningAgent): Promise<void> {
    const { manager, log } = this.#options
    try {
      await manager.reattach(agentId, running, ({ sessionId, isWorking }, { isPaused }) => {
        const key = sessionKey(agentId, sessionId)
        // prompts of an open window are sent as they would have been there
        const goesOn = isWorking || this.#taken.has(running.agent.hosted?.id ?? '')
        if (goesOn && !isPaused) this.#continuing.add(key)
        else this.#continuing.delete(key)
      })
    } catch (error) {
      log.warn(`The sessions of an earlier window: ${messageOf(error)}`)
    }
  }

  /**
   * The session, once this window goes on with it; resolves to `undefined` if an earlier window didn't leave it. Without a
   * promise, that's known already.
   */
  continued({ agentId, sessionId }: SessionId): Promise<OpenSession | undefined> | undefined {
    return this.#left?.then(async left => {
      if (!left.some(({ tag, sessions }) => tag.agentId === agentId && sessions.includes(sessionId)))
        return undefined
      await this.#options.agents.ready()
      if (!this.#options.agents.get(agentId)) return undefined
      await this.#options.runners
        .get(agentId)
        .ensure()
        .catch(() => {})
      const open = this.#options.manager.find(agentId, sessionId)
      return open?.session.phase === 'ready' ? open : undefined
    })
  }

  /** Whether prompts that an earlier window left are sent after its turn. Without a promise: no. */
  continues(key: string): Promise<boolean> | undefined {
    if (this.#continuing.has(key)) return Promise.resolve(true)
    return this.#left?.then(async left => {
      const info = left.find(({ tag, sessions }) =>
        sessions.some(sessionId => sessionKey(tag.agentId, sessionId) === key),
      )
      if (info) await this.continued({ agentId: info.tag.agentId, sessionId: info.sessions[0]! })
      return this.#continuing.has(key)
    })
  }

  async has(session: SessionId): Promise<boolean> {
    return (await this.#find(session)) !== undefined
  }

  async takeOver(session: SessionId, isSeized: boolean): Promise<boolean> {
    if (!this.#options.trusted()) return false
    // this window may be about to continue it
    if (await this.continued(session)) return true
    const info = await this.#find(session)
    const known = info && this.#taking.get(info.id)
    if (known) return known
    if (!info || (info.isAttached && !isSeized)) return false
    // from now on, nobody else answers what its other sessions ask
    const seized = info.isAttached ? this.#options.manager.seize(info.tag.agentId, info.sessions) : undefined
    const taking = this.#take(info).finally(() => {
      this.#taking.delete(info.id)
      seized?.()
    })
    this.#taking.set(info.id, taking)
    return taking
  }

  async #take({ id, tag }: HostedAgentInfo): Promise<boolean> {
    const { hosts, runners, workspace, log } = this.#options
    this.#tried.add(id)
    this.#taken.add(id)
    try {
      await runners.get(tag.agentId).adopt(async (_, options) => {
        const process = await hosts.attach(id, 0, options, workspace)
        if (process?.state.initialize) return process
        await process?.stop(QUICK_STOP)
        throw new Error('The agent ended meanwhile.')
      })
      return true
    } catch (error) {
      log.warn(`An agent of another window: ${messageOf(error)}`)
      return false
    }
  }

  leave(agent: Agent, isLost: boolean): Promise<void> {
    const { manager, queues } = this.#options
    const sessions = manager.list().filter(({ session }) => session.agent === agent)
    for (const { recorder } of sessions) recorder?.flush()
    this.#tell(agent)
    if (!isLost) for (const { key } of sessions) queues.leave(key)
    return agent.hosted?.leave() ?? Promise.resolve()
  }

  /** Stores what arrived, and leaves the agents to the next window. */
  override dispose(): void {
    clearTimeout(this.#timer)
    for (const open of this.#options.manager.list()) open.recorder?.flush()
    for (const agent of this.#agents()) {
      this.#tell(agent)
      if (agent.hosted?.isKept) void agent.hosted.leave()
    }
    super.dispose()
  }

  get #isOn(): boolean {
    return this.#options.keep() !== 'off' && this.#options.trusted()
  }

  /** The agents of this workspace that no window has. Before a reload, the same window may still be closing. */
  async #findLeft(): Promise<HostedAgentInfo[]> {
    const { hosts, workspace, log } = this.#options
    const end = Date.now() + RELOAD_CLOSE_MS
    try {
      for (;;) {
        const all = (await hosts.list()).filter(({ tag }) => tag.workspace === workspace)
        const left = all.filter(({ isAttached }) => !isAttached)
        if (left.length === all.length || Date.now() >= end) return left
        await delay(RELEASE_POLL_MS)
      }
    } catch (error) {
      log.warn(`The agents of earlier windows: ${messageOf(error)}`)
      return []
    }
  }

  async #find({ agentId, sessionId }: SessionId): Promise<HostedAgentInfo | undefined> {
    const { hosts, log } = this.#options
    try {
      const all = await hosts.list()
      return all.find(({ tag, sessions }) => tag.agentId === agentId && sessions.includes(sessionId))
    } catch (error) {
      log.warn(`The agents of other windows: ${messageOf(error)}`)
      return undefined
    }
  }

  /** Each one is tried once, the newest first. */
  async #nextLeft(agentId: string): Promise<string | undefined> {
    const left = (await this.#left)?.filter(({ id, tag }) => tag.agentId === agentId && !this.#tried.has(id))
    const newest = left?.sort((a, b) => b.since - a.since)[0]?.id
    if (newest !== undefined) this.#tried.add(newest)
    return newest
  }

  #agents(): Set<Agent> {
    const agents = this.#options.manager.list().map(({ session }) => session.agent)
    return new Set(agents.filter(({ hosted }) => hosted))
  }

  #tellSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const agent of this.#agents()) this.#tell(agent)
    }, TELL_AFTER_MS)
    this.#timer.unref()
  }

  /** Tells the host what the next window needs, what is stored, and how long the agent may go on. */
  #tell(agent: Agent): void {
    const { hosted } = agent
    if (!hosted) return
    const told = this.#told.get(agent) ?? { frame: 0, keep: '', notes: new Map() }
    this.#told.set(agent, told)
    const sessions = this.#options.manager.list().filter(({ session }) => session.agent === agent)
    let frame = hosted.handled
    for (const { session, recorder } of sessions) {
      if (recorder?.isStored) {
        const { configOptions, commands } = session.state
        const note = { configOptions: [...configOptions], commands, isPaused: session.queue.isPaused }
        if (!isSame(told.notes.get(session.sessionId), note)) hosted.note(session.sessionId, note)
        told.notes.set(session.sessionId, note)
      }
      frame = Math.min(frame, recorder?.storedFrame ?? frame)
    }
    const ids = new Set(sessions.map(({ session }) => session.sessionId))
    for (const id of [...told.notes.keys()]) {
      if (ids.has(id)) continue
      told.notes.delete(id)
      hosted.note(id, undefined)
    }
    const times = this.#timesFor(sessions.some(({ session }) => session.isWorking))
    if (JSON.stringify(times) !== told.keep) hosted.keep(times)
    told.keep = JSON.stringify(times)
    if (frame > told.frame) hosted.confirm(frame)
    told.frame = Math.max(frame, told.frame)
    // what isn't written yet will be soon
    if (frame < hosted.handled) this.#tellSoon()
  }

  #timesFor(isWorking: boolean): KeepTimes {
    switch (this.#options.keep()) {
      case 'off':
        return { silentMs: 0 }
      case 'whileReloading':
        return { silentMs: RELOADING_AGENT_KEPT_MS, totalMs: RELOADING_AGENT_KEPT_MS }
      case 'untilDone':
        return isWorking
          ? { silentMs: WAITING_AGENT_KEPT_MS }
          : { silentMs: IDLE_AGENT_KEPT_MS, totalMs: IDLE_AGENT_KEPT_MS }
    }
  }
}

function isSame(a: SessionNote | undefined, b: SessionNote): boolean {
  return (
    a?.isPaused === b.isPaused &&
    a.commands === b.commands &&
    a.configOptions.length === b.configOptions.length &&
    a.configOptions.every((option, i) => option === b.configOptions[i])
  )
}
