import { StringDecoder } from 'node:string_decoder'
import { SecretRegistry, type StreamRedactor } from '../../common/secrets.ts'

/** Keeps the last part of a text that comes in pieces, cut at a line's start where there is one. */
export class Tail {
  readonly #maxLength: number
  #text = ''

  /** @param maxLength characters to keep */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  append(text: string): void {
    this.#text += text
    // Cut seldom, so that appending stays cheap.
    if (this.#text.length > this.#maxLength * 2) this.#text = this.#cut()
  }

  get text(): string {
    return this.#cut().trimEnd()
  }

  #cut(): string {
    if (this.#text.length <= this.#maxLength) return this.#text
    let start = this.#text.length - this.#maxLength
    const newline = this.#text.indexOf('\n', start)
    if (newline >= 0 && newline + 1 < this.#text.length) start = newline + 1
    else if (isLowSurrogate(this.#text.charCodeAt(start))) start++
    return this.#text.slice(start)
  }
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

/** characters after which a line without an end is told as it is */
const LONGEST_LINE = 16 * 1024

/** Decodes UTF-8 as it comes and tells whole lines, without their ends. */
export class LineDecoder {
  readonly #decoder = new StringDecoder('utf8')
  readonly #onLine: (line: string) => void
  readonly #redactor: StreamRedactor
  #rest = ''

  constructor(onLine: (line: string) => void, secrets = new SecretRegistry()) {
    this.#onLine = onLine
    this.#redactor = secrets.stream()
  }

  /** Returns the decoded text, without the secrets. */
  push(chunk: Buffer): string {
    const text = this.#redactor.push(this.#decoder.write(chunk))
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
    while (this.#rest.length > LONGEST_LINE) {
      this.#onLine(this.#rest.slice(0, LONGEST_LINE))
      this.#rest = this.#rest.slice(LONGEST_LINE)
    }
    return text
  }

  end(): string {
    const text = this.#redactor.push(this.#decoder.end()) + this.#redactor.end()
    const line = this.#rest + text
    this.#rest = ''
    if (line !== '') this.#onLine(line)
    return text
  }
}
