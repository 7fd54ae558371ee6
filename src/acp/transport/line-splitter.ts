import { MemberLimit } from './member-limit.ts'

const NEWLINE = 10

/** A line longer than the limit; nothing after it can be read. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(
      `The agent sent a message of more than ${formatBytes(maxBytes)}, which is the limit, so its connection was closed.`,
    )
    this.maxBytes = maxBytes
  }
}

/** A buffer for an unfinished line that grew larger than this is released together with the line. */
const KEEP_BYTES = 256 * 1024

/**
 * Cuts a byte stream at newlines and decodes whole lines only, so that no UTF-8 character is ever split. The unfinished
 * line waits in a buffer that grows by doubling: a line of n bytes costs O(n) however small its pieces are. Members
 * beyond a limit are cut from it as they arrive; a line within a piece has too few of them to matter.
 */
export class LineSplitter {
  readonly #maxBytes: number
  /** the unfinished line, and how much of the buffer it fills */
  #rest: Buffer = Buffer.allocUnsafe(0)
  #restBytes = 0
  #members = new MemberLimit()
  /** the line that was unfinished before the last push */
  #first: string | undefined
  /** the other whole lines, decoded together: decoding once per chunk is much cheaper than once per line */
  #text = ''
  #position = 0
  #tooLong = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds the next bytes. Call {@link next} until it returns `undefined` before pushing again. */
  push(chunk: Buffer): void {
    if (this.#tooLong) return
    const last = chunk.lastIndexOf(NEWLINE)
    if (last < 0) {
      this.#keep(chunk)
      return
    }
    let start = 0
    if (this.#restBytes > 0) {
      start = chunk.indexOf(NEWLINE) + 1
      this.#keep(chunk.subarray(0, start - 1))
      if (this.#tooLong) return
      this.#first = this.#takeRest()
    }
    const end = last - start > this.#maxBytes ? this.#endOfGood(chunk, start, last) : last + 1
    if (end > start) this.#text = chunk.toString('utf8', start, end)
    this.#position = 0
    if (!this.#tooLong && last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1))
  }

  /**
   * The next whole line, without its newline.
   * @throws LineTooLongError if the line is longer than the limit; all lines before it were returned.
   */
  next(): string | undefined {
    if (this.#first !== undefined) {
      const line = this.#first
      this.#first = undefined
      return line
    }
    if (this.#position >= this.#text.length) {
      if (this.#tooLong) throw new LineTooLongError(this.#maxBytes)
      return undefined
    }
    const end = this.#text.indexOf('\n', this.#position)
    const line = this.#text.slice(this.#position, end)
    this.#position = end + 1
    if (this.#position >= this.#text.length) this.#text = ''
    return line
  }

  /** What followed the last newline, after the stream has ended. */
  flush(): string | undefined {
    return this.#restBytes === 0 ? undefined : this.#takeRest()
  }

  #keep(piece: Buffer): void {
    for (const one of this.#members.keep(piece)) if (!this.#tooLong) this.#add(one)
  }

  #add(piece: Buffer): void {
    const length = this.#restBytes + piece.length
    if (length > this.#maxBytes) {
      this.#tooLong = true
      this.#dropRest()
      return
    }
    if (length > this.#rest.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(this.#maxBytes, Math.max(length, this.#rest.length * 2, 4096)),
      )
      this.#rest.copy(grown, 0, 0, this.#restBytes)
      this.#rest = grown
    }
    piece.copy(this.#rest, this.#restBytes)
    this.#restBytes = length
  }

  #takeRest(): string {
    const text = this.#rest.toString('utf8', 0, this.#restBytes)
    this.#dropRest()
    return text
  }

  #dropRest(): void {
    this.#restBytes = 0
    this.#members = new MemberLimit()
    if (this.#rest.length > KEEP_BYTES) this.#rest = Buffer.allocUnsafe(0)
  }

  /** Where the first line that is too long begins, or the end of the last line. */
  #endOfGood(chunk: Buffer, from: number, last: number): number {
    for (let start = from; start <= last; ) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end - start > this.#maxBytes) {
        this.#tooLong = true
        return start
      }
      start = end + 1
    }
    return last + 1
  }
}

function formatBytes(bytes: number): string {
  const megabytes = bytes / (1024 * 1024)
  return megabytes >= 1 ? `${Math.round(megabytes * 10) / 10} MB` : `${bytes} bytes`
}
