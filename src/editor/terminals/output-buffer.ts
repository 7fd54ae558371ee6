/**
 * The last part of a command's output: at most `limit` bytes of UTF-8, cut at the start and between two characters.
 * Adding costs the same however much there was before.
 */
export class OutputBuffer {
  readonly #limit: number
  #pieces: Array<{ text: string; bytes: number }> = []
  /** Pieces before this one are dropped; they are cleared away now and then. */
  #first = 0
  #bytes = 0
  #truncated = false

  constructor(limit: number) {
    this.#limit = Math.max(0, Math.trunc(limit))
  }

  get truncated(): boolean {
    return this.#truncated
  }
  /** bytes of UTF-8 held */
  get bytes(): number {
    return this.#bytes
  }

  /** `text` holds whole characters. */
  append(text: string): void {
    if (text === '') return
    const bytes = Buffer.byteLength(text)
    const last = this.#pieces.length > this.#first ? this.#pieces.at(-1) : undefined
    if (last && last.bytes + bytes <= PIECE) {
      last.text += text
      last.bytes += bytes
    } else this.#pieces.push({ text, bytes })
    this.#bytes += bytes
    this.#trim()
  }

  text(): string {
    return this.#pieces
      .slice(this.#first)
      .map(piece => piece.text)
      .join('')
  }

  #trim(): void {
    while (this.#bytes > this.#limit) {
      const piece = this.#pieces[this.#first]
      if (!piece) return
      this.#truncated = true
      const over = this.#bytes - this.#limit
      this.#bytes -= piece.bytes
      if (piece.bytes <= over) {
        this.#pieces[this.#first] = { text: '', bytes: 0 }
        this.#first += 1
      } else {
        piece.text = withoutBytes(piece.text, over)
        piece.bytes = Buffer.byteLength(piece.text)
        this.#bytes += piece.bytes
      }
    }
    if (this.#first > 1000) {
      this.#pieces = this.#pieces.slice(this.#first)
      this.#first = 0
    }
  }
}

/** Larger pieces are left alone, so that small ones do not add up to many. */
const PIECE = 8 * 1024

/** Without at least its first `count` bytes, cut at a character. */
function withoutBytes(text: string, count: number): string {
  const bytes = Buffer.from(text)
  let at = count
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
  return bytes.toString('utf8', at)
}
