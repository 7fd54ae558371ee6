import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import type { AcpServerAddress, LocalServerAddress, ToolServerAddress } from '../../acp/agent.ts'
import { McpCode, RpcError } from '../../acp/errors.ts'
import type {
  AcpMcpServer,
  McpOutcome,
  McpRequest,
  McpServer,
  Roots as SessionRoots,
} from '../../acp/model.ts'
import type { SettingLayer } from '../../agents/setting-layers.ts'
import { deferred, delay, raceAbort, withDeadline } from '../../common/async.ts'
import { type Disposable, Owner, toDisposable } from '../../common/disposable.ts'
import { EDITOR_SERVER, EDITOR_TOOL_NAMES, type EditorToolName } from '../../common/editor-tool-names.ts'
import { CancelledError, messageOf } from '../../common/errors.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { HELD_CONNECTION_MS, HELD_PORT_POLL_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { readSettingValue, SETTINGS } from '../../common/settings.ts'
import type { BridgedServer, BridgeFollower } from '../bridge/bridges.ts'
import type { McpServerNote } from '../server-note.ts'
import type { McpSwitches } from '../switches.ts'
import type { AcpEndpoint, McpRefusal, Notify } from './acp-endpoint.ts'
import type { EditorFeatures } from './editor-features.ts'
import type { RootGuard } from './roots.ts'
import type { ToolConversation } from './tool.ts'
import type { EndpointOptions, ServedTools } from './tool-calls.ts'
import { ToolError } from './tool-error.ts'
import type { Endpoint, ToolServer } from './tool-server.ts'

export interface EditorToolsOptions {
  /** Loaded with the first session that gets the tools. */
  features: () => Promise<EditorFeatures>
  /** `parley.editorTools`; see {@link allowedTools} */
  names: () => readonly string[]
  /** Stores whether the user has turned the tools off for a session. */
  switches: Pick<McpSwitches, 'isOffIn' | 'set'>
  onDidChangeNames: (listener: () => void) => Disposable
  guard: (roots: SessionRoots) => RootGuard
  /** A program that connects an agent without HTTP to the server. */
  bridge: (server: Exclude<McpServer, { type: 'stdio' }>) => Promise<BridgedServer>
  version: string
  secrets: Pick<SecretRegistry, 'add'>
  log: Logger
  /** How long to wait for the port of an earlier window. Default: half a minute. */
  portMs?: number
}

/** The tools that the settings allow. A workspace, which may be anyone's, can only remove tools. */
export function allowedTools(layers: readonly SettingLayer[]): readonly string[] {
  let names: readonly string[] = SETTINGS.editorTools.default
  for (const { scope, value } of layers) {
    const own = readSettingValue('editorTools', value)
    const isOfUser = scope === 'default' || scope === 'user'
    names = isOfUser ? own : names.filter(name => own.includes(name))
  }
  return names
}

/** The editor's tools among the servers that are switched off. */
const SWITCH = 'parley.editorTools'

/** The displayed data of the editor's server, the same for all sessions. */
function ownNote(type: 'acp' | 'http' = 'http') {
  return { type, source: l10n.t('editor tools'), isEditor: true } as const
}

/** The transports of an agent's MCP servers. */
interface Transports {
  http: boolean
  stdio: boolean
  acp?: true
}

/** What the tools know of an agent. */
interface AgentTools {
  /** Only this agent reaches the tools through its connection; absent if they're served at a port. */
  agentId?: string
  /** names that the tools must not have */
  hiddenTools?: readonly string[] | undefined
}

/** The editor's tools for one session, from the plan until the session ends. */
export interface SessionTools extends Disposable {
  /** The server to send to the agent. */
  readonly server: McpServer | AcpMcpServer
  /** For the next window; absent if the agent can't reach them. */
  readonly address: ToolServerAddress | undefined
  /**
   * Serves the tools of an earlier window once their session is shown. `free`: frees the port, which is kept from other programs until
   * then.
   */
  reopen?(free?: (port: number) => Promise<void>): Promise<void>
  /** The session with this key is open: tools may ask in it and change files from now on. */
  begin(conversation: ToolConversation, session: string): void
  /** The user turns the tools off and on for this session. */
  readonly isOn: boolean
  turn(isOn: boolean): void
  readonly onDidChange: Event<void>
}

export interface OfferedTools {
  tools?: SessionTools
  note?: McpServerNote
}

/**
 * Offers the editor's own MCP server to sessions: through the agent's connection if the agent can, else at a port of this machine. Its code
 * is loaded with the first session of an agent that supports it, and its port is open while a session needs it.
 */
export class EditorTools extends Owner {
  readonly #options: EditorToolsOptions
  readonly #open = new Set<OpenTools>()
  /** This window's server, and servers at the ports of earlier windows. */
  readonly #servers = new Set<Promise<ToolServer>>()
  #starting = 0

  constructor(options: EditorToolsOptions) {
    super()
    this.#options = options
    this.register(
      options.onDidChangeNames(() => {
        for (const tools of this.#open) tools.changed()
      }),
    )
    this.register(
      toDisposable(() => {
        for (const tools of [...this.#open]) tools.dispose()
      }),
    )
  }

  /** The tools that the settings turn on, in the order of the list. */
  get #names(): EditorToolName[] {
    const wanted = new Set(this.#options.names())
    return EDITOR_TOOL_NAMES.filter(name => wanted.has(name))
  }

  /**
   * The tools for a session with these folders; a function returns folders that may change. `taken`: names of the session's other MCP
   * servers. `session`: the key of the session, or of the one that it's forked from; absent for a new session. Never rejects.
   */
  async offer(
    roots: SessionRoots | (() => SessionRoots | undefined),
    capabilities: Transports & AgentTools,
    taken: readonly string[],
    session?: string,
  ): Promise<OfferedTools> {
    const { acp, http, stdio, hiddenTools, agentId } = capabilities
    const isBridged = !acp && !http
    if (isBridged && !stdio) return {}
    if (this.#names.length === 0 || this.owned.isDisposed) return {}
    const name = taken.includes(EDITOR_SERVER) ? `${EDITOR_SERVER}-editor` : EDITOR_SERVER
    const base = { ...ownNote(acp ? 'acp' : 'http'), name }
    this.#starting += 1
    try {
      const tools = acp
        ? await this.#startAcp(name, roots, agentId, session, hiddenTools)
        : await this.#start(name, roots, isBridged, session, hiddenTools)
      const { link } = tools
      const bridge = isBridged ? { isBridged, ...(link && { link: link.id }) } : {}
      return { tools, note: { ...base, passed: true, ...bridge } }
    } catch (error) {
      this.#options.log.error(`The editor's MCP server couldn't be started: ${messageOf(error)}`)
      const reason = l10n.t("Couldn't start the editor tools: {0}", messageOf(error))
      return { note: { ...base, passed: false, reason } }
    } finally {
      this.#starting -= 1
      this.#closeUnused()
    }
  }

  /**
   * The tools of a session that an earlier window started, at the address that its agent knows. `onLost`: the tools can't be served, since
   * another window or program has the port.
   */
  resume(
    address: ToolServerAddress,
    roots: SessionRoots,
    capabilities: Pick<Transports, 'http'> & AgentTools,
    session: string,
    onLost: () => void,
  ): Required<OfferedTools> {
    const tools = this.#newTools(session, capabilities.agentId)
    const isAcp = 'serverId' in address
    if (!isAcp) this.#options.secrets.add(address.token)
    this.#open.add(tools)
    tools.started(address, { server: isAcp ? acpServer(address) : toMcpServer(address) })
    tools.reopen = async free => {
      this.#starting += 1
      try {
        if (isAcp) await this.#serveAcp(tools, roots, capabilities.hiddenTools, address.mark)
        else {
          const server = await this.#serving(address.port, free)
          tools.endpoint = await this.#endpoint(server, tools, roots, capabilities.hiddenTools, address)
        }
      } catch (error) {
        this.#options.log.warn(`The editor's MCP server of an earlier window: ${messageOf(error)}`)
        onLost()
        tools.lose()
      } finally {
        this.#starting -= 1
        this.#closeUnused()
      }
    }
    const note: McpServerNote = { ...ownNote(isAcp ? 'acp' : 'http'), name: address.name, passed: true }
    if (!isAcp && !capabilities.http) note.isBridged = true
    return { tools, note }
  }

  /** The note about the tools of a session that an earlier window started, if this window can't serve them. */
  ended({ acp, http, stdio }: Transports): McpServerNote | undefined {
    if (this.#names.length === 0 || !(acp || http || stdio)) return undefined
    const reason = l10n.t(
      "The agent's connection to the editor ended with the window. Restart the agent to connect it again.",
    )
    return { ...ownNote(acp ? 'acp' : 'http'), name: EDITOR_SERVER, passed: false, reason }
  }

  /** Answers a request that an agent sent through its connection. Rejects with an `RpcError` if MCP has no outcome. */
  readonly message = async (
    agentId: string,
    request: McpRequest,
    signal: AbortSignal,
    notify: Notify,
  ): Promise<McpOutcome> => {
    // another agent may have read the id, such as in a log
    const isAsked = (open: OpenTools) =>
      open.agentId === agentId && open.server.type === 'acp' && open.server.serverId === request.serverId
    const tools = [...this.#open].find(isAsked)
    const outcome = await tools?.message(request, signal, notify)
    if (signal.aborted) throw new CancelledError()
    if (!outcome || tools?.isOver)
      throw new RpcError(McpCode.unavailable, 'There is no such server, or its session was closed.')
    if ('refusal' in outcome) throw new RpcError(outcome.refusal, outcome.message)
    return outcome
  }

  async #startAcp(
    name: string,
    roots: SessionRoots | (() => SessionRoots | undefined),
    agentId: string | undefined,
    session: string | undefined,
    hiddenNames: readonly string[] | undefined,
  ): Promise<OpenTools> {
    const tools = this.#newTools(session, agentId)
    const { mark } = await this.#serveAcp(tools, roots, hiddenNames)
    const address: AcpServerAddress = { name, serverId: randomUUID(), mark }
    tools.started(address, { server: acpServer(address) })
    this.#open.add(tools)
    return tools
  }

  /** `mark`: the mark that an earlier window gave the tools. */
  async #serveAcp(
    tools: OpenTools,
    roots: SessionRoots | (() => SessionRoots | undefined),
    hiddenNames: readonly string[] | undefined,
    mark?: string,
  ): Promise<AcpEndpoint> {
    const { version, log } = this.#options
    const { AcpEndpoint } = await import('../local-servers.ts')
    const options = await this.#endpointOptions(tools, roots, hiddenNames)
    const endpoint = new AcpEndpoint(options, version, log, mark)
    tools.endpoint = endpoint
    tools.acp.resolve(endpoint)
    return endpoint
  }

  async #start(
    name: string,
    roots: SessionRoots | (() => SessionRoots | undefined),
    isBridged: boolean,
    session: string | undefined,
    hiddenNames: readonly string[] | undefined,
  ): Promise<OpenTools> {
    const { bridge, secrets, log } = this.#options
    const server = await this.#serving()
    const tools = this.#newTools(session)
    const endpoint = await this.#endpoint(server, tools, roots, hiddenNames)
    // the token is in the message that starts the session, and agents may repeat it
    secrets.add(endpoint.token)
    this.#open.add(tools)
    tools.endpoint = endpoint
    const { path, token, mark } = endpoint
    const address = { name, port: server.port, path, token, mark }
    const own = toMcpServer(address)
    try {
      tools.started(address, isBridged ? await bridge(own) : { server: own })
    } catch (error) {
      tools.dispose()
      throw error
    }
    log.debug("The editor's MCP server has a new address.")
    return tools
  }

  #newTools(session: string | undefined, agentId?: string): OpenTools {
    const { switches } = this.#options
    const tools = new OpenTools({
      agentId,
      isOn: session === undefined || !switches.isOffIn(session, SWITCH),
      store: (key, on) => switches.set({ server: SWITCH, session: key }, on),
      closed: () => {
        this.#open.delete(tools)
        this.#closeUnused()
      },
    })
    return tools
  }

  async #endpoint(
    server: ToolServer,
    tools: OpenTools,
    roots: SessionRoots | (() => SessionRoots | undefined),
    hiddenNames: readonly string[] | undefined,
    address?: LocalServerAddress,
  ): Promise<Endpoint> {
    return server.add(await this.#endpointOptions(tools, roots, hiddenNames), address)
  }

  async #endpointOptions(
    tools: OpenTools,
    roots: SessionRoots | (() => SessionRoots | undefined),
    hiddenNames: readonly string[] | undefined,
  ): Promise<EndpointOptions> {
    const { features, guard } = this.#options
    const [{ Roots }, loaded] = await Promise.all([import('./roots.ts'), features()])
    // the session may have been closed meanwhile
    if (this.owned.isDisposed || tools.isOver) throw new CancelledError()
    return {
      features: loaded,
      roots: new Roots(typeof roots === 'function' ? new CurrentGuard(roots, guard) : guard(roots)),
      conversation: () => tools.conversation(),
      tools: () => (tools.isOn ? this.#names : []),
      hiddenNames,
    }
  }

  /** Resolves to the server at a port, or to any server if no port is given. */
  async #serving(port?: number, free?: (port: number) => Promise<void>): Promise<ToolServer> {
    for (const listening of this.#servers) {
      const server = await listening.catch(() => undefined)
      if (!server || (port !== undefined && server.port !== port)) continue
      if (port !== undefined) void free?.(port)
      return server
    }
    const listening = this.#listen(port, free)
    this.#servers.add(listening)
    listening.catch(() => this.#servers.delete(listening))
    return listening
  }

  /** The window that served a port may be about to close. */
  async #listen(
    port: number | undefined,
    free: ((port: number) => Promise<void>) | undefined,
  ): Promise<ToolServer> {
    const { version, log, portMs = HELD_CONNECTION_MS } = this.#options
    const { ToolServer } = await import('../local-servers.ts')
    // as late as possible: any program that listens at the port gets the agent's requests
    if (port !== undefined) await free?.(port)
    const end = performance.now() + portMs
    for (;;)
      try {
        return await ToolServer.listen(version, log, undefined, port)
      } catch (error) {
        if (port === undefined || performance.now() > end || this.owned.isDisposed) throw error
        await delay(HELD_PORT_POLL_MS)
      }
  }

  #closeUnused(): void {
    for (const listening of this.#servers)
      void listening.then(
        server => {
          if (server.isUsed || this.#starting > 0) return
          this.#servers.delete(listening)
          server.close()
        },
        () => {},
      )
  }
}

function acpServer({ name, serverId }: AcpServerAddress): AcpMcpServer {
  return { type: 'acp', name, serverId }
}

function toMcpServer({ name, port, path, token }: LocalServerAddress): Exclude<McpServer, { type: 'stdio' }> {
  const headers = [{ name: 'Authorization', value: `Bearer ${token}` }]
  return { type: 'http', name, url: `http://127.0.0.1:${port}${path}`, headers }
}

/** How long a tool that asks the user waits for the session. An agent may call the tool before it answers `session/new`. */
const SESSION_MS = 30_000

/** Checks paths against folders that may change. */
class CurrentGuard implements RootGuard {
  readonly #folders: () => SessionRoots | undefined
  readonly #guard: (roots: SessionRoots) => RootGuard

  constructor(folders: () => SessionRoots | undefined, guard: (roots: SessionRoots) => RootGuard) {
    this.#folders = folders
    this.#guard = guard
  }

  get #current(): RootGuard {
    const folders = this.#folders()
    if (!folders) throw new ToolError('No folder is open in the editor anymore.')
    return this.#guard(folders)
  }

  get cwd(): string {
    return this.#current.cwd
  }

  get roots(): readonly string[] {
    return this.#current.roots
  }

  async check(path: string): ReturnType<RootGuard['check']> {
    return this.#current.check(path)
  }
}

interface OpenToolsOptions {
  agentId: string | undefined
  isOn: boolean
  /** Stores for the session with this key whether the tools are on. */
  store: (session: string, isOn: boolean) => void
  closed: () => void
}

class OpenTools implements SessionTools {
  readonly agentId: string | undefined
  readonly #options: OpenToolsOptions
  readonly #conversation = deferred<ToolConversation>()
  readonly #over = new AbortController()
  readonly #change = new Emitter<void>()
  readonly onDidChange = this.#change.event
  endpoint: ServedTools | undefined
  /** The endpoint for requests through the agent's connection. */
  readonly acp = deferred<AcpEndpoint>()
  address: ToolServerAddress | undefined
  #server: McpServer | AcpMcpServer | undefined
  reopen?: NonNullable<SessionTools['reopen']>
  link: BridgeFollower | undefined
  #isOn: boolean
  #session: string | undefined

  constructor(options: OpenToolsOptions) {
    this.#options = options
    this.agentId = options.agentId
    this.#isOn = options.isOn
  }

  started(
    address: ToolServerAddress,
    { server, link }: { server: McpServer | AcpMcpServer; link?: BridgeFollower },
  ): void {
    this.address = address
    this.#server = server
    this.link = link
  }

  get server(): McpServer | AcpMcpServer {
    return this.#server!
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  begin(conversation: ToolConversation, session: string): void {
    this.#session = session
    // a fork has a new key, so its setting is stored, too
    if (!this.#isOn) this.#options.store(session, false)
    this.#conversation.resolve(conversation)
  }

  conversation(): Promise<ToolConversation> {
    return withDeadline(SESSION_MS, this.#over.signal, signal =>
      raceAbort(this.#conversation.promise, signal),
    )
  }

  /** Waits until this window serves the tools. A request that has to may have been answered by the window before. */
  async message(
    request: McpRequest,
    signal: AbortSignal,
    notify: Notify,
  ): Promise<McpOutcome | McpRefusal | undefined> {
    const isRepeated = this.endpoint === undefined
    const over = AbortSignal.any([signal, this.#over.signal])
    const endpoint = await raceAbort(this.acp.promise, over).catch(() => undefined)
    return endpoint?.message(request, signal, notify, isRepeated)
  }

  get isOn(): boolean {
    return this.#isOn
  }

  turn(isOn: boolean): void {
    if (this.#isOn === isOn) return
    this.#isOn = isOn
    if (this.#session !== undefined) this.#options.store(this.#session, isOn)
    this.changed()
    this.#change.fire()
  }

  /** The tools can't be served. */
  lose(): void {
    this.#change.fire()
    this.dispose()
  }

  changed(): void {
    this.endpoint?.toolsChanged()
  }

  dispose(): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.endpoint?.close()
    this.link?.dispose()
    this.#change.dispose()
    this.#options.closed()
  }
}
