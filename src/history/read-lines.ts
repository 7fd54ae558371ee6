import { createReadStream } from 'node:fs'
import { MESSAGE_END, MemberLimit } from '../common/member-limit.ts'

const NEWLINE = 10
const BYTE_ORDER_MARK = /^\ufeff/
const CHUNK_BYTES = 1 << 20
/** Length from which members of a line are counted: a shorter line has too few to matter. Bytes. */
const LONG_LINE = 16 * 1024

export interface ReadLinesOptions {
  signal?: AbortSignal
  /** Maximum number of members of objects and elements of arrays in a line of JSON; further ones are cut. */
  maxMembers: number
  /** Called for each line from which members were cut. */
  onCut?: () => void
}

/**
 * Yields the lines of a text file of any size, without their line ends. `undefined` stands for a line of more than `max` bytes. Rejects if
 * the file can't be read or the signal aborts.
 */
export async function* readLines(
  file: string,
  max: number,
  { signal, maxMembers, onCut }: ReadLinesOptions,
): AsyncGenerator<string | undefined> {
  let line = new Line(max, maxMembers)
  let isFirst = true
  const end = () => {
    const text = line.end()
    if (line.hasCut) onCut?.()
    line = new Line(max, maxMembers)
    const plain = isFirst ? text?.replace(BYTE_ORDER_MARK, '') : text
    isFirst = false
    return plain
  }
  const stream = createReadStream(file, { highWaterMark: CHUNK_BYTES, ...(signal && { signal }) })
  for await (const piece of stream) {
    const chunk = piece as Buffer
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      line.add(chunk.subarray(from, at))
      yield end()
      from = at + 1
    }
    line.add(chunk.subarray(from))
  }
  if (!line.isEmpty) yield end()
}

/** A line that arrives in pieces. */
class Line {
  readonly #max: number
  readonly #limit: MemberLimit
  #pieces: Buffer[] = []
  #bytes = 0
  #isTooLong = false
  #isLong = false

  constructor(max: number, maxMembers: number) {
    this.#max = max
    this.#limit = new MemberLimit(maxMembers)
  }

  get isEmpty(): boolean {
    return this.#bytes === 0 && !this.#isTooLong
  }

  get hasCut(): boolean {
    return this.#limit.hasCut
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return
    if (!this.#isLong && this.#bytes + piece.length > LONG_LINE) {
      this.#isLong = true
      const before = this.#pieces
      this.#pieces = []
      this.#bytes = 0
      for (const one of before) this.#keep(one)
    }
    if (this.#isLong) this.#keep(piece)
    else this.#push(piece)
  }

  /** The text of the line; `undefined` if the line is too long. */
  end(): string | undefined {
    return this.#isTooLong ? undefined : Buffer.concat(this.#pieces).toString()
  }

  #keep(piece: Buffer): void {
    // Parley writes one message per line; a line with several can't be read, no matter whether it contains these marks
    for (const part of this.#limit.keep(piece)) if (part !== MESSAGE_END) this.#push(part)
  }

  #push(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes > this.#max) this.#isTooLong = true
    if (this.#isTooLong) this.#pieces = []
    else this.#pieces.push(piece)
  }
}
