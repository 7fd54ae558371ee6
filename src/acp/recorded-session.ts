import * as z from 'zod'
import { isRecord } from '../common/is-record.ts'
import type {
  ContentBlock,
  ElicitationOutcome,
  ElicitationRequest,
  PermissionOutcome,
  PermissionRequest,
  SessionUpdate,
  SteeringOutcome,
  TerminalPatch,
} from './model.ts'
import { SessionV1 } from './v1/agent-v1.ts'
import {
  createTerminalSchema,
  readPermission as readPermissionV1,
  terminalSchema,
} from './v1/client-requests.ts'
import { readUpdate as readUpdateV1 } from './v1/update.ts'
import { permissionSchema, readPermission as readPermissionV2, SessionV2 } from './v2/agent-v2.ts'
import { readUpdate as readUpdateV2 } from './v2/update.ts'
import { given, readBlock } from './wire/content.ts'
import { elicitationSchema, readElicitation } from './wire/elicitation.ts'
import { maybe } from './wire/lenient.ts'
import { readStart } from './wire/session.ts'
import { readError, readTokens } from './wire/state.ts'
import { readSteering, STEERING_METHOD } from './wire/steering.ts'

/** Receives the contents of a recorded session's frames, in the model of both versions. */
export interface RecordedSessionSink {
  prompt(content: ContentBlock[]): void
  update(update: SessionUpdate): void
  permissionAsked(requestId: string, request: PermissionRequest): void
  elicitationAsked(requestId: string, request: ElicitationRequest): void
  answered(requestId: string, outcome: PermissionOutcome | ElicitationOutcome): void
  /** A prompt was sent to the running turn. */
  steering(promptId: string, content: ContentBlock[]): void
  steered(promptId: string, outcome: SteeringOutcome): void
  /** The state of a terminal that the client ran for the agent. */
  terminal(terminal: TerminalPatch & { truncated?: boolean }): void
  /** The session was created or opened; everything before this call was its history. */
  opened(): void
}

/** A recorded frame of the session. */
export interface SessionFrame {
  n: number
  direction: 'send' | 'receive'
  kind: 'request' | 'response' | 'notification'
  /** the method; of a response, the method of its request */
  method?: string | undefined
  /** of a response: the number of its request */
  pair?: number | undefined
  /** the protocol version; 1 if it's unknown */
  version?: number | undefined
}

const OPENING = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])
const outcomeSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: maybe(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))),
})
const ignore = () => {}

/**
 * Reads the frames of a recorded session, in both directions, with the code that reads a running agent's frames. Only reads data: sends
 * nothing and starts nothing. Malformed parts of a frame are skipped.
 */
export class RecordedSession {
  readonly #sessionId: string
  readonly #sink: RecordedSessionSink
  readonly #first: SessionV1
  readonly #second: SessionV2
  /** by the number of a request without a response so far: handles the response */
  readonly #open = new Map<number, (message: Record<string, unknown>) => void>()

  constructor(sessionId: string, sink: RecordedSessionSink) {
    this.#sessionId = sessionId
    this.#sink = sink
    const emit = (_: string, update: SessionUpdate) => sink.update(update)
    this.#first = new SessionV1(sessionId, emit, ignore)
    this.#second = new SessionV2(sessionId, emit, ignore)
  }

  add(frame: SessionFrame, message: Record<string, unknown>): void {
    const { direction, kind, method, version } = frame
    const isV2 = version === 2
    const params = isRecord(message.params) ? message.params : {}
    if (kind === 'response') this.#answered(frame, message, isV2)
    else if (direction === 'send') {
      const content = blocksIn(params.prompt)
      if (content.length === 0) return
      if (method === STEERING_METHOD) this.#steering(frame.n, content)
      if (method !== 'session/prompt') return
      this.#sink.prompt(content)
      if (!isV2) this.#sink.update({ type: 'state', state: 'running' })
    } else if (method === 'session/update') {
      if (isV2) readUpdateV2(params.update, this.#second)
      else readUpdateV1(params.update, this.#first)
    } else if (method === 'session/request_permission') this.#permission(frame.n, params, isV2)
    else if (method === 'elicitation/create') this.#elicitation(frame.n, params)
    else if (method?.startsWith('terminal/')) this.#terminal(frame.n, method, params)
  }

  #answered({ method, pair }: SessionFrame, message: Record<string, unknown>, isV2: boolean): void {
    const { error, result } = message
    const { update, opened } = this.#sink
    const ended = pair === undefined ? undefined : this.#open.get(pair)
    if (pair !== undefined) this.#open.delete(pair)
    if (ended) ended(message)
    else if (method !== undefined && OPENING.has(method)) {
      if (isRecord(error)) return
      const { options } = isV2 ? this.#second : this.#first
      options.start(readStart(result))
      if (options.all) update({ type: 'config_options', options: options.all })
      opened()
    } else if (method === 'session/prompt') {
      const { stopReason, ...rest } = isRecord(result) ? result : {}
      const tokens = given('tokens', isV2 ? undefined : readTokens(rest, 'unknown'))
      if (isRecord(error))
        update({ type: 'state', state: 'idle', stopReason: 'error', ...given('error', readError(error)) })
      else if (typeof stopReason === 'string') update({ type: 'state', state: 'idle', stopReason, ...tokens })
      else if (!isV2) update({ type: 'state', state: 'idle', stopReason: 'end_turn', ...tokens })
    }
  }

  #steering(n: number, content: ContentBlock[]): void {
    this.#sink.steering(`${n}`, content)
    this.#open.set(n, ({ result }) => this.#sink.steered(`${n}`, readSteering(result) ?? 'failed'))
  }

  #permission(n: number, params: Record<string, unknown>, isV2: boolean): void {
    const wire = isV2 ? permissionSchema.safeParse(params).data : undefined
    const request = isV2
      ? wire && readPermissionV2(wire, ignore)
      : readPermissionV1(this.#sessionId, params.toolCall, params.options, ignore)
    if (!request) return
    this.#sink.permissionAsked(`${n}`, request)
    this.#open.set(n, ({ result }) => {
      const { optionId } = isRecord(result) && isRecord(result.outcome) ? result.outcome : {}
      const isSelected = typeof optionId === 'string'
      this.#sink.answered(`${n}`, isSelected ? { type: 'selected', optionId } : { type: 'cancelled' })
    })
  }

  #elicitation(n: number, params: Record<string, unknown>): void {
    const wire = elicitationSchema.safeParse(params).data
    if (!wire) return
    let request: ElicitationRequest
    try {
      request = readElicitation(wire, ignore)
    } catch {
      // Parley refused to show the elicitation to the user.
      return
    }
    this.#sink.elicitationAsked(`${n}`, request)
    this.#open.set(n, ({ result }) => {
      const outcome = outcomeSchema.safeParse(result).data ?? { action: 'cancel' }
      this.#sink.answered(`${n}`, {
        action: outcome.action,
        ...('content' in outcome && given('content', outcome.content)),
      })
    })
  }

  #terminal(n: number, method: string, params: Record<string, unknown>): void {
    const { terminal } = this.#sink
    const create = method === 'terminal/create' ? createTerminalSchema.safeParse(params).data : undefined
    const terminalId = terminalSchema.safeParse(params).data?.terminalId
    this.#open.set(n, ({ result }) => {
      if (!isRecord(result)) return
      if (create && typeof result.terminalId === 'string') {
        const command = [create.command, ...(create.args ?? [])].join(' ')
        terminal({ terminalId: result.terminalId, command, ...given('cwd', create.cwd) })
      } else if (terminalId === undefined) return
      else if (method === 'terminal/output') {
        const { output, truncated, exitStatus } = result
        if (typeof output === 'string')
          terminal({ terminalId, output, truncated: truncated === true, ...exitIn(exitStatus) })
      } else if (method === 'terminal/wait_for_exit') terminal({ terminalId, ...exitIn(result) })
    })
  }
}

function blocksIn(raw: unknown): ContentBlock[] {
  return Array.isArray(raw) ? raw.flatMap(one => readBlock(one) ?? []) : []
}

function exitIn(raw: unknown): Pick<TerminalPatch, 'exit'> {
  if (!isRecord(raw)) return {}
  const { exitCode, signal } = raw
  return {
    exit: {
      exitCode: typeof exitCode === 'number' ? exitCode : null,
      signal: typeof signal === 'string' ? signal : null,
    },
  }
}
