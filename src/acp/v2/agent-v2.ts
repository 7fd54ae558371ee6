import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { Agent } from '../agent.ts'
import { AgentBase, type AgentBaseOptions } from '../agent-base.ts'
import { NotSupportedError, toAgentError } from '../errors.ts'
import type {
  AcpMcpServer,
  AgentCapabilities,
  AuthMethod,
  ContentBlock,
  LastOptions,
  McpServer,
  PermissionRequest,
  PermissionSubject,
  SessionSetup,
  SessionStart,
  SessionUpdate,
} from '../model.ts'
import { given } from '../wire/content.ts'
import { has, readUnstable, type WireInitialize } from '../wire/initialize.ts'
import { anything, maybeAsked, maybeText, type Report } from '../wire/lenient.ts'
import { answer, readPermissionOptions } from '../wire/requests.ts'
import { type SetVia, WireSession } from '../wire/session.ts'
import { readToolCall } from '../wire/tool-call.ts'
import { readUpdate, TerminalText, type UpdateSinkV2 } from './update.ts'

/** An agent that uses ACP v2, a draft. */
export class AgentV2 extends AgentBase<SessionV2> implements Agent {
  readonly protocolVersion = 2
  /** The agent follows an early draft, in which `session/load` replays a session. */
  readonly #loads: boolean

  constructor(options: AgentBaseOptions) {
    // A sign-in method of a type that Parley doesn't know can't be used.
    const known = ({ type }: AuthMethod) => type === 'agent' || type === 'terminal' || type === 'env_var'
    super(options, readCapabilities(options.answer), known)
    this.#loads = isEarlyDraft(options.answer)
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
      return {
        sessionId,
        ...this.setup(setup),
        ...(this.#loads ? {} : { replayFrom: { type: 'start' as const } }),
      }
    }
    const method = this.#loads ? 'session/load' : 'session/resume'
    return this.reopen(method, sessionId, params, signal, lastOptions)
  }

  /** Sends a prompt. The agent's state updates report the turn before or after the response, or both. */
  async prompt(sessionId: string, content: ContentBlock[]): Promise<{ messageId?: string }> {
    const params = () => ({ sessionId, prompt: this.promptToWire(content) })
    const abandoned = this.abandoned.settled(sessionId)
    if (abandoned) await abandoned
    return this.#accepted(sessionId, await this.ask('session/prompt', params))
  }

  protected override async settlePrompt(
    sessionId: string,
    answer: Promise<unknown>,
  ): Promise<{ messageId?: string }> {
    const result = await answer.catch(error => {
      throw toAgentError('session/prompt', error)
    })
    return this.#accepted(sessionId, result)
  }

  #accepted(sessionId: string, result: unknown): { messageId?: string } {
    if (!isRecord(result)) return {}
    const { messageId, stopReason } = result
    // An early draft responded at the end of the turn, as v1 does.
    if (typeof stopReason === 'string') {
      this.sessions.opened(sessionId).emit({ type: 'state', state: 'idle', stopReason })
    }
    return typeof messageId === 'string' ? { messageId } : {}
  }

  /** Cancels the turn. The agent's requests stay pending: they may belong to background work, and the agent withdraws the others. */
  cancel(sessionId: string): void {
    this.sendCancel(sessionId)
  }

  async cancelToolCall(sessionId: string, toolCallId: string): Promise<void> {
    await this.ask('tool_call/cancel', () => ({ sessionId, toolCallId }))
  }

  async cancelTerminal(sessionId: string, terminalId: string): Promise<void> {
    await this.ask('terminal/cancel', () => ({ sessionId, terminalId }))
  }

  async authenticate(methodId: string, signal?: AbortSignal): Promise<void> {
    const params = () => {
      const method = this.authMethods.find(known => known.methodId === methodId)
      this.require(method?.type === 'agent', 'sign in by this method')
      return { methodId }
    }
    await this.ask('auth/login', params, signal)
  }

  async logout(): Promise<void> {
    await this.askIf(this.capabilities.logout, 'sign out', 'auth/logout', {})
  }

  // ---- how v2 writes and reads -----------------------------------------------------------------------------------

  protected override createSession(
    sessionId: string,
    emit: (sessionId: string, update: SessionUpdate) => void,
    report: Report,
  ): SessionV2 {
    return new SessionV2(sessionId, emit, report)
  }

  protected override serverToWire(server: McpServer | AcpMcpServer) {
    return serverToWire(server)
  }

  protected override setToWire(set: SetVia): object {
    if (set.method !== 'session/set_config_option') return set.params
    return { configId: set.params.configId, ...valueToWire(set.params.value) }
  }

  protected override readUpdate(raw: unknown, session: SessionV2): void {
    readUpdate(raw, session)
  }

  protected override answer(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> | undefined {
    if (method !== 'session/request_permission') return undefined
    return answer(permissionSchema, params, async wire =>
      this.askPermission(readPermission(wire, this.report), signal),
    )
  }
}

export class SessionV2 extends WireSession implements UpdateSinkV2 {
  readonly terminals = new TerminalText()

  override resetTerminals(): void {
    this.terminals.clearAll()
  }
}

/**
 * Whether the agent uses an early draft of v2. That draft had `agentInfo` and `session/load`, and only new, prompt and
 * cancel were required session methods.
 */
function isEarlyDraft(wire: WireInitialize): boolean {
  return !wire.info && Boolean(wire.agentInfo)
}

/**
 * Returns the capabilities of a v2 agent. v2 has few capabilities: an agent with `session` supports new, list, resume, close, prompt and
 * cancel, and an agent with sign-in methods supports signing in and out.
 */
function readCapabilities(wire: WireInitialize): AgentCapabilities {
  const agent = [wire.capabilities, wire.agentCapabilities].find(isRecord) ?? {}
  const { session, auth } = agent
  const baseline = has(agent, 'session') && !isEarlyDraft(wire)
  const { prompt, mcp } = isRecord(session) ? session : {}
  return {
    load: baseline || has(session, 'load'),
    resume: baseline || has(session, 'resume'),
    list: baseline || has(session, 'list'),
    close: baseline || has(session, 'close'),
    delete: has(session, 'delete'),
    additionalDirectories: has(session, 'additionalDirectories'),
    logout: (Array.isArray(wire.authMethods) && wire.authMethods.length > 0) || has(auth, 'logout'),
    mcp: {
      stdio: has(mcp, 'stdio'),
      http: has(mcp, 'http'),
      sse: false,
      ...(has(mcp, 'acp') && { acp: true }),
    },
    prompt: {
      image: has(prompt, 'image'),
      audio: has(prompt, 'audio'),
      embeddedContext: has(prompt, 'embeddedContext'),
    },
    ...readUnstable(wire, agent, session, auth),
  }
}

/**
 * Returns an MCP server in the form of v2, in which every kind of server has a `type`. v2 has no `sse`, so no agent accepts such a server.
 */
export function serverToWire(server: McpServer | AcpMcpServer) {
  if (server.type === 'stdio') {
    const { type, name, command, args, env } = server
    return { type, name, command, args, env }
  }
  if (server.type === 'sse') throw new NotSupportedError("The agent doesn't support MCP servers over SSE.")
  if (server.type === 'acp') return server
  const { name, url, headers } = server
  return { type: 'http' as const, name, url, headers }
}

/** Returns the value of a config option in the form of `session/set_config_option`. */
export function valueToWire(value: string | boolean) {
  return typeof value === 'boolean' ? { type: 'boolean' as const, value } : { type: 'id' as const, value }
}

/** The schema of a permission request. In v1 and in an early draft of v2, the subject is `toolCall`. */
export const permissionSchema = z.object({
  sessionId: z.string(),
  title: maybeAsked,
  description: maybeAsked,
  subject: anything,
  toolCall: anything,
  options: anything,
})
export const commandSubjectSchema = z.object({
  command: z.string(),
  cwd: maybeText,
  toolCallId: maybeText,
  terminalId: maybeText,
})

/** Reads a permission request. `title` is empty if the agent didn't send a title; an earlier update of the tool call may have it. */
export function readPermission(wire: z.output<typeof permissionSchema>, report: Report): PermissionRequest {
  const subject = readSubject(wire, report)
  const title = wire.title ?? (subject.type === 'tool_call' ? subject.toolCall.title : undefined)
  return {
    sessionId: wire.sessionId,
    title: title ?? '',
    ...given('description', wire.description),
    subject,
    options: readPermissionOptions(wire.options, report),
  }
}

function readSubject(wire: z.output<typeof permissionSchema>, report: Report): PermissionSubject {
  const { subject: raw, toolCall } = wire
  if (!isRecord(raw)) {
    const patch = isRecord(toolCall) ? readToolCall(toolCall, report) : undefined
    return patch ? { type: 'tool_call', toolCall: patch } : { type: 'none' }
  }
  if (raw.type === 'tool_call') {
    const patch = readToolCall(raw.toolCall, report, 'clear')
    if (patch) return { type: 'tool_call', toolCall: patch }
  }
  if (raw.type === 'command') {
    const subject = commandSubjectSchema.safeParse(raw).data
    if (subject) {
      return {
        type: 'command',
        command: subject.command,
        ...given('cwd', subject.cwd),
        ...given('toolCallId', subject.toolCallId),
        ...given('terminalId', subject.terminalId),
      }
    }
  }
  return { type: 'unknown', kind: typeof raw.type === 'string' ? raw.type : '', raw }
}
