import path from 'node:path'
import { type AgentClient, FileMissingError, type TraceTap } from '../../../src/acp/agent.ts'
import type { ContentBlock, SessionSetup } from '../../../src/acp/model.ts'
import { startAgent } from '../../../src/acp/start-agent.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import type { Session } from '../../../src/conversation/session.ts'
import { SchemaCheck } from '../schema-check.ts'
import { type Message, type Recorded, readTranscript } from './transcript.ts'

const AGENT = path.join(import.meta.dirname, 'replay-agent.mjs')

export interface Replayed {
  /** by session id, in the order in which they were opened */
  sessions: Map<string, Session>
  /** The errors of requests, in order: `method: message`. */
  failures: string[]
  /** Messages of Parley that aren't in the recording. */
  stray: string
}

/**
 * Replays a recording through the real connection, the v1 layer and the reducer: repeats what the client did, at the
 * same points between the agent's frames and with the same answers.
 */
export async function replayTranscript(file: string): Promise<Replayed> {
  const recorded = readTranscript(file)
  const replay = new Replay(recorded)
  const check = new SchemaCheck({ alsoAllowed: ['session/set_model'] })
  const tap: { current: TraceTap | undefined } = { current: undefined }
  tap.current = frame => {
    check.see(frame)
    if (frame.direction === 'receive') replay.arrived()
  }
  let stray = ''
  const agent = await startAgent(
    {
      command: process.execPath,
      args: [AGENT, file],
      env: { PATH: process.env.PATH ?? '' },
      cwd: process.cwd(),
    },
    replay.client,
    {
      clientInfo: { name: 'parley-tests', title: 'Parley tests', version: '0.0.0' },
      initializeTimeoutMs: 180_000,
      maxFrameBytes: 64 * 1024 * 1024,
      log: silentLogger,
      tap,
      onStderr: line => {
        stray += `${line}\n`
      },
    },
  )
  try {
    replay.sessions = new AgentSessions(agent)
    await replay.run()
  } finally {
    agent.dispose()
  }
  check.assertClean()
  return { sessions: replay.opened, failures: replay.failures, stray }
}

/** The client's recorded response to a request of the agent. */
interface GivenAnswer {
  asked: Message
  answer: Message
  /** Whether the turn was canceled while the request was pending. */
  cancelledBetween: boolean
}

class Replay {
  sessions!: AgentSessions
  readonly opened = new Map<string, Session>()
  readonly failures: string[] = []
  readonly #recorded: Recorded[]
  readonly #answers: GivenAnswer[]
  readonly #work: Promise<unknown>[] = []
  #received = 0
  #waiting: (() => void) | undefined

  constructor(recorded: Recorded[]) {
    this.#recorded = recorded
    this.#answers = answersIn(recorded)
  }

  /** Called for each frame from the agent. */
  arrived(): void {
    this.#received += 1
    this.#waiting?.()
  }

  async run(): Promise<void> {
    let before = 0
    for (const { dir, msg } of this.#recorded) {
      if (dir === 'recv') {
        before += 1
        continue
      }
      if (msg.method === undefined || msg.method === 'initialize') continue
      await this.#reached(before)
      this.#do(msg)
    }
    await this.#reached(before)
    await Promise.all(this.#work)
  }

  /** Waits until this many frames were received and the last one was reduced. */
  async #reached(frames: number): Promise<void> {
    while (this.#received < frames) {
      await new Promise<void>(resolve => {
        this.#waiting = resolve
      })
    }
    await new Promise(resolve => setImmediate(resolve))
  }

  #do(msg: Message): void {
    const params = msg.params ?? {}
    const setup = setupOf(params)
    const sessionId = params.sessionId ?? ''
    const session = this.opened.get(sessionId)
    switch (msg.method) {
      case 'session/new':
        this.#try(
          msg,
          this.sessions.newSession(setup).then(opened => this.#attend(opened)),
        )
        break
      case 'session/load':
      case 'session/resume': {
        const opening =
          msg.method === 'session/load' || params.replayFrom !== undefined
            ? this.sessions.loadSession(sessionId, setup)
            : this.sessions.resumeSession(sessionId, setup)
        this.#attend(opening.session)
        this.#try(msg, opening.opened)
        break
      }
      case 'session/list':
        this.#try(msg, this.sessions.agent.listSessions(params as { cwd?: string }))
        break
      case 'authenticate':
        this.#try(msg, this.sessions.agent.authenticate(String(params.methodId)))
        break
      case 'logout':
        this.#try(msg, this.sessions.agent.logout())
        break
      case 'session/close':
        this.#try(msg, session?.close())
        break
      case 'session/cancel':
        session?.turns.cancel()
        break
      case 'session/prompt':
        this.#work.push(
          session?.prompt(params.prompt as ContentBlock[]) ??
            this.sessions.agent
              .prompt(sessionId, params.prompt as ContentBlock[])
              .catch(error => this.failures.push(`${msg.method}: ${error.message}`)),
        )
        break
      case 'session/set_mode':
        this.#set(msg, session, 'mode', params.modeId)
        break
      case 'session/set_model':
        this.#set(msg, session, 'model', params.modelId)
        break
      case 'session/set_config_option':
        this.#try(msg, session?.optionChanges.set(String(params.configId), String(params.value)))
        break
      default:
        throw new Error(`The recording has a ${msg.method}, which this replay cannot send.`)
    }
  }

  #set(msg: Message, session: Session | undefined, category: string, value: unknown): void {
    const option = session?.state.configOptions.find(candidate => candidate.category === category)
    this.#try(msg, session?.optionChanges.set(option?.id ?? category, String(value)))
  }

  #try(msg: Message, work: Promise<unknown> | undefined): void {
    if (!work) throw new Error(`No session is open for ${msg.method}.`)
    this.#work.push(work.catch(error => this.failures.push(`${msg.method}: ${error.message}`)))
  }

  /** Answers the session's requests with the recorded answers. */
  #attend(session: Session): Session {
    this.opened.set(session.sessionId, session)
    const seen = new Set<string>()
    const look = () => {
      for (const entry of session.state.entries) {
        if (entry.kind !== 'permission' || entry.outcome || seen.has(entry.requestId)) continue
        seen.add(entry.requestId)
        const given = this.#next('session/request_permission', entry.within ?? session.sessionId)
        const { outcome } = (given?.answer.result ?? {}) as {
          outcome?: { outcome: string; optionId?: string }
        }
        // Parley answers the requests of a canceled turn itself.
        if (!given || (outcome?.outcome === 'cancelled' && given.cancelledBetween)) continue
        queueMicrotask(() => session.requests.answerPermission(entry.requestId, outcome?.optionId))
      }
    }
    session.onDidChange(look)
    look()
    return session
  }

  /** The oldest unused answer to such a request, if there is one. */
  #next(method: string, sessionId: string): GivenAnswer | undefined {
    const at = this.#answers.findIndex(
      ({ asked }) => asked.method === method && asked.params?.sessionId === sessionId,
    )
    return at < 0 ? undefined : this.#answers.splice(at, 1)[0]
  }

  async #result<T>(method: string, sessionId: string): Promise<T> {
    const given = this.#next(method, sessionId)
    if (!given) return new Promise(() => {})
    if (given.answer.error) throw new FileMissingError(given.answer.error.message)
    return given.answer.result as T
  }

  readonly client: AgentClient = {
    requestPermission: (request, signal) => this.sessions.requestPermission(request, signal),
    readTextFile: async ({ sessionId }) =>
      (await this.#result<{ content: string }>('fs/read_text_file', sessionId)).content,
    writeTextFile: async ({ sessionId }) => void (await this.#result('fs/write_text_file', sessionId)),
    createTerminal: async ({ sessionId }) => this.#result('terminal/create', sessionId),
    terminalOutput: async sessionId => {
      const { exitStatus, ...rest } = await this.#result<{
        output: string
        truncated: boolean
        exitStatus?: { exitCode?: number }
      }>('terminal/output', sessionId)
      return { ...rest, ...(exitStatus ? { exit: exitStatus } : {}) }
    },
    waitForTerminalExit: async sessionId => this.#result('terminal/wait_for_exit', sessionId),
    killTerminal: async sessionId => void (await this.#result('terminal/kill', sessionId)),
    releaseTerminal: async sessionId => void (await this.#result('terminal/release', sessionId)),
  }
}

/** The client's responses, each with its request. */
function answersIn(recorded: Recorded[]): GivenAnswer[] {
  const open = new Map<string, { asked: Message; at: number }>()
  const answers: Array<GivenAnswer & { at: number }> = []
  for (const [at, { dir, msg }] of recorded.entries()) {
    const key = JSON.stringify(msg.id)
    if (dir === 'recv' && msg.method !== undefined && msg.id !== undefined) open.set(key, { asked: msg, at })
    if (dir !== 'send' || msg.method !== undefined) continue
    const question = open.get(key)
    if (!question) continue
    open.delete(key)
    const cancelledBetween = recorded
      .slice(question.at, at)
      .some(between => between.dir === 'send' && between.msg.method === 'session/cancel')
    answers.push({ asked: question.asked, answer: msg, cancelledBetween, at: question.at })
  }
  return answers.sort((a, b) => a.at - b.at)
}

function setupOf(params: Record<string, unknown>): SessionSetup {
  return {
    cwd: typeof params.cwd === 'string' ? params.cwd : '/workspace',
    additionalDirectories: [],
    mcpServers: [],
  }
}
