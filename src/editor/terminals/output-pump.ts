import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** Output is read at this pace at most, so that an endless flood leaves the extension host responsive. */
const FLOOD_BYTES = 1024 * 1024
const FLOOD_PAUSE_MS = 15
const QUIET_MS = 50
const QUIET_CHECKS = 40

/** Reads several streams of bytes into one stream of text, in the order it comes and never half a character. */
export class OutputPump {
  readonly #streams: readonly Readable[]
  readonly #decoders: StringDecoder[]
  readonly #onText: (text: string) => void
  /** bytes read since the last pause */
  #burst = 0
  #total = 0
  #resume: NodeJS.Timeout | undefined
  #closed = false

  constructor(streams: readonly Readable[], onText: (text: string) => void) {
    this.#streams = streams
    this.#decoders = streams.map(() => new StringDecoder('utf8'))
    this.#onText = onText
    streams.forEach((stream, index) => {
      stream.on('data', (piece: Buffer) => this.#take(index, piece))
      stream.on('end', () => this.#say(this.#decoders[index]?.end() ?? ''))
      // A broken pipe ends like any other; the exit code tells what happened.
      stream.on('error', () => {})
    })
  }

  /** Resolves when nothing has come for a moment, or after two seconds of output without a pause. */
  async quiet(): Promise<void> {
    for (let check = 0; check < QUIET_CHECKS; check += 1) {
      const before = this.#total
      await new Promise(resolve => setTimeout(resolve, QUIET_MS))
      // Timers run before the streams are read: a loop that was blocked would see silence where there is none.
      await new Promise(resolve => setImmediate(resolve))
      if (this.#total === before && !this.#resume) return
    }
  }

  /** Reads no more. */
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
