import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import fs from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { AgentStartError, type StartAgent, type TraceFrame, type TraceTap } from '../../src/acp/agent.ts'
import type { AgentCapabilities } from '../../src/acp/model.ts'
import { startAgent } from '../../src/acp/start-agent.ts'
import type { AgentDefinition, DefaultOptions } from '../../src/agents/definition.ts'
import { resolveLaunch } from '../../src/agents/resolve-launch.ts'
import { EDITOR_TOOL_NAMES } from '../../src/common/editor-tool-names.ts'
import { Emitter } from '../../src/common/event.ts'
import { silentLogger } from '../../src/common/logger.ts'
import { mergeEnvironment } from '../../src/common/processes/spawn-process.ts'
import type { RootsPlan } from '../../src/common/roots-plan.ts'
import { messageBefore } from '../../src/conversation/rewinds.ts'
import type { PermissionEntry } from '../../src/conversation/state.ts'
import { noDocuments } from '../../src/editor/files/documents.ts'
import { disk } from '../../src/editor/files/file-system.ts'
import { filesShared } from '../../src/editor/files/files.ts'
import { FolderComparison } from '../../src/editor/folder-comparison.ts'
import { PathGuard } from '../../src/editor/path-guard.ts'
import { PathRules } from '../../src/editor/path-rules.ts'
import { planRoots, rootsForExisting, rootsOf } from '../../src/editor/roots.ts'
import { bridgedServer } from '../../src/mcp/bridge/bridged-server.ts'
import { McpInputs } from '../../src/mcp/inputs.ts'
import { McpServers } from '../../src/mcp/mcp-servers.ts'
import type { EditorFeatures } from '../../src/mcp/server/editor-features.ts'
import { EditorTools } from '../../src/mcp/server/editor-tools.ts'
import type { ToolConversation } from '../../src/mcp/server/tool.ts'
import { McpSwitches } from '../../src/mcp/switches.ts'
import { AgentClients } from '../../src/sessions/agent-client.ts'
import { type OpenSession, referenceOf } from '../../src/sessions/open-session.ts'
import { OpenSessions } from '../../src/sessions/open-sessions.ts'
import type {
  SavedConversations,
  SessionPlan,
  SessionPlanner,
  SessionRecords,
} from '../../src/sessions/ports.ts'
import { PromptQueues } from '../../src/sessions/prompt-queues.ts'
import { AgentRunner, type RunningAgent } from '../../src/sessions/runners/agent-runner.ts'
import { SavedSessions } from '../../src/sessions/saved-sessions.ts'
import { HeldSessions } from '../../src/sessions/session-leases.ts'
import { SessionManager } from '../../src/sessions/session-manager.ts'
import { SessionStarter } from '../../src/sessions/session-starter.ts'
import { rootVariable } from '../host/isolated-root.ts'
import { projectDirectory } from '../host/paths.ts'
import { processesStartedIn, type StrayProcess } from '../host/processes.ts'
import { waitFor } from '../host/wait-for.ts'
import { memoryTracker } from '../support/memory-tracker.ts'
import { noContext } from '../support/no-context.ts'
import { SchemaCheck } from '../support/schema-check.ts'
import { memoryStore } from '../unit/sessions/sessions-fixture.ts'
import { SETUPS } from './agents.ts'
import { type AgentName, installAgent, MCP_SERVER } from './install.ts'
import { mcpServerArgs, startMcpServer } from './mcp-server.ts'
import { type MockModel, startMockModel } from './mock-model/server.ts'
import { TRACES } from './paths.ts'

/** Decides the user's answer to a request; `undefined` leaves it pending. */
export type AnswerPolicy = (question: PermissionEntry) => string | undefined

/** Allows everything once. */
export const allow: AnswerPolicy = question => optionOf(question, 'allow_once')
/** Rejects everything once. */
export const reject: AnswerPolicy = question => optionOf(question, 'reject_once')

function optionOf(question: PermissionEntry, kind: string): string | undefined {
  const option =
    question.options.find(candidate => candidate.kind === kind) ??
    question.options.find(candidate => candidate.kind.startsWith(kind.split('_')[0] ?? ''))
  return option?.optionId
}

/** One of several ways to start an agent. */
export interface Variant {
  /** The name of the traces; the agent's name by default. */
  name?: string
  protocol?: 'stable' | 'latest'
  env?: Record<string, string>
  /** With the command that npm installs, in folders with spaces and quotes in their names. */
  byCommand?: true
  /** For an agent that Parley installed: how it starts, with the configuration for the mock model. */
  installed?: { define: (setup: AgentDefinition) => AgentDefinition; start: StartAgent }
}

/**
 * Runs a real agent with Parley's own session manager, files and terminals: everything except the editor. Writes every
 * frame to `out/agents/<agent>-<scenario>.ndjson`, and checks Parley's against the official schema.
 */
export class AgentRig {
  readonly name: AgentName
  readonly #variant: Variant
  readonly model: MockModel
  readonly workspace: string
  /** the agent's home directory */
  readonly home: string
  /** Answers the permission requests of all sessions. */
  answerPolicy: AnswerPolicy = allow
  readonly questions: PermissionEntry[] = []
  readonly frames: TraceFrame[] = []
  stderr = ''
  /** Gives new sessions a second folder and an MCP server, as in the settings of a workspace. */
  addsFolderAndServer = false
  /** What the options of new sessions are set to. */
  defaults: DefaultOptions = {}
  /** Gives new sessions the editor's own tools. */
  editorFeatures: EditorFeatures | undefined
  #editorTools = this.#newEditorTools()
  /** where tools of the editor ask, by the key of the session */
  readonly #conversations = new Map<string, ToolConversation>()
  /** How that server is reached. Agents support no other transport than stdio then, so that it's bridged. */
  serverTransport: 'stdio' | 'http' | 'sse' = 'stdio'
  #remoteServer: ChildProcess | undefined
  readonly #root: string
  readonly #folder: string
  readonly #check: SchemaCheck
  readonly #tap: { current: TraceTap | undefined } = { current: frame => this.#see(frame) }
  #sessions: { manager: SessionManager; clients: AgentClients; starter: SessionStarter }
  #runner: AgentRunner
  #scenario = 'start'
  #written = Promise.resolve()

  private constructor(name: AgentName, variant: Variant, model: MockModel, root: string, folder: string) {
    this.name = name
    this.#variant = variant
    this.model = model
    this.#root = root
    // only Parley's messages have to be valid
    this.#check = new SchemaCheck({
      alsoAllowed: ['session/set_model', 'session/fork'],
      directions: name === 'demo' ? ['send', 'receive'] : ['send'],
    })
    this.#folder = folder
    this.workspace = path.join(root, 'workspace')
    this.home = path.join(root, 'home')
    this.#runner = this.#newRunner()
    this.#sessions = this.#newSessions()
  }

  static async create(name: AgentName, variant: Variant = {}): Promise<AgentRig> {
    const install = async () => (variant.installed ? '' : installAgent(name))
    const [folder, model] = await Promise.all([install(), startMockModel()])
    const root = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), folderOf(name, variant))))
    await fs.mkdir(path.join(root, 'home'))
    await fs.mkdir(path.join(root, 'workspace'))
    await fs.mkdir(TRACES, { recursive: true })
    const rig = new AgentRig(name, variant, model, root, folder)
    await rig.resetWorkspace()
    return rig
  }

  /** Resets the workspace to its initial state. */
  async resetWorkspace(): Promise<void> {
    for (const entry of await fs.readdir(this.workspace)) {
      await fs.rm(path.join(this.workspace, entry), { recursive: true })
    }
    await fs.writeFile(this.file('hello.txt'), 'first line\nhello world\nlast line\n')
    await fs.writeFile(this.file('README.md'), '# Sample\n')
  }

  /** The second folder. */
  get secondFolder(): string {
    return path.join(this.#root, 'second')
  }

  /** The file in which the MCP server logs who listed its tools, and the texts it was called with. */
  get mcpCallLog(): string {
    return path.join(this.#root, 'mcp-calls.txt')
  }

  file(name: string): string {
    return path.join(this.workspace, name)
  }

  /** Starts the trace of a scenario, and resets the options of the previous one. */
  async startScenario(scenario: string): Promise<void> {
    this.#scenario = scenario
    this.questions.length = 0
    this.addsFolderAndServer = false
    this.editorFeatures = undefined
    this.serverTransport = 'stdio'
    this.#remoteServer?.kill()
    await fs.rm(this.mcpCallLog, { force: true })
    this.answerPolicy = allow
    await fs.rm(this.#traceFile(), { force: true })
  }

  /** The running agent; starts it if necessary. */
  running(): Promise<RunningAgent> {
    return this.#runner.ensure()
  }

  create(): Promise<OpenSession> {
    return this.#sessions.starter
      .create(this.name, new AbortController().signal)
      .then(open => this.#attend(open))
  }

  reopen(how: 'load' | 'resume', sessionId: string): Promise<OpenSession> {
    const reference = { agentId: this.name, sessionId, cwd: this.workspace }
    // a request can arrive while the session is being opened
    const onSession = (open: OpenSession) => void this.#attend(open)
    return this.#sessions.starter.reopen(how, reference, new AbortController().signal, { onSession })
  }

  /** Goes on with the conversation of another agent: in a new session, or in this one, in which it was before. */
  continue(from: OpenSession, sessionId?: string): Promise<OpenSession> {
    const { signal } = new AbortController()
    const { starter } = this.#sessions
    const reference = sessionId !== undefined && { agentId: this.name, sessionId, cwd: this.workspace }
    const continues = { from }
    const opening = reference
      ? starter.reopen('restore', reference, signal, {}, undefined, continues)
      : starter.create(this.name, signal, {}, { continues })
    return opening.then(open => this.#attend(open))
  }

  /** Forks a session at the agent's last message before this turn. */
  fork(open: OpenSession, turn: number): Promise<OpenSession> {
    const messageId = messageBefore(open.session.state, turn)
    if (messageId === undefined) throw new Error(`There is no message before turn ${turn}`)
    const at = { messageId, turn, otherwise: 'stay' } as const
    return this.#sessions.starter
      .fork(referenceOf(open), new AbortController().signal, {}, at)
      .then(fork => this.#attend(fork))
  }

  /** Sends the prompt that starts a scenario of the mock model, and returns how the turn ended. */
  promptScenario({ session }: OpenSession, scenario: string): ReturnType<typeof session.prompt> {
    return session.prompt([{ type: 'text', text: `please [[${scenario} ${this.workspace}]]` }])
  }

  cancel(open: OpenSession): void {
    open.cancel()
  }

  /** Stops the agent and its child processes, and prepares a new one with the same home folder. */
  async restart(): Promise<void> {
    await this.#stop()
    this.#runner = this.#newRunner()
    this.#sessions = this.#newSessions()
  }

  /** The agent's frames with this method. */
  received(method: string): TraceFrame[] {
    return this.frames.filter(
      ({ direction, message }) =>
        direction === 'receive' && (message as { method?: string }).method === method,
    )
  }

  /** Parley's requests and notifications with this method. */
  sent(method: string): TraceFrame[] {
    return this.frames.filter(
      ({ direction, message }) => direction === 'send' && (message as { method?: string }).method === method,
    )
  }

  /**
   * Serves the editor's tools like the next window, while the agent runs on with the connection that it has: the window before
   * closed its server, and this one listens at the same address.
   */
  async reloadEditorTools({ plan, key, session }: OpenSession): Promise<void> {
    const { address } = plan.editorTools!
    assert.ok(address && 'port' in address)
    this.#editorTools.dispose()
    await waitFor('end of the server', async () => !(await accepts(address.port)))
    this.#editorTools = this.#newEditorTools()
    const { mcp, hiddenTools } = session.agent.capabilities
    const lost = () => assert.fail('The port of the tools is taken')
    const { tools } = this.#editorTools.resume(
      address,
      rootsOf(plan.roots),
      { ...mcp, hiddenTools },
      key,
      lost,
    )
    tools.begin(this.#conversations.get(key)!, key)
    await tools.reopen!()
  }

  #newEditorTools(): EditorTools {
    return new EditorTools({
      features: async () => this.editorFeatures!,
      names: () => (this.editorFeatures ? EDITOR_TOOL_NAMES : []),
      onDidChangeNames: () => ({ dispose() {} }),
      switches: { isOffIn: () => false, set() {} },
      guard: roots => new PathGuard(roots),
      bridge: () => Promise.reject(new Error('The tests of agents use HTTP.')),
      version: '0.0.0',
      secrets: { add() {} },
      log: silentLogger,
    })
  }

  /** Stops everything, and fails if a message of Parley didn't match the official schema. */
  async close(): Promise<void> {
    await this.#stop()
    this.#editorTools.dispose()
    await this.model.close()
    await this.#written
    this.#remoteServer?.kill()
    await fs.rm(this.#root, { recursive: true, force: true, maxRetries: 5 })
    this.#check.assertClean()
  }

  /** The processes that the agent and its commands left running; Linux only. */
  processes(): StrayProcess[] {
    return process.platform === 'linux' ? processesStartedIn(this.#root) : []
  }

  waitFor(what: string, isSo: () => boolean): Promise<unknown> {
    return waitFor(what, isSo)
  }

  async #stop(): Promise<void> {
    const running = this.#runner.running
    const ended = running && new Promise<void>(resolve => running.agent.onDidClose(() => resolve()))
    this.#sessions.manager.dispose()
    this.#runner.dispose()
    await ended
    await this.waitFor('the end of every process', () => this.processes().length === 0)
  }

  #newRunner(): AgentRunner {
    return new AgentRunner({
      agentId: this.name,
      name: () => this.name,
      start: this.#variant.installed?.start ?? startAgent,
      client: sessions => this.#sessions.clients.of(this.name, sessions),
      connectOptions: () => ({
        clientInfo: { name: 'parley-tests', title: 'Parley tests', version: '0.0.0' },
        // a program that was just installed is slow to start on a busy machine
        initializeTimeoutMs: 180_000,
        maxFrameBytes: 64 * 1024 * 1024,
        protocol: this.#variant.protocol ?? 'stable',
        log: silentLogger,
        tap: this.#tap,
        onStderr: line => {
          this.stderr += `${line}\n`
        },
      }),
      resolveLaunch: async () => {
        const setup = await SETUPS[this.name]({
          home: this.home,
          folder: this.#folder,
          port: this.model.port,
          byCommand: this.#variant.byCommand === true,
        })
        const definition = this.#variant.installed?.define(setup) ?? setup
        definition.env = { ...definition.env, ...this.#variant.env }
        const { platform } = process
        const resolution = await resolveLaunch(definition, {
          environment: { env: this.#environment(), platform, source: 'process' },
          folders: [{ name: 'workspace', path: this.workspace }],
          userHome: this.home,
        })
        if ('ok' in resolution) return resolution.ok
        throw new AgentStartError(resolution.failure, resolution.message)
      },
    })
  }

  /** The MCP server as in the settings. */
  async #server(sdk: string): Promise<object> {
    const type = this.serverTransport
    if (type === 'stdio') return { command: process.execPath, args: mcpServerArgs(sdk, this.mcpCallLog) }
    const { child, url } = await startMcpServer(sdk, this.mcpCallLog, type)
    this.#remoteServer = child
    return { type, url }
  }

  #newSessions(): { manager: SessionManager; clients: AgentClients; starter: SessionStarter } {
    const rules = new PathRules()
    const environment = { env: this.#environment(), platform: process.platform, source: 'process' as const }
    const folders = () => [
      { name: 'workspace', scheme: 'file', path: this.workspace },
      ...(this.addsFolderAndServer ? [{ name: 'second', scheme: 'file', path: this.secondFolder }] : []),
    ]
    const input = ({ additionalDirectories }: AgentCapabilities) => ({
      folders: folders(),
      additionalDirectories,
      home: this.#root,
      rules,
      compare: new FolderComparison(rules),
    })
    // like the extension's own plan, but without VS Code's settings and folders
    const planned = async (
      roots: RootsPlan,
      { mcp, hiddenTools }: AgentCapabilities,
    ): Promise<SessionPlan> => {
      const sdk = this.addsFolderAndServer ? await installAgent(MCP_SERVER) : ''
      if (this.addsFolderAndServer) await fs.mkdir(this.secondFolder, { recursive: true })
      const value = this.addsFolderAndServer ? { probe: await this.#server(sdk) } : {}
      const servers = new McpServers({
        settings: {
          layers: key => (key === 'mcpServers' ? [{ scope: 'user', value }] : []),
          onDidChange: new Emitter<void>().event,
        },
        environment: { get: async () => environment },
        inputs: new McpInputs({ prompt: async () => undefined }, noSecrets, 'tests'),
        allow: async () => new Set(),
        switches: new McpSwitches(memoryStore(), memoryStore()),
        signIns: { isSignedIn: async () => false, tokensFor: () => Promise.reject(new Error('signed out')) },
        bridges: {
          bridge: async server => ({
            server: bridgedServer(
              server,
              { execPath: process.execPath, script: path.join(projectDirectory, 'dist/mcp-bridge.js') },
              environment,
            ),
          }),
        },
        locations: () => ({
          folders: folders(),
          workspaceFile: undefined,
          userFolder: this.home,
          workspaceIdentity: '',
        }),
        trusted: () => true,
        userHome: this.home,
        log: silentLogger,
      })
      const can = this.serverTransport === 'stdio' ? mcp : { stdio: mcp.stdio, http: false, sse: false }
      const { passed, notes } = await servers.select(can, { agentId: 'tested', cwd: roots.cwd })
      servers.dispose()
      const { tools } = await this.#editorTools.offer(
        rootsOf(roots),
        { ...mcp, hiddenTools, agentId: this.name },
        [],
      )
      const begin = tools?.begin.bind(tools)
      if (tools && begin)
        tools.begin = (conversation, key) => {
          this.#conversations.set(key, conversation)
          begin(conversation, key)
        }
      const mcpServers = tools ? [...passed, tools.server] : passed
      const setup = { ...rootsOf(roots), mcpServers }
      return { setup, roots, mcpServers: notes, ...(tools && { editorTools: tools }) }
    }
    const planner: SessionPlanner = {
      forNew: async (_, can) => {
        const decision = planRoots({ ...input(can), setting: 'first' })
        return decision.type === 'planned' ? planned(decision.plan, can) : undefined
      },
      forExisting: (session, can) => planned(rootsForExisting(session, input(can)), can),
      forReattached: (session, can) => planned(rootsForExisting(session, input(can)), can),
    }
    const transcripts: SavedConversations = {
      read: () => undefined,
      readEnd: () => undefined,
      options: () => undefined,
      revision: () => undefined,
      write: () => true,
      copies: () => new Set(),
      forget: () => true,
    }
    const queues = new PromptQueues({
      storage: {
        save() {},
        holds: () => true,
        claim: () => [],
        handOver: () => true,
        arrive: () => [],
        forget() {},
        onDidTakeOver: new Emitter<string>().event,
      },
      sources: noContext,
    })
    const held = new HeldSessions()
    const runner = () => this.#runner
    const records = noRecords
    const manager = new SessionManager({
      services: {
        files: filesShared({ documents: noDocuments, fileSystem: disk }),
        environment: async () => mergeEnvironment(this.#environment(), {}, process.platform),
      },
      ...{ openSessions: new OpenSessions(held), records, transcripts, queues },
      tracker: memoryTracker(),
    })
    const clients = new AgentClients({
      manager,
      activeSession: () => undefined,
      nameOf: agentId => agentId,
      nativeElicitation: { ask: async () => ({ action: 'decline' }), complete: () => {} },
      mcpMessage: (...asked) => this.#editorTools.message(...asked),
    })
    const saved = new SavedSessions({
      manager,
      runner,
      agents: { get: () => undefined },
      records,
      transcripts,
    })
    const starter = new SessionStarter({
      ...{ manager, held, saved, clients, planner, records, transcripts, queues, runner },
      startOptions: async () => ({ defaults: this.defaults, lastUsed: {} }),
    })
    return { manager, clients, starter }
  }

  /** Answers permission requests through the session, like a user. */
  #attend(open: OpenSession): OpenSession {
    const { session } = open
    const answer = () => {
      for (const entry of session.state.entries) {
        if (entry.kind !== 'permission' || entry.outcome || this.questions.includes(entry)) continue
        const optionId = this.answerPolicy(entry)
        this.questions.push(entry)
        if (optionId !== undefined)
          queueMicrotask(() => session.requests.answerPermission(entry.requestId, optionId))
      }
    }
    session.onDidChange(answer)
    answer()
    return open
  }

  /** Contains only what a program needs: nothing of the machine's owner, and no network except loopback. */
  #environment(): Record<string, string> {
    const { home } = this
    const kept = ['PATH', 'TMPDIR', 'SystemRoot', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP'].flatMap(name => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    return {
      ...Object.fromEntries(kept),
      HOME: home,
      USERPROFILE: home,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      [rootVariable]: this.#root,
    }
  }

  #see(frame: TraceFrame): void {
    this.frames.push(frame)
    this.#check.see(frame)
    const line = JSON.stringify({ ...frame, message: frame.message }).replaceAll(this.workspace, '/workspace')
    const file = this.#traceFile()
    this.#written = this.#written.then(() => fs.appendFile(file, `${line}\n`))
  }

  #traceFile(): string {
    return path.join(TRACES, `${this.#variant.name ?? this.name}-${this.#scenario}.ndjson`)
  }
}

/** Whether something listens at a port of this machine. */
function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function folderOf(name: AgentName, { byCommand }: Variant): string {
  return byCommand ? `it's ${name}'s (own) & folder ` : `parley-${name}-`
}

const noSecrets = { get: async () => undefined, store: async () => {}, delete: async () => {} }

const noRecords: SessionRecords = {
  agentIds: () => [],
  list: () => [],
  get: () => undefined,
  noted() {},
  opened() {},
  touched() {},
  forget() {},
  agent: () => undefined,
  agentRuns() {},
}
