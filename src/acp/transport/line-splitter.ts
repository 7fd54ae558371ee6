import { MESSAGE_END, MemberLimit } from '../../common/member-limit.ts'

const NEWLINE = 10

/** A line is longer than the limit, so nothing after it can be read. */
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

/** The maximum size of the buffer that is kept after an unfinished line is complete, in bytes. A larger buffer is released. */
const KEEP_BYTES = 256 * 1024
/** The length from which a line that arrives as a whole is searched for too many members, in characters. Shorter lines have few members. */
const LONG_LINE = 16 * 1024

/**
 * Splits a byte stream at newlines and decodes only whole lines, so that no UTF-8 character is ever split. The unfinished line waits in a
 * buffer that grows by doubling: a line of n bytes costs O(n) however small its chunks are. Members beyond a limit are cut from long lines
 * as they arrive, and a long batch becomes a line for each of its messages.
 */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onCut: () => void
  /** the unfinished line, and how much of the buffer it fills */
  #rest: Buffer = Buffer.allocUnsafe(0)
  #restBytes = 0
  #isUnfinished = false
  #members = new MemberLimit()
  /** lines to return before `#text`: the line that was unfinished before, or the messages of a batch */
  #ready: Array<{ text: string; isLineEnd: boolean }> = []
  #isLineEnd = true
  /** the other whole lines, decoded together because decoding once per chunk is much cheaper than once per line */
  #text = ''
  #position = 0
  /** the start of an unfinished line, or the next part of it */
  #tail: Buffer | undefined
  #tooLong = false

  /** `onCut` is called for each line from which members were cut. */
  constructor(maxBytes: number, onCut: () => void = () => {}) {
    this.#maxBytes = maxBytes
    this.#onCut = onCut
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
    if (this.#isUnfinished) {
      start = chunk.indexOf(NEWLINE) + 1
      this.#keep(chunk.subarray(0, start - 1))
      if (this.#tooLong) return
      this.#ready.push({ text: this.#takeRest(), isLineEnd: true })
    }
    const end = last - start > this.#maxBytes ? this.#endOfGood(chunk, start, last) : last + 1
    if (end > start) this.#text = chunk.toString('utf8', start, end)
    this.#position = 0
    if (!this.#tooLong && last + 1 < chunk.length) this.#tail = chunk.subarray(last + 1)
  }

  /**
   * Returns the next whole line, without its newline; `undefined` if there is none yet.
   * @throws LineTooLongError if the line is longer than the limit; all earlier lines have been returned.
   */
  next(): string | undefined {
    const ready = this.#ready.shift()
    this.#isLineEnd = ready?.isLineEnd ?? true
    if (ready) return ready.text
    if (this.#position >= this.#text.length) {
      const tail = this.#tail
      if (tail) {
        this.#tail = undefined
        this.#keep(tail)
        return this.next()
      }
      if (this.#tooLong) throw new LineTooLongError(this.#maxBytes)
      return undefined
    }
    const end = this.#text.indexOf('\n', this.#position)
    const line = this.#text.slice(this.#position, end)
    this.#position = end + 1
    if (this.#position >= this.#text.length) this.#text = ''
    if (line.length < LONG_LINE) return line
    this.#limit(line)
    return this.next()
  }

  /** Whether the line returned last ends a line of the stream: a whole line, or the last message of a divided batch. */
  get isLineEnd(): boolean {
    return this.#isLineEnd
  }

  /** Returns the text after the last newline. Called after the stream has ended. */
  flush(): string | undefined {
    this.#isLineEnd = true
    return this.#restBytes === 0 ? undefined : this.#takeRest()
  }

  #keep(piece: Buffer): void {
    this.#isUnfinished = true
    for (const one of this.#members.keep(piece)) {
      if (this.#tooLong) return
      if (one === MESSAGE_END) this.#ready.push({ text: this.#takeText(), isLineEnd: false })
      else this.#add(one)
    }
  }

  /** Cuts members beyond the limit from a line that arrived as a whole. */
  #limit(line: string): void {
    const limit = new MemberLimit()
    let message: Buffer[] = []
    for (const one of limit.keep(Buffer.from(line))) {
      if (one !== MESSAGE_END) message.push(one)
      else {
        this.#ready.push({ text: Buffer.concat(message).toString(), isLineEnd: false })
        message = []
      }
    }
    if (limit.hasCut) this.#onCut()
    this.#ready.push({ text: Buffer.concat(message).toString(), isLineEnd: true })
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
    if (this.#members.hasCut) this.#onCut()
    const text = this.#takeText()
    this.#isUnfinished = false
    this.#members = new MemberLimit()
    return text
  }

  #takeText(): string {
    const text = this.#rest.toString('utf8', 0, this.#restBytes)
    this.#dropRest()
    return text
  }

  #dropRest(): void {
    this.#restBytes = 0
    if (this.#rest.length > KEEP_BYTES) this.#rest = Buffer.allocUnsafe(0)
  }

  /** Returns where the first line that is too long begins, or the end of the last line if no line is too long. */
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
