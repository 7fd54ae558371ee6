import { messageOf } from '../common/errors.ts'
import { Emitter } from '../common/event.ts'
import { isRecord } from '../common/is-record.ts'
import type { Logger } from '../common/logger.ts'
import { PathMapper, type PathMapping } from '../common/path-mapping.ts'
import { AbandonedRequests } from './abandoned-requests.ts'
import type { Agent, AgentClient, AttachedAgent, AttachedSession, SessionNote } from './agent.ts'
import { AgentClosedError } from './agent.ts'
import { type AgentLink, limitLog } from './agent-link.ts'
import type { ConnectionHandlers } from './connection.ts'
import { InvalidResponseError, NotSupportedError, toAgentError } from './errors.ts'
import { clientWithPaths, contentForAgent, listedHere, updateHere } from './map-paths.ts'
import type {
  AcpMcpServer,
  AgentCapabilities,
  AuthMethod,
  AuthStatus,
  ContentBlock,
  LastOptions,
  McpServer,
  PermissionRequest,
  Provider,
  SessionInfo,
  SessionSetup,
  SessionStart,
  SessionUpdate,
  SteeringOutcome,
} from './model.ts'
import { SessionMap } from './session-map.ts'
import type { HostedAgentState } from './transport/host/hosted-agent-state.ts'
import { given } from './wire/content.ts'
import { answerElicitation, elicitationCompleteSchema } from './wire/elicitation.ts'
import { forkPointToWire } from './wire/fork-point.ts'
import { readAuthMethods, readInfo, type WireInitialize } from './wire/initialize.ts'
import { maybeList, type Report } from './wire/lenient.ts'
import { answerMcp, MCP_METHOD } from './wire/mcp.ts'
import {
  outcomeToWire,
  promptToWire,
  readAuthStatus,
  readProviders,
  readSessionPage,
  setupToWire,
} from './wire/requests.ts'
import { readStart, type SetVia, setOptionResponseSchema, type WireSession } from './wire/session.ts'
import { readSteering, STEERING_METHOD, steeringToWire } from './wire/steering.ts'
import { readCommand } from './wire/update.ts'

/** maximum number of malformed parts of an agent's messages that are logged */
const REPORTS = 500

export interface AgentBaseOptions {
  link: Pick<AgentLink, 'connection' | 'onDidClose' | 'dispose'> &
    Partial<Pick<AgentLink, 'hosted' | 'earlier' | 'begin'>>
  /** the agent's answer to `initialize` */
  answer: WireInitialize
  client: AgentClient
  log: Logger
  /** The agent has neither this machine's files nor its terminals. */
  isRemote?: boolean
  /** The agent's paths belong to another machine. In these folders, Parley translates them. */
  pathMappings?: readonly PathMapping[]
}

/** The parts of a connected agent that both protocol versions share. `v1/` and `v2/` add the rest. */
export abstract class AgentBase<S extends WireSession> implements ConnectionHandlers {
  readonly info: Agent['info']
  readonly capabilities: AgentCapabilities
  readonly authMethods: readonly AuthMethod[]
  readonly onDidClose: Agent['onDidClose']
  readonly hosted: Agent['hosted']
  protected readonly link: AgentBaseOptions['link']
  protected readonly client: AgentClient
  protected readonly log: Logger
  protected readonly report: Report
  /** Present if the agent sees folders of this machine at other paths. Paths are translated only in this class. */
  readonly #paths: PathMapper | undefined
  readonly #onUpdate: Emitter<{ sessionId: string; update: SessionUpdate }>
  readonly #onAuthStatus: Emitter<AuthStatus>
  protected readonly sessions = new SessionMap<S>(sessionId =>
    this.createSession(sessionId, this.#emit, this.report),
  )
  /** loads that the user canceled */
  protected readonly abandoned = new AbandonedRequests()
  #attached: AttachedAgent | undefined

  /** `offers` returns whether the user can use a sign-in method. */
  constructor(
    { link, answer, client, log, isRemote = false, pathMappings }: AgentBaseOptions,
    capabilities: AgentCapabilities,
    offers: (method: AuthMethod) => boolean = () => true,
  ) {
    this.link = link
    this.#paths = pathMappings?.length ? new PathMapper(pathMappings) : undefined
    this.client = this.#paths ? clientWithPaths(client, this.#paths) : client
    this.log = log
    this.report = limitLog(problem => log.warn(`Dropped: ${problem}`), REPORTS)
    this.#onUpdate = new Emitter(error => log.error(`Handling an update failed: ${error}`))
    this.#onAuthStatus = new Emitter(error => log.error(`Handling a sign-in status failed: ${error}`))
    this.onDidClose = link.onDidClose
    this.hosted = link.hosted
    // The other machine has its programs at other paths, so stdio MCP servers of this machine can't be started there.
    const places = pathMappings && { pathMappings, mcp: { ...capabilities.mcp, stdio: false } }
    this.capabilities = { ...capabilities, ...(isRemote && { isRemote }), ...places }
    // An agent on a server gets neither environment variables nor terminals of this machine.
    const isThere = ({ type }: AuthMethod) => !isRemote || (type !== 'terminal' && type !== 'env_var')
    this.authMethods = readAuthMethods(answer.authMethods, this.report).filter(
      one => offers(one) && isThere(one),
    )
    this.info = readInfo(answer)
  }

  protected abstract createSession(
    sessionId: string,
    emit: (sessionId: string, update: SessionUpdate) => void,
    report: Report,
  ): S
  protected abstract serverToWire(server: McpServer | AcpMcpServer): object
  /** Returns the parameters of a request that sets an option, without the session's id. */
  protected abstract setToWire(set: SetVia): object
  protected abstract readUpdate(raw: unknown, session: S): void
  /** Answers client requests that only this protocol version has. Returns `undefined` for any other method. */
  protected abstract answer(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> | undefined

  /** Continues a prompt that an earlier window sent as if this window had sent the prompt. */
  protected abstract settlePrompt(sessionId: string, answer: Promise<unknown>): ReturnType<Agent['prompt']>

  get attached(): AttachedAgent | undefined {
    const { earlier, begin } = this.link
    if (!earlier || !begin) return undefined
    this.#attached ??= {
      sessions: earlier.sessions.flatMap(one => this.#attachedSession(one, earlier) ?? []),
      isOver: earlier.isOver === true,
      begin: () => this.link.begin?.() ?? Promise.resolve(),
    }
    return this.#attached
  }

  /** Returns `undefined` for a session that the earlier window didn't show yet. Such a session can be opened as usual. */
  #attachedSession(
    { sessionId, result }: HostedAgentState['sessions'][number],
    { notes, toAgent }: HostedAgentState,
  ): AttachedSession | undefined {
    const { connection } = this.link
    const ofSession = toAgent.filter(({ params }) => isRecord(params) && params.sessionId === sessionId)
    const opening = ofSession.find(({ method }) => method === 'session/load' || method === 'session/resume')
    if (opening) {
      this.abandoned.add(sessionId, connection.adopt(opening.id))
      return undefined
    }
    const note = notes[sessionId] as SessionNote | undefined
    if (!note) return undefined
    this.started(sessionId, result)
    const session = this.sessions.opened(sessionId)
    session.options.restore(note.configOptions)
    session.commands = note.commands
    const prompt = ofSession.findLast(({ method }) => method === 'session/prompt')
    return {
      sessionId,
      start: { sessionId, ...given('configOptions', session.options.all), commands: note.commands },
      note,
      ...(prompt && {
        prompt: {
          ...given('frame', prompt.answeredBy),
          settle: () => this.settlePrompt(sessionId, connection.adopt(prompt.id)),
        },
      }),
    }
  }

  get onUpdate(): Agent['onUpdate'] {
    return this.#onUpdate.event
  }

  get onAuthStatus(): NonNullable<Agent['onAuthStatus']> {
    return this.#onAuthStatus.event
  }

  // ---- sessions ------------------------------------------------------------------------------------------------

  newSession(
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart> {
    return this.#begin('session/new', () => this.setup(setup), signal, onLate)
  }

  forkSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
    at?: string,
  ): Promise<SessionStart> {
    const params = () => {
      this.require(this.capabilities.fork, 'fork sessions')
      const point = at === undefined ? {} : { _meta: forkPointToWire(at) }
      return { sessionId, ...this.setup(setup), ...point }
    }
    return this.#begin('session/fork', params, signal, onLate)
  }

  resumeSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    lastOptions?: LastOptions,
  ): Promise<SessionStart> {
    const params = () => {
      this.require(this.capabilities.resume, 'resume sessions')
      return { sessionId, ...this.setup(setup) }
    }
    return this.reopen('session/resume', sessionId, params, signal, lastOptions)
  }

  async listSessions(
    query: { cwd?: string; cursor?: string; archived?: 'exclude' | 'include' | 'only' },
    signal?: AbortSignal,
  ): Promise<{ sessions: SessionInfo[]; nextCursor?: string }> {
    const { cwd, cursor, archived } = query
    const params = () => {
      this.require(this.capabilities.list, 'list sessions')
      return {
        ...given('cwd', cwd === undefined ? undefined : this.#folder(cwd)),
        ...given('cursor', cursor),
        ...given('archived', this.capabilities.archive ? archived : undefined),
      }
    }
    const page = await readSessionPage(await this.ask('session/list', params, signal), cursor, this.report)
    const paths = this.#paths
    return paths ? { ...page, sessions: page.sessions.map(one => listedHere(one, paths)) } : page
  }

  async closeSession(sessionId: string): Promise<void> {
    await this.#gone('session/close', this.capabilities.close, 'close sessions', sessionId)
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.#gone('session/delete', this.capabilities.delete, 'delete sessions', sessionId)
    this.sessions.delete(sessionId)
  }

  async setConfigOption(sessionId: string, optionId: string, value: string | boolean): Promise<void> {
    const session = this.sessions.opened(sessionId)
    const set = session.options.route(optionId, value)
    const result = await this.ask(set.method, () => ({ sessionId, ...this.setToWire(set) }))
    const options = setOptionResponseSchema.safeParse(result).data?.configOptions
    if (set.method === 'session/set_config_option' && options) session.replaceOptions(options)
    const update = session.options.confirm(optionId, value, options !== undefined && options !== null)
    if (update) session.emit(update)
  }

  async steer(sessionId: string, content: ContentBlock[]): Promise<SteeringOutcome> {
    const params = () => {
      this.require(this.capabilities.steering, 'take a prompt into a running turn')
      return steeringToWire(sessionId, this.promptToWire(content))
    }
    const outcome = readSteering(await this.ask(STEERING_METHOD, params))
    if (!outcome) throw invalid(STEERING_METHOD, "The agent didn't say what it did with the prompt.")
    return outcome
  }

  async setSessionTitle(sessionId: string, title: string): Promise<string> {
    const result = await this.askIf(this.capabilities.setTitle, 'rename sessions', 'session/set_title', {
      sessionId,
      title,
    })
    return isRecord(result) && typeof result.title === 'string' ? result.title : title
  }

  async archiveSession(sessionId: string): Promise<void> {
    await this.askIf(this.capabilities.archive, 'archive sessions', 'session/archive', { sessionId })
  }

  async unarchiveSession(sessionId: string): Promise<void> {
    await this.askIf(this.capabilities.archive, 'archive sessions', 'session/unarchive', { sessionId })
  }

  async sessionStatus(sessionId: string): Promise<{ status: string; activity?: string }> {
    const method = 'session/status'
    const can = this.capabilities.sessionStatus
    const result = await this.askIf(can, 'tell the status of sessions', method, { sessionId })
    if (!isRecord(result) || typeof result.status !== 'string')
      throw invalid(method, 'The agent reported no status.')
    const activity = isRecord(result.state) ? result.state.state : undefined
    return {
      status: result.status,
      ...given('activity', typeof activity === 'string' ? activity : undefined),
    }
  }

  // ---- signing in and services -----------------------------------------------------------------------------------

  async authStatus(signal?: AbortSignal): Promise<AuthStatus> {
    const method = 'auth/status'
    const can = this.capabilities.authStatus
    const result = await this.askIf(can, 'tell who is signed in', method, {}, signal)
    const status = readAuthStatus(result, this.report)
    if (!status) throw invalid(method, 'The agent reported no state.')
    return status
  }

  async listProviders(): Promise<Provider[]> {
    return readProviders(await this.#providers('providers/list', {}), this.report)
  }

  async setProvider(
    providerId: string,
    config: { apiType: string; baseUrl: string; headers?: Record<string, string> },
  ): Promise<void> {
    const { apiType, baseUrl, headers } = config
    await this.#providers('providers/set', { providerId, apiType, baseUrl, ...given('headers', headers) })
  }

  async disableProvider(providerId: string): Promise<void> {
    await this.#providers('providers/disable', { providerId })
  }

  dispose(): void {
    this.link.dispose()
  }

  // ---- what the agent sends --------------------------------------------------------------------------------------

  notification(method: string, params: unknown): boolean {
    // Only the method identifies a notification, because notifications of other methods can have the same parameters.
    switch (method) {
      case 'session/update':
        if (isRecord(params) && typeof params.sessionId === 'string') {
          this.readUpdate(params.update, this.sessions.reported(params.sessionId))
        } else this.report('session/update without a session')
        return true
      case 'elicitation/complete': {
        const complete = elicitationCompleteSchema.safeParse(params).data
        if (complete) this.client.elicitationComplete?.(complete.elicitationId)
        else this.report('elicitation/complete without an id')
        return true
      }
      case 'auth/status_update': {
        const status = readAuthStatus(params, this.report)
        if (status) this.#onAuthStatus.fire(status)
        else this.report('auth/status_update without a state')
        return true
      }
      default:
        return false
    }
  }

  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> | undefined {
    if (method === 'elicitation/create') {
      const { connection } = this.link
      return answerElicitation(this.client, params, signal, this.report, id => connection.requestSignal(id))
    }
    if (method === MCP_METHOD) {
      return answerMcp(this.client, params, signal, about => this.link.connection.notify(MCP_METHOD, about))
    }
    return this.answer(method, params, signal)
  }

  /** Asks the user for a permission. Resolves to the response for the agent. */
  protected async askPermission(request: PermissionRequest, signal: AbortSignal) {
    return outcomeToWire(await this.client.requestPermission(request, signal))
  }

  // ---- parts ---------------------------------------------------------------------------------------------------

  readonly #emit = (sessionId: string, update: SessionUpdate): void => {
    if (this.abandoned.drops(sessionId, update)) return
    if (update.type === 'commands') this.sessions.reported(sessionId).commands = update.commands
    this.#onUpdate.fire({ sessionId, update: this.#paths ? updateHere(update, this.#paths) : update })
  }

  #folder(path: string): string {
    return this.#paths?.toRemote(path) ?? path
  }

  /** Returns the blocks of a prompt for the wire. Throws if the agent doesn't accept a block's kind. */
  protected promptToWire(content: ContentBlock[]): ReturnType<typeof promptToWire> {
    return promptToWire(this.#paths ? contentForAgent(content, this.#paths) : content, this.capabilities)
  }

  protected setup(setup: SessionSetup) {
    const { mcp } = this.capabilities
    for (const server of setup.mcpServers) {
      if (!mcp[server.type])
        this.log.warn(`MCP server ${server.name}: the agent doesn't support ${server.type} servers`)
    }
    const wire = setupToWire(setup, this.capabilities, server => this.serverToWire(server))
    const folders = wire.additionalDirectories?.map(folder => this.#folder(folder))
    return { ...wire, cwd: this.#folder(wire.cwd), ...given('additionalDirectories', folders) }
  }

  /** Reads the response that starts a session. */
  protected started(sessionId: string, raw: unknown, lastOptions?: LastOptions): SessionStart {
    const session = this.sessions.opened(sessionId)
    const { options, report } = session
    options.start(readStart(raw))
    if (lastOptions) options.recall(lastOptions)
    const reported = isRecord(raw) ? raw.availableCommands : undefined
    session.commands = maybeList(reported, readCommand, report, 'availableCommands') ?? session.commands
    return { sessionId, ...given('configOptions', options.all), ...given('commands', session.commands) }
  }

  /** Loads or resumes an existing session. Waits first for the end of an earlier attempt that was abandoned. */
  protected async reopen(
    method: string,
    sessionId: string,
    params: () => object,
    signal: AbortSignal | undefined,
    lastOptions: LastOptions | undefined,
  ): Promise<SessionStart> {
    await this.abandoned.wait(sessionId, signal).catch(error => {
      throw toAgentError(method, error)
    })
    const onAbandoned = (answer: Promise<unknown>) => this.abandoned.add(sessionId, answer)
    return this.started(sessionId, await this.ask(method, params, signal, onAbandoned), lastOptions)
  }

  protected sendCancel(sessionId: string): void {
    this.link.connection.notify('session/cancel', { sessionId })
  }

  protected require(can: boolean | undefined, what: string): void {
    if (!can) throw new NotSupportedError(`The agent can't ${what}.`)
  }

  /** Sends a request. Errors in `params` and errors from the agent both reject with an {@link AgentRequestError}. */
  protected async ask(
    method: string,
    params: () => object,
    signal?: AbortSignal,
    onAbandoned?: (answer: Promise<unknown>) => void,
  ): Promise<unknown> {
    try {
      return await this.link.connection.request(method, params(), signal, onAbandoned)
    } catch (error) {
      throw toAgentError(method, error)
    }
  }

  /** Like `ask`, but fails if the agent lacks the capability (`can`). `what` is the action, as it reads after "can't". */
  protected askIf(
    can: boolean | undefined,
    what: string,
    method: string,
    params: object,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const checked = () => {
      this.require(can, what)
      return params
    }
    return this.ask(method, checked, signal)
  }

  async #begin(
    method: string,
    params: () => object,
    signal: AbortSignal | undefined,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart> {
    const start = (result: unknown) => {
      const { sessionId } = readStart(result)
      if (!sessionId) throw invalid(method, 'The agent named no session.')
      return this.started(sessionId, result)
    }
    const late = (result: unknown) => {
      try {
        onLate?.(start(result))
      } catch (error) {
        this.log.debug(`The late response to ${method} was invalid: ${messageOf(error)}`)
      }
    }
    return start(await this.ask(method, params, signal, answer => void answer.then(late, () => {})))
  }

  /** Sends a request that closes or deletes a session. Succeeds if the session doesn't exist anymore. */
  async #gone(method: string, can: boolean, what: string, sessionId: string): Promise<void> {
    try {
      await this.askIf(can, what, method, { sessionId })
    } catch (error) {
      const failure = toAgentError(method, error)
      if (failure instanceof AgentClosedError || failure.kind !== 'not-found') throw failure
    }
  }

  #providers(method: string, params: object): Promise<unknown> {
    return this.askIf(this.capabilities.providers, 'be pointed at another service', method, params)
  }
}

function invalid(method: string, problem: string) {
  return toAgentError(method, new InvalidResponseError(problem))
}
