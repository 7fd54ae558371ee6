import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { isBusy } from '../../bridge/compare.ts'
import { type Disposable, DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { MAX_COMPARED_AGENTS, MAX_COMPARISONS } from '../../common/limits.ts'
import type { SessionId } from '../../common/session-key.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { watchSessions } from '../../sessions/watch-sessions.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import { summaryLine } from '../window-sessions.ts'
import { NEW_RUN, nextRun, type Run, type RunEvent, run } from './run.ts'

const IDS = 'parley.comparisons'
const SHOWN = 'parley.comparison'
const keyOf = (id: string) => `${SHOWN}.${id}`

const text = (max: number) => z.string().max(max)
const usage = z.object({
  /** the agent's last line of text */
  line: text(1000).optional(),
  cost: z
    .object({ amount: z.number(), currency: text(64) })
    .optional()
    .catch(undefined),
  tokens: z.number().optional().catch(undefined),
})
const participant = usage.extend({
  agentId: text(4096).min(1),
  agentName: text(4096),
  /** Absent until the worktree is created. */
  worktree: z.object({ path: text(32_768).min(1), name: text(255) }).optional(),
  sessionId: text(4096).min(1).optional(),
  /** The conversation of the session was deleted. */
  isDeleted: z.literal(true).optional().catch(undefined),
  run,
})
const stored = z.object({
  id: text(100).min(1),
  /** the first line of the prompt; empty once the prompt is deleted from all conversations */
  title: text(1000),
  /** milliseconds since the epoch */
  at: z.number(),
  /** the base of the worktrees */
  from: z.object({
    /** the root of the work tree */
    top: text(32_768),
    /** the path of the workspace folder in the worktree */
    within: text(32_768),
    commit: text(64),
    branch: text(1000).optional(),
  }),
  participants: z.array(participant).min(1).max(MAX_COMPARED_AGENTS),
})

export type Participant = z.infer<typeof participant>
export type StoredComparison = z.infer<typeof stored>

/** Identifies an agent of a comparison by the agent's position. */
export interface ParticipantId {
  id: string
  agent: number
}

interface ComparisonsOptions {
  store: KeyValueStore
  drafts: Pick<DraftStore, 'keys' | 'onDidChangeItems'>
  /** Fires when the conversation of a session was deleted. */
  onDidDelete: Event<SessionId>
  manager: Pick<SessionManager, 'list' | 'find' | 'onDidChange'>
  redact: (text: string) => string
  now?: () => number
}

/**
 * The comparisons of this workspace: which sessions and worktrees belong together, and the state of each agent. The agents' changes
 * themselves are only in Git.
 */
export class Comparisons extends Owner {
  readonly #options: ComparisonsOptions
  readonly #now: () => number
  readonly #known = new Map<string, StoredComparison>()
  /** the starts in progress in this window, by the key of the agent's draft */
  readonly #starts = new Map<string, AbortController>()
  readonly #steps = new Map<string, string>()
  /** sessions whose turn began in this window, or continues in it */
  readonly #working = new WeakSet<OpenSession>()
  readonly #change = this.register(new Emitter<ParticipantId>())

  /** Fires when an agent's state, start step, worktree, session or usage changes, but not for every line that the agent writes. */
  readonly onDidChange = this.#change.event

  constructor(options: ComparisonsOptions) {
    super()
    this.#options = options
    this.#now = options.now ?? Date.now
    for (const id of this.#ids()) {
      const { success, data } = stored.safeParse(options.store.get(keyOf(id)))
      if (success) this.#known.set(id, data)
    }
    this.register(watchSessions(options.manager, open => this.#watch(open)))
    this.register(
      options.drafts.onDidChangeItems(key => {
        for (const participantId of this.#participantIds())
          if (draftKeyOf(participantId) === key) {
            this.#forgetTitle(participantId.id)
            this.#change.fire(participantId)
          }
      }),
    )
    this.register(
      options.onDidDelete(({ agentId, sessionId }) => {
        for (const participantId of this.#participantIds()) {
          const one = this.at(participantId)!
          if (one.agentId !== agentId || one.sessionId !== sessionId) continue
          this.#update(participantId, { line: undefined, isDeleted: true })
          this.#forgetTitle(participantId.id)
        }
      }),
    )
  }

  /** Returns the comparisons, the latest first. */
  list(): StoredComparison[] {
    return [...this.#known.values()].sort((a, b) => b.at - a.at)
  }

  get(id: string): StoredComparison | undefined {
    return this.#known.get(id)
  }

  at({ id, agent }: ParticipantId): Participant | undefined {
    return this.#known.get(id)?.participants[agent]
  }

  /** Returns the comparison that the page shows. */
  get shown(): StoredComparison | undefined {
    return this.#known.get(this.#options.store.get<string>(SHOWN) ?? '') ?? this.list()[0]
  }

  show(id: string): void {
    this.#options.store.set(SHOWN, id)
  }

  /** Returns the comparison to which a worktree belongs. */
  of(worktree: string): StoredComparison | undefined {
    const rules = new PathRules()
    return this.list().find(({ participants }) =>
      participants.some(({ worktree: own }) => own && rules.same(own.path, worktree)),
    )
  }

  add(
    comparison: Omit<StoredComparison, 'participants'>,
    agents: Array<{ agentId: string; name: string }>,
  ): void {
    const { store, redact } = this.#options
    this.#save({
      ...comparison,
      title: redact(comparison.title).slice(0, 1000),
      participants: agents.map(({ agentId, name }) => ({ agentId, agentName: name, run: NEW_RUN })),
    })
    const ids = [comparison.id, ...this.#ids()]
    const old = ids.slice(MAX_COMPARISONS).filter(id => !this.#holdsPrompt(id))
    for (const id of old) {
      this.#known.delete(id)
      store.set(keyOf(id), undefined)
    }
    store.set(
      IDS,
      ids.filter(id => !old.includes(id)),
    )
  }

  /** Returns the state of an agent's run. A run in progress whose session and start are gone counts as interrupted. */
  runOf(participantId: ParticipantId): Run {
    const { run, agentId, sessionId } = this.at(participantId)!
    const canContinue =
      this.#starts.has(draftKeyOf(participantId)) ||
      (sessionId !== undefined && this.#options.manager.find(agentId, sessionId) !== undefined)
    return canContinue ? run : nextRun(run, { type: 'lose', at: run.since ?? 0 })
  }

  /** Returns the agent's current last line, cost and tokens. */
  usageOf(participantId: ParticipantId): z.infer<typeof usage> {
    const { agentId, sessionId, line, cost, tokens } = this.at(participantId)!
    const step = this.#steps.get(draftKeyOf(participantId))
    if (step !== undefined) return { line: step }
    const open = sessionId === undefined ? undefined : this.#options.manager.find(agentId, sessionId)
    return open
      ? this.#usage(open)
      : {
          ...(line !== undefined && { line }),
          ...(cost && { cost }),
          ...(tokens !== undefined && { tokens }),
        }
  }

  /** Whether the agent hasn't got its prompt yet. */
  hasPrompt(participantId: ParticipantId): boolean {
    return this.#options.drafts.keys().includes(draftKeyOf(participantId))
  }

  /** Whether a prompt of the comparison wasn't sent. Only the comparison knows such a prompt. */
  #holdsPrompt(id: string): boolean {
    const agents = this.#known.get(id)?.participants.keys() ?? []
    return [...agents].some(agent => this.hasPrompt({ id, agent }))
  }

  /** Removes the first line of the prompt once the prompt is deleted from all sessions and no agent still waits for it. */
  #forgetTitle(id: string): void {
    const comparison = this.#known.get(id)
    if (!comparison?.participants.some(one => one.isDeleted)) return
    const isKnown = comparison.participants.some(
      (one, agent) =>
        (one.sessionId !== undefined && !one.isDeleted) ||
        this.isStarting({ id, agent }) ||
        this.hasPrompt({ id, agent }),
    )
    if (isKnown || comparison.title === '') return
    this.#save({ ...comparison, title: '' })
    this.#change.fire({ id, agent: 0 })
  }

  #participantIds(): ParticipantId[] {
    return this.list().flatMap(({ id, participants }) => participants.map((_, agent) => ({ id, agent })))
  }

  // ---- the start ---------------------------------------------------------------------------------------------------

  /** Marks the agent as being started, until the returned function is called. Returns `undefined` if the agent is already being started. */
  begin(participantId: ParticipantId): { signal: AbortSignal; end: () => void } | undefined {
    const key = draftKeyOf(participantId)
    if (this.#starts.has(key)) return undefined
    const abort = new AbortController()
    this.#starts.set(key, abort)
    this.apply(participantId, { type: 'lose', at: 0 })
    this.apply(participantId, { type: 'start' })
    const end = () => {
      this.#starts.delete(key)
      this.step(participantId, undefined)
    }
    return { signal: abort.signal, end }
  }

  /** Returns the worktrees of the agents that this window is starting. */
  starting(): string[] {
    return this.list().flatMap(({ id, participants }) =>
      participants.flatMap(({ worktree }, agent) =>
        worktree && this.#starts.has(draftKeyOf({ id, agent })) ? worktree.path : [],
      ),
    )
  }

  isStarting(participantId: ParticipantId): boolean {
    return this.#starts.has(draftKeyOf(participantId))
  }

  /** Sets the current step of the agent's start. */
  step(participantId: ParticipantId, step: string | undefined): void {
    if (step === undefined) this.#steps.delete(draftKeyOf(participantId))
    else this.#steps.set(draftKeyOf(participantId), step)
    this.#change.fire(participantId)
  }

  worktreeMade(participantId: ParticipantId, worktree: NonNullable<Participant['worktree']>): void {
    const rules = new PathRules()
    // a discarded worktree's name can be used again, and then the new worktree must not belong to the earlier agent
    for (const other of this.#participantIds()) {
      const own = this.at(other)!.worktree
      if (own && rules.same(own.path, worktree.path)) this.#update(other, { worktree: undefined })
    }
    this.#update(participantId, { worktree })
  }

  /** Notes that the agent works in this session from now on. */
  sessionStarted(participantId: ParticipantId, open: OpenSession): void {
    const isAgain = this.at(participantId)?.isDeleted && { isDeleted: undefined }
    this.#update(participantId, { sessionId: open.session.sessionId, ...isAgain })
    this.#sync(open)
  }

  apply(participantId: ParticipantId, event: RunEvent): void {
    const known = this.at(participantId)
    if (!known) return
    const run = nextRun(known.run, event)
    if (JSON.stringify(run) !== JSON.stringify(known.run)) this.#update(participantId, { run })
  }

  /** Stops the agent's turn, or its start. */
  stop(participantId: ParticipantId): void {
    this.#starts.get(draftKeyOf(participantId))?.abort()
    const open = this.sessionOf(participantId)
    if (open && open.session.state.activity !== 'idle') open.cancel()
  }

  sessionOf(participantId: ParticipantId): OpenSession | undefined {
    const { agentId, sessionId } = this.at(participantId) ?? {}
    if (agentId === undefined || sessionId === undefined) return undefined
    return this.#options.manager.find(agentId, sessionId)
  }

  // ---- the sessions ------------------------------------------------------------------------------------------------

  #watch(open: OpenSession): Disposable {
    const { session } = open
    const following = new DisposableStore()
    following.add(
      session.onDidChange(changes => {
        const isRelevant = changes.some(
          change => change.type === 'reset' || (change.type === 'head' && change.key === 'activity'),
        )
        if (isRelevant) this.#sync(open)
      }),
    )
    following.add(session.onDidChangeStatus(() => this.#sync(open)))
    following.add(session.onDidEnd(exit => this.#ended(open, exit)))
    this.#sync(open)
    return following
  }

  #sync(open: OpenSession): void {
    const participantId = this.#participantIdOf(open)
    const { state, turns, phase } = open.session
    // a session that is being loaded replays earlier work
    if (!participantId || phase !== 'ready') return
    const at = this.#now()
    const { activity, turnStartedAt = at } = state
    if (activity !== 'idle') {
      this.#working.add(open)
      this.apply(participantId, {
        type: 'turn',
        since: turnStartedAt,
        isWaiting: activity === 'requires_action',
      })
      return
    }
    const { since } = this.at(participantId)!.run
    if (since !== undefined) {
      this.apply(participantId, this.#working.has(open) ? endOf(open, at) : { type: 'lose', at: since })
      this.#update(participantId, this.#usage(open))
    }
    const [asked] = turns.queue.awaitingSignIn
    const [returned] = since === undefined ? turns.queue.returned : []
    const reason = asked?.reason ?? returned?.reason
    // the prompt also returns if the user stopped the start, which isn't a failure
    if (reason !== undefined && this.at(participantId)!.run.state !== 'stopped')
      this.apply(participantId, { type: 'fail', reason, needsSignIn: asked !== undefined, at })
  }

  #ended(open: OpenSession, exit: OpenSession['session']['exit']): void {
    const participantId = this.#participantIdOf(open)
    if (!participantId || !isBusy(this.at(participantId)!.run)) return
    const at = this.#now()
    const reason = exit?.message ?? l10n.t("The agent isn't running.")
    this.apply(
      participantId,
      !exit || exit.reason === 'disposed' ? { type: 'lose', at } : { type: 'fail', reason, at },
    )
    this.#update(participantId, this.#usage(open))
  }

  #participantIdOf({ agentId, session }: OpenSession): ParticipantId | undefined {
    for (const { id, participants } of this.#known.values()) {
      const agent = participants.findIndex(
        one => one.agentId === agentId && one.sessionId === session.sessionId,
      )
      if (agent !== -1) return { id, agent }
    }
    return undefined
  }

  #usage({ session }: OpenSession): z.infer<typeof usage> {
    const { cost, tokens } = session.state.usage ?? {}
    const line = summaryLine(session, this.#options.redact)
    return {
      ...(line !== undefined && { line }),
      ...(cost && { cost: { amount: cost.amount, currency: cost.currency.slice(0, 64) } }),
      ...(tokens && { tokens: tokens.total }),
    }
  }

  // ---- the store ---------------------------------------------------------------------------------------------------

  /** Returns the ids of all comparisons, including those that another window of the workspace has added. */
  #ids(): string[] {
    return z.array(z.string()).catch([]).parse(this.#options.store.get(IDS))
  }

  #update(
    participantId: ParticipantId,
    change: { [K in keyof Participant]?: Participant[K] | undefined },
  ): void {
    const comparison = this.#known.get(participantId.id)
    if (!comparison?.participants[participantId.agent]) return
    const participants = comparison.participants.map((one, at) =>
      at === participantId.agent ? { ...one, ...change } : one,
    )
    this.#save({ ...comparison, participants })
    this.#change.fire(participantId)
  }

  #save(comparison: StoredComparison): void {
    this.#known.set(comparison.id, comparison)
    this.#options.store.set(keyOf(comparison.id), comparison)
  }
}

/** Returns the key of the queue that holds an agent's prompt until the agent's session has the prompt. */
export function draftKeyOf({ id, agent }: ParticipantId): string {
  return `compare ${id} ${agent}`
}

/** Returns the event for the end of a session's last turn. */
function endOf({ session: { state } }: OpenSession, at: number): RunEvent {
  const last = state.entries.at(-1)
  if (last?.kind !== 'turn_end' || last.turn !== state.turn) return { type: 'end', how: 'done', at }
  const { error, stopReason } = last
  if (!error && stopReason === 'cancelled') return { type: 'end', how: 'stopped', at }
  return { type: 'fail', reason: error?.message ?? l10n.t('The turn ended: {0}', stopReason), at }
}
