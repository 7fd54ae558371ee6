import { isRecord } from '../../common/is-record.ts'
import { type Agent, AgentClosedError } from '../agent.ts'
import { AgentBase, type AgentBaseOptions } from '../agent-base.ts'
import { RpcCode, toAgentError } from '../errors.ts'
import type {
  AcpMcpServer,
  AgentCapabilities,
  ContentBlock,
  LastOptions,
  McpServer,
  SessionSetup,
  SessionStart,
  SessionUpdate,
  SteeringOutcome,
} from '../model.ts'
import { given } from '../wire/content.ts'
import { has, readUnstable, type WireInitialize } from '../wire/initialize.ts'
import type { Report } from '../wire/lenient.ts'
import { type SetVia, WireSession } from '../wire/session.ts'
import { readTokens } from '../wire/state.ts'
import { answerRequest } from './client-requests.ts'
import { readUpdate, type UpdateSinkV1 } from './update.ts'

/** An agent that uses ACP v1. */
export class AgentV1 extends AgentBase<SessionV1> implements Agent {
  readonly protocolVersion = 1

  constructor(options: AgentBaseOptions) {
    super(options, readCapabilities(options.answer))
  }

  loadSession(
    sessionId: string,
    setup: SessionSetup,
    signal?: AbortSignal,
    lastOptions?: LastOptions,
  ): Promise<SessionStart> {
    const params = () => {
      this.require(this.capabilities.load, 'load sessions')
      this.sessions.opened(sessionId).resetTerminals()
      return { sessionId, ...this.setup(setup) }
    }
    return this.reopen('session/load', sessionId, params, signal, lastOptions)
  }

  async prompt(sessionId: string, content: ContentBlock[]): Promise<void> {
    const method = 'session/prompt'
    const session = this.sessions.opened(sessionId)
    let prompt: ReturnType<typeof this.promptToWire>
    try {
      prompt = this.promptToWire(content)
    } catch (error) {
      throw toAgentError(method, error)
    }
    session.cancelled = false
    session.hasOwnTurn = false
    const abandoned = this.abandoned.settled(sessionId)
    if (abandoned) await abandoned
    if (session.cancelled) {
      session.emit({ type: 'state', state: 'idle', stopReason: 'cancelled' })
      return
    }
    await this.#turn(session, () => this.link.connection.request(method, { sessionId, prompt }))
  }

  protected override settlePrompt(sessionId: string, answer: Promise<unknown>): Promise<void> {
    return this.#turn(this.sessions.opened(sessionId), () => answer)
  }

  async #turn(session: SessionV1, ask: () => Promise<unknown>): Promise<void> {
    session.emit({ type: 'state', state: 'running' })
    session.isPrompting = true
    try {
      const result = await ask().finally(() => {
        session.isPrompting = false
      })
      const stopReason =
        isRecord(result) && typeof result.stopReason === 'string' ? result.stopReason : 'end_turn'
      const tokens = isRecord(result) ? readTokens(result, 'unknown') : undefined
      session.emit({ type: 'state', state: 'idle', stopReason, ...given('tokens', tokens) })
    } catch (failure) {
      const error = toAgentError('session/prompt', failure)
      const closed = error instanceof AgentClosedError
      if (!closed && (error.kind === 'cancelled' || (session.cancelled && error.kind === 'other'))) {
        // Many agents answer a canceled prompt with an error.
        this.log.info(`The cancelled turn ended with: ${error.message}`)
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
    }
  }

  /**
   * Adds a prompt to the running turn. v1 doesn't report the end of a turn that the agent started on its own, so such a turn counts as over
   * when the user stops it, or when the agent reports that no turn is running.
   */
  override async steer(sessionId: string, content: ContentBlock[]): Promise<SteeringOutcome> {
    const outcome = await super.steer(sessionId, content)
    const session = this.sessions.opened(sessionId)
    if (outcome === 'startedNewTurn' && !session.isPrompting) {
      session.hasOwnTurn = true
      session.emit({ type: 'state', state: 'running' })
    } else if (outcome === 'promptRequired' && session.hasOwnTurn) {
      session.hasOwnTurn = false
      session.emit({ type: 'state', state: 'idle' })
    }
    return outcome
  }

  cancel(sessionId: string): void {
    const session = this.sessions.opened(sessionId)
    session.cancelled = true
    this.sendCancel(sessionId)
    if (!session.hasOwnTurn) return
    session.hasOwnTurn = false
    // The update is emitted after the caller has noted that it canceled the turn.
    queueMicrotask(() => session.emit({ type: 'state', state: 'idle', stopReason: 'cancelled' }))
  }

  async authenticate(methodId: string, signal?: AbortSignal): Promise<void> {
    await this.ask('authenticate', () => ({ methodId }), signal)
  }

  async logout(): Promise<void> {
    await this.askIf(this.capabilities.logout, 'sign out', 'logout', {})
  }

  // ---- how v1 writes and reads -----------------------------------------------------------------------------------

  protected override createSession(
    sessionId: string,
    emit: (sessionId: string, update: SessionUpdate) => void,
    report: Report,
  ): SessionV1 {
    return new SessionV1(sessionId, emit, report)
  }

  protected override serverToWire(server: McpServer | AcpMcpServer) {
    return serverToWire(server)
  }

  protected override setToWire({ params }: SetVia): object {
    return params
  }

  protected override readUpdate(raw: unknown, session: SessionV1): void {
    readUpdate(raw, session)
  }

  protected override answer(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> | undefined {
    // The client doesn't offer these methods to remote agents.
    if (this.capabilities.isRemote && /^(?:fs|terminal)\//.test(method)) return undefined
    const ask = this.askPermission.bind(this)
    return answerRequest(this.client, ask, this.report, method, params, signal)
  }
}

export class SessionV1 extends WireSession implements UpdateSinkV1 {
  readonly shownTerminals = new Set<string>()
  /** Whether the user stopped the running turn. */
  cancelled = false
  /** Whether a prompt is still unanswered. */
  isPrompting = false
  /** Whether the agent started the running turn on its own. */
  hasOwnTurn = false

  override resetTerminals(): void {
    this.shownTerminals.clear()
  }

  offersMode(modeId: string): boolean {
    return this.options.offersMode(modeId)
  }

  mode(modeId: string): void {
    this.emit(this.options.modeChanged(modeId))
  }
}

/** Returns the capabilities of a v1 agent. An absent capability is `false`. */
export function readCapabilities(wire: WireInitialize): AgentCapabilities {
  const agent = isRecord(wire.agentCapabilities) ? wire.agentCapabilities : {}
  const { promptCapabilities: prompt, mcpCapabilities: mcp, sessionCapabilities: session, auth } = agent
  return {
    load: agent.loadSession === true,
    resume: has(session, 'resume'),
    list: has(session, 'list'),
    close: has(session, 'close'),
    delete: has(session, 'delete'),
    additionalDirectories: has(session, 'additionalDirectories'),
    logout: has(auth, 'logout'),
    // Every agent must accept stdio servers.
    mcp: {
      stdio: true,
      http: flag(mcp, 'http'),
      sse: flag(mcp, 'sse'),
      ...(flag(mcp, 'acp') && { acp: true }),
    },
    prompt: {
      image: flag(prompt, 'image'),
      audio: flag(prompt, 'audio'),
      embeddedContext: flag(prompt, 'embeddedContext'),
    },
    ...readUnstable(wire, agent, session, auth),
  }
}

/** Whether an older capability, which is a boolean, is set. */
function flag(parent: unknown, key: string): boolean {
  return isRecord(parent) && parent[key] === true
}

/** Returns an MCP server in the form of v1, in which a stdio server has no `type`. */
export function serverToWire(server: McpServer | AcpMcpServer) {
  if (server.type === 'stdio') {
    const { name, command, args, env } = server
    return { name, command, args, env }
  }
  if (server.type === 'acp') return server
  const { type, name, url, headers } = server
  return { type, name, url, headers }
}
