import { randomUUID } from 'node:crypto'
import { type AgentLaunch, AgentRequestError, type StartAgent } from '../../../src/acp/agent.ts'
import type { ConfigOption, ContentBlock } from '../../../src/acp/model.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { DraftStore } from '../../../src/app/storage/draft-store.ts'
import { toDisposable } from '../../../src/common/disposable.ts'
import { draftOf } from '../../../src/common/draft.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { KeyValueStore } from '../../../src/common/key-value-store.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { attachmentOf } from '../../../src/conversation/attachment.ts'
import { terminalsIn } from '../../../src/conversation/entries/tool-call.ts'
import { isReturned } from '../../../src/conversation/prompts/prompt-states.ts'
import type { SavedConversation } from '../../../src/conversation/replay/restore-state.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import { type KnownAgent, type LocalSession, MemoryStore } from '../../../src/history/session-store.ts'
import type { TranscriptChanges } from '../../../src/history/transcript-rows.ts'
import { appendText } from '../../../src/history/transcript-schema.ts'
import { AgentClients } from '../../../src/sessions/agent-client.ts'
import {
  type ControllerOptions,
  ConversationController,
} from '../../../src/sessions/conversation-controller.ts'
import { SessionDeleter } from '../../../src/sessions/listing/session-deleter.ts'
import { SessionOrganizer } from '../../../src/sessions/listing/session-organizer.ts'
import { OpenSessions } from '../../../src/sessions/open-sessions.ts'
import type {
  AgentDirectory,
  AgentEntry,
  ExistingSession,
  SavedConversations,
  SessionPlan,
  SessionPlanner,
  SessionRecords,
} from '../../../src/sessions/ports.ts'
import { PromptQueues } from '../../../src/sessions/prompt-queues.ts'
import { AgentRunners } from '../../../src/sessions/runners/agent-runners.ts'
import { HostedAgents } from '../../../src/sessions/runners/hosted-agents.ts'
import { SavedSessions } from '../../../src/sessions/saved-sessions.ts'
import { HeldSessions, type SessionLeases } from '../../../src/sessions/session-leases.ts'
import { SessionManager } from '../../../src/sessions/session-manager.ts'
import { SessionStarter } from '../../../src/sessions/session-starter.ts'
import { Accounts } from '../../../src/sessions/sign-in/accounts.ts'
import type { StartOptions } from '../../../src/sessions/start-options.ts'
import type { AgentHostProgram } from '../../support/agent-host-program.ts'
import { HeldConnections } from '../../support/held-connections.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../support/memory-unsent-texts.ts'
import { noContext } from '../../support/no-context.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'

/** Session records in memory. */
export class MemoryRecords implements SessionRecords {
  readonly records = new Map<string, Map<string, LocalSession>>()
  readonly #agents = new Map<string, KnownAgent>()

  agentIds(): string[] {
    return [...this.records.keys()]
  }
  list(agentId: string): LocalSession[] {
    return [...(this.records.get(agentId)?.values() ?? [])]
  }
  get(agentId: string, sessionId: string): LocalSession | undefined {
    return this.records.get(agentId)?.get(sessionId)
  }
  noted(...[agentId, session, said]: Parameters<SessionRecords['noted']>): void {
    const own = this.records.get(agentId) ?? new Map()
    this.records.set(agentId, own)
    const { sessionId, cwd, updatedAt = 1 } = session
    const known = own.get(sessionId) ?? {
      agentId,
      sessionId,
      cwd,
      additionalDirectories: [],
      createdAt: updatedAt,
      updatedAt,
    }
    own.set(sessionId, { ...known, ...said, givenTitle: (said.givenTitle ?? known.givenTitle) || undefined })
  }
  opened(...[agentId, record]: Parameters<SessionRecords['opened']>): void {
    const own = this.records.get(agentId) ?? new Map()
    this.records.set(agentId, own)
    const { continuedIn: _, ...known }: Partial<LocalSession> = own.get(record.sessionId) ?? {}
    own.set(record.sessionId, {
      createdAt: 1,
      ...known,
      ...record,
      agentId,
      updatedAt: 1,
    })
  }
  touched(agentId: string, sessionId: string, title: string | undefined): void {
    const record = this.records.get(agentId)?.get(sessionId)
    if (record) record.title = title ?? record.title
  }
  forget(agentId: string, sessionId: string): void {
    this.records.get(agentId)?.delete(sessionId)
  }
  agent(agentId: string): KnownAgent | undefined {
    return this.#agents.get(agentId)
  }
  agentRuns(agentId: string, agent: KnownAgent): void {
    this.#agents.set(agentId, agent)
  }
}

/** Conversations in memory, serialized like in a database. */
export class MemoryTranscripts implements SavedConversations {
  readonly kept = new Map<string, SavedConversation>()
  readonly writes: TranscriptChanges[] = []
  fails = false

  readonly #options = new Map<string, string>()

  keys(): ReadonlySet<string> {
    return new Set(this.kept.keys())
  }
  options(agentId: string, sessionId: string): ConfigOption[] | undefined {
    const options = this.#options.get(`${agentId}/${sessionId}`)
    return options === undefined ? undefined : (JSON.parse(options) as ConfigOption[])
  }
  revision(agentId: string, sessionId: string): string | undefined {
    const kept = this.kept.get(`${agentId}/${sessionId}`)
    return kept && JSON.stringify(kept)
  }
  /** ids of what other windows saved meanwhile */
  separate = new Set<string>()
  copies(): ReadonlySet<string> {
    return new Set(this.separate)
  }
  forget(agentId: string, sessionId: string, copies?: ReadonlySet<string>): boolean {
    if (this.fails) return false
    this.kept.delete(`${agentId}/${sessionId}`)
    this.#options.delete(`${agentId}/${sessionId}`)
    for (const id of copies ?? this.separate) this.separate.delete(id)
    return true
  }
  write(agentId: string, sessionId: string, changes: TranscriptChanges): boolean {
    if (this.fails) return false
    this.writes.push(changes)
    const key = `${agentId}/${sessionId}`
    const known = changes.replace ? undefined : this.kept.get(key)
    const entries = [...(known?.entries ?? [])]
    for (const { position, entry } of changes.entries) entries[position] = structuredClone(entry)
    for (const { position, block, text } of changes.texts ?? []) appendText(entries[position], block, text)
    const terminals = new Map((known?.terminals ?? []).map(terminal => [terminal.terminalId, terminal]))
    for (const terminal of changes.terminals) terminals.set(terminal.terminalId, { ...terminal })
    for (const { terminalId, text } of changes.outputs ?? []) terminals.get(terminalId)!.output += text
    const head = changes.head ?? known?.head ?? {}
    const said = changes.said ?? known?.said
    if (changes.replace) this.#options.delete(key)
    if (changes.options) this.#options.set(key, JSON.stringify(changes.options))
    this.kept.set(key, {
      entries,
      terminals: [...terminals.values()],
      head: structuredClone(head),
      ...(said && { said }),
    })
    return true
  }
  read(agentId: string, sessionId: string): SavedConversation | undefined {
    const kept = this.kept.get(`${agentId}/${sessionId}`)
    return kept && kept.entries.length > 0 ? structuredClone(kept) : undefined
  }
  readEnd(...[agentId, sessionId, min, last]: Parameters<SavedConversations['readEnd']>) {
    const conversation = this.read(agentId, sessionId)
    const count = conversation?.entries.length ?? 0
    if (!conversation || count <= min) return undefined
    const first = count - last
    const entries = conversation.entries.slice(first)
    const ids = entries.flatMap(terminalsIn)
    const terminals = conversation.terminals.filter(({ terminalId }) => ids.includes(terminalId))
    return { first, conversation: { ...conversation, entries, terminals } }
  }
}

/** Session leases of several windows, in memory. */
export class MemoryLeases implements SessionLeases {
  readonly #lose = new Emitter<{ agentId: string; sessionId: string }>()
  readonly #request = new Emitter<{ agentId: string; sessionId: string }>()
  readonly onDidLose = this.#lose.event
  readonly onDidRequest = this.#request.event
  readonly #id = randomUUID()
  readonly #all: Map<string, MemoryLeases>
  readonly #missed: Array<{ agentId: string; sessionId: string }> = []
  #hangs = false
  #isDead = false

  constructor(all: Map<string, MemoryLeases>) {
    this.#all = all
  }
  /** The window doesn't respond to other windows, and learns afterward what it has lost. */
  set hangs(hangs: boolean) {
    this.#hangs = hangs
    if (hangs) return
    for (const { agentId, sessionId } of this.#missed.splice(0))
      if (!this.acquire(agentId, sessionId)) this.#lose.fire({ agentId, sessionId })
  }
  /** The window's process has ended. */
  die(): void {
    this.#isDead = true
    for (const [key, owner] of this.#all) if (owner === this) this.#all.delete(key)
  }
  acquire(agentId: string, sessionId: string, from?: string): boolean {
    if (this.#isDead) return false
    const owner = this.#all.get(`${agentId}/${sessionId}`)
    if (owner && owner !== this && owner.#id !== from) return false
    this.seize(agentId, sessionId)
    return true
  }
  isSeenElsewhere(agentId: string, sessionId: string): boolean {
    const owner = this.#all.get(`${agentId}/${sessionId}`)
    return owner !== undefined && owner !== this
  }
  release(agentId: string, sessionId: string): void {
    const key = `${agentId}/${sessionId}`
    if (this.#all.get(key) === this) this.#all.delete(key)
  }
  request(agentId: string, sessionId: string): void {
    const owner = this.#all.get(`${agentId}/${sessionId}`)
    if (owner && !owner.#hangs) owner.#request.fire({ agentId, sessionId })
  }
  seize(agentId: string, sessionId: string): string | undefined {
    const owner = this.#all.get(`${agentId}/${sessionId}`)
    this.#all.set(`${agentId}/${sessionId}`, this)
    if (!owner || owner === this) return undefined
    if (owner.#hangs) owner.#missed.push({ agentId, sessionId })
    else owner.#lose.fire({ agentId, sessionId })
    return owner.#id
  }
}

/** Shared by fixtures that are created later, like windows on one machine. */
let machine:
  | {
      leases: Map<string, MemoryLeases>
      transcripts: MemoryTranscripts
      records?: MemoryRecords
      unsent: UnsentTable
      hosting?: Hosting
    }
  | undefined

/** Agents of the agent host. */
export interface Hosting {
  program: AgentHostProgram
  launch: AgentLaunch
  /** of the windows that open from now on, if it isn't this one's */
  version?: number
}

/** Windows on one machine, whose agents are real ones, which outlive them. */
export function hostedWindows(
  hosting: Hosting,
  transcripts: MemoryTranscripts = new MemoryTranscripts(),
): () => SessionsFixture {
  const shared = {
    leases: new Map<string, MemoryLeases>(),
    transcripts,
    records: new MemoryRecords(),
    unsent: new UnsentTable(),
    hosting,
  }
  return () => {
    machine = shared
    try {
      return new SessionsFixture()
    } finally {
      machine = undefined
    }
  }
}

/** Two windows on one machine; with `hosting`, their agents are real ones, which outlive them. */
export function twoWindows(hosting?: Hosting): [SessionsFixture, SessionsFixture] {
  const transcripts = new MemoryTranscripts()
  machine = {
    leases: new Map(),
    transcripts,
    unsent: new UnsentTable(),
    ...(hosting && { hosting, records: new MemoryRecords() }),
  }
  try {
    return [new SessionsFixture(), new SessionsFixture()]
  } finally {
    machine = undefined
  }
}

/** All of `sessions/`, with fake agents that the test controls. */
export class SessionsFixture {
  readonly entries: AgentEntry[] = [
    { agentId: 'one', name: 'Agent One', source: 'settings' },
    { agentId: 'two', name: 'Agent Two', source: 'settings' },
  ]
  readonly started: Array<{ agentId: string; agent: FakeAgent }> = []
  readonly usage = new MemoryStore()
  /** Can throw, so that the start fails. */
  onStart: (agentId: string) => void | Promise<void> = () => {}
  /** Adds capabilities to an agent. */
  prepare: (agent: FakeAgent) => void = () => {}
  readonly agentsChanged = new Emitter<void>()
  /** Fires when a file was saved in the editor. */
  readonly saved = new Emitter<string>()
  /** The files that were checked on disk. */
  readonly looked = new Set<string>()
  /** Listeners for files that change on disk. */
  readonly watched: Array<(path: string) => void> = []
  readonly kept = new Map<string, unknown>()
  /** the drafts and prompts of all windows on disk */
  readonly unsent = machine?.unsent ?? new UnsentTable()
  readonly #workspace = randomUUID()
  readonly drafts = new DraftStore(new MemoryUnsentTexts(this.unsent, { workspace: this.#workspace }))
  readonly #hosting = machine?.hosting
  /** those to the agent host */
  readonly connections = new HeldConnections()
  /** what prompts can refer to */
  readonly sources = { ...noContext }
  readonly queues: PromptQueues = new PromptQueues({
    storage: this.drafts,
    sources: this.sources,
    continuing: this.#hosting && {
      continues: key => this.hosted?.continues(key),
      sessionOf: queue => this.manager.openSessions.sessionOf(queue),
    },
  })
  readonly records = machine?.records ?? new MemoryRecords()
  readonly transcripts = machine?.transcripts ?? new MemoryTranscripts()
  readonly leases = new MemoryLeases(machine?.leases ?? new Map())
  /** A window only writes the conversations of sessions that it has. */
  readonly #ownTranscripts: SavedConversations = {
    read: (...session) => this.transcripts.read(...session),
    readEnd: (...wanted) => this.transcripts.readEnd(...wanted),
    options: (...session) => this.transcripts.options(...session),
    revision: (...session) => this.transcripts.revision(...session),
    copies: () => this.transcripts.copies(),
    forget: (...session) => this.transcripts.forget(...session),
    write: (agentId, sessionId, changes) =>
      this.leases.acquire(agentId, sessionId) && this.transcripts.write(agentId, sessionId, changes),
  }
  readonly used: string[] = []
  /** the sessions that were planned, with their previous folders */
  readonly existing: ExistingSession[] = []
  trusted = true
  /** how all agents are configured to start */
  launchId: string | undefined = 'as ever'
  /** Whether the login shell told its environment. */
  isSearchSure = true
  /** Whether the next window finds agents. */
  isMarked: boolean | undefined
  readonly variableSignIns: string[] = []
  variablesFail: Error | undefined
  readonly nativeQuestions: string[] = []
  readonly completed: string[] = []
  readonly terminalSignIns: string[] = []
  terminalFails: Error | undefined
  /** The milliseconds after which opening is reported as slow. */
  slowAfterMs: number | undefined
  elsewhere: NonNullable<ControllerOptions['elsewhere']> = () => undefined
  /** what the options of new sessions are set to */
  startOptions: StartOptions = { defaults: {}, lastUsed: {} }
  plan: SessionPlan | undefined = {
    setup: { cwd: '/w/a', additionalDirectories: ['/w/b'], mcpServers: [] },
    roots: {
      cwd: '/w/a',
      cwdLabel: 'a',
      additional: [{ path: '/w/b', label: 'b' }],
      unseen: [],
      scratch: false,
    },
    mcpServers: [],
  }

  defaultProblem: ReturnType<AgentDirectory['defaultProblem']>
  readonly directory: AgentDirectory = {
    list: () => this.entries,
    get: agentId => this.entries.find(entry => entry.agentId === agentId),
    ready: async () => {},
    problems: () => [],
    defaultAgentId: () => (this.defaultProblem ? undefined : this.entries[0]?.agentId),
    defaultProblem: () => this.defaultProblem,
    isSearched: () => true,
    used: agentId => void this.used.push(agentId),
    resolveLaunch: async agentId => this.#hosting?.launch ?? launch(agentId),
    onDidChange: this.agentsChanged.event,
  }
  readonly start: StartAgent = async ({ command }) => {
    await this.onStart(command)
    const agent = new FakeAgent()
    this.prepare(agent)
    this.started.push({ agentId: command, agent })
    return agent
  }
  readonly runners: AgentRunners = new AgentRunners({
    agents: this.directory,
    lastName: agentId => this.records.agent(agentId)?.name,
    nextEarlier: async agentId => this.hosted?.nextEarlier(agentId),
    start: this.#hosting ? startAgent : this.start,
    client: (agentId, sessions) => this.clients.of(agentId, sessions),
    connectOptions: agentId => ({
      clientInfo: { name: 'test', title: 'Test', version: '0' },
      initializeTimeoutMs: this.#hosting ? 60_000 : 1000,
      maxFrameBytes: this.#hosting ? 1_000_000 : 1000,
      log: silentLogger,
      ...(this.hosted && { startProcess: this.hosted.startProcess(agentId)! }),
    }),
    reattach: async (agentId, running) => this.hosted?.reattach(agentId, running),
  })
  /** files with unsaved changes in notebooks */
  readonly unsavedNotebooks = new Set<string>()
  readonly files = filesShared({
    documents: {
      ...noDocuments,
      isUnsavedElsewhere: paths => paths.some(path => this.unsavedNotebooks.has(path)),
    },
    fileSystem: {
      ...disk,
      realpath: path => {
        this.looked.add(path)
        return disk.realpath(path)
      },
    },
    watch: listener => {
      this.watched.push(listener)
      return toDisposable(() => this.watched.splice(this.watched.indexOf(listener), 1))
    },
  })
  readonly planner: SessionPlanner = {
    forNew: async (_agentId, _can, cwd) =>
      this.plan && cwd !== undefined ? { ...this.plan, setup: { ...this.plan.setup, cwd } } : this.plan,
    forExisting: async session => {
      if (!this.plan) throw new Error('no plan')
      this.existing.push(session)
      return { ...this.plan, setup: { ...this.plan.setup, cwd: session.cwd } }
    },
    forReattached: async session => {
      if (!this.plan) throw new Error('no plan')
      return { ...this.plan, setup: { ...this.plan.setup, cwd: session.cwd } }
    },
  }
  readonly held: HeldSessions = new HeldSessions(this.leases, this.#hosting && 500)
  readonly #stored = this.#hosting ? this.#ownTranscripts : this.transcripts
  readonly openSessions = new OpenSessions(this.held, silentLogger)
  readonly manager = new SessionManager({
    openSessions: this.openSessions,
    services: {
      files: this.files,
      onDidSave: this.saved.event,
      environment: async () => ({}),
    },
    records: this.records,
    transcripts: this.#stored,
    queues: this.queues,
    tracker: memoryTracker(this.files),
  })
  readonly clients = new AgentClients({
    manager: this.manager,
    activeSession: agentId => {
      const { current } = this.controller
      return current?.agentId === agentId ? current.session : undefined
    },
    nameOf: agentId => agentId,
    nativeElicitation: {
      ask: async (agentName, { message }) => {
        this.nativeQuestions.push(`${agentName} ${message}`)
        return { action: 'decline' }
      },
      complete: elicitationId => void this.completed.push(elicitationId),
    },
    mcpMessage: async () => ({ result: {} }),
  })
  readonly deleter = new SessionDeleter({
    ...{ manager: this.manager, held: this.held, runner: this.runners.get, records: this.records },
    ...{ transcripts: this.transcripts, queues: this.queues },
  })
  readonly hosted: HostedAgents | undefined =
    this.#hosting &&
    new HostedAgents({
      hosts: this.#hosting.program.window({
        connect: this.connections.connect,
        ...(this.#hosting.version !== undefined && { version: this.#hosting.version }),
      }),
      workspace: 'file:///w/a',
      keep: () => 'untilDone',
      trusted: () => this.trusted,
      agents: this.directory,
      onUnreachable: () => {},
      isSearchSure: () => this.isSearchSure,
      launchOf: () => this.launchId,
      nameOf: agentId => agentId,
      holdSecrets: async () => {},
      lastAgentId: () => undefined,
      runners: this.runners,
      ...{ manager: this.manager, held: this.held, planner: this.planner },
      ...{ records: this.records, transcripts: this.#stored, queues: this.queues },
      onUnavailable: () => {},
      onTooMuchUnsaved: () => {},
      mark: mayRun => {
        this.isMarked = mayRun
      },
      log: silentLogger,
    })
  readonly savedSessions = new SavedSessions({
    ...{ manager: this.manager, runner: this.runners.get, records: this.records, transcripts: this.#stored },
    agents: this.directory,
  })
  readonly starter = new SessionStarter({
    ...{ manager: this.manager, held: this.held, saved: this.savedSessions, clients: this.clients },
    ...{ planner: this.planner, records: this.records, transcripts: this.#stored, queues: this.queues },
    ...{ runner: this.runners.get, hosted: this.hosted },
    startOptions: async () => this.startOptions,
    usage: this.usage,
  })
  readonly accounts = new Accounts(this.directory, this.runners, silentLogger)
  readonly controller: ConversationController = this.place(this.kept)

  readonly organizer = new SessionOrganizer({
    runner: this.runners.get,
    manager: this.manager,
    records: this.records,
  })

  /** Nothing reaches the window, until it does all at once. */
  set isBusy(isBusy: boolean) {
    this.connections.isHeld = isBusy
    this.leases.hangs = isBusy
  }

  /** As if its process was killed: nothing that it does now reaches anything. */
  kill(): void {
    this.connections.cut()
    this.leases.die()
  }

  /** As for a reload. */
  async close(): Promise<void> {
    this.hosted?.dispose()
    for (const one of [this.controller, this.manager]) one.dispose()
    this.leases.die()
  }

  /** The queues of a window that opens after this one. */
  nextWindow(): { queues: PromptQueues } {
    const storage = new DraftStore(new MemoryUnsentTexts(this.unsent.copy(), { workspace: this.#workspace }))
    return { queues: new PromptQueues({ storage, sources: this.sources }) }
  }

  changedOnDisk(path: string): void {
    for (const listener of [...this.watched]) listener(path)
  }

  /** Creates a place for conversations, such as a tab. */
  place(kept = new Map<string, unknown>(), newKey = 'new'): ConversationController {
    return new ConversationController({
      ...(this.slowAfterMs !== undefined && { slowAfterMs: this.slowAfterMs }),
      elsewhere: (reference, mine) => this.elsewhere(reference, mine),
      continued: reference => this.hosted?.continued(reference),
      accounts: this.accounts,
      ...{ manager: this.manager, starter: this.starter, saved: this.savedSessions, held: this.held },
      records: this.records,
      agents: this.directory,
      runner: this.runners.get,
      trusted: () => this.trusted,
      store: {
        get: <T>(key: string) => kept.get(key) as T,
        set: (key, value) => kept.set(key, value),
      },
      drafts: this.drafts,
      queues: this.queues,
      newKey,
      signInTerminal: async (agentId, method) => {
        this.terminalSignIns.push(`${agentId} ${method.methodId}`)
        if (this.terminalFails) throw this.terminalFails
      },
      signInVariables: async (agentId, method) => {
        this.variableSignIns.push(`${agentId} ${method.methodId}`)
        if (this.variablesFail) throw this.variablesFail
      },
      log: silentLogger,
    })
  }

  /** The most recently started agent. */
  get agent(): FakeAgent {
    const last = this.started.at(-1)
    if (!last) throw new Error('no agent was started')
    return last.agent
  }

  /** A fixture whose first place shows a session `s1` of agent `one`. */
  static async withSession(): Promise<SessionsFixture> {
    const fixture = new SessionsFixture()
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    return fixture
  }
}

/**
 * Queues a prompt. Resolves when it's with its session; rejects with the reason if it was refused, and leaves it to the
 * composer.
 */
export async function sendPrompt(
  controller: ConversationController,
  prompt: string | ContentBlock[],
): Promise<void> {
  const { queue } = controller.prompts
  const id = randomUUID()
  const content: ContentBlock[] = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt
  const draft = draftOf(content, attachmentOf)
  controller.prompts.enqueue(controller.key, { id, draft })
  const find = () => queue.prompts.find(prompt => prompt.id === id)
  await until(() => find()?.state !== 'sending')
  const left = find()
  if (!left || !isReturned(left.state)) return
  const { reason } = left
  queue.movedToComposer([id], left.draft)
  throw new Error(reason)
}

export function memoryStore(): KeyValueStore {
  const values = new Map<string, string>()
  return {
    get(key) {
      const value = values.get(key)
      return value === undefined ? undefined : JSON.parse(value)
    },
    set(key, value) {
      if (value === undefined) values.delete(key)
      else values.set(key, JSON.stringify(value))
    },
  }
}

function launch(agentId: string): AgentLaunch {
  return { command: agentId, args: [], env: {}, cwd: '/' }
}

export function authRequired(method: string): AgentRequestError {
  return new AgentRequestError(method, 'auth-required', { code: -32000, message: 'Authentication required' })
}
