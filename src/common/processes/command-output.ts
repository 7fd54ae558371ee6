import type { Readable } from 'node:stream'
import { OutputDecoder } from './decode-output.ts'

/** Minimum size of a command's output that is stored for display, even if its agent requests less. Bytes. */
const SHOWN_OUTPUT_BYTES = 4 * 1024 * 1024

/**
 * The last part of a command's output: at most `limit` bytes of UTF-8, cut at the start, between two characters.
 * Appending takes constant time.
 */
export class OutputBuffer {
  readonly #limit: number
  #pieces: Array<{ text: string; bytes: number }> = []
  /** Index of the first piece that isn't dropped; the array is trimmed occasionally. */
  #first = 0
  #bytes = 0
  #truncated = false

  constructor(limit: number) {
    this.#limit = Math.max(0, Math.trunc(limit))
  }

  get truncated(): boolean {
    return this.#truncated
  }
  /** size in bytes of UTF-8 */
  get bytes(): number {
    return this.#bytes
  }

  /** Appends a text of whole characters. */
  append(text: string): void {
    if (text === '') return
    const bytes = Buffer.byteLength(text)
    const last = this.#pieces.length > this.#first ? this.#pieces.at(-1) : undefined
    if (last && last.bytes + bytes <= PIECE) {
      last.text += text
      last.bytes += bytes
    } else this.#pieces.push({ text, bytes })
    this.#bytes += bytes
    this.#trim()
  }

  /** Replaces the whole output. `truncated`: whether earlier text is already lost. */
  reset(text: string, truncated: boolean): void {
    this.#pieces = []
    this.#first = 0
    this.#bytes = 0
    this.#truncated = truncated
    this.append(text)
  }

  text(): string {
    return this.#pieces
      .slice(this.#first)
      .map(piece => piece.text)
      .join('')
  }

  #trim(): void {
    while (this.#bytes > this.#limit) {
      const piece = this.#pieces[this.#first]
      if (!piece) return
      this.#truncated = true
      const over = this.#bytes - this.#limit
      this.#bytes -= piece.bytes
      if (piece.bytes <= over) {
        this.#pieces[this.#first] = { text: '', bytes: 0 }
        this.#first += 1
      } else {
        piece.text = withoutBytes(piece.text, over)
        piece.bytes = Buffer.byteLength(piece.text)
        this.#bytes += piece.bytes
      }
    }
    if (this.#first > 1000) {
      this.#pieces = this.#pieces.slice(this.#first)
      this.#first = 0
    }
  }
}

/** A buffer that is large enough to show a command's output, and for the `limit` of bytes that its agent requested. */
export function shownOutputBuffer(limit: number): OutputBuffer {
  return new OutputBuffer(Math.max(limit, SHOWN_OUTPUT_BYTES))
}

/** Texts are joined to pieces up to this size, so that there aren't too many pieces. Bytes. */
const PIECE = 8 * 1024

/** Cuts at least `count` bytes from the start of the text, at a boundary between characters. */
function withoutBytes(text: string, count: number): string {
  const bytes = Buffer.from(text)
  let at = count
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
  return bytes.toString('utf8', at)
}

/** After this number of bytes, reading output pauses, so that the extension host stays responsive. */
const FLOOD_BYTES = 1024 * 1024
const FLOOD_PAUSE_MS = 15
const QUIET_MS = 50
const QUIET_CHECKS = 40

/** Reads several streams of bytes into one stream of text, in order of arrival and in whole characters. */
export class OutputPump {
  readonly #streams: readonly Readable[]
  readonly #decoders: OutputDecoder[]
  readonly #onText: (text: string) => void
  /** bytes read since the last pause */
  #burst = 0
  #total = 0
  #resume: NodeJS.Timeout | undefined
  #closed = false

  /** `encoding`: the value of `files.encoding`. */
  constructor(streams: readonly Readable[], onText: (text: string) => void, encoding?: string) {
    this.#streams = streams
    this.#decoders = streams.map(() => new OutputDecoder(encoding))
    this.#onText = onText
    streams.forEach((stream, index) => {
      stream.on('data', (piece: Buffer) => this.#take(index, piece))
      stream.on('end', () => this.#say(this.#decoders[index]?.end() ?? ''))
      // A broken pipe counts as the end of the output; the exit code shows the reason.
      stream.on('error', () => {})
    })
  }

  /** Resolves after a moment without output, or after two seconds of continuous output. */
  async quiet(): Promise<void> {
    for (let check = 0; check < QUIET_CHECKS; check += 1) {
      const before = this.#total
      await new Promise(resolve => setTimeout(resolve, QUIET_MS))
      // Timers run before streams are read, so after the event loop was blocked, waiting output hasn't been counted yet.
      await new Promise(resolve => setImmediate(resolve))
      if (this.#total === before && !this.#resume) return
    }
  }

  /** Reports the incomplete text for which the decoders wait for more bytes. */
  flush(): void {
    for (const decoder of this.#decoders) this.#say(decoder.end())
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#resume)
    for (const stream of this.#streams) stream.destroy()
  }

  #take(index: number, piece: Buffer): void {
    if (this.#closed) return
    this.#total += piece.length
    this.#burst += piece.length
    this.#say(this.#decoders[index]?.write(piece) ?? '')
    if (this.#burst < FLOOD_BYTES || this.#resume) return
    for (const stream of this.#streams) stream.pause()
    this.#resume = setTimeout(() => {
      this.#resume = undefined
      this.#burst = 0
      for (const stream of this.#streams) stream.resume()
    }, FLOOD_PAUSE_MS)
  }

  #say(text: string): void {
    if (text !== '') this.#onText(text)
  }
}
