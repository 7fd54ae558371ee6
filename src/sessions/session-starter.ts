import { type Agent, AgentRequestError } from '../acp/agent.ts'
import type { ConfigOption } from '../acp/model.ts'
import { CancelledError, isCancelled } from '../common/errors.ts'
import { RELOAD_CLOSE_MS } from '../common/limits.ts'
import { sessionKey } from '../common/session-key.ts'
import type { AgentSessions } from '../conversation/agent-sessions.ts'
import { forkState } from '../conversation/replay/restore-state.ts'
import type { Session } from '../conversation/session.ts'
import type { AgentClients } from './agent-client.ts'
import { type Continuing, earlierSessionOf, recordContinuation, stateToContinue } from './continuation.ts'
import { isSignInAsked, type Reopening } from './failures.ts'
import { disposePlan, type OpenSession, referenceOf, type SessionReference } from './open-session.ts'
import type {
  HostedSessions,
  SavedConversations,
  SessionPlan,
  SessionPlanner,
  SessionRecords,
} from './ports.ts'
import type { PromptQueues } from './prompt-queues.ts'
import type { AgentRunner } from './runners/agent-runner.ts'
import type { SavedSessions } from './saved-sessions.ts'
import { type HeldSessions, SessionElsewhereError, type SessionPlace } from './session-leases.ts'
import { forkLimit, type SpanRecords } from './session-limiter.ts'
import type { SessionManager } from './session-manager.ts'
import { recordListedTitle, sessionTitle, titleOfFork } from './session-title.ts'
import { applyStartOptions, type StartOptions } from './start-options.ts'
import { forkUsage, type UsageRecords } from './usage-meter.ts'

interface SessionStarterOptions {
  manager: SessionManager
  held: HeldSessions
  saved: SavedSessions
  runner: (agentId: string) => AgentRunner
  clients: Pick<AgentClients, 'track'>
  planner: SessionPlanner
  records: SessionRecords
  transcripts: Pick<SavedConversations, 'options'>
  queues: Pick<PromptQueues, 'rename'>
  /** The agents that run in the agent host; absent if no agent does. */
  hosted?: HostedSessions | undefined
  /** The initial options of a new session. */
  startOptions?: (agentId: string) => Promise<StartOptions>
  /** Where usage and cost are counted. */
  usage?: UsageRecords & SpanRecords
}

/** Reports progress while a session is being opened. */
export interface OpenProgress {
  /** Called when the agent runs, just before it's asked to open the session. */
  onPlan?: (plan: SessionPlan) => void
  /** Called when the session can be displayed. `replays`: the agent is about to replay the session's history. */
  onSession?: (open: OpenSession, replays: boolean) => void
}

/** Where a fork ends, in agents with `forkAtMessage`. */
export interface ForkPoint {
  /** id of the agent's last message that belongs to the fork */
  messageId: string
  /** the first turn that doesn't belong to the fork */
  turn: number
  /** If the agent doesn't support `forkAtMessage`: fork the whole conversation, or don't fork. */
  otherwise: 'whole' | 'stay'
}

/** Opens sessions with their agents: new sessions, forks, and existing sessions. */
export class SessionStarter {
  readonly #options: SessionStarterOptions
  /** options that agents are known to lack */
  readonly #missingOptions = new Set<string>()

  constructor(options: SessionStarterOptions) {
    this.#options = options
  }

  /**
   * Starts a session, in `cwd` if given, and moves the prompts queued under the key `queue` to this session. `continues`: a conversation
   * to continue in the new session, or in the agent's earlier session of the conversation. Rejects with `AgentStartError`,
   * `AgentRequestError`, `AgentClosedError` or `CancelledError`.
   */
  async create(
    agentId: string,
    signal: AbortSignal,
    progress: OpenProgress = {},
    { cwd, queue, continues }: NewSession = {},
  ): Promise<OpenSession> {
    const runner = this.#options.runner(agentId)
    const { agent, sessions } = await runner.ensure(signal)
    const earlier = continues && (await this.#goBack(agentId, signal, progress, continues))
    if (earlier) return earlier
    const { planner, clients, queues, startOptions } = this.#options
    const earlierRecord =
      continues && this.#options.records.get(continues.from.agentId, continues.from.session.sessionId)
    const imported = earlierRecord?.imported && earlierRecord.cwd === cwd
    const plan = await planner.forNew(agentId, agent.capabilities, cwd, imported)
    if (!plan) throw new CancelledError()
    return withPlan(plan, async () => {
      const options = optionsFor(agentId, await startOptions?.(agentId), continues)
      if (signal.aborted) throw new CancelledError()
      progress.onPlan?.(plan)
      return clients.track(agentId, async () => {
        // the conversation so far, which the new session continues
        const state = () => continues && stateToContinue(continues, runner.name)
        const session = await sessions.newSession(plan.setup, signal, state)
        if (queue !== undefined) {
          queues.rename(queue, sessionKey(agentId, session.sessionId))
        }
        const open = this.#create(agentId, session, plan)
        if (options) {
          open.startOptions = { ...options.defaults, ...options.lastUsed }
          session.beginAfter(() => applyStartOptions(open, options, this.#missingOptions))
        }
        return this.#begun(open, progress, continues ? 'continued' : 'new', continues)
      })
    })
  }

  /** Reopens the agent's earlier session of the conversation. Resolves to `undefined` if there is none or it can't be reopened. */
  async #goBack(
    agentId: string,
    signal: AbortSignal,
    progress: OpenProgress,
    continues: Continuing,
  ): Promise<OpenSession | undefined> {
    const reference = earlierSessionOf(agentId, continues.from, this.#options.records)
    if (!reference) return undefined
    try {
      // display the session only once it's open: prompts written meanwhile must not go to a session that may be gone
      const { onPlan } = progress
      const open = await this.reopen('restore', reference, signal, { onPlan }, undefined, continues)
      progress.onSession?.(open, false)
      return open
    } catch (error) {
      const isGone =
        error instanceof AgentRequestError || error instanceof SessionElsewhereError || isCancelled(error)
      if (signal.aborted || !isGone || isSignInAsked(error)) throw error
      return undefined
    }
  }

  /**
   * Reopens a session that the agent knows. `load` replays its history. `resume` continues the known conversation: the saved one, or the
   * one of `previous`, which is the same session of an ended process. `restore` resumes the session if its conversation is known, else
   * loads the session, else resumes it. Rejects with `SessionElsewhereError` if another window has the session or it runs in another
   * version of Parley, with `CancelledError` if the agent can neither load nor resume (for `restore`, or with `previous`), else as
   * `create` does.
   */
  async reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    previous?: OpenSession,
    continues?: Continuing,
  ): Promise<OpenSession> {
    const { held, hosted } = this.#options
    if (!(await held.acquireWithin(how === 'restore' ? RELOAD_CLOSE_MS : 0, reference, signal)))
      throw new SessionElsewhereError(await this.placeOf(reference))
    const hold = held.hold(reference)
    try {
      // a second process would work in the same folder and store the same conversation
      if (await hosted?.runsInOtherVersion(reference)) throw new SessionElsewhereError('otherVersion')
      return (
        (await this.#takeOver(reference, signal, previous)) ??
        (await this.#reopen(how, reference, signal, progress, previous, continues))
      )
    } finally {
      hold.dispose()
    }
  }

  /** Resolves to the place of a session that another window has. */
  async placeOf(reference: SessionReference): Promise<SessionPlace> {
    return (await this.#options.hosted?.has(reference)) ? 'hostedWindow' : 'window'
  }

  /**
   * Takes over the session from the agent host, together with its agent. Resolves to `undefined` if the host doesn't have the session. The
   * session may already be open: in this window, if it came with another session of the agent, or in another window of this process.
   */
  async #takeOver(
    reference: SessionReference,
    signal: AbortSignal,
    previous: OpenSession | undefined,
  ): Promise<OpenSession | undefined> {
    const { agentId, sessionId } = reference
    const { manager, held, saved, hosted } = this.#options
    const from = held.takeSeized(reference)
    const open = manager.find(agentId, sessionId)
    if (open) {
      const { phase, agent } = open.session
      const isFollowed = agent.hosted?.outlivesWindow || !manager.opened(open)
      return open !== previous && phase === 'ready' && isFollowed ? open : undefined
    }
    if (!hosted) return undefined
    const isTaken = await hosted.takeOver(reference, from)
    if (signal.aborted) throw new CancelledError()
    const continued = manager.find(agentId, sessionId)
    // add the last output of an agent that has exited
    if (isTaken && !continued && previous) saved.catchUp(previous)
    // another window may have taken the session meanwhile
    if (!continued && (hosted.isHandedOver(reference) || !held.acquire(reference)))
      throw new SessionElsewhereError('hostedWindow')
    return continued
  }

  async #reopen(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress,
    previous: OpenSession | undefined,
    continues: Continuing | undefined,
  ): Promise<OpenSession> {
    const reached = await this.#reach(reference, signal)
    return withPlan(reached.plan, () =>
      this.#reopenAt(how, reference, signal, progress, previous, reached, continues),
    )
  }

  async #reopenAt(
    how: Reopening,
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress,
    previous: OpenSession | undefined,
    { agent, sessions, plan }: Reached,
    continues: Continuing | undefined,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    const { manager, saved, records } = this.#options
    await this.#unarchive(agent, reference)
    if (signal.aborted) throw new CancelledError()
    progress.onPlan?.(plan)
    const { load, resume } = agent.capabilities
    const { name } = this.#options.runner(agentId)
    const gone = continues && stateToContinue(continues, name, sessionKey(agentId, sessionId))
    // the usage of the agent's own session, from when the user left that session
    const usage = gone && saved.state(reference)?.usage
    if (usage) gone.usage = usage
    const known = () => gone ?? previous?.session.conversation.state ?? saved.state(reference)
    const before = how === 'load' && !previous ? undefined : known()
    // resume rather than load, since the saved conversation has more than a replay: times, answers, output
    const replays = how === 'load' || (how === 'restore' && load && !(before && resume))
    if (!load && !resume && (how === 'restore' || previous)) throw new CancelledError()
    // read now, before the agent's answer replaces the options
    const options = this.#lastOptions(reference, previous)
    const lastOptions = () => options
    const opening = replays
      ? sessions.loadSession(sessionId, plan.setup, signal, known, lastOptions)
      : sessions.resumeSession(sessionId, plan.setup, signal, before, lastOptions)
    const open = this.#create(agentId, opening.session, plan)
    recordListedTitle(records, open, reference)
    const replaced = manager.find(agentId, sessionId)
    // the agent may request files before it answers
    manager.admit(open, continues ? 'unsaved' : 'known')
    progress.onSession?.(open, replays)
    try {
      await opening.opened
    } catch (error) {
      manager.openSessions.dismiss(open)
      throw error
    }
    open.session.optionChanges.reopened(options ?? [])
    if (replaced) manager.openSessions.dismiss(replaced)
    manager.record(open)
    if (continues && !signal.aborted) recordContinuation(records, this.#options.held, continues.from, open)
    return open
  }

  /** Returns the last known options of a session. */
  #lastOptions({ agentId, sessionId }: SessionReference, open?: OpenSession): ConfigOption[] | undefined {
    const options = open?.session.state.configOptions ?? []
    return options.length > 0 ? [...options] : this.#options.transcripts.options(agentId, sessionId)
  }

  /** Starts the agent of an existing session and plans the session's folders. */
  async #reach(
    { agentId, sessionId, cwd, additionalDirectories = [] }: SessionReference,
    signal: AbortSignal,
  ): Promise<Reached> {
    const runner = this.#options.runner(agentId)
    const { agent, sessions } = await runner.ensure(signal)
    const record = this.#options.records.get(agentId, sessionId)
    const known = new Set([...(record?.additionalDirectories ?? []), ...additionalDirectories])
    const directories = { cwd, additionalDirectories: [...known] }
    const own = {
      ...{ agentId, sessionId, ...directories, systemPrompt: record?.systemPrompt },
      ...(record?.imported && record.cwd === cwd && { imported: true }),
    }
    const plan = await this.#options.planner.forExisting(own, agent.capabilities)
    return withPlan(plan, async () => {
      if (signal.aborted) throw new CancelledError()
      return { agent, sessions, plan }
    })
  }

  /** Unarchives a session that is being reopened. If the agent refuses this, it may still open the session. */
  async #unarchive(agent: Agent, { agentId, sessionId, cwd, archived }: SessionReference): Promise<void> {
    const { records } = this.#options
    if (!(archived ?? records.get(agentId, sessionId)?.archived) || !agent.capabilities.archive) return
    try {
      await agent.unarchiveSession?.(sessionId)
      records.noted(agentId, { sessionId, cwd }, { archived: false })
    } catch (error) {
      if (!(error instanceof AgentRequestError)) throw error
    }
  }

  /**
   * Forks a session, at a point if given and supported by the agent. Resolves to the session itself if the agent doesn't support the point
   * and `otherwise` is `stay`. Rejects as `create` does.
   */
  async fork(
    reference: SessionReference,
    signal: AbortSignal,
    progress: OpenProgress = {},
    at?: ForkPoint,
  ): Promise<OpenSession> {
    const { agentId, sessionId } = reference
    const { manager, saved, clients, records, usage } = this.#options
    const { sessions, plan } = await this.#reach(reference, signal)
    progress.onPlan?.(plan)
    const known = manager.find(agentId, sessionId)?.session.conversation.state ?? saved.state(reference)
    const make = (point?: ForkPoint) => {
      const state = known && forkState(known, sessionKey(agentId, sessionId), point?.turn)
      return sessions.forkSession(sessionId, plan.setup, signal, state, point?.messageId)
    }
    const fork = async () => {
      let session: Session
      try {
        session = await make(at)
      } catch (error) {
        if (!at || !(error instanceof AgentRequestError)) throw error
        const original = manager.find(agentId, sessionId)
        if (at.otherwise === 'stay' && original) {
          disposePlan(plan)
          return original
        }
        session = await make()
      }
      const open = this.#create(agentId, session, plan)
      session.optionChanges.reopened(this.#lastOptions(reference, manager.find(agentId, sessionId)) ?? [])
      const original = manager.find(agentId, sessionId)?.session
      const record = records.get(agentId, sessionId)
      const title = (original && sessionTitle(original.state)) ?? record?.title ?? reference.title
      if (title !== undefined) session.receive({ type: 'info', title: titleOfFork(title) })
      if (record?.givenTitle !== undefined)
        records.noted(
          agentId,
          { sessionId: session.sessionId, cwd: plan.setup.cwd },
          { givenTitle: titleOfFork(record.givenTitle) },
        )
      // during a turn, the agent may not have reported the turn's cost yet, which would then count for both sessions
      const isSettled = !manager.find(agentId, sessionId)?.session.turns.isWorking
      if (usage) forkLimit(usage, reference, { agentId, sessionId: session.sessionId })
      if (usage && isSettled) forkUsage(usage, agentId, sessionId, session.sessionId)
      return this.#begun(open, progress, 'fork')
    }
    return withPlan(plan, () => clients.track(agentId, fork))
  }

  #create(agentId: string, session: Session, plan: SessionPlan): OpenSession {
    const { manager, runner } = this.#options
    return manager.create(agentId, runner(agentId).name, session, plan)
  }

  #begun(
    open: OpenSession,
    progress: OpenProgress,
    origin: 'new' | 'fork' | 'continued',
    continues?: Continuing,
  ): OpenSession {
    open.changes.clear()
    const { manager, records, held, usage } = this.#options
    const from = continues?.from
    const { agentId, session } = open
    if (usage && from) forkLimit(usage, referenceOf(from), { agentId, sessionId: session.sessionId })
    manager.admit(open, origin)
    manager.record(open)
    if (from) recordContinuation(records, held, from, open)
    progress.onSession?.(open, false)
    return open
  }
}

interface NewSession {
  cwd?: string | undefined
  queue?: string | undefined
  continues?: Continuing | undefined
}

interface Reached {
  agent: Agent
  sessions: AgentSessions
  plan: SessionPlan
}

/** Does the work that opens the planned session. If the work fails, disposes the resources of the plan. */
async function withPlan<T>(plan: SessionPlan, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    disposePlan(plan)
    throw error
  }
}

/** Returns the start options: a conversation that continues with the same agent keeps its options, such as the mode and the model. */
function optionsFor(
  agentId: string,
  options: StartOptions | undefined,
  continues: Continuing | undefined,
): StartOptions | undefined {
  if (continues?.from.agentId !== agentId) return options
  const current = continues.from.session.state.configOptions.flatMap(option =>
    option.type === 'unknown' ? [] : [[option.id, option.currentValue] as const],
  )
  const { defaults = {}, lastUsed } = options ?? {}
  return { defaults, lastUsed: { ...lastUsed, ...Object.fromEntries(current) } }
}
