const NEWLINE = 10

/** Splits a stream at its newlines. The pieces of an unfinished line are joined only once, so the cost is linear. */
export class LineReader {
  readonly #onLine: (line: string) => void
  #pieces: Buffer[] = []

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#pieces.push(chunk.subarray(start, end))
      start = end + 1
      this.end()
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start))
  }

  /** Reports what followed the last newline. */
  end(): void {
    if (this.#pieces.length === 0) return
    const line = (this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)).toString('utf8')
    this.#pieces = []
    if (line.trim() !== '') this.#onLine(line)
  }
}
