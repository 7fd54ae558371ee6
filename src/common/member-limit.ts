import { TOO_DEEP } from './bound-depth.ts'
import { MAX_ANSWER_MEMBERS, MAX_DEPTH, MAX_MEMBERS } from './limits.ts'

const [TAB, RETURN, SPACE, QUOTE, COMMA, BACKSLASH] = [9, 13, 32, 34, 44, 92]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125]
/**
 * Objects at a lower depth have the members of the protocol in any order, so they're cut only if they have more than `MAX_SHALLOW` members
 * in total.
 */
const DEEP = 4
const MAX_SHALLOW = 1000
/** Length of the beginning of a message by which a response is recognized. Bytes. */
const HEAD_BYTES = 256
const ANSWER = /^\s*\{[^{}[\]]*"result"\s*:/
const BRACKET = Buffer.from('[')

type Begun = 'nothing' | 'noise' | 'bracket' | 'message'

/** Marks the end of a message of a batch in the parts that {@link MemberLimit} keeps. */
export const MESSAGE_END = Symbol('the end of a message')

/**
 * Cuts members of objects and elements of arrays beyond {@link MAX_MEMBERS} from a line of JSON while it arrives, since parsing a million
 * keys would block for seconds. An object that was cut ends with a member that marks the cut. Responses have a higher limit, since Parley
 * requested them, and a list of sessions may be long. Members are counted by their commas. A batch is divided into its messages. Create one
 * `MemberLimit` for each line.
 */
export class MemberLimit {
  readonly #max: number
  /** what has begun in the line; a bracket begins a batch if a message follows */
  #begun: Begun = 'nothing'
  #isBatch = false
  /** the first characters of the open objects and arrays, outermost first; the innermost ones may be missing */
  readonly #open: number[] = []
  #depth = 0
  #isString = false
  #isEscaped = false
  #members = 0
  #shallow = 0
  /** depth of the object or array whose further members are dropped; 0: none */
  #cutting = 0
  /** the beginning of the message, as far as earlier pieces contain it */
  #head = ''
  /** the offset in the current piece at which the message begins or continues */
  #from = 0
  /** whether the message is a response; determined when it's first needed */
  #isAnswer: boolean | undefined
  #hasCut = false

  constructor(max = MAX_MEMBERS) {
    this.#max = max
  }

  /** Whether anything was dropped from the line. */
  get hasCut(): boolean {
    return this.#hasCut
  }

  /** Returns the parts of the next bytes that aren't dropped. */
  keep(piece: Buffer): ReadonlyArray<Buffer | typeof MESSAGE_END> {
    const pieces: Array<Buffer | typeof MESSAGE_END> = []
    let from = 0
    this.#from = 0
    for (let i = 0; i < piece.length; i++) {
      if (this.#isString) {
        i = this.#endOfString(piece, i)
        continue
      }
      const byte = piece[i]!
      if (this.#begun !== 'message') {
        const begun = this.#begin(byte)
        // drop the bracket, and add it again if it doesn't start a batch
        if (begun === 'bracket') from = i + 1
        if (this.#depth > 0) pieces.push(BRACKET)
        this.#begun = begun
        if (begun !== 'message') continue
        this.#from = i
      }
      if (byte === QUOTE) this.#isString = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#depth < MAX_DEPTH) this.#open[this.#depth] = byte
        this.#depth++
      } else if (this.#isBatch && this.#depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET)) {
        pieces.push(piece.subarray(from, i), MESSAGE_END)
        from = i + 1
        this.#nextMessage(from)
        if (byte === CLOSE_BRACKET) this.#begun = 'noise'
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#cutting > 0 && this.#depth === this.#cutting) {
          this.#cutting = 0
          from = i
        }
        if (this.#depth > 0) this.#depth--
      } else if (byte === COMMA && this.#depth > 0 && this.#cutting === 0 && this.#isTooMany(piece)) {
        this.#cutting = this.#depth
        this.#hasCut = true
        pieces.push(piece.subarray(from, i), this.#note())
      }
    }
    if (this.#cutting === 0) pieces.push(piece.subarray(from))
    if (this.#begun === 'message') this.#head = this.#headWith(piece)
    return pieces
  }

  /** Determines what begins with the next byte of a line in which no message has begun. */
  #begin(byte: number): Begun {
    if (byte === OPEN_BRACE) {
      this.#isBatch = this.#begun === 'bracket'
      return 'message'
    }
    if (byte === SPACE || byte === TAB || byte === RETURN) return this.#begun
    if (this.#begun !== 'bracket')
      return byte === OPEN_BRACKET && this.#begun === 'nothing' ? 'bracket' : 'noise'
    // the array contains something else than messages
    this.#open[0] = OPEN_BRACKET
    this.#depth = 1
    return 'message'
  }

  #nextMessage(from: number): void {
    this.#depth = 0
    this.#members = 0
    this.#shallow = 0
    this.#head = ''
    this.#from = from
    this.#isAnswer = undefined
  }

  /** The offset at which the string ends in these bytes. */
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

  /** Counts a further member, and returns whether it's too many. */
  #isTooMany(piece: Buffer): boolean {
    const isShallow = this.#isObject && this.#depth < DEEP
    const count = isShallow ? ++this.#shallow : ++this.#members
    if (count < (isShallow ? MAX_SHALLOW : this.#max)) return false
    this.#isAnswer ??= ANSWER.test(this.#headWith(piece))
    return !this.#isAnswer || isShallow || count >= MAX_ANSWER_MEMBERS
  }

  #headWith(piece: Buffer): string {
    const missing = HEAD_BYTES - this.#head.length
    return missing <= 0 ? this.#head : this.#head + piece.toString('latin1', this.#from, this.#from + missing)
  }

  /** Whether the innermost open value is an object. Levels beyond `MAX_DEPTH` don't matter, since they're dropped later. */
  get #isObject(): boolean {
    return this.#depth <= MAX_DEPTH && this.#open[this.#depth - 1] === OPEN_BRACE
  }

  /** The placeholder for the cut members. In an array, it's an object, since the protocol's own arrays contain only objects. */
  #note(): Buffer {
    const note = JSON.stringify(TOO_DEEP)
    if (this.#isObject) return Buffer.from(`,${note}:${note}`)
    return Buffer.from(this.#depth > DEEP && this.#depth <= MAX_DEPTH ? `,${note}` : '')
  }
}
