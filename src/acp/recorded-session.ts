import { isRecord } from '../common/is-record.ts'
import type { ContentBlock, PermissionOutcome, PermissionRequest, SessionUpdate } from './model.ts'
import { SessionV1 } from './v1/agent-v1.ts'
import { readPermission as readPermissionV1 } from './v1/client-requests.ts'
import { readUpdate as readUpdateV1 } from './v1/update.ts'
import { permissionSchema, readPermission as readPermissionV2, SessionV2 } from './v2/agent-v2.ts'
import { readUpdate as readUpdateV2 } from './v2/update.ts'
import { readBlock } from './wire/content.ts'
import { readStart } from './wire/session.ts'

/** What the frames of a recorded session say, in the model of both versions. */
export interface RecordedSessionSink {
  prompt(content: ContentBlock[]): void
  update(update: SessionUpdate): void
  permissionAsked(requestId: string, request: PermissionRequest): void
  permissionAnswered(requestId: string, outcome: PermissionOutcome): void
}

/** A frame of the session. */
export interface SessionFrame {
  n: number
  direction: 'send' | 'receive'
  kind: 'request' | 'response' | 'notification'
  /** of a response: that of its request */
  method?: string | undefined
  /** of a response: the number of its request */
  pair?: number | undefined
  /** the version of the protocol; 1 if it's unknown */
  version?: number | undefined
}

const OPENING = new Set(['session/new', 'session/load', 'session/resume', 'session/fork'])
const ignore = () => {}

/**
 * Reads the frames of a recorded session, in both directions, with what reads those of a running agent. It's data alone: nothing is sent,
 * started or read. What a frame says wrongly is skipped.
 */
export class RecordedSession {
  readonly #sessionId: string
  readonly #sink: RecordedSessionSink
  readonly #first: SessionV1
  readonly #second: SessionV2
  /** permission requests without an answer, by number */
  readonly #asked = new Set<number>()

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
      if (method === 'session/prompt') this.#prompt(params.prompt, isV2)
    } else if (method === 'session/update') {
      if (isV2) readUpdateV2(params.update, this.#second)
      else readUpdateV1(params.update, this.#first)
    } else if (method === 'session/request_permission') this.#permission(frame.n, params, isV2)
  }

  #prompt(raw: unknown, isV2: boolean): void {
    const blocks = Array.isArray(raw) ? raw.flatMap(one => readBlock(one) ?? []) : []
    if (blocks.length === 0) return
    this.#sink.prompt(blocks)
    if (!isV2) this.#sink.update({ type: 'state', state: 'running' })
  }

  #answered(
    { direction, method, pair }: SessionFrame,
    { error, result }: Record<string, unknown>,
    isV2: boolean,
  ): void {
    const { update, permissionAnswered } = this.#sink
    if (direction === 'send') {
      if (pair !== undefined && this.#asked.delete(pair)) permissionAnswered(`${pair}`, outcomeIn(result))
    } else if (method !== undefined && OPENING.has(method)) {
      const { options } = isV2 ? this.#second : this.#first
      options.start(readStart(result))
      if (options.all) update({ type: 'config_options', options: options.all })
    } else if (method === 'session/prompt') {
      const stopReason = isRecord(result) ? result.stopReason : undefined
      if (isRecord(error)) {
        const { code, message } = error
        const shown = { code: Number(code) || 0, message: typeof message === 'string' ? message : '' }
        update({ type: 'state', state: 'idle', stopReason: 'error', error: shown })
      } else if (typeof stopReason === 'string') update({ type: 'state', state: 'idle', stopReason })
      else if (!isV2) update({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    }
  }

  #permission(n: number, params: Record<string, unknown>, isV2: boolean): void {
    const wire = isV2 ? permissionSchema.safeParse(params).data : undefined
    const request = isV2
      ? wire && readPermissionV2(wire, ignore)
      : readPermissionV1(this.#sessionId, params.toolCall, params.options, ignore)
    if (!request) return
    this.#asked.add(n)
    this.#sink.permissionAsked(`${n}`, request)
  }
}

function outcomeIn(result: unknown): PermissionOutcome {
  const outcome = isRecord(result) && isRecord(result.outcome) ? result.outcome : {}
  const { optionId } = outcome
  return typeof optionId === 'string' ? { type: 'selected', optionId } : { type: 'cancelled' }
}
