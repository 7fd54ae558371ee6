import { type Agent, AgentClosedError, type AgentExit, AgentRequestError } from '../../../src/acp/agent.ts'
import type {
  AgentCapabilities,
  ContentBlock,
  LastOptions,
  SessionInfo,
  SessionStart,
  SessionUpdate,
  SteeringOutcome,
} from '../../../src/acp/model.ts'
import { Emitter } from '../../../src/common/event.ts'

/** A promise that the test settles. */
export class Deferred<T> {
  readonly promise: Promise<T>
  resolve!: (value: T) => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

export interface PromptCall {
  sessionId: string
  content: ContentBlock[]
  // biome-ignore lint/suspicious/noConfusingVoidType: as in `Agent`.
  answer: Deferred<void | { messageId?: string }>
}

export interface SteerCall {
  sessionId: string
  content: ContentBlock[]
  answer: Deferred<SteeringOutcome>
}

/** An agent that a test controls completely. It's tested with `contracts/agent.ts`, like real ones. */
export class FakeAgent implements Agent {
  readonly info = { name: 'fake' }
  readonly protocolVersion: number
  readonly capabilities: AgentCapabilities = {
    load: true,
    resume: true,
    list: true,
    close: true,
    delete: true,
    additionalDirectories: true,
    logout: false,
    mcp: { stdio: true, http: true, sse: true },
    prompt: { image: true, audio: true, embeddedContext: true },
  }
  readonly authMethods = []
  readonly #updates = new Emitter<{ sessionId: string; update: SessionUpdate }>()
  readonly #close = new Emitter<AgentExit>()
  readonly onUpdate = this.#updates.event
  readonly onDidClose = this.#close.event

  readonly prompts: PromptCall[] = []
  readonly steered: SteerCall[] = []
  readonly cancels: string[] = []
  readonly closes: string[] = []
  readonly newSessions: Deferred<SessionStart>[] = []
  readonly loads: Deferred<SessionStart>[] = []
  readonly resumes: Deferred<SessionStart>[] = []
  readonly options: Array<{ optionId: string; value: string | boolean; answer: Deferred<void> }> = []
  readonly listed: Array<{ cwd?: string; cursor?: string }> = []
  pages: (query: {
    cwd?: string
    cursor?: string
  }) => Promise<{ sessions: SessionInfo[]; nextCursor?: string }> = async () => ({ sessions: [] })
  closeError: Error | undefined
  /** of the session that was loaded or resumed last */
  lastOptions: LastOptions | undefined
  #exit: AgentExit | undefined

  constructor(protocolVersion = 1) {
    this.protocolVersion = protocolVersion
  }

  say(sessionId: string, ...updates: SessionUpdate[]): void {
    for (const update of updates) this.#updates.fire({ sessionId, update })
  }

  /** Ends a turn like v1: with the state, then the response. */
  endTurn(call: PromptCall, stopReason = 'end_turn'): void {
    this.say(call.sessionId, { type: 'state', state: 'idle', stopReason })
    call.answer.resolve()
  }

  exit(exit: Partial<AgentExit> = {}): void {
    if (this.#exit) return
    this.#exit = { reason: 'exited', exitCode: 1, stderrTail: '', ...exit }
    const error = new AgentClosedError(this.#exit)
    for (const call of this.prompts) call.answer.reject(error)
    for (const call of this.steered) call.answer.reject(error)
    for (const option of this.options) option.answer.reject(error)
    for (const start of [...this.newSessions, ...this.loads, ...this.resumes]) start.reject(error)
    this.#close.fire(this.#exit)
  }

  newSession(
    _setup?: unknown,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart> {
    return this.#keep('session/new', this.newSessions, signal, onLate)
  }
  async loadSession(
    _sessionId?: string,
    _setup?: unknown,
    signal?: AbortSignal,
    lastOptions?: LastOptions,
  ): Promise<SessionStart> {
    this.#require('load')
    this.lastOptions = lastOptions
    return this.#keep('session/load', this.loads, signal)
  }
  async resumeSession(
    _sessionId?: string,
    _setup?: unknown,
    signal?: AbortSignal,
    lastOptions?: LastOptions,
  ): Promise<SessionStart> {
    this.#require('resume')
    this.lastOptions = lastOptions
    return this.#keep('session/resume', this.resumes, signal)
  }
  async listSessions(query: { cwd?: string; cursor?: string }) {
    this.#require('list')
    this.listed.push(query)
    return this.pages(query)
  }
  async closeSession(sessionId: string): Promise<void> {
    this.#require('close')
    this.closes.push(sessionId)
    if (this.closeError) throw this.closeError
  }
  async deleteSession(): Promise<void> {
    this.#require('delete')
  }
  /** In v1, reports the start of the turn; {@link endTurn} reports its end. In v2, the test reports both. */
  async prompt(sessionId: string, content: ContentBlock[]) {
    const answer: PromptCall['answer'] = new Deferred()
    this.prompts.push({ sessionId, content, answer })
    if (this.protocolVersion === 1) this.say(sessionId, { type: 'state', state: 'running' })
    if (this.#exit) answer.reject(new AgentClosedError(this.#exit))
    try {
      return await answer.promise
    } catch (error) {
      if (this.protocolVersion === 1) {
        const { message, code = -32603, detail } = error as Partial<AgentRequestError> & Error
        const told = { code, message, ...(detail !== undefined && { detail }) }
        this.say(sessionId, { type: 'state', state: 'idle', stopReason: 'error', error: told })
      }
      throw error
    }
  }
  async steer(sessionId: string, content: ContentBlock[]): Promise<SteeringOutcome> {
    const answer = new Deferred<SteeringOutcome>()
    this.steered.push({ sessionId, content, answer })
    if (this.#exit) answer.reject(new AgentClosedError(this.#exit))
    return answer.promise
  }
  cancel(sessionId: string): void {
    this.cancels.push(sessionId)
  }
  async setConfigOption(_sessionId: string, optionId: string, value: string | boolean): Promise<void> {
    const answer = new Deferred<void>()
    this.options.push({ optionId, value, answer })
    if (this.#exit) answer.reject(new AgentClosedError(this.#exit))
    return answer.promise
  }
  async authenticate(): Promise<void> {}
  async logout(): Promise<void> {
    this.#require('logout')
  }
  dispose(): void {
    this.exit({ reason: 'disposed' })
  }

  #require(capability: 'load' | 'resume' | 'list' | 'close' | 'delete' | 'logout'): void {
    if (this.#exit) throw new AgentClosedError(this.#exit)
    if (this.capabilities[capability]) return
    const message = `The agent can't ${capability}.`
    throw new AgentRequestError(capability, 'unsupported', { code: -32601, message })
  }

  /** Like a connection, rejects a request as soon as `signal` aborts, although the agent may still respond. */
  async #keep(
    method: string,
    list: Deferred<SessionStart>[],
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart> {
    const error = new AgentRequestError(method, 'cancelled', { code: -32800, message: 'cancelled' })
    if (this.#exit) throw new AgentClosedError(this.#exit)
    if (signal?.aborted) throw error
    const answer = new Deferred<SessionStart>()
    list.push(answer)
    if (!signal) return answer.promise
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(error), { once: true })
    })
    answer.promise.then(
      start => signal.aborted && onLate?.(start),
      () => {},
    )
    return Promise.race([answer.promise, aborted])
  }
}

/** Lets the continuations of all settled promises run. */
export async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}
