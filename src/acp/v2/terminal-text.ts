import { StringDecoder } from 'node:string_decoder'

/** terminals of one session whose unfinished characters are remembered */
const TERMINALS = 1000

/** Base64 with its padding or without. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * The output of an agent's own terminals as text. It comes as bytes, each chunk in base64 of its own; a chunk may end
 * within a character, whose rest is in the next. Escape sequences are text here: whoever shows it keeps their state.
 */
export class TerminalText {
  readonly #decoders = new Map<string, StringDecoder>()

  /** What a chunk adds to a terminal's output; `undefined` when it is not base64. */
  append(terminalId: string, data: string): string | undefined {
    return BASE64.test(data) ? this.#decoder(terminalId).write(Buffer.from(data, 'base64')) : undefined
  }

  /** The whole output of a terminal, in place of all that came before; `undefined` when it is not base64. */
  replace(terminalId: string, data: string): string | undefined {
    if (!BASE64.test(data)) return undefined
    this.clear(terminalId)
    return this.append(terminalId, data)
  }

  clear(terminalId: string): void {
    this.#decoders.delete(terminalId)
  }

  /** Forgets unfinished characters of all terminals. */
  clearAll(): void {
    this.#decoders.clear()
  }

  #decoder(terminalId: string): StringDecoder {
    let decoder = this.#decoders.get(terminalId)
    if (!decoder) {
      const [oldest] = this.#decoders.size < TERMINALS ? [] : this.#decoders.keys()
      if (oldest !== undefined) this.#decoders.delete(oldest)
      decoder = new StringDecoder('utf8')
      this.#decoders.set(terminalId, decoder)
    }
    return decoder
  }
}
