import * as l10n from '@vscode/l10n'
import type { Agent, ConnectOptions, SessionNote } from '../../acp/agent.ts'
import {
  type AgentHosts,
  type EarlierAgent,
  earlierAgent,
  type HostedAgentInfo,
  type OutliveTimes,
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
import { SessionElsewhereError } from '../session-leases.ts'
import { watchSessions } from '../watch-sessions.ts'
import type { RunningAgent } from './agent-runner.ts'
import type { AgentRunners } from './agent-runners.ts'
import { type ReattachOptions, reattachSessions } from './reattach-sessions.ts'

export interface HostedAgentsOptions extends ReattachOptions {
  hosts: Pick<AgentHosts, 'start' | 'attach' | 'list' | 'others'>
  /** Identifies the workspace across windows. */
  workspace: string
  keep: () => KeepAgentsRunning
  trusted: () => boolean
  agents: Pick<AgentDirectory, 'ready'>
  /** Whether the search for agents has found what the user's terminal would find. */
  isSearchSure: () => boolean
  /** Identifies how an agent is configured to start; `undefined` if the agent isn't configured. */
  launchOf: (agentId: string) => string | undefined
  nameOf: (agentId: string) => string
  /** Registers the secrets that an agent of an earlier window may know, so that they're redacted before its output arrives. */
  holdSecrets: (agentId: string) => Promise<void>
  /** The id of the agent that an earlier window most likely left. */
  lastAgentId: () => string | undefined
  runners: AgentRunners
  queues: Pick<PromptQueues, 'handOver'>
  /** Called when an agent runs as a child of this window because no agent host is available. */
  onUnavailable: (agentName: string, reason: string) => void
  /** Called, repeatedly, when too much of the agent's conversation waits to be stored: soon, the host makes the agent wait. */
  onTooMuchUnsaved: (agentName: string) => void
  /** Called if agents of this workspace may run in a host of another version of Parley, where this window can't reach them. */
  onUnreachable: () => void
  /** Stores whether agents may still be running when the workspace's next window opens. */
  mark: (mayRun: boolean) => void
  log: Logger
}

/** How long changes are collected before they're sent to the host, in milliseconds. */
const TELL_AFTER_MS = 100

/** The state of an agent that the host already knows. */
interface ReportedState {
  frame: number
  keep: string
  notes: Map<string, SessionNote>
}

/**
 * Lets agents outlive this window, unless the user turned that off: starts agents in the agent host, takes over agents that earlier windows
 * of the workspace left there, and leaves them to the next window. The host keeps an agent's output until the conversation is stored.
 */
export class HostedAgents extends Owner implements HostedSessions {
  readonly #options: HostedAgentsOptions
  readonly #reported = new WeakMap<Agent, ReportedState>()
  /** keys of sessions that were in a turn when this window took them over, whose queued prompts are sent after the turn */
  readonly #continuing = new Set<string>()
  /** the agents of earlier windows, until this window has taken them over */
  #earlier: Promise<HostedAgentInfo[]> | undefined
  /** ids of agents that this window has tried to attach to */
  readonly #tried = new Set<string>()
  /** ids of agents that this window took over from an open window */
  readonly #taken = new Set<string>()
  /** by the id of an agent that an earlier window left: how it was configured to start */
  readonly #launches = new Map<string, string | undefined>()
  /** by the id of a configured agent: settles when this window has taken over all of its processes that earlier windows left */
  readonly #goingOn = new Map<string, Promise<void>>()
  /** by the id of a configured agent: settles when its secrets are read from VS Code's secret storage, which may take a while */
  readonly #holding = new Map<string, Promise<void>>()
  /** agents whose sessions aren't all open yet */
  readonly #reattaching = new Set<Agent>()
  /** by the id of an agent: settles when this window has taken it over, for any of its sessions */
  readonly #taking = new Map<string, Promise<void>>()
  /** keys of sessions that this window left to another window together with their agent */
  readonly #handedOver = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: HostedAgentsOptions) {
    super()
    this.#options = options
    const giveUp = ({ agentId, sessionId }: SessionId, isLost: boolean) => {
      const open = options.manager.find(agentId, sessionId)
      if (!open || !options.manager.opened(open)) return
      const { agent } = open.session
      if (agent.hosted?.outlivesWindow) void this.handOver(agent, isLost)
    }
    this.register(options.held.onDidRequest(session => giveUp(session, false)))
    this.register(options.held.onDidLose(session => giveUp(session, true)))
    this.register(
      watchSessions(options.manager, open => {
        const { agent } = open.session
        if (!agent.hosted) return toDisposable(() => {})
        this.#options.mark(true)
        this.#tell(agent)
        const watching = [
          agent.hosted.onDidLose(() => void this.handOver(agent, true)),
          open.session.onDidChange(() => this.#tellSoon()),
          open.session.onDidChangeStatus(() => this.#tellSoon()),
          open.allowance.onDidChange(() => this.#tell(agent)),
          ...(open.recorder ? [open.recorder.onDidChangeUnsaved(() => this.#tell(agent))] : []),
        ]
        return toDisposable(() => {
          for (const one of watching) one.dispose()
          // another window can open the session with its own agent
          this.#tell(agent)
        })
      }),
    )
  }

  /** Takes over the agents that earlier windows of this workspace left. */
  async start(): Promise<void> {
    const { keep, mark } = this.#options
    if (keep() === 'off') mark(false)
    if (!this.#isOn) return
    this.#earlier = this.#findEarlier()
    const lastAgentId = this.#options.lastAgentId()
    if (lastAgentId !== undefined) void this.#hold(lastAgentId).catch(() => {})
    const earlier = await this.#earlier
    const ids = new Set(earlier.map(({ tag }) => tag.agentId))
    await Promise.all([...ids].map(agentId => this.#continueAgent(agentId)))
    this.#earlier = undefined
    this.#goingOn.clear()
    this.#holding.clear()
  }

  #hold(agentId: string): Promise<void> {
    const holding = this.#holding.get(agentId) ?? this.#options.holdSecrets(agentId)
    this.#holding.set(agentId, holding)
    return holding
  }

  /** Takes over all processes of an agent that earlier windows left. New sessions use the newest process. Doesn't reject. */
  #continueAgent(agentId: string): Promise<void> {
    const going = this.#goingOn.get(agentId) ?? this.#adoptAll(agentId)
    this.#goingOn.set(agentId, going)
    return going
  }

  async #adoptAll(agentId: string): Promise<void> {
    const { runners, log } = this.#options
    const runner = runners.get(agentId)
    const follow = async (going: Promise<RunningAgent | undefined>) => {
      try {
        const running = await going
        if (running) void this.#followSettings(agentId, running)
      } catch (error) {
        log.warn(`An agent of an earlier window: ${messageOf(error)}`)
      }
    }
    await follow(runner.ensure())
    for (let earlier = await this.nextEarlier(agentId); earlier; earlier = await this.nextEarlier(agentId))
      await follow(runner.adopt(earlier))
  }

  /** Returns a function that starts the agent in the agent host; `undefined` if agents are started as children of the window. */
  startProcess(agentId: string): ConnectOptions['startProcess'] {
    if (!this.#isOn) return undefined
    const { hosts, workspace, launchOf, nameOf, onUnavailable, log } = this.#options
    const name = nameOf(agentId)
    return startHosted({
      hosts,
      tag: { agentId, name, workspace, launch: launchOf(agentId) },
      keep: () => this.#timesFor(false),
      onUnavailable: error => {
        const reason = messageOf(error)
        log.warn(`${name} runs in this window: ${reason}`)
        onUnavailable(name, reason)
      },
    })
  }

  /** Continues the sessions of an agent that an earlier window left. Doesn't reject. */
  async reattach(agentId: string, running: RunningAgent): Promise<void> {
    const { runners, log } = this.#options
    this.#reattaching.add(running.agent)
    try {
      await reattachSessions(
        this.#options,
        runners.get(agentId),
        running,
        ({ sessionId, turns }, { isPaused }) => {
          const key = sessionKey(agentId, sessionId)
          // prompts queued in a window that is still open are sent as that window would have sent them
          const sendsQueued = turns.isWorking || this.#taken.has(running.agent.hosted?.id ?? '')
          if (sendsQueued && !isPaused) this.#continuing.add(key)
          else this.#continuing.delete(key)
        },
      )
    } catch (error) {
      log.warn(`The sessions of an earlier window: ${messageOf(error)}`)
    } finally {
      this.#reattaching.delete(running.agent)
    }
  }

  /**
   * Resolves to the session once this window has taken it over, or to `undefined` if no earlier window left it. Returns `undefined` once
   * the agents of all earlier windows have been taken over.
   */
  continued({ agentId, sessionId }: SessionId): Promise<OpenSession | undefined> | undefined {
    return this.#earlier?.then(async earlier => {
      if (!earlier.some(({ tag, sessions }) => tag.agentId === agentId && sessions.includes(sessionId)))
        return undefined
      const { runners, manager } = this.#options
      const find = () => {
        const open = manager.find(agentId, sessionId)
        return open?.session.phase === 'ready' ? open : undefined
      }
      await runners
        .get(agentId)
        .ensure()
        .catch(() => {})
      return find() ?? this.#continueAgent(agentId).then(find)
    })
  }

  /** Whether queued prompts that an earlier window left are sent after the session's turn. `undefined` means no. */
  continues(key: string): Promise<boolean> | undefined {
    if (this.#continuing.has(key)) return Promise.resolve(true)
    return this.#earlier?.then(async earlier => {
      const info = earlier.find(({ tag, sessions }) =>
        sessions.some(sessionId => sessionKey(tag.agentId, sessionId) === key),
      )
      if (info) await this.continued({ agentId: info.tag.agentId, sessionId: info.sessions[0]! })
      return this.#continuing.has(key)
    })
  }

  async has(session: SessionId): Promise<boolean> {
    return (await this.#find(session)) !== undefined
  }

  async runsInOtherVersion({ agentId, sessionId }: SessionId): Promise<boolean> {
    const others = await this.#options.hosts.others()
    return others.some(({ sessions }) =>
      sessions.some(one => one.agentId === agentId && one.sessionId === sessionId),
    )
  }

  async takeOver(session: SessionId, from: string | undefined): Promise<boolean> {
    this.#handedOver.delete(keyOf(session))
    if (!this.#options.trusted()) return false
    // this window may already be taking over the session
    if (await this.continued(session)) return true
    const info = await this.#find(session)
    if (!info) return false
    const taking =
      this.#taking.get(info.id) ??
      this.#take(info, session, from).finally(() => {
        this.#taking.delete(info.id)
      })
    this.#taking.set(info.id, taking)
    await taking
    return true
  }

  /**
   * Attaches to the agent once this window holds all of the agent's sessions. Until then, another window may take the sessions; the last
   * window that holds all of them gets the agent.
   */
  async #take(found: HostedAgentInfo, session: SessionId, from: string | undefined): Promise<void> {
    const { held } = this.#options
    const end = performance.now() + RELOAD_CLOSE_MS
    for (let info: HostedAgentInfo | undefined = found; info; info = await this.#find(session)) {
      if (info.isAttached && this.#isHere(info)) return
      // the window `from` has lost its sessions but may still be attached
      const isInUse = info.isAttached && from === undefined
      if (!isInUse) {
        const hold = await held.takeAll(info.tag.agentId, info.sessions, from)
        if (!hold) throw new SessionElsewhereError('hostedWindow')
        const isAttached = await this.#attach(info).finally(() => hold.dispose())
        if (isAttached) return
      }
      if (performance.now() >= end) return
      await delay(RELEASE_POLL_MS)
    }
  }

  /** Whether this window is attached to the agent. */
  #isHere({ id, tag }: HostedAgentInfo): boolean {
    const running = this.#options.runners.peek(tag.agentId)?.running?.agent
    return [...this.#agents(), running].some(agent => agent?.hosted?.id === id)
  }

  /** Attaches to the agent. Resolves to false if another window was faster, or the agent has ended. */
  async #attach(info: HostedAgentInfo): Promise<boolean> {
    const { hosts, runners, held, workspace, holdSecrets, log } = this.#options
    const { id, tag, attachments, sessions } = info
    this.#tried.add(id)
    this.#taken.add(id)
    // an agent of another workspace may be configured differently there
    if (tag.workspace === workspace) this.#launches.set(id, tag.launch)
    try {
      await holdSecrets(tag.agentId)
      const mayHave = () => held.acquireAll(tag.agentId, sessions)
      const earlier = earlierAgent(hosts, info, { workspace, attachments }, mayHave)
      const adopted = await runners.get(tag.agentId).adopt(earlier)
      if (adopted) void this.#followSettings(tag.agentId, adopted)
      return true
    } catch (error) {
      log.warn(`An agent of another window: ${messageOf(error)}`)
      return false
    }
  }

  /**
   * Leaves a hosted agent, with all of its sessions, to another window: from now on, this window sends the agent nothing and stores nothing
   * of its conversations. A prompt that the host hasn't received returns to the queue. `isLost`: the other window already has the agent.
   */
  async handOver(agent: Agent, isLost: boolean): Promise<void> {
    const { manager, held, queues } = this.#options
    const all = manager.list().filter(({ session }) => session.agent === agent)
    const sent = all.map(({ session }) => ({ session, prompt: session.turns.prompt }))
    for (const open of all) {
      open.isTakenOver = true
      this.#handedOver.add(open.key)
    }
    for (const { recorder } of all) recorder?.flush(true)
    this.#tell(agent)
    if (!isLost) for (const { key } of all) queues.handOver(key)
    const detached = agent.hosted?.leave()
    const holds = all.map(open => {
      const hold = held.hold({ agentId: open.agentId, sessionId: open.session.sessionId })
      manager.openSessions.dismiss(open)
      return hold
    })
    agent.dispose()
    const unsent = await detached
    for (const { session, prompt } of sent) {
      if (!prompt || !unsent?.includes(session.sessionId)) continue
      const reason = l10n.t('Another window took over the session before the prompt was sent.')
      session.turns.queue.addReturned([{ id: prompt.id, draft: prompt.draft }], reason)
    }
    for (const hold of holds) hold.dispose()
  }

  isHandedOver(session: SessionId): boolean {
    return this.#handedOver.has(keyOf(session))
  }

  /** Stores the received output, and leaves the agents to the next window, except for agents that the next window should restart. */
  override dispose(): void {
    clearTimeout(this.#timer)
    for (const open of this.#options.manager.list()) open.recorder?.flush(true)
    for (const agent of this.#agents()) {
      this.#tell(agent)
      if (this.#resumesBetter(agent)) agent.hosted?.keep({ silentMs: 0 })
      if (agent.hosted?.outlivesWindow) void agent.hosted.leave()
    }
    super.dispose()
  }

  get #isOn(): boolean {
    return this.#options.keep() !== 'off' && this.#options.trusted()
  }

  /** Resolves to this workspace's agents that no window is attached to. After a reload, waits for the old window to detach. */
  async #findEarlier(): Promise<HostedAgentInfo[]> {
    const { hosts, workspace, onUnreachable, mark, log } = this.#options
    const end = performance.now() + RELOAD_CLOSE_MS
    try {
      for (;;) {
        const others = await hosts.others()
        const all = (await hosts.list(true)).filter(({ tag }) => tag.workspace === workspace)
        if (all.length === 0) {
          if (others.length > 0) onUnreachable()
          else mark(false)
        }
        const unattached = all.filter(({ isAttached }) => !isAttached)
        if (unattached.length === all.length || performance.now() >= end) return unattached
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

  /** Resolves to the next agent process to take over, the newest first. Each is tried once. */
  async nextEarlier(agentId: string): Promise<EarlierAgent | undefined> {
    const untried = (await this.#earlier)?.filter(
      ({ id, tag }) => tag.agentId === agentId && !this.#tried.has(id),
    )
    const newest = untried?.sort((a, b) => b.since - a.since)[0]
    if (!newest || !this.#isOn) return undefined
    const { hosts } = this.#options
    this.#tried.add(newest.id)
    this.#launches.set(newest.id, newest.tag.launch)
    await this.#hold(agentId)
    return earlierAgent(hosts, newest, { attachments: newest.attachments })
  }

  /**
   * If an earlier window's agent is now configured to start differently, replaces its process in each session once the session is idle
   * and nothing runs in the background. An agent that is no longer configured ends after its turns. Waits for the search for agents,
   * which runs the login shell: only then is the configuration known.
   */
  async #followSettings(agentId: string, { agent }: RunningAgent): Promise<void> {
    const { agents, isSearchSure, launchOf, runners, manager, nameOf, log } = this.#options
    const id = agent.hosted?.id
    if (id === undefined || !this.#launches.has(id)) return
    try {
      await agents.ready()
      if (!isSearchSure()) return
      const runner = runners.get(agentId)
      const configured = launchOf(agentId)
      if (configured === undefined) {
        log.info(`${nameOf(agentId)} is no longer configured`)
        runner.endAfterTurns(agent)
        return
      }
      const { resume, load } = agent.capabilities
      const launch = this.#launches.get(id)
      // without resume or load, a new process couldn't continue the conversations
      if (launch === undefined || launch === configured || (!resume && !load)) return
      log.info(`${nameOf(agentId)} is configured to start differently than when it started`)
      await runner.replace(agent, session =>
        manager.list().some(open => open.session === session && open.isBusy),
      )
    } catch (error) {
      log.warn(`An agent of an earlier window, with other settings: ${messageOf(error)}`)
    }
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

  /** Sends the host the state for the next window, the number of the last stored frame, and how long the agent may continue. */
  #tell(agent: Agent): void {
    const { hosted } = agent
    if (!hosted) return
    const reported = this.#reported.get(agent) ?? { frame: 0, keep: '', notes: new Map() }
    this.#reported.set(agent, reported)
    const sessions = this.#options.manager.list().filter(({ session }) => session.agent === agent)
    let frame = hosted.handled
    for (const { agentName, session, recorder, plan, allowance, startOptions } of sessions) {
      const unsaved = recorder?.unsaved
      if (recorder?.isUnsavedTooLarge) this.#options.onTooMuchUnsaved(agentName)
      if (recorder?.isStored || unsaved) {
        const { configOptions, commands } = session.state
        const { isPaused } = session.turns.queue
        const server = plan.editorTools?.address
        const note = {
          ...{ configOptions: [...configOptions], commands, isPaused, server, mcpServers: plan.mcpServers },
          ...(allowance.state && { allowance: allowance.state }),
          ...(startOptions && { startOptions }),
          ...(unsaved && { unsaved }),
        }
        if (!isSame(reported.notes.get(session.sessionId), note)) hosted.note(session.sessionId, note)
        reported.notes.set(session.sessionId, note)
      }
      frame = Math.min(frame, recorder?.storedFrame ?? frame)
    }
    const ids = new Set(sessions.map(({ session }) => session.sessionId))
    for (const id of [...reported.notes.keys()]) {
      if (ids.has(id)) continue
      reported.notes.delete(id)
      hosted.note(id, undefined)
    }
    const times = this.#timesFor(sessions.some(({ session }) => session.turns.isWorking))
    if (JSON.stringify(times) !== reported.keep) hosted.keep(times)
    reported.keep = JSON.stringify(times)
    if (frame > reported.frame) hosted.confirm(frame)
    reported.frame = Math.max(frame, reported.frame)
    // the recorders will soon store the remaining frames
    if (frame < hosted.handled) this.#tellSoon()
  }

  /**
   * Whether the agent should end with this window: the agent is idle and everything is stored, but its connection to the editor's MCP
   * server is lost, and only a session that is resumed in the next window gets a new one.
   */
  #resumesBetter(agent: Agent): boolean {
    const { capabilities, hosted } = agent
    const sessions = this.#options.manager.list().filter(({ session }) => session.agent === agent)
    return (
      hosted !== undefined &&
      (this.#reported.get(agent)?.frame ?? 0) >= hosted.handled &&
      !this.#reattaching.has(agent) &&
      (capabilities.resume || capabilities.load) &&
      sessions.some(({ plan }) => plan.lostEditorTools === true) &&
      sessions.every(
        open => open.session.state.activity === 'idle' && !open.session.turns.isWorking && !open.isBusy,
      )
    )
  }

  #timesFor(isWorking: boolean): OutliveTimes {
    switch (this.#options.keep()) {
      case 'off':
        return { silentMs: 0 }
      case 'whileReloading':
        return { silentMs: RELOADING_AGENT_KEPT_MS, totalMs: RELOADING_AGENT_KEPT_MS }
      case 'untilDone':
        return isWorking
          ? { silentMs: WAITING_AGENT_KEPT_MS, idleMs: IDLE_AGENT_KEPT_MS }
          : { silentMs: IDLE_AGENT_KEPT_MS, totalMs: IDLE_AGENT_KEPT_MS }
    }
  }
}

function isSame(a: SessionNote | undefined, b: SessionNote): boolean {
  return (
    a?.isPaused === b.isPaused &&
    a.commands === b.commands &&
    a.server === b.server &&
    a.mcpServers === b.mcpServers &&
    a.unsaved === b.unsaved &&
    a.allowance === b.allowance &&
    a.startOptions === b.startOptions &&
    a.configOptions.length === b.configOptions.length &&
    a.configOptions.every((option, i) => option === b.configOptions[i])
  )
}

function keyOf({ agentId, sessionId }: SessionId): string {
  return sessionKey(agentId, sessionId)
}
