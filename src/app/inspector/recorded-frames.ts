import type { TraceFrame } from '../../acp/agent.ts'
import type { FrameRow } from '../../bridge/inspector.ts'
import { isRecord } from '../../common/is-record.ts'
import { parseJson } from '../../common/parse-json.ts'

/** The maximum size of all frames in memory, in bytes. */
const MAX_BYTES = 50 * 1024 * 1024
/** The approximate memory that a frame needs besides its JSON, in bytes. */
const FRAME_BYTES = 250
/** The length in characters beyond which methods, session IDs and request IDs are cut, since agents choose them. */
const MAX_NAME = 200
/** The maximum number of agents, of sessions and of methods that are counted. */
const MAX_NAMES = 200

/** The connection to which a frame belongs. */
export interface FrameSource {
  /** identifies the connection, because each connection has its own request IDs */
  connection: number
  agentId: string
  agent: string
  /** the negotiated protocol version, if known */
  version?: number | undefined
}

/** A frame in memory. All frames have the same members, so that they take little memory. {@link FrameRow} describes the members. */
export class RecordedFrame {
  readonly n: number
  readonly source: FrameSource
  readonly at: number
  readonly direction: TraceFrame['direction']
  readonly kind: FrameRow['kind']
  /** the message without secrets */
  readonly json: string
  readonly isCut: boolean
  readonly about: string | undefined
  /** the protocol version of the connection when the frame was recorded */
  readonly version: number | undefined
  /** of a prompt: how long it waited in the queue before it was sent, in milliseconds, if known */
  readonly queued: number | undefined
  method: string | undefined
  sessionId: string | undefined
  duration: number | undefined = undefined
  pair: number | undefined = undefined
  failed = false
  /** identifies a request until its response arrives */
  key: string | undefined = undefined
  /** the protocol version, and how the message differs from that version's schema */
  violations: { version: number; problems: string[] } | undefined = undefined

  constructor(
    n: number,
    source: FrameSource,
    { at, direction, json, isCut, queued }: NewFrame,
    names: Pick<RecordedFrame, 'kind' | 'method' | 'about' | 'sessionId'>,
  ) {
    this.n = n
    this.source = source
    this.at = at
    this.direction = direction
    this.json = json
    this.isCut = isCut
    this.queued = queued
    this.kind = names.kind
    this.method = names.method
    this.about = names.about
    this.sessionId = names.sessionId
    this.version = source.version
  }

  /** The frame as the list shows it. */
  get row(): FrameRow {
    const { n, at, direction, kind, source, sessionId, method, about, duration, pair } = this
    return {
      ...{ n, at, direction, kind, agentId: source.agentId, agent: source.agent },
      ...(sessionId !== undefined && { sessionId }),
      ...(method !== undefined && { method }),
      ...(about !== undefined && { about }),
      ...(duration !== undefined && { duration }),
      ...(pair !== undefined && { pair }),
      ...(this.failed && { failed: true }),
      ...(this.violations && { invalid: true }),
      ...(this.key !== undefined && { pending: true }),
    }
  }
}

interface NewFrame extends TraceFrame {
  /** the message without secrets */
  json: string
  isCut: boolean
  queued?: number | undefined
}

/** The last frames, in bounded memory: the oldest frames are removed first. Pairs requests with their responses. */
export class RecordedFrames {
  readonly #nameOf: (value: unknown) => string | undefined
  readonly #maxBytes: number
  /** the frames; those before `#head` were removed */
  #frames: (RecordedFrame | undefined)[] = []
  #head = 0
  #next = 1
  #bytes = 0
  #dropped = 0
  #cleared = 0
  /** requests without a response, by connection, direction and ID */
  readonly #open = new Map<string, RecordedFrame>()
  /** the number of frames in memory, by connection */
  readonly #sources = new Map<FrameSource, number>()
  readonly agents = new Names()
  readonly sessions = new Names()
  readonly methods = new Names()

  /** @param redact removes secrets from the start of a text of this length, and omits its end if that may be the start of a secret */
  constructor(redact: (text: string, length: number) => string, maxBytes = MAX_BYTES) {
    this.#nameOf = value => (typeof value === 'string' ? redact(value, MAX_NAME) : undefined)
    this.#maxBytes = maxBytes
  }

  /** The number of the oldest frame in memory. */
  get first(): number {
    return this.#next - this.count
  }

  /** The number of the next frame. */
  get next(): number {
    return this.#next
  }

  get count(): number {
    return this.#frames.length - this.#head
  }

  /** The number of frames that were removed because of the limit. */
  get dropped(): number {
    return this.#dropped
  }

  /** How often all frames were removed. */
  get cleared(): number {
    return this.#cleared
  }

  get bytes(): number {
    return this.#bytes
  }

  get(n: number): RecordedFrame | undefined {
    return n < this.first ? undefined : this.#frames[this.#head + n - this.first]
  }

  add(source: FrameSource, frame: NewFrame): RecordedFrame {
    const { direction, message } = frame
    const wire = isRecord(message) ? message : {}
    const method = this.#nameOf(wire.method)
    const kind = method === undefined ? 'response' : 'id' in wire ? 'request' : 'notification'
    const params = isRecord(wire.params) ? wire.params : {}
    const update = isRecord(params.update) ? params.update : {}
    const recorded = new RecordedFrame(this.#next++, source, frame, {
      ...{ kind, method },
      about: this.#nameOf(update.sessionUpdate),
      sessionId: this.#nameOf(params.sessionId),
    })
    const key = (from: TraceFrame['direction']) =>
      `${source.connection} ${from} ${typeof wire.id} ${String(wire.id).slice(0, MAX_NAME)}`
    if (kind === 'request') {
      recorded.key = key(direction)
      this.#open.set(recorded.key, recorded)
    } else if (kind === 'response') {
      const asked = key(direction === 'send' ? 'receive' : 'send')
      this.#pair(recorded, this.#open.get(asked), wire)
      this.#open.delete(asked)
    }
    this.#frames.push(recorded)
    this.#count(recorded, 1)
    while (this.#bytes > this.#maxBytes && this.count > 1) this.#drop()
    this.#compact()
    return recorded
  }

  /** Stores how a frame differs from the schema. */
  setViolations(frame: RecordedFrame, version: number, problems: string[]): void {
    if (this.get(frame.n) !== frame || frame.violations) return
    frame.violations = { version, problems }
    this.#bytes += violationBytes(frame)
  }

  /** Forgets the requests without a response, because the recording is paused and their responses aren't recorded. */
  interrupt(): void {
    for (const frame of this.#open.values()) frame.key = undefined
    this.#open.clear()
  }

  clear(): void {
    this.#frames = []
    this.#head = 0
    this.#bytes = 0
    this.#dropped = 0
    this.#cleared++
    this.#open.clear()
    this.#sources.clear()
    for (const names of [this.agents, this.sessions, this.methods]) names.clear()
  }

  #pair(frame: RecordedFrame, request: RecordedFrame | undefined, wire: Record<string, unknown>): void {
    if ('error' in wire) frame.failed = true
    if (!request) return
    const { method } = request
    const result = isRecord(wire.result) ? wire.result : {}
    const sessionId = request.sessionId ?? this.#nameOf(result.sessionId)
    if (sessionId !== undefined) {
      frame.sessionId = sessionId
      if (request.sessionId === undefined) this.sessions.count(sessionId, 1, request.source.agentId)
      request.sessionId = sessionId
    }
    if (method !== undefined) frame.method = method
    // the clock may have been set back in the meantime
    frame.duration = Math.max(0, frame.at - request.at)
    frame.pair = request.n
    request.duration = frame.duration
    request.pair = frame.n
    if (frame.failed) request.failed = true
    request.key = undefined
  }

  #drop(): void {
    const oldest = this.#frames[this.#head]!
    this.#frames[this.#head++] = undefined
    this.#dropped++
    this.#count(oldest, -1)
    // the response of a removed request won't be paired
    const { key } = oldest
    if (key !== undefined && this.#open.get(key) === oldest) this.#open.delete(key)
  }

  /** Frees the memory of removed frames from time to time. */
  #compact(): void {
    if (this.#head < 1000 || this.#head < this.#frames.length / 2) return
    this.#frames = this.#frames.slice(this.#head)
    this.#head = 0
  }

  #count(frame: RecordedFrame, by: 1 | -1): void {
    const { source, sessionId, method, json } = frame
    this.#bytes += by * (FRAME_BYTES + bytesOf(json) + violationBytes(frame))
    const others = this.#sources.get(source) ?? 0
    if (others + Math.min(by, 0) === 0) this.#bytes += by * sourceBytes(source)
    if (others + by === 0) this.#sources.delete(source)
    else this.#sources.set(source, others + by)
    this.agents.count(source.agentId, by, source.agent)
    if (sessionId !== undefined) this.sessions.count(sessionId, by, source.agentId)
    if (method !== undefined) this.methods.count(method, by)
  }
}

/** The different names of the frames in memory, with the number of frames for each. */
class Names {
  readonly #counts = new Map<string, { count: number; about: string }>()

  count(name: string, by: 1 | -1, about = ''): void {
    const entry = this.#counts.get(name)
    if (entry) {
      entry.count += by
      if (entry.count === 0) this.#counts.delete(name)
    } else if (by > 0 && this.#counts.size < MAX_NAMES) this.#counts.set(name, { count: 1, about })
  }

  clear(): void {
    this.#counts.clear()
  }

  get list(): { name: string; about: string }[] {
    return [...this.#counts].map(([name, { about }]) => ({ name, about }))
  }
}

/** Returns the message of a frame; `undefined` if it isn't an object. */
export function messageIn(json: string): Record<string, unknown> | undefined {
  const value = parseJson(json)
  return isRecord(value) ? value : undefined
}

function sourceBytes({ agent, agentId }: FrameSource): number {
  return FRAME_BYTES + 2 * (agent.length + agentId.length)
}

function violationBytes({ violations }: RecordedFrame): number {
  return violations ? 2 * violations.problems.join('').length : 0
}

/** Returns the memory that a text needs. V8 stores a text that contains a character beyond Latin-1 with two bytes per character. */
function bytesOf(json: string): number {
  return Buffer.byteLength(json) === json.length ? json.length : 2 * json.length
}
