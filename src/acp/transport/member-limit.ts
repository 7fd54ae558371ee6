import { TOO_DEEP } from '../../common/bound-depth.ts'
import { MAX_DEPTH, MAX_MEMBERS } from '../../common/limits.ts'

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125]
/** Objects that are less deep have the members of the protocol, which are in no order: only endless ones are cut. */
const DEEP = 4
const MAX_SHALLOW = 1000
/** How much of a line tells whether it's an answer. Bytes. */
const HEAD_BYTES = 256

/**
 * Cuts members of objects and elements of arrays beyond {@link MAX_MEMBERS} from a line of JSON while it arrives, since
 * parsing a million keys would block for seconds. An object that was cut ends with a member that says so. Answers stay
 * whole: Parley has asked for them, and a list of sessions may be long. Counts commas, and each message of a batch by
 * itself. One object for each line.
 */
export class MemberLimit {
  readonly #max: number
  /** how the objects and arrays begin that are open, outermost first; the innermost ones may be missing */
  readonly #open: number[] = []
  #depth = 0
  #isString = false
  #isEscaped = false
  #members = 0
  #shallow = 0
  /** in how many objects and arrays is the one whose other members are dropped, with itself; 0 for none */
  #cutting = 0
  #head = ''

  constructor(max = MAX_MEMBERS) {
    this.#max = max
  }

  /** What stays of the next bytes. */
  keep(piece: Buffer): readonly Buffer[] {
    if (this.#head.length < HEAD_BYTES) this.#head += piece.toString('latin1', 0, HEAD_BYTES)
    const kept: Buffer[] = []
    let from = 0
    for (let i = 0; i < piece.length; i++) {
      if (this.#isString) {
        i = this.#endOfString(piece, i)
        continue
      }
      const byte = piece[i]
      if (byte === QUOTE) this.#isString = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#depth < MAX_DEPTH) this.#open[this.#depth] = byte
        this.#depth++
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#cutting > 0 && this.#depth === this.#cutting) {
          this.#cutting = 0
          from = i
        }
        if (this.#depth > 0) this.#depth--
      } else if (byte === COMMA && this.#cutting === 0 && this.#isTooMany()) {
        this.#cutting = this.#depth
        kept.push(piece.subarray(from, i), this.#note())
      }
    }
    if (this.#cutting === 0) kept.push(piece.subarray(from))
    return kept
  }

  /** Where the string ends in these bytes. */
  #endOfString(piece: Buffer, start: number): number {
    for (let at = this.#isEscaped ? start + 1 : start; ; ) {
      const quote = piece.indexOf(QUOTE, at)
      const end = quote < 0 ? piece.length : quote
      let first = end
      while (first > at && piece[first - 1] === BACKSLASH) first--
      const isEscaped = (end - first) % 2 === 1
      if (quote < 0) {
        this.#isEscaped = isEscaped
        return end
      }
      if (!isEscaped) {
        this.#isEscaped = false
        this.#isString = false
        return end
      }
      at = end + 1
    }
  }

  /** There is another member. */
  #isTooMany(): boolean {
    const isObject = this.#isObject
    if (!isObject && this.#depth <= 1) {
      // the messages of a batch
      this.#members = 0
      this.#shallow = 0
      return false
    }
    const isShallow = isObject && this.#depth < DEEP
    const count = isShallow ? ++this.#shallow : ++this.#members
    return count >= (isShallow ? MAX_SHALLOW : this.#max) && !this.#isAnswer
  }

  /** What is too deep is dropped later. */
  get #isObject(): boolean {
    return this.#depth <= MAX_DEPTH && this.#open[this.#depth - 1] === OPEN_BRACE
  }

  get #isAnswer(): boolean {
    return /^\s*\{[^{}[\]]*"result"\s*:/.test(this.#head.slice(0, HEAD_BYTES))
  }

  /** What stands for the members that are cut. The protocol's own arrays have only objects. */
  #note(): Buffer {
    const note = JSON.stringify(TOO_DEEP)
    if (this.#isObject) return Buffer.from(`,${note}:${note}`)
    return Buffer.from(this.#depth > DEEP && this.#depth <= MAX_DEPTH ? `,${note}` : '')
  }
}
