import { isRecord } from '../common/is-record.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { conversationPart } from './envelope.ts'
import type { JournalFrame } from './journal.ts'

const NOTHING = Buffer.from('\n')
/** The maximum length of the remembered end of a text, in characters. It's needed to find a secret that continues in the next frame. */
const MAX_BEFORE = 4096
const MAX_TEXTS = 1000

/** A piece of a text that arrives in several frames. */
interface Chunk {
  position: number
  message: object
  content: { text: string }
}

/**
 * Determines what is written to disk of an agent's frames: the content of conversations, with secrets redacted as in stored conversations.
 */
export class StoredFrames {
  readonly #secrets: SecretRegistry
  /** by session and kind of text: the end of the text that was written */
  readonly #before = new Map<string, string>()

  constructor(secrets: SecretRegistry) {
    this.#secrets = secrets
  }

  /**
   * Returns the bytes to write for the frames. Omits the last frames if they may contain the beginning of an incomplete secret, because a
   * word may be split across frames. `isLast`: returns the bytes of all frames.
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
    // A real secret isn't split in so many sessions at once, so the ends of the texts can be forgotten.
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
    // The line isn't a message with a chunk of text.
    return undefined
  }
}
