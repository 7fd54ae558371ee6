import type { ConnectionTap, TraceFrame, TraceTap } from '../../acp/agent.ts'
import { redact, redactStart } from '../../acp/redact.ts'
import type { CheckedFrame } from '../../acp/schema/check-frame.ts'
import { Emitter } from '../../common/event.ts'
import { isRecord } from '../../common/is-record.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { type FrameSource, RecordedFrames } from './recorded-frames.ts'

/** Longer messages are cut. Characters. */
const MAX_FRAME = 100_000
/** Names and placeholders of secrets aren't cut, so this is the limit of the JSON as a whole. Characters. */
const MAX_JSON = 10 * MAX_FRAME
/** A longer sentence about a violation is cut. Characters. */
const MAX_PROBLEM = 500
/** How many different methods and IDs are kept at once. */
const MAX_NAMES = 500
/** How many frames, and characters of them, are kept to be checked when the schemas have been loaded. */
const MAX_UNCHECKED = 1000
const MAX_UNCHECKED_LENGTH = 5_000_000

/** What is known of a frame besides its message. */
interface RecordedBefore {
  /** The message isn't whole. */
  isPart?: boolean
  /** see `RecordedFrame` */
  queued?: number | undefined
}

type Violations = (frame: CheckedFrame) => string[]

/** Records all frames between Parley and its agents, without secrets. While it's off, frames aren't inspected. */
export class ProtocolRecorder {
  readonly frames: RecordedFrames
  readonly #secrets: SecretRegistry
  readonly #changed = new Emitter<void>()
  #connections = 0
  /** Methods and IDs come again and again: each is redacted and kept in memory once. */
  readonly #names = new Map<string, string>()
  #violations: Violations | undefined
  /** checks of frames that came before the schemas were loaded */
  #unchecked: (() => void)[] = []
  #uncheckedLength = 0
  isOn = false
  /** Since when the prompt that a session sends now was in Parley's queue; milliseconds since the epoch. */
  queuedSince: (agentId: string, sessionId: string) => number | undefined = () => undefined

  /** A frame was recorded. */
  readonly onDidRecord = this.#changed.event

  constructor(secrets: SecretRegistry) {
    this.#secrets = secrets
    this.frames = new RecordedFrames((text, length) => this.#nameOf(text, length))
    secrets.onDidAdd(() => this.#names.clear())
  }

  /** The tap of a new connection. */
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

  /** Loads the schemas, which are large. */
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

  /** The message of a frame as JSON, also without the secrets that became known since. */
  jsonOf(frame: { json: string }): string {
    return this.#secrets.redactJson(frame.json)
  }

  /** Stops, and frees the memory. */
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

/** The version that an `initialize` request offers, or that its response selects. */
function versionIn(method: string | undefined, message: unknown): number | undefined {
  if (method !== 'initialize' || !isRecord(message)) return undefined
  const { protocolVersion } = Object(message.params ?? message.result) as { protocolVersion?: unknown }
  return typeof protocolVersion === 'number' ? protocolVersion : undefined
}
