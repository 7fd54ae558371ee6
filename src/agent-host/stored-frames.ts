import { isRecord } from '../common/is-record.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { conversationPart } from './envelope.ts'
import type { JournalFrame } from './journal.ts'

const NOTHING = Buffer.from('\n')
/** Characters of a text that are remembered to find a secret that continues in the next frame. */
const MAX_BEFORE = 4096
const MAX_TEXTS = 1000

/** A piece of a growing text. */
interface Chunk {
  position: number
  message: object
  content: { text: string }
}

/**
 * The part of an agent's frames that is written to disk: the content of conversations, with secrets redacted as in stored conversations.
 */
export class StoredFrames {
  readonly #secrets: SecretRegistry
  /** by session and kind of text: the end of the written text */
  readonly #before = new Map<string, string>()

  constructor(secrets: SecretRegistry) {
    this.#secrets = secrets
  }

  /**
   * The frames, or only the first of them, if a secret may begin in the others that isn't complete yet: a word may be split across frames.
   * `isLast`: returns all frames.
   */
  written(frames: readonly JournalFrame[], isLast: boolean): Buffer[] {
    const written = frames.map(({ bytes, isConversation }) =>
      isConversation ? conversationPart(bytes) : NOTHING,
    )
    if (this.#secrets.values.length === 0) return written
    const texts = new Map<string, Chunk[]>()
    for (const [position, frame] of written.entries()) {
      const chunk = chunkIn(frame)
      if (!chunk) continue
      const same = texts.get(chunk.key)
      if (same) same.push({ ...chunk, position })
      else texts.set(chunk.key, [{ ...chunk, position }])
    }
    let count = frames.length
    for (const [key, chunks] of texts) {
      const { parts, count: safe } = this.#secrets.redactParts(
        this.#before.get(key) ?? '',
        chunks.map(({ content }) => content.text),
      )
      if (!isLast && safe < chunks.length) count = Math.min(count, chunks[safe]!.position)
      for (const [i, { position, message, content }] of chunks.entries()) {
        const { text } = content
        if (parts[i] === text) continue
        content.text = parts[i]!
        written[position] = Buffer.from(`${JSON.stringify(message)}\n`)
        content.text = text
      }
    }
    // a flood of sessions has no secret in several frames of each
    if (this.#before.size > MAX_TEXTS) this.#before.clear()
    for (const [key, chunks] of texts) {
      const now = chunks.filter(({ position }) => position < count).map(({ content }) => content.text)
      this.#before.set(key, [this.#before.get(key), ...now].join('').slice(-MAX_BEFORE))
    }
    return written.slice(0, count).map(frame => this.#redacted(frame))
  }

  #redacted(frame: Buffer): Buffer {
    const text = frame.toString()
    try {
      const redacted = this.#secrets.redactJson(text)
      return redacted === text ? frame : Buffer.from(redacted)
    } catch {
      return NOTHING
    }
  }
}

function chunkIn(frame: Buffer): (Omit<Chunk, 'position'> & { key: string }) | undefined {
  if (!frame.includes('_chunk"')) return undefined
  try {
    const message = JSON.parse(frame.toString())
    const { sessionId, update } = message.params
    const { sessionUpdate, content } = update
    if (!isRecord(content) || typeof content.text !== 'string') return undefined
    return { key: JSON.stringify([sessionId, sessionUpdate]), message, content: content as { text: string } }
  } catch {
    // another message
    return undefined
  }
}
