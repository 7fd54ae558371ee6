import type { IncomingMessage } from 'node:http'
import { deferred } from '../../../common/async.ts'
import { LineSplitter } from '../line-splitter.ts'

const [NEWLINE, RETURN, COLON, SPACE] = [10, 13, 58, 32]
const END = Buffer.from('\n')
const BETWEEN = Buffer.from(' ')
const DATA = 'data'
const BYTE_ORDER_MARK = '\u00EF\u00BB\u00BF'
/** The length of the longest field name that matters, with a byte order mark, in characters. */
const MAX_NAME = 7
/** The maximum number of bytes that are read from an error response. */
const MAX_ERROR_BYTES = 8 * 1024

/** Passes on values only while a consumer waits for them, so that they don't accumulate. */
export class Turnstile {
  #isWaiting = false
  #isOpen = false
  #opened = deferred()

  /** Waits for the next value and lets it pass. */
  async wait<T>(next: Promise<T>): Promise<T> {
    this.#isWaiting = true
    this.#opened.resolve()
    try {
      return await next
    } finally {
      this.#isWaiting = false
      if (!this.#isOpen) this.#opened = deferred()
    }
  }

  async pass(): Promise<void> {
    while (!this.#isWaiting && !this.#isOpen) await this.#opened.promise
  }

  /** Opens for good: all values pass without a waiting consumer, which drops them. */
  open(): void {
    this.#isOpen = true
    this.#opened.resolve()
  }
}

/**
 * Yields the server-sent events of a response, each with one message. They have the same size limits as messages from a process.
 * `onComment` is called for each comment, which means nothing but keeps the connection alive.
 * @throws LineTooLongError
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export async function* boundedEvents(
  body: AsyncIterable<Buffer>,
  turnstile: Turnstile,
  maxBytes: number,
  onComment: () => void,
): AsyncGenerator<Buffer> {
  const lines = new LineSplitter(maxBytes)
  const data = new EventData(onComment)
  for await (const chunk of body)
    for (const piece of data.read(chunk)) {
      lines.push(piece)
      for (let message = lines.next(); message !== undefined; message = lines.next()) {
        await turnstile.pass()
        yield Buffer.from(`data: ${message}\n\n`)
      }
    }
}

/** Extracts the data of events while their bytes arrive. */
class EventData {
  /** the place of the next byte in its line; `skipped` is a line without data */
  #place: 'name' | 'space' | 'data' | 'skipped' = 'name'
  #name = ''
  /** whether an event with data has begun */
  #hasData = false
  #isAfterReturn = false
  readonly #onComment: () => void

  constructor(onComment: () => void) {
    this.#onComment = onComment
  }

  get #isData(): boolean {
    return this.#name.replace(BYTE_ORDER_MARK, '') === DATA
  }

  /** Yields the pieces of each event's data, with a newline after the last piece. */
  *read(chunk: Buffer): Generator<Buffer> {
    let nextReturn = chunk.indexOf(RETURN)
    for (let at = 0; at < chunk.length; ) {
      const byte = chunk[at]!
      const isAfterReturn = this.#isAfterReturn
      this.#isAfterReturn = byte === RETURN
      if (byte === NEWLINE && isAfterReturn) at++
      else if (byte === NEWLINE || byte === RETURN) {
        at++
        yield* this.#endLine()
      } else if (this.#place === 'name') {
        at++
        yield* this.#readName(byte)
      } else if (this.#place === 'space') {
        if (byte === SPACE) at++
        this.#place = 'data'
      } else {
        if (nextReturn >= 0 && nextReturn < at) nextReturn = chunk.indexOf(RETURN, at)
        const newline = chunk.indexOf(NEWLINE, at)
        const end = Math.min(...[newline, nextReturn, chunk.length].filter(one => one >= 0))
        if (this.#place === 'data') yield chunk.subarray(at, end)
        at = end
      }
    }
  }

  *#readName(byte: number): Generator<Buffer> {
    if (byte !== COLON) {
      this.#name += String.fromCharCode(byte)
      if (this.#name.length > MAX_NAME) this.#place = 'skipped'
      return
    }
    if (!this.#isData) {
      if (this.#name === '') this.#onComment()
      this.#place = 'skipped'
      return
    }
    this.#place = 'space'
    // The `data` lines of an event are one message.
    if (this.#hasData) yield BETWEEN
    this.#hasData = true
  }

  *#endLine(): Generator<Buffer> {
    const isBlank = this.#place === 'name' && this.#name === ''
    this.#place = 'name'
    this.#name = ''
    if (!isBlank || !this.#hasData) return
    this.#hasData = false
    yield END
  }
}

/**
 * Resolves to the message in a response, with the same size limits as messages from a process. Of an error response, only the beginning is
 * read.
 * @throws LineTooLongError
 */
export async function boundedMessage(response: IncomingMessage, maxBytes: number): Promise<string> {
  const { statusCode = 0 } = response
  if (statusCode >= 300) return beginningOf(response)
  const lines = new LineSplitter(maxBytes)
  let message: string | undefined
  const read = (piece: Buffer) => {
    lines.push(piece)
    for (let next = lines.next(); next !== undefined; next = lines.next()) message ??= next
  }
  // The line splitter expects each message on one line.
  for await (const chunk of response as AsyncIterable<Buffer>)
    read(Buffer.from(chunk.map(byte => (byte === NEWLINE ? SPACE : byte))))
  read(END)
  return message ?? ''
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8')
    if (text.length > MAX_ERROR_BYTES) break
  }
  return text.slice(0, MAX_ERROR_BYTES)
}
