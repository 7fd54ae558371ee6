const NEWLINE = 10

/**
 * Splits an agent's output at newlines, and keeps every byte: joined, the frames are equal to the output. A line longer than the limit is
 * passed on in pieces, and the window reports it.
 */
export class FrameSplitter {
  readonly #maxBytes: number
  #rest: Buffer[] = []
  #restBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the frames that the next bytes complete, with their newlines. */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      frames.push(this.#join(chunk.subarray(start, end + 1)))
      start = end + 1
    }
    if (start < chunk.length) {
      this.#rest.push(chunk.subarray(start))
      this.#restBytes += chunk.length - start
    }
    if (this.#restBytes > this.#maxBytes) frames.push(this.#join())
    return frames
  }

  /** Returns the text after the last newline. Called after the output has ended. */
  flush(): Buffer | undefined {
    return this.#restBytes > 0 ? this.#join() : undefined
  }

  #join(last?: Buffer): Buffer {
    if (this.#restBytes === 0) return last ?? Buffer.alloc(0)
    const whole = Buffer.concat(last ? [...this.#rest, last] : this.#rest)
    this.#rest = []
    this.#restBytes = 0
    return whole
  }
}
