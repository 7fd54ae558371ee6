import type { AgentLaunch, StartAgent } from '../../../src/acp/agent.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type { KeptConversation } from '../../../src/conversation/restore-state.ts'
import type { Documents } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../src/editor/files/files.ts'
import type { KnownAgent } from '../../../src/history/session-store.ts'
import { appendText } from '../../../src/history/transcript-schema.ts'
import type { TranscriptChanges } from '../../../src/history/transcripts.ts'
import {
  type ControllerParts,
  ConversationController,
} from '../../../src/sessions/conversation-controller.ts'
import { AgentHosts } from '../../../src/sessions/hosts/agent-hosts.ts'
import { SessionUpkeep } from '../../../src/sessions/listing/session-upkeep.ts'
import type {
  AgentDirectory,
  AgentEntry,
  SessionPlan,
  SessionRecord,
  SessionRecords,
  Transcripts,
} from '../../../src/sessions/ports.ts'
import { SessionManager } from '../../../src/sessions/session-manager.ts'
import { Accounts } from '../../../src/sessions/sign-in/accounts.ts'
import { until } from '../../support/until.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { MemoryDrafts } from './memory-drafts.ts'

/** Records in memory. */
class MemoryRecords implements SessionRecords {
  readonly records = new Map<string, Map<string, SessionRecord>>()
  readonly #agents = new Map<string, KnownAgent>()

  agentIds(): string[] {
    return [...this.records.keys()]
  }
  list(agentId: string): SessionRecord[] {
    return [...(this.records.get(agentId)?.values() ?? [])]
  }
  get(agentId: string, sessionId: string): SessionRecord | undefined {
    return this.records.get(agentId)?.get(sessionId)
  }
  noted(...[agentId, session, said]: Parameters<SessionRecords['noted']>): void {
    const own = this.records.get(agentId) ?? new Map()
    this.records.set(agentId, own)
    const { sessionId, cwd, updatedAt = 1 } = session
    const known = own.get(sessionId) ?? { sessionId, cwd, additionalDirectories: [], updatedAt }
    own.set(sessionId, { ...known, ...said, givenTitle: (said.givenTitle ?? known.givenTitle) || undefined })
  }
  opened(...[agentId, record]: Parameters<SessionRecords['opened']>): void {
    const own = this.records.get(agentId) ?? new Map()
    this.records.set(agentId, own)
    own.set(record.sessionId, { ...own.get(record.sessionId), ...record, updatedAt: 1 })
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

/** Conversations in memory, as a database keeps them. */
export class MemoryTranscripts implements Transcripts {
  readonly kept = new Map<string, KeptConversation>()
  readonly writes: TranscriptChanges[] = []
  fails = false

  has(agentId: string, sessionId: string): boolean {
    return this.read(agentId, sessionId) !== undefined
  }
  forget(agentId: string, sessionId: string): void {
    this.kept.delete(`${agentId}/${sessionId}`)
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
    this.kept.set(key, { entries, terminals: [...terminals.values()], head: structuredClone(head) })
    return true
  }
  read(agentId: string, sessionId: string): KeptConversation | undefined {
    const kept = this.kept.get(`${agentId}/${sessionId}`)
    return kept && kept.entries.length > 0 ? structuredClone(kept) : undefined
  }
}

/** The sessions' room, whole, with agents whose every move a test makes. */
export class House {
  readonly entries: AgentEntry[] = [
    { agentId: 'one', name: 'Agent One', source: 'settings' },
    { agentId: 'two', name: 'Agent Two', source: 'settings' },
  ]
  readonly started: Array<{ agentId: string; agent: FakeAgent }> = []
  /** Throws what a start shall fail with. */
  onStart: (agentId: string) => void | Promise<void> = () => {}
  /** Gives an agent what it can do besides. */
  prepare: (agent: FakeAgent) => void = () => {}
  readonly agentsChanged = new Emitter<void>()
  readonly kept = new Map<string, unknown>()
  readonly drafts = new MemoryDrafts()
  readonly records = new MemoryRecords()
  readonly transcripts = new MemoryTranscripts()
  readonly used: string[] = []
  trusted = true
  readonly variableSignIns: string[] = []
  variablesFail: Error | undefined
  readonly nativeQuestions: string[] = []
  readonly completed: string[] = []
  readonly terminalSignIns: string[] = []
  terminalFails: Error | undefined
  /** How long opening may take before the person is told that it does. */
  patienceMs: number | undefined
  elsewhere: NonNullable<ControllerParts['elsewhere']> = () => undefined
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

  readonly directory: AgentDirectory = {
    list: () => this.entries,
    get: agentId => this.entries.find(entry => entry.agentId === agentId),
    ready: async () => {},
    problems: () => [],
    defaultAgentId: () => this.entries[0]?.agentId,
    used: agentId => void this.used.push(agentId),
    resolveLaunch: async agentId => launch(agentId),
    onDidChange: this.agentsChanged.event,
  }
  readonly start: StartAgent = async ({ command }) => {
    await this.onStart(command)
    const agent = new FakeAgent()
    this.prepare(agent)
    this.started.push({ agentId: command, agent })
    return agent
  }
  readonly hosts: AgentHosts = new AgentHosts({
    agents: this.directory,
    lastName: agentId => this.records.agent(agentId)?.name,
    start: this.start,
    client: (agentId, sessions) => this.manager.client(agentId, sessions),
    connectOptions: () => ({
      clientInfo: { name: 'test', title: 'Test', version: '0' },
      initializeTimeoutMs: 1000,
      maxFrameBytes: 1000,
      log: silentLogger,
    }),
  })
  readonly manager: SessionManager = new SessionManager({
    host: this.hosts.get,
    planner: {
      forNew: async () => this.plan,
      forExisting: async (_agentId, cwd) => {
        if (!this.plan) throw new Error('no plan')
        return { ...this.plan, setup: { ...this.plan.setup, cwd } }
      },
    },
    services: {
      files: filesShared({ documents: noDocuments, fileSystem: disk }),
      environment: () => ({}),
    },
    records: this.records,
    transcripts: this.transcripts,
    drafts: this.drafts,
    activeSession: agentId => {
      const { current } = this.controller
      return current?.agentId === agentId ? current.session : undefined
    },
    nativeElicitation: {
      ask: async (agentId, { message }) => {
        this.nativeQuestions.push(`${agentId} ${message}`)
        return { action: 'decline' }
      },
      complete: elicitationId => void this.completed.push(elicitationId),
    },
  })
  readonly accounts = new Accounts(this.directory, this.hosts, silentLogger)
  readonly controller: ConversationController = this.place(this.kept)

  readonly upkeep = new SessionUpkeep({
    host: this.hosts.get,
    manager: this.manager,
    records: this.records,
  })

  /** A place for conversations, such as a tab. */
  place(kept = new Map<string, unknown>()): ConversationController {
    return new ConversationController({
      ...(this.patienceMs !== undefined && { patienceMs: this.patienceMs }),
      elsewhere: (reference, mine) => this.elsewhere(reference, mine),
      accounts: this.accounts,
      manager: this.manager,
      agents: this.directory,
      host: this.hosts.get,
      trusted: () => this.trusted,
      keep: {
        get: <T>(key: string) => kept.get(key) as T,
        set: (key, value) => kept.set(key, value),
      },
      drafts: this.drafts,
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

  /** The agent that was started last. */
  get agent(): FakeAgent {
    const last = this.started.at(-1)
    if (!last) throw new Error('no agent was started')
    return last.agent
  }

  /** A house whose first place shows a session `s1` of agent `one`. */
  static async withSession(): Promise<House> {
    const house = new House()
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await starting
    return house
  }
}

const noDocuments: Documents = { find: () => undefined } as unknown as Documents

function launch(agentId: string): AgentLaunch {
  return { command: agentId, args: [], env: {}, cwd: '/' }
}
