import type { TraceFrame, TraceTap } from '../../acp/agent.ts'
import { redact } from '../../acp/redact.ts'
import { cutText, redactText } from '../../acp/redact-text.ts'
import { Emitter } from '../../common/event.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { type FrameSource, RecordedFrames } from './recorded-frames.ts'

/** Longer messages are cut. Characters. */
const MAX_FRAME = 100_000

/** Records all frames between Parley and its agents, without secrets. While it's off, frames aren't inspected. */
export class ProtocolRecorder {
  readonly frames: RecordedFrames
  readonly #secrets: SecretRegistry
  readonly #changed = new Emitter<void>()
  #connections = 0
  isOn = false

  /** A frame was recorded. */
  readonly onDidRecord = this.#changed.event

  constructor(secrets: SecretRegistry) {
    this.#secrets = secrets
    const withoutSecrets = (start: string) => secrets.stream().push(start)
    this.frames = new RecordedFrames((text, length) =>
      redactText(text.length > length ? cutText(text, length, withoutSecrets) : secrets.redact(text)),
    )
  }

  /** The tap of a new connection. */
  tapFor(agentId: string, agent: string): { readonly current: TraceTap | undefined } {
    const source = { connection: this.#connections++, agentId, agent }
    const tap: TraceTap = frame => this.#record(source, frame)
    const current = () => (this.isOn ? tap : undefined)
    return {
      get current() {
        return current()
      },
    }
  }

  /** The message of a frame as JSON, also without the secrets that became known since. */
  jsonOf(frame: { json: string }): string {
    return this.#secrets.redactJson(frame.json)
  }

  #record(source: FrameSource, { at, direction, message }: TraceFrame): void {
    let isCut = false
    const onCut = () => {
      isCut = true
    }
    const shown = redact(message, { maxLength: MAX_FRAME, secrets: this.#secrets, onCut })
    const json = this.#secrets.redactJson(JSON.stringify(shown))
    this.frames.add(source, { at, direction, message, json, isCut })
    this.#changed.fire()
  }
}
