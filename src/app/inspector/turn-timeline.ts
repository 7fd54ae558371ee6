import type { TurnSpan, TurnTimeline } from '../../bridge/inspector.ts'
import { isRecord } from '../../common/is-record.ts'
import type { SteppedWork } from '../../conversation/replay/stepped-work.ts'
import { messageIn, type RecordedFrame, type RecordedFrames } from './recorded-frames.ts'

/** The maximum number of spans that are listed. Further spans are only counted. */
const MAX_SPANS = 300
/** The length in characters beyond which titles are cut, since agents choose them. */
const MAX_NAME = 200
/** The length in characters beyond which a message is read in a step of its own. */
const LONG = 10_000
/** The number of frames to read in a step. */
const STEP = 64

/** The agent's updates that are shown as spans of text, by their kind. */
const TEXTS: Readonly<Record<string, 'message' | 'thought' | undefined>> = {
  agent_message_chunk: 'message',
  agent_message: 'message',
  agent_thought_chunk: 'thought',
  agent_thought: 'thought',
}
/** The kinds of updates that don't count as output, because an agent also sends them before it works on the prompt. */
const NO_OUTPUT: ReadonlySet<string> = new Set([
  ...['user_message', 'user_message_chunk', 'state_update', 'available_commands_update'],
  ...['current_mode_update', 'config_option_update', 'session_info_update', 'usage_update'],
])
const ENDED = /^(?:completed|failed|cancelled)$/

type Frame = Pick<
  RecordedFrame,
  'n' | 'at' | 'direction' | 'kind' | 'method' | 'about' | 'pair' | 'failed' | 'queued'
>

/** Returns a frame's message as parsed JSON. */
type Read = (frame: Frame) => Record<string, unknown>

/**
 * Finds the turn to which a frame belongs, in steps. Returns `undefined` if it belongs to none, or if the turn's first frame isn't in
 * memory. `jsonOf` returns a message without secrets.
 */
export function* findTurn(
  frames: RecordedFrames,
  n: number,
  jsonOf: (frame: RecordedFrame) => string,
): SteppedWork<TurnTimeline | undefined> {
  const wanted = frames.get(n)
  if (wanted?.sessionId === undefined) return undefined
  const { sessionId, source } = wanted
  const read: Read = frame => messageIn(jsonOf(frame as RecordedFrame)) ?? {}
  let turn: TurnReader | undefined
  for (let at = frames.first; at < frames.next; at++) {
    if (at % STEP === 0) yield
    const frame = frames.get(at)
    if (frame?.sessionId !== sessionId || frame.source.connection !== source.connection) continue
    if (frame.json.length > LONG) yield
    if (!turn && startsTurn(frame, read)) turn = new TurnReader(frame, read)
    else turn?.add(frame)
    if (turn?.isOver) {
      if (at >= n) break
      turn = undefined
    } else if (!turn && at >= n) break
  }
  return turn && turn.first <= n ? turn.timeline : undefined
}

function startsTurn(frame: Frame, read: Read): boolean {
  if (frame.kind === 'request' && frame.direction === 'send') return frame.method === 'session/prompt'
  // an agent that uses version 2 of the protocol may start a turn by itself
  return frame.about === 'state_update' && frame.kind === 'notification' && stateIn(frame, read) === 'running'
}

/** Follows a turn from its prompt to its end. */
class TurnReader {
  readonly first: number
  readonly #read: Read
  readonly #begun: number
  readonly #spans: TurnSpan[] = []
  #more = 0
  /** milliseconds from the start of the turn to the last frame; never decreases, even if a clock is set back */
  #now = 0
  #waiting: TurnSpan | undefined
  /** the span of text to which the last output belongs */
  #text: TurnSpan | undefined
  /** the running spans, by id of the tool call or number of the request */
  readonly #running = new Map<string | number, TurnSpan>()
  #prompts = 0
  #firstOutput: number | undefined
  #end: Pick<TurnTimeline, 'stopReason' | 'failed'> | undefined

  constructor(frame: Frame, read: Read) {
    this.first = frame.n
    this.#read = read
    const queued = Math.max(0, frame.queued ?? 0)
    this.#begun = frame.at - queued
    if (queued > 0) this.#add({ kind: 'queue', n: frame.n, start: 0, end: queued })
    this.#now = queued
    this.#waiting = this.#add({ kind: 'wait', n: frame.n, start: queued, end: queued, isOpen: true })
    if (frame.kind === 'request') this.#prompts = 1
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  add(frame: Frame): void {
    if (this.#end) return
    this.#now = Math.max(this.#now, frame.at - this.#begun)
    const { about, direction, kind, method } = frame
    if (kind === 'response') this.#answered(frame)
    else if (direction === 'receive') {
      if (method === 'session/update') this.#updated(frame, about)
      else if (kind === 'request') this.#asked(frame)
    } else if (method === 'session/prompt') this.#prompts++
    else if (method === 'session/cancel')
      this.#running.set(-frame.n, this.#add({ ...this.#from(frame), kind: 'stop' }))
  }

  get timeline(): TurnTimeline {
    const duration = this.#now
    const spans = this.#spans.map(span => (span.isOpen ? { ...span, end: duration } : { ...span }))
    return {
      ...{ first: this.first, at: this.#begun, duration, spans, more: this.#more },
      ...(this.#firstOutput !== undefined && { firstOutput: this.#firstOutput }),
      ...this.#end,
      ...(!this.#end && { isRunning: true }),
    }
  }

  #from({ n }: Frame): Pick<TurnSpan, 'n' | 'start' | 'end' | 'isOpen'> {
    return { n, start: this.#now, end: this.#now, isOpen: true }
  }

  #add(span: TurnSpan): TurnSpan {
    if (this.#spans.length < MAX_SPANS) this.#spans.push(span)
    else this.#more++
    return span
  }

  #finish(span: TurnSpan | undefined): void {
    if (!span?.isOpen) return
    span.end = this.#now
    delete span.isOpen
  }

  #updated(frame: Frame, about: string | undefined): void {
    if (about === 'state_update') {
      const { state, stopReason } = updateIn(frame, this.#read)
      if (state === 'idle') this.#over(stopReason, false)
      return
    }
    if (about === undefined || NO_OUTPUT.has(about)) return
    this.#output()
    const text = TEXTS[about]
    if (text !== undefined) {
      if (this.#text?.kind !== text) {
        this.#text = this.#add({ kind: text, n: frame.n, start: this.#now, end: this.#now })
      }
      this.#text.end = this.#now
      return
    }
    this.#text = undefined
    if (about === 'tool_call' || about === 'tool_call_update') this.#toolCall(frame)
  }

  #toolCall(frame: Frame): void {
    const update = updateIn(frame, this.#read)
    const { status, title, toolCallId } = update
    if (typeof toolCallId !== 'string') return
    let span = this.#running.get(toolCallId)
    if (!span) {
      // once no more spans can be listed, they are only counted
      span = this.#add({ ...this.#from(frame), kind: 'tool' })
      this.#running.set(toolCallId, span)
    }
    if (typeof title === 'string' && title !== '') span.name = title.slice(0, MAX_NAME)
    if (typeof status !== 'string' || !ENDED.test(status)) return
    if (span.isOpen) span.outcome = status
    this.#finish(span)
  }

  #asked(frame: Frame): void {
    this.#output()
    this.#text = undefined
    const { method = '' } = frame
    const isPermission = method === 'session/request_permission'
    const kind = isPermission ? 'permission' : method === 'elicitation/create' ? 'question' : 'request'
    const span: TurnSpan = { ...this.#from(frame), kind, ...(kind === 'request' && { name: method }) }
    if (isPermission) {
      const { params } = this.#read(frame)
      const title = titleIn(params)
      if (title !== undefined) span.name = title.slice(0, MAX_NAME)
    }
    this.#running.set(frame.n, this.#add(span))
  }

  #answered(frame: Frame): void {
    if (frame.direction === 'send') {
      const span = frame.pair === undefined ? undefined : this.#running.get(frame.pair)
      if (!span) return
      if (frame.failed) span.outcome = 'failed'
      this.#finish(span)
      return
    }
    if (frame.method !== 'session/prompt') return
    this.#prompts--
    const { result } = this.#read(frame)
    const stopReason = isRecord(result) ? result.stopReason : undefined
    // in version 2, the response only accepts the prompt
    if (frame.failed || typeof stopReason === 'string') {
      if (this.#prompts <= 0) this.#over(stopReason, frame.failed)
    }
  }

  #output(): void {
    if (this.#firstOutput === undefined) this.#firstOutput = this.#now
    this.#finish(this.#waiting)
  }

  #over(stopReason: unknown, failed: boolean): void {
    this.#finish(this.#waiting)
    for (const span of this.#running.values()) if (span.kind === 'stop') this.#finish(span)
    this.#end = {
      ...(typeof stopReason === 'string' && { stopReason: stopReason.slice(0, MAX_NAME) }),
      ...(failed && { failed: true as const }),
    }
  }
}

function updateIn(frame: Frame, read: Read): Record<string, unknown> {
  const { params } = read(frame)
  return isRecord(params) && isRecord(params.update) ? params.update : {}
}

function stateIn(frame: Frame, read: Read): unknown {
  return updateIn(frame, read).state
}

/** Returns the title in a permission request of either protocol version. */
function titleIn(params: unknown): string | undefined {
  if (!isRecord(params)) return undefined
  const { subject, toolCall } = params
  const subjects = [params, isRecord(subject) ? subject.toolCall : undefined, toolCall].filter(isRecord)
  return subjects.map(({ title }) => title).find(title => typeof title === 'string' && title !== '') as
    | string
    | undefined
}
