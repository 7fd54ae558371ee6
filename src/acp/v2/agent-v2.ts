import type { Agent } from '../agent.ts'
import { AgentBase, type SurfaceOptions } from '../agent-base.ts'
import type {
  AuthMethod,
  ContentBlock,
  McpServer,
  SessionSetup,
  SessionStart,
  SessionUpdate,
} from '../model.ts'
import { isRecord, type Report } from '../wire/lenient.ts'
import { answer } from '../wire/requests.ts'
import type { SetVia } from '../wire/session-options.ts'
import { promptToWire } from '../wire/to-wire.ts'
import { isEarlyDraft, readCapabilities } from './capabilities.ts'
import { permissionSchema, readPermission } from './permission.ts'
import { SessionV2 } from './session.ts'
import { serverToWire, valueToWire } from './to-wire.ts'
import { readUpdate } from './update.ts'

/** An agent that speaks ACP v2, a draft. */
export class AgentV2 extends AgentBase<SessionV2> implements Agent {
  readonly protocolVersion = 2
  /** It replays by `session/load`, as an early draft had it. */
  readonly #loads: boolean

  constructor(options: SurfaceOptions) {
    // A way of a kind newer than Parley: nobody knows how it goes, and it must not be asked for like the others.
    const known = ({ type }: AuthMethod) => type === 'agent' || type === 'terminal' || type === 'env_var'
    super(options, readCapabilities(options.answer), known)
    this.#loads = isEarlyDraft(options.answer)
  }

  loadSession(sessionId: string, setup: SessionSetup, signal?: AbortSignal): Promise<SessionStart> {
    const params = () => {
      this.require(this.capabilities.load, 'load sessions')
      this.session(sessionId).resetTerminals()
      return {
        sessionId,
        ...this.setup(setup),
        ...(this.#loads ? {} : { replayFrom: { type: 'start' as const } }),
      }
    }
    const method = this.#loads ? 'session/load' : 'session/resume'
    return this.reopen(method, sessionId, params, signal)
  }

  /** The turn is told by the agent's state updates: before the answer, after it, or both. */
  async prompt(sessionId: string, content: ContentBlock[]): Promise<{ messageId?: string }> {
    const params = () => ({ sessionId, prompt: promptToWire(content, this.capabilities) })
    const abandoned = this.abandonedLoad(sessionId)
    if (abandoned) await abandoned
    const result = await this.ask('session/prompt', params)
    if (!isRecord(result)) return {}
    const { messageId, stopReason } = result
    // An early draft answered at the turn's end, as v1 does.
    if (typeof stopReason === 'string') {
      this.session(sessionId).emit({ type: 'state', state: 'idle', stopReason })
    }
    return typeof messageId === 'string' ? { messageId } : {}
  }

  /** Questions stay open: they may be of work that goes on apart from the turn, and the agent withdraws the others. */
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

  protected override serverToWire(server: McpServer) {
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
