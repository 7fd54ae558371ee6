import type { ConnectionTap, TraceFrame, TraceTap } from '../../acp/agent.ts'
import { redact, redactStart } from '../../acp/redact.ts'
import type { CheckedFrame } from '../../acp/schema/check-frame.ts'
import { Emitter } from '../../common/event.ts'
import { isRecord } from '../../common/is-record.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { type FrameSource, RecordedFrames } from './recorded-frames.ts'

/** The length in characters beyond which messages are cut. */
const MAX_FRAME = 100_000
/**
 * The maximum length of a cut message's JSON in characters. Names and placeholders of secrets aren't cut, so the JSON may be longer than
 * {@link MAX_FRAME}.
 */
const MAX_JSON = 10 * MAX_FRAME
/** The length in characters beyond which the description of a violation is cut. */
const MAX_PROBLEM = 500
/** The maximum number of different methods and IDs that are cached. */
const MAX_NAMES = 500
/** The maximum number of frames, and their maximum total length in characters, that wait until the schemas are loaded. */
const MAX_UNCHECKED = 1000
const MAX_UNCHECKED_LENGTH = 5_000_000

/** What is known of a frame besides its message. */
interface RecordedBefore {
  /** The message is incomplete. */
  isPart?: boolean
  /** see `RecordedFrame` */
  queued?: number | undefined
}

type Violations = (frame: CheckedFrame) => string[]

/** Records all frames between Parley and its agents, without secrets. While the recorder is off, frames aren't inspected. */
export class ProtocolRecorder {
  readonly frames: RecordedFrames
  readonly #secrets: SecretRegistry
  readonly #changed = new Emitter<void>()
  #connections = 0
  /** the redacted methods and IDs; cached, since they occur again and again */
  readonly #names = new Map<string, string>()
  #violations: Violations | undefined
  /** the checks of frames that were recorded before the schemas were loaded */
  #unchecked: (() => void)[] = []
  #uncheckedLength = 0
  isOn = false
  /** Returns when the prompt that a session sends now was added to Parley's queue, in milliseconds since the epoch. */
  queuedSince: (agentId: string, sessionId: string) => number | undefined = () => undefined

  /** Fires when a frame was recorded. */
  readonly onDidRecord = this.#changed.event

  constructor(secrets: SecretRegistry) {
    this.#secrets = secrets
    this.frames = new RecordedFrames((text, length) => this.#nameOf(text, length))
    secrets.onDidAdd(() => this.#names.clear())
  }

  /** Returns the tap of a new connection. */
  tapFor(agentId: string, agent: string): ConnectionTap {
    const source: FrameSource = { connection: this.#connections++, agentId, agent }
    const tap: TraceTap = frame => this.record(source, frame, { queued: this.#queuedFor(agentId, frame) })
    const current = () => (this.isOn ? tap : undefined)
    return {
      get current() {
        return current()
      },
      set version(version: number) {
        source.version = version
      },
    }
  }

  /** Loads the schemas. They are large, so they aren't loaded earlier. */
  async loadSchemas(): Promise<void> {
    const { frameViolations } = await import('../../acp/schema/check-frame.ts')
    this.#violations = frameViolations
    for (const check of this.#unchecked.splice(0)) check()
    this.#changed.fire()
  }

  record(
    source: FrameSource,
    { at, direction, message }: TraceFrame,
    { isPart = false, queued }: RecordedBefore = {},
  ): void {
    let isCut = isPart
    const onCut = () => {
      isCut = true
    }
    const shortened = (whole: unknown) =>
      JSON.stringify(redact(whole, { maxLength: MAX_FRAME, secrets: this.#secrets, onCut }))
    let shown = shortened(message)
    if (shown.length > MAX_JSON) {
      onCut()
      const { id, method } = Object(message) as { id?: unknown; method?: unknown }
      const { length } = shown
      shown = shortened({ ...(typeof id !== 'object' && { id }), method, '…': length })
    }
    const json = this.#secrets.redactJson(shown)
    const frame = this.frames.add(source, { at, direction, message, json, isCut, queued })
    const version = versionIn(frame.method, message) ?? source.version
    if (frame.method === 'initialize') source.version = version
    if (!isPart && (version === 1 || version === 2)) {
      const { method: answers } = frame
      const isResponse = frame.kind === 'response'
      const checked = { version, direction, message, ...(isResponse && answers !== undefined && { answers }) }
      const check = () => {
        const problems = this.#violations?.(checked as CheckedFrame) ?? []
        if (problems.length === 0) return
        const redacted = problems.map(problem => this.#redacted(problem, MAX_PROBLEM))
        this.frames.setViolations(frame, version, redacted)
      }
      if (this.#violations) check()
      else if (!isCut) this.#checkLater(check, json.length)
    }
    this.#changed.fire()
  }

  /** Returns the message of a frame as JSON, without secrets, including those that became known since the recording. */
  jsonOf(frame: { json: string }): string {
    return this.#secrets.redactJson(frame.json)
  }

  /** Stops the recording, and frees the memory. */
  close(): void {
    this.isOn = false
    this.#unchecked = []
    this.#uncheckedLength = 0
    this.#names.clear()
    this.frames.clear()
  }

  #checkLater(check: () => void, length: number): void {
    this.#uncheckedLength += length
    if (this.#unchecked.length < MAX_UNCHECKED && this.#uncheckedLength <= MAX_UNCHECKED_LENGTH)
      this.#unchecked.push(check)
  }

  #queuedFor(agentId: string, { at, direction, message }: TraceFrame): number | undefined {
    if (direction !== 'send' || !isRecord(message) || message.method !== 'session/prompt') return undefined
    const { sessionId } = Object(message.params) as { sessionId?: unknown }
    const since = typeof sessionId === 'string' ? this.queuedSince(agentId, sessionId) : undefined
    return since === undefined ? undefined : Math.max(0, at - since)
  }

  #nameOf(text: string, length: number): string {
    if (text.length > length) return this.#redacted(text, length)
    let name = this.#names.get(text)
    if (name === undefined) {
      name = this.#redacted(text, length)
      if (this.#names.size >= MAX_NAMES) this.#names.clear()
      this.#names.set(text, name)
    }
    return name
  }

  #redacted(text: string, length: number): string {
    return redactStart(text, length, this.#secrets)
  }
}

/** Returns the protocol version that an `initialize` request offers, or that its response selects. */
function versionIn(method: string | undefined, message: unknown): number | undefined {
  if (method !== 'initialize' || !isRecord(message)) return undefined
  const { protocolVersion } = Object(message.params ?? message.result) as { protocolVersion?: unknown }
  return typeof protocolVersion === 'number' ? protocolVersion : undefined
}
