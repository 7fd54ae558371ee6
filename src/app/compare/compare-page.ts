import { type ComparedAgent, type ComparedFiles, type Comparison, isBusy } from '../../bridge/compare.ts'
import { type CompareHostMessages, compareMessages } from '../../bridge/compare-messages.ts'
import type { DisposableStore } from '../../common/disposable.ts'
import { toDisposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import { formatCost } from '../../common/format-cost.ts'
import type { SessionRecords } from '../../sessions/ports.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { watchSessions } from '../../sessions/watch-sessions.ts'
import { COMPARE_VIEW_TYPE, CommandId } from '../ids.ts'
import { reportErrors } from '../report-errors.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import type { Comparisons, ParticipantId, StoredComparison } from './comparisons.ts'

/** The minimum interval between updates of the state, in milliseconds, since an agent that is writing changes its last line constantly. */
const STATE_MS = 250
/** The minimum interval between two searches of Git for changes, in milliseconds. */
const FILES_MS = 2000
/** The pause after a search of Git for changes, as a multiple of the search's duration, which is seconds in a large repository. */
const PAUSE_FACTOR = 10
/** The user waits for what an agent has changed, so the pause isn't longer. Milliseconds. */
const MAX_PAUSE_MS = 10_000

interface ComparePageOptions extends WebviewTabOptions {
  comparisons: Comparisons
  manager: Pick<SessionManager, 'list' | 'onDidChange'>
  records: Pick<SessionRecords, 'get'>
  iconOf: (agentId: string) => string | undefined
  /** Fires when a worktree was created, removed or restored. */
  onDidChangeWorktrees: Event<void>
  onDidGrantTrust: Event<void>
  loadActions: (page: ComparePage) => Promise<CompareActions>
}

/** The parts of the comparison that need Git, and the actions of its buttons. They are loaded on first use. */
export interface CompareActions {
  /** Sends the draft of a conversation to several agents that the user selects. */
  sendTo(key: string): Promise<void>
  /** Resolves to the changes of an agent. Never rejects. */
  files(participantId: ParticipantId): Promise<ComparedFiles>
  open(participantId: ParticipantId): Promise<void>
  retry(participantId: ParticipantId): Promise<void>
  signIn(participantId: ParticipantId): Promise<void>
  changes(participantId: ParticipantId, path?: string): Promise<void>
  compareTwo(id: string, agents: readonly [number, number]): Promise<void>
  apply(participantId: ParticipantId): Promise<void>
  discard(participantId: ParticipantId): Promise<void>
  discardOthers(participantId: ParticipantId): Promise<void>
}

/** The editor tab that compares the agents that got the same prompt. */
export class ComparePage extends WebviewTab<CompareHostMessages> {
  readonly #options: ComparePageOptions
  /** the last version of each agent's files that the page got, as JSON */
  readonly #sent = new Map<number, string>()
  readonly #dirty = new Set<number>()
  #shownId: string | undefined
  #stateTimer: NodeJS.Timeout | undefined
  #filesTimer: NodeJS.Timeout | undefined
  #isReading = false
  /** the next search for changes comes without a pause */
  #isUrgent = false
  /** the time at which the next search for changes may start */
  #nextReadAt = 0

  constructor(options: ComparePageOptions) {
    super(options, { viewType: COMPARE_VIEW_TYPE, page: 'compare' })
    this.#options = options
    this.register(toDisposable(() => this.#stopTimers()))
  }

  /** Opens the page and shows a comparison. */
  show(id: string): void {
    this.#options.comparisons.show(id)
    this.open()
    this.#sendAll()
  }

  /** Resolves to the actions of the page's buttons. */
  actions(): Promise<CompareActions> {
    return this.#options.loadActions(this)
  }

  /** Returns the comparison to which a worktree belongs. */
  comparisonOf(worktree: string): { show(): void } | undefined {
    const found = this.#options.comparisons.of(worktree)
    return found && { show: () => this.show(found.id) }
  }

  /** Searches for this agent's changes without a pause, because the user waits for them. */
  #readNow(agent: number): void {
    this.#nextReadAt = 0
    this.#isUrgent = true
    this.#readSoon(agent)
  }

  protected connect(connection: WebviewConnection<CompareHostMessages>, own: DisposableStore): void {
    const { comparisons, log, manager, onDidChangeWorktrees, onDidGrantTrust, workbench } = this.#options
    const act = async (participantId: ParticipantId, run: (actions: CompareActions) => Promise<void>) => {
      if (!comparisons.at(participantId)) return
      await reportErrors(workbench.dialogs, 'compare', log, async () => run(await this.actions()))
      if (participantId.id === this.#shownId) this.#readNow(participantId.agent)
    }
    connection.handle(compareMessages, {
      'compare/ready': () => this.#sendAll(),
      'compare/choose': async () => void (await workbench.execute(CommandId.showComparison)),
      'compare/open': participantId => act(participantId, actions => actions.open(participantId)),
      'compare/retry': participantId => act(participantId, actions => actions.retry(participantId)),
      'compare/signIn': participantId => act(participantId, actions => actions.signIn(participantId)),
      'compare/stop': participantId => comparisons.stop(participantId),
      'compare/stopAll': ({ id }) => {
        for (const agent of comparisons.get(id)?.participants.keys() ?? []) comparisons.stop({ id, agent })
      },
      'compare/changes': ({ path, ...participantId }) =>
        act(participantId, actions => actions.changes(participantId, path)),
      'compare/compareTwo': ({ id, agents }) =>
        act({ id, agent: agents[0] }, actions => actions.compareTwo(id, agents)),
      'compare/apply': participantId => act(participantId, actions => actions.apply(participantId)),
      'compare/discard': participantId => act(participantId, actions => actions.discard(participantId)),
      'compare/discardOthers': participantId =>
        act(participantId, actions => actions.discardOthers(participantId)),
    })
    own.add(
      comparisons.onDidChange(({ id, agent }) => {
        if (id !== this.#shownId) return
        this.#sendSoon(0)
        if (isBusy(comparisons.runOf({ id, agent }))) this.#readSoon(agent)
        else this.#readNow(agent)
      }),
    )
    own.add(
      watchSessions(manager, open => {
        const { session } = open
        return session.onDidChange(() => {
          const agent = this.isVisible ? this.#agentOf(open.agentId, session.sessionId) : -1
          if (agent === -1) return
          this.#sendSoon(STATE_MS)
          this.#readSoon(agent)
        })
      }),
    )
    own.add(onDidChangeWorktrees(() => this.#readAll()))
    own.add(onDidGrantTrust(() => this.#sendAll()))
    own.add(toDisposable(() => this.#stopTimers()))
  }

  protected shown(): void {
    this.#sendAll()
  }

  // ---- the state ---------------------------------------------------------------------------------------------------

  #agentOf(agentId: string, sessionId: string): number {
    const shown = this.#shownId === undefined ? undefined : this.#options.comparisons.get(this.#shownId)
    return shown?.participants.findIndex(one => one.sessionId === sessionId && one.agentId === agentId) ?? -1
  }

  #sendAll(): void {
    if (!this.isVisible) return
    this.#sent.clear()
    this.#sendState()
    this.#readAll()
  }

  #sendSoon(delay: number): void {
    if (this.isVisible) this.#stateTimer ??= setTimeout(() => this.#sendState(), delay)
  }

  #sendState(): void {
    clearTimeout(this.#stateTimer)
    this.#stateTimer = undefined
    if (!this.isVisible) return
    const { shown } = this.#options.comparisons
    if (shown?.id !== this.#shownId) {
      this.#sent.clear()
      // the user waits for the first changes of the comparison
      this.#nextReadAt = 0
    }
    this.#shownId = shown?.id
    this.send('compare/state', shown ? { comparison: this.#comparison(shown) } : {})
  }

  #comparison({ id, title, at, from, participants }: StoredComparison): Comparison {
    const { comparisons, workbench } = this.#options
    return {
      ...{ id, title, at },
      from: [from.branch, from.commit.slice(0, 7)].filter(Boolean).join(' · '),
      trusted: workbench.isTrusted,
      hasOthers: comparisons.list().length > 1,
      agents: participants.map((_, agent) => this.#agent({ id, agent })),
    }
  }

  #agent(participantId: ParticipantId): ComparedAgent {
    const { comparisons, records, iconOf, workbench } = this.#options
    const { cost, ...use } = comparisons.usageOf(participantId)
    const { agentId, agentName, worktree, sessionId } = comparisons.at(participantId)!
    const icon = iconOf(agentId)
    const hasSession =
      sessionId !== undefined &&
      (comparisons.sessionOf(participantId) !== undefined || records.get(agentId, sessionId) !== undefined)
    return {
      name: agentName,
      ...(icon !== undefined && { icon }),
      ...(worktree && { worktree: worktree.name }),
      ...comparisons.runOf(participantId),
      ...use,
      ...(cost && { cost: formatCost(cost, workbench.language) }),
      ...(hasSession && { hasSession }),
      ...(comparisons.hasPrompt(participantId) && { hasPrompt: true }),
    }
  }

  // ---- the files ---------------------------------------------------------------------------------------------------

  #readAll(): void {
    const { shown } = this.#options.comparisons
    for (const agent of shown?.participants.keys() ?? []) this.#readSoon(agent)
  }

  #readSoon(agent: number): void {
    this.#dirty.add(agent)
    if (!this.isVisible || this.#isReading) return
    const delay = Math.max(0, this.#nextReadAt - performance.now())
    if (delay === 0) clearTimeout(this.#filesTimer)
    if (delay === 0 || this.#filesTimer === undefined)
      this.#filesTimer = setTimeout(() => void this.#read(), delay)
  }

  async #read(): Promise<void> {
    this.#filesTimer = undefined
    if (this.#isReading) return
    this.#isReading = true
    const began = performance.now()
    const id = this.#shownId
    const agents = [...this.#dirty]
    this.#dirty.clear()
    this.#isUrgent = false
    try {
      for (const agent of agents) await this.#readFiles(agent)
    } finally {
      this.#isReading = false
      const took = performance.now() - began
      this.#nextReadAt =
        id !== this.#shownId || this.#isUrgent
          ? 0
          : performance.now() + Math.min(MAX_PAUSE_MS, Math.max(FILES_MS, took * PAUSE_FACTOR))
      for (const agent of this.#dirty) this.#readSoon(agent)
    }
  }

  async #readFiles(agent: number): Promise<void> {
    const id = this.#shownId
    const { comparisons, workbench } = this.#options
    // Git may run programs that the repository's configuration names
    if (id === undefined || !workbench.isTrusted) return
    // the agent lost its worktree if the worktree was removed and another agent has one at the same path
    if (!comparisons.at({ id, agent })?.worktree && !this.#sent.has(agent)) return
    const isEarly = isBusy(comparisons.runOf({ id, agent }))
    const files: ComparedFiles = {
      ...(await (await this.actions()).files({ id, agent })),
      ...(isEarly && { isEarly }),
    }
    const written = JSON.stringify(files)
    if (!this.isVisible || id !== this.#shownId || this.#sent.get(agent) === written) return
    this.#sent.set(agent, written)
    this.send('compare/files', { id, agent, files })
  }

  #stopTimers(): void {
    clearTimeout(this.#stateTimer)
    clearTimeout(this.#filesTimer)
    this.#stateTimer = undefined
    this.#filesTimer = undefined
  }
}
