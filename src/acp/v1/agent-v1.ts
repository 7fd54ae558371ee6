import { z } from 'zod'
import { CancelledError } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import { parseTimestamp } from '../../common/timestamp.ts'
import type { Agent, AgentClient } from '../agent.ts'
import { AgentClosedError } from '../agent.ts'
import { InvalidResponseError, NotSupportedError, toAgentError } from '../agent-errors.ts'
import type { AgentLink } from '../agent-link.ts'
import type { ConnectionHandlers } from '../connection.ts'
import { limitLog } from '../log-limit.ts'
import type {
  AgentCapabilities,
  AuthMethod,
  ContentBlock,
  PermissionRequest,
  SessionInfo,
  SessionSetup,
  SessionStart,
  SessionUpdate,
} from '../model.ts'
import { RpcCode } from '../rpc-error.ts'
import { given } from '../wire/content.ts'
import { anything, isRecord, maybe, maybeText, type Report, readList } from '../wire/lenient.ts'
import { type AskPermission, answerRequest } from './client-requests.ts'
import { readStart, setOptionResponseSchema } from './config-options.ts'
import { readAuthMethods, readCapabilities, type WireInitialize } from './initialize.ts'
import { SessionV1 } from './session.ts'
import { promptToWire, setupToWire } from './to-wire.ts'
import { readUpdate } from './update.ts'

const sessionInfoSchema = z.object({
  sessionId: z.string().min(1),
  cwd: maybeText,
  additionalDirectories: maybe(z.array(z.string())),
  title: maybeText,
  updatedAt: anything,
})

/** malformed parts of what an agent sends that are logged */
const REPORTS = 500
/** sessions of one agent that are remembered at once */
const SESSIONS = 10_000

/** What the surface needs of the link to its agent. */
type Link = Pick<AgentLink, 'connection' | 'onDidClose' | 'dispose'>

/** An agent that speaks ACP v1. */
export class AgentV1 implements Agent, ConnectionHandlers {
  readonly protocolVersion = 1
  readonly info: Agent['info']
  readonly capabilities: AgentCapabilities
  readonly authMethods: readonly AuthMethod[]
  readonly onDidClose: Agent['onDidClose']
  readonly #onUpdate: Emitter<{ sessionId: string; update: SessionUpdate }>
  readonly #link: Link
  readonly #client: AgentClient
  readonly #log: Logger
  readonly #report: Report
  readonly #sessions = new Map<string, SessionV1>()

  constructor(link: Link, answer: WireInitialize, client: AgentClient, log: Logger) {
    this.#link = link
    this.#client = client
    this.#log = log
    this.#report = limitLog(problem => log.warn(`Dropped: ${problem}`), REPORTS)
    this.#onUpdate = new Emitter(error => log.error(`Handling an update failed: ${error}`))
    this.onDidClose = link.onDidClose
    this.capabilities = readCapabilities(answer)
    this.authMethods = readAuthMethods(answer.authMethods, this.#report)
    const { name, title, version } = answer.agentInfo ?? {}
    this.info = { name: name ?? title ?? '', ...given('title', title), ...given('version', version) }
  }

  get onUpdate(): Agent['onUpdate'] {
    return this.#onUpdate.event
  }

  // ---- sessions ------------------------------------------------------------------------------------------------

  async newSession(setup: SessionSetup, signal?: AbortSignal): Promise<SessionStart> {
    const method = 'session/new'
    const wire = readStart(await this.#request(method, () => this.#setup(setup), signal))
    if (!wire.sessionId) throw toAgentError(method, new InvalidResponseError('The agent named no session.'))
    return this.#started(wire.sessionId, wire)
  }

  loadSession(sessionId: string, setup: SessionSetup, signal?: AbortSignal): Promise<SessionStart> {
    return this.#reopen('session/load', this.capabilities.load, sessionId, setup, signal)
  }

  resumeSession(sessionId: string, setup: SessionSetup, signal?: AbortSignal): Promise<SessionStart> {
    return this.#reopen('session/resume', this.capabilities.resume, sessionId, setup, signal)
  }

  async listSessions(
    query: { cwd?: string; cursor?: string },
    signal?: AbortSignal,
  ): Promise<{ sessions: SessionInfo[]; nextCursor?: string }> {
    const result = await this.#request(
      'session/list',
      () => {
        this.#require(this.capabilities.list, 'list sessions')
        return { ...given('cwd', query.cwd), ...given('cursor', query.cursor) }
      },
      signal,
    )
    const page = isRecord(result) ? result : {}
    const sessions = readList(page.sessions, readSessionInfo, this.#report, 'sessions')
    return {
      sessions,
      // An agent that answers the same cursor again would be asked forever.
      ...(typeof page.nextCursor === 'string' && page.nextCursor !== '' && page.nextCursor !== query.cursor
        ? { nextCursor: page.nextCursor }
        : {}),
    }
  }

  async closeSession(sessionId: string): Promise<void> {
    await this.#gone('session/close', this.capabilities.close, 'close sessions', sessionId)
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.#gone('session/delete', this.capabilities.delete, 'delete sessions', sessionId)
  }

  async setConfigOption(sessionId: string, optionId: string, value: string | boolean): Promise<void> {
    const session = this.#session(sessionId)
    const { method, params } = session.options.route(optionId, value)
    const result = await this.#request(method, () => ({ sessionId, ...params }))
    const options = setOptionResponseSchema.safeParse(result).data?.configOptions
    if (method === 'session/set_config_option' && options) session.replaceOptions(options)
    const update = session.options.confirm(optionId, value, options !== undefined && options !== null)
    if (update) session.emit(update)
  }

  // ---- turns ---------------------------------------------------------------------------------------------------

  async prompt(sessionId: string, content: ContentBlock[]): Promise<void> {
    const method = 'session/prompt'
    const session = this.#session(sessionId)
    let prompt: ReturnType<typeof promptToWire>
    try {
      prompt = promptToWire(content, this.capabilities)
    } catch (error) {
      throw toAgentError(method, error)
    }
    session.cancelled = false
    session.emit({ type: 'state', state: 'running' })
    try {
      const result = await this.#link.connection.request(method, { sessionId, prompt })
      const stopReason =
        isRecord(result) && typeof result.stopReason === 'string' ? result.stopReason : 'end_turn'
      session.emit({ type: 'state', state: 'idle', stopReason })
    } catch (failure) {
      const error = toAgentError(method, failure)
      const closed = error instanceof AgentClosedError
      if (!closed && (error.kind === 'cancelled' || (session.cancelled && error.kind === 'other'))) {
        // Many agents fail the turn they were asked to stop.
        this.#log.info(`The cancelled turn ended with: ${error.message}`)
        session.emit({ type: 'state', state: 'idle', stopReason: 'cancelled' })
        return
      }
      const { message } = error
      session.emit({
        type: 'state',
        state: 'idle',
        stopReason: 'error',
        error: closed
          ? { code: RpcCode.internalError, message, ...given('detail', error.exit.stderrTail || undefined) }
          : { code: error.code, message, ...given('detail', error.detail) },
      })
      throw error
    } finally {
      session.withdrawQuestions()
    }
  }

  cancel(sessionId: string): void {
    const session = this.#session(sessionId)
    session.cancelled = true
    session.withdrawQuestions()
    this.#link.connection.notify('session/cancel', { sessionId })
  }

  // ---- signing in ----------------------------------------------------------------------------------------------

  async authenticate(methodId: string, signal?: AbortSignal): Promise<void> {
    await this.#request('authenticate', () => ({ methodId }), signal)
  }

  async logout(): Promise<void> {
    await this.#request('logout', () => {
      this.#require(this.capabilities.logout, 'sign out')
      return {}
    })
  }

  dispose(): void {
    this.#link.dispose()
  }

  // ---- what the agent sends --------------------------------------------------------------------------------------

  notification(method: string, params: unknown): boolean {
    // By the method alone: other notifications have been seen with the same params.
    if (method !== 'session/update') return false
    if (!isRecord(params) || typeof params.sessionId !== 'string') {
      this.#report('session/update without a session')
      return true
    }
    readUpdate(params.update, this.#session(params.sessionId))
    return true
  }

  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> | undefined {
    return answerRequest(this.#client, this.#askPermission, this.#report, method, params, signal)
  }

  readonly #askPermission: AskPermission = async (request: PermissionRequest, signal: AbortSignal) => {
    const session = this.#session(request.sessionId)
    const question = new AbortController()
    const withdraw = () => question.abort(new CancelledError())
    if (signal.aborted) withdraw()
    else signal.addEventListener('abort', withdraw, { once: true })
    session.questions.add(question)
    try {
      const withdrawn = new Promise<{ type: 'cancelled' }>(resolve => {
        if (question.signal.aborted) resolve({ type: 'cancelled' })
        question.signal.addEventListener('abort', () => resolve({ type: 'cancelled' }), { once: true })
      })
      const asked = this.#client.requestPermission(request, question.signal)
      asked.catch(() => {}) // its rejection may come after the question was withdrawn
      const outcome = await Promise.race([asked, withdrawn])
      if (outcome.type === 'cancelled') return { outcome: { outcome: 'cancelled' } }
      return { outcome: { outcome: 'selected', optionId: outcome.optionId } }
    } finally {
      session.questions.delete(question)
      signal.removeEventListener('abort', withdraw)
    }
  }

  // ---- parts ---------------------------------------------------------------------------------------------------

  readonly #emit = (sessionId: string, update: SessionUpdate): void => {
    this.#onUpdate.fire({ sessionId, update })
  }

  #session(sessionId: string): SessionV1 {
    let session = this.#sessions.get(sessionId)
    if (!session) {
      // An agent may make up an id for each update; the oldest go then.
      const [oldest] = this.#sessions.size < SESSIONS ? [] : this.#sessions.keys()
      if (oldest !== undefined) this.#sessions.delete(oldest)
      session = new SessionV1(sessionId, this.#emit, this.#report)
      this.#sessions.set(sessionId, session)
    }
    return session
  }

  #setup(setup: SessionSetup) {
    const { mcp } = this.capabilities
    for (const server of setup.mcpServers) {
      if (!mcp[server.type])
        this.#log.warn(`MCP server ${server.name}: the agent takes no ${server.type} servers`)
    }
    return setupToWire(setup, this.capabilities)
  }

  async #reopen(
    method: 'session/load' | 'session/resume',
    can: boolean,
    sessionId: string,
    setup: SessionSetup,
    signal: AbortSignal | undefined,
  ): Promise<SessionStart> {
    const result = await this.#request(
      method,
      () => {
        this.#require(can, method === 'session/load' ? 'load sessions' : 'resume sessions')
        return { sessionId, ...this.#setup(setup) }
      },
      signal,
    )
    return this.#started(sessionId, readStart(result))
  }

  #started(sessionId: string, wire: ReturnType<typeof readStart>): SessionStart {
    const { options } = this.#session(sessionId)
    options.start(wire)
    return { sessionId, ...given('configOptions', options.all) }
  }

  /** A session that is not there is as gone as it was to be. */
  async #gone(method: string, can: boolean, what: string, sessionId: string): Promise<void> {
    try {
      await this.#request(method, () => {
        this.#require(can, what)
        return { sessionId }
      })
    } catch (error) {
      const failure = toAgentError(method, error)
      if (failure instanceof AgentClosedError || failure.kind !== 'not-found') throw failure
    }
    this.#sessions.get(sessionId)?.withdrawQuestions()
    this.#sessions.delete(sessionId)
  }

  #require(can: boolean, what: string): void {
    if (!can) throw new NotSupportedError(`The agent cannot ${what}.`)
  }

  /** Sends a request with the params that `params` makes; whatever fails, in making or in answering, is told alike. */
  async #request(method: string, params: () => object, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.#link.connection.request(method, params(), signal)
    } catch (error) {
      throw toAgentError(method, error)
    }
  }
}

function readSessionInfo(raw: unknown): SessionInfo | undefined {
  const parsed = sessionInfoSchema.safeParse(raw)
  if (!parsed.success) return undefined
  const { sessionId, cwd, additionalDirectories, title, updatedAt } = parsed.data
  return {
    sessionId,
    cwd: cwd ?? '',
    additionalDirectories: additionalDirectories ?? [],
    ...given('title', title?.trim() || undefined),
    ...given('updatedAt', parseTimestamp(updatedAt)),
  }
}
