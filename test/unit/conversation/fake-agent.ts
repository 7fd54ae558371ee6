import { type Agent, AgentClosedError, type AgentExit, AgentRequestError } from '../../../src/acp/agent.ts'
import type { ContentBlock, SessionInfo, SessionStart, SessionUpdate } from '../../../src/acp/model.ts'
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

/** An agent whose every move a test makes. */
export class FakeAgent implements Agent {
  readonly info = { name: 'fake' }
  readonly protocolVersion: number = 1
  readonly capabilities = {
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
  readonly cancels: string[] = []
  readonly closes: string[] = []
  readonly news: Deferred<SessionStart>[] = []
  readonly loads: Deferred<SessionStart>[] = []
  readonly resumes: Deferred<SessionStart>[] = []
  readonly options: Array<{ optionId: string; value: string | boolean; answer: Deferred<void> }> = []
  readonly listed: Array<{ cwd?: string; cursor?: string }> = []
  pages: (query: {
    cwd?: string
    cursor?: string
  }) => Promise<{ sessions: SessionInfo[]; nextCursor?: string }> = async () => ({ sessions: [] })
  closeError: Error | undefined

  say(sessionId: string, ...updates: SessionUpdate[]): void {
    for (const update of updates) this.#updates.fire({ sessionId, update })
  }

  /** As v1 ends a turn: the state, then the answer. */
  endTurn(call: PromptCall, stopReason = 'end_turn'): void {
    this.say(call.sessionId, { type: 'state', state: 'idle', stopReason })
    call.answer.resolve()
  }

  exit(exit: Partial<AgentExit> = {}): void {
    const full: AgentExit = { reason: 'exited', exitCode: 1, stderrTail: '', ...exit }
    this.#close.fire(full)
    const error = new AgentClosedError(full)
    const open = [...this.prompts.map(call => call.answer), ...this.options.map(option => option.answer)]
    for (const answer of [...open, ...this.news, ...this.loads, ...this.resumes]) answer.reject(error)
  }

  newSession(
    _setup?: unknown,
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart> {
    return this.#keep(this.news, signal, onLate)
  }
  loadSession(_sessionId?: string, _setup?: unknown, signal?: AbortSignal): Promise<SessionStart> {
    return this.#keep(this.loads, signal)
  }
  resumeSession(_sessionId?: string, _setup?: unknown, signal?: AbortSignal): Promise<SessionStart> {
    return this.#keep(this.resumes, signal)
  }
  async listSessions(query: { cwd?: string; cursor?: string }) {
    this.listed.push(query)
    return this.pages(query)
  }
  async closeSession(sessionId: string): Promise<void> {
    this.closes.push(sessionId)
    if (this.closeError) throw this.closeError
  }
  async deleteSession(): Promise<void> {}
  prompt(sessionId: string, content: ContentBlock[]) {
    const answer: PromptCall['answer'] = new Deferred()
    this.prompts.push({ sessionId, content, answer })
    return answer.promise
  }
  cancel(sessionId: string): void {
    this.cancels.push(sessionId)
  }
  setConfigOption(_sessionId: string, optionId: string, value: string | boolean): Promise<void> {
    const answer = new Deferred<void>()
    this.options.push({ optionId, value, answer })
    return answer.promise
  }
  async authenticate(): Promise<void> {}
  async logout(): Promise<void> {}
  dispose(): void {}

  /** As a connection does, it gives a request up as soon as `signal` aborts. The agent may answer anyway. */
  #keep(
    list: Deferred<SessionStart>[],
    signal?: AbortSignal,
    onLate?: (start: SessionStart) => void,
  ): Promise<SessionStart> {
    const answer = new Deferred<SessionStart>()
    list.push(answer)
    if (!signal) return answer.promise
    const aborted = new Promise<never>((_resolve, reject) => {
      const error = new AgentRequestError('session/new', 'cancelled', { code: -32800, message: 'cancelled' })
      signal.addEventListener('abort', () => reject(error), { once: true })
    })
    answer.promise.then(
      start => signal.aborted && onLate?.(start),
      () => {},
    )
    return Promise.race([answer.promise, aborted])
  }
}

/** Lets everything that is settled run on. */
export async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}
