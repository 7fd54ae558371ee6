import * as l10n from '@vscode/l10n'
import { isRecord } from '../../common/is-record.ts'
import type { AgentLaunch } from '../agent.ts'
import { RpcCode } from '../errors.ts'
import { redactStart } from '../redact.ts'
import {
  AgentUnderTest,
  type CheckConnectOptions,
  type Frame,
  type Json,
  type Reply,
} from './agent-under-test.ts'
import { CheckFailed, NotChecked } from './check-outcome.ts'
import type { ProtocolVersion } from './conformance-report.ts'

/** How long a check waits, in milliseconds. */
export interface CheckTimes {
  /** for the answer to a request */
  request: number
  /** for the first output of a turn, before the check cancels the turn anyway */
  output: number
  /** for the end of a turn */
  turn: number
  /** for the end of a canceled turn */
  cancel: number
  /** for messages that the agent shouldn't send */
  quiet: number
  /** for the process to exit */
  exit: number
}

export const CHECK_TIMES: CheckTimes = {
  request: 60_000,
  output: 10_000,
  turn: 180_000,
  cancel: 15_000,
  quiet: 700,
  exit: 10_000,
}

/** The texts of the prompts. Tests use other texts for agents with a scripted model. */
export interface CheckPrompts {
  /** makes the agent answer with a few words */
  reply: string
  /** makes the agent answer for so long that the check can cancel the turn */
  long: string
  /** makes the agent ask for a permission */
  permission: string
}

export const PERMISSION_FILE = 'parley-check.txt'

export const CHECK_PROMPTS: CheckPrompts = {
  reply:
    'This is an automated check of the Agent Client Protocol. Reply with the word OK. Do not use any tool.',
  long: 'This is an automated check of the Agent Client Protocol. Count from 1 to 1000 in words, one number in each line. Do not use any tool.',
  permission: `This is an automated check of the Agent Client Protocol. Create the file ${PERMISSION_FILE} in the working directory, with the text "ok".`,
}

export interface RunOptions {
  launch: AgentLaunch
  connect: Omit<CheckConnectOptions, 'signal'>
  /** the path of an empty folder, in which the agent works */
  folder: string
  times: CheckTimes
  prompts: CheckPrompts
  /** The sign-in method that is used after `initialize`, if any. */
  signInMethod?: string
  signal: AbortSignal
}

/** A turn that has ended. */
export interface Turn {
  sessionId: string
  /** all frames from the prompt to the end of the turn */
  frames: Frame[]
  /** version 2: the message id in the response to the prompt */
  messageId: unknown
  stopReason: unknown
}

const isUpdate = ({ message }: Frame) => message.method === 'session/update'

/** Returns the `update` of a `session/update`, or an empty object. */
export function updateOf({ message }: Frame): Json {
  const { update } = isRecord(message.params) ? message.params : {}
  return isRecord(update) ? update : {}
}

export function sessionOf({ message }: Frame): unknown {
  return isRecord(message.params) ? message.params.sessionId : undefined
}

export function updatesIn(frames: readonly Frame[]): Frame[] {
  return frames.filter(frame => frame.direction === 'receive' && isUpdate(frame))
}

/** The state that all checks of one protocol version share, with the processes of the agent. */
export class ConformanceRun {
  readonly version: ProtocolVersion
  readonly options: RunOptions
  /** all processes of the agent; only the last one may still run */
  readonly processes: AgentUnderTest[] = []
  /** the ids of all sessions that the agent has created */
  readonly sessions = new Set<string>()
  /** the answer to `initialize` */
  initialized: Json | undefined
  #agent: Promise<AgentUnderTest> | undefined
  #session: { id: string; of: AgentUnderTest } | undefined
  #turn: Promise<Turn> | undefined
  #createsNone = false

  constructor(version: ProtocolVersion, options: RunOptions) {
    this.version = version
    this.options = options
  }

  /** Starts a new process, which isn't initialized, and stops the running process. */
  async start(): Promise<AgentUnderTest> {
    const { launch, connect, signal } = this.options
    await this.stop()
    const agent = await AgentUnderTest.start(launch, { ...connect, signal })
    this.processes.push(agent)
    return agent
  }

  async stop(): Promise<void> {
    await this.processes.at(-1)?.stop(this.options.times.exit)
  }

  /** Resolves to the running initialized process, or starts one. */
  async agent(): Promise<AgentUnderTest> {
    const agent = await this.#agent?.catch(() => undefined)
    if (agent && agent.end === undefined) return agent
    return this.restart()
  }

  /** Starts and initializes a new process. */
  restart(): Promise<AgentUnderTest> {
    this.#agent = this.#begin()
    return this.#agent
  }

  async #begin(): Promise<AgentUnderTest> {
    const agent = await this.start()
    const { result, error } = await this.initialize(agent, this.version)
    if (error) throw new CheckFailed(this.errorText('initialize', error))
    if (!isRecord(result) || result.protocolVersion !== this.version)
      throw new CheckFailed(
        l10n.t(
          'The agent answered the offer of version {0} with {1}.',
          this.version,
          JSON.stringify(isRecord(result) ? result.protocolVersion : result) ?? '',
        ),
      )
    this.initialized = result
    const { signInMethod, times } = this.options
    if (signInMethod !== undefined) {
      const method = this.version === 1 ? 'authenticate' : 'auth/login'
      const reply = await agent.request(method, { methodId: signInMethod }, times.turn)
      if (reply.error) throw new NotChecked(this.errorText(method, reply.error))
    }
    return agent
  }

  initialize(agent: AgentUnderTest, protocolVersion: number): Promise<Reply> {
    const { connect, times } = this.options
    const { clientInfo } = connect
    // The client offers neither files nor terminals, so the agent can't read or change the user's files through it.
    const params =
      this.version === 1
        ? {
            protocolVersion,
            clientInfo,
            clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
          }
        : { protocolVersion, info: clientInfo, capabilities: {} }
    return agent.request('initialize', params, times.request)
  }

  /** Whether the agent lists a capability for sessions. */
  can(name: 'load' | 'list' | 'resume' | 'close' | 'delete' | 'fork'): boolean {
    const { agentCapabilities, capabilities } = this.initialized ?? {}
    const all = this.version === 1 ? agentCapabilities : capabilities
    if (!isRecord(all)) return false
    if (this.version === 1 && name === 'load') return all.loadSession === true
    const session = this.version === 1 ? all.sessionCapabilities : all.session
    if (!isRecord(session)) return false
    // Every v2 agent with sessions must support these methods.
    if (this.version === 2 && (name === 'list' || name === 'resume' || name === 'close')) return true
    return isRecord(session[name])
  }

  /** Returns the parameters that every request to create or open a session has. */
  get setup(): Json {
    return { cwd: this.options.folder, mcpServers: [] }
  }

  /** Sends a request that must succeed. Resolves to the result. */
  async ask(method: string, params: unknown, agent?: AgentUnderTest): Promise<unknown> {
    const asked = agent ?? (await this.agent())
    const { result, error } = await asked.request(method, params, this.options.times.request, true)
    if (!error) return result
    if (error.code === RpcCode.authRequired)
      throw new NotChecked(l10n.t('The agent requires a sign-in first ({0}).', this.errorText(method, error)))
    throw new CheckFailed(this.errorText(method, error))
  }

  /** Creates a session. If this failed once, fails immediately in later checks. */
  async newSession(): Promise<string> {
    if (this.#createsNone) throw new NotChecked(l10n.t('No session could be created.'))
    const created = this.sessions.size
    try {
      return await this.#create()
    } catch (error) {
      this.#createsNone = created === 0
      throw error
    }
  }

  async #create(): Promise<string> {
    const result = await this.ask('session/new', this.setup)
    const { sessionId } = isRecord(result) ? result : {}
    if (typeof sessionId !== 'string' || sessionId === '')
      throw new CheckFailed(l10n.t('The answer to session/new has no session ID.'))
    this.sessions.add(sessionId)
    return sessionId
  }

  /** Resolves to a session of the running process. Checks share this session. */
  async session(): Promise<string> {
    const agent = await this.agent()
    if (this.#session?.of !== agent) this.#session = { id: await this.newSession(), of: agent }
    return this.#session.id
  }

  /** Resolves to the turn of the first prompt. Checks share this turn. */
  turn(): Promise<Turn> {
    this.#turn ??= this.session().then(sessionId => this.prompt(sessionId, this.options.prompts.reply))
    return this.#turn
  }

  /** Resolves to the id of the session that had the first prompt. */
  async promptedSession(): Promise<string> {
    try {
      return (await this.turn()).sessionId
    } catch {
      throw new NotChecked(l10n.t('The first prompt failed, so there is no conversation to open again.'))
    }
  }

  /** Sends a prompt and waits for the end of the turn. Calls `during` while the turn runs. */
  async prompt(
    sessionId: string,
    text: string,
    during?: (agent: AgentUnderTest, from: number) => Promise<unknown>,
  ): Promise<Turn> {
    const agent = await this.agent()
    const { times } = this.options
    const from = agent.frames.length
    const isIdle = (frame: Frame) =>
      isUpdate(frame) &&
      sessionOf(frame) === sessionId &&
      updateOf(frame).sessionUpdate === 'state_update' &&
      updateOf(frame).state === 'idle' &&
      updateOf(frame).stopReason !== undefined
    const reply = agent.begin('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
    // If the promise rejects while `during` runs, the rejection is reported below.
    reply.catch(() => {})
    await during?.(agent, from)
    const ms = during ? times.cancel : times.turn
    const { result, error } = await agent.within(reply, ms, 'session/prompt')
    if (error?.code === RpcCode.authRequired)
      throw new NotChecked(
        l10n.t('The agent requires a sign-in first ({0}).', this.errorText('session/prompt', error)),
      )
    if (error) throw new CheckFailed(this.errorText('session/prompt', error))
    const answer = isRecord(result) ? result : {}
    let { stopReason } = answer
    if (this.version === 2) {
      const idle = await agent.find(isIdle, from, ms)
      if (!idle)
        throw new CheckFailed(
          l10n.t('No state_update said within {0} seconds that the turn has ended.', ms / 1000),
        )
      stopReason = updateOf(idle).stopReason
    }
    return { sessionId, frames: agent.frames.slice(from), messageId: answer.messageId, stopReason }
  }

  /** Returns an error answer as a sentence. */
  errorText(method: string, { code, message, data }: Json): string {
    const { secrets } = this.options.connect
    const detail =
      data === undefined || data === null ? '' : ` ${redactStart(JSON.stringify(data) ?? '', 300, secrets)}`
    return l10n.t(
      '{0} was answered with the error {1}: {2}',
      method,
      String(code),
      `${redactStart(String(message), 500, secrets)}${detail}`,
    )
  }
}
