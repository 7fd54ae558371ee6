/** How a piece of terminal output looks. Colours are `ansi-…` class names or CSS colours (`rgb(1, 2, 3)`). */
export interface TerminalStyle {
  foreground?: string
  background?: string
  /** of `bold`, `dim`, `italic`, `underline`, `strikethrough`, `hidden`, `reverse` */
  decorations: readonly string[]
}
/** A piece of terminal output in one style. */
export interface TerminalSpan extends TerminalStyle {
  text: string
}

export const plainStyle: TerminalStyle = { decorations: [] }

/** A line is cut here; terminals that draw with one endless line exist. */
const longestLine = 20_000

/** One line of a terminal's screen, written at any column. */
export class TerminalLine {
  /** unlike that of any other line */
  readonly id: number
  readonly spans: TerminalSpan[] = []
  /** Increases with every change. */
  version = 0
  length = 0

  constructor(id: number) {
    this.id = id
  }

  /** Writes a text over what is there, from a column on. */
  write(column: number, text: string, style: TerminalStyle): void {
    if (text === '' || column >= longestLine) return
    const room = text.slice(0, longestLine - column)
    this.version++
    if (column > this.length) this.#push(' '.repeat(column - this.length), plainStyle)
    if (column >= this.length) this.#push(room, style)
    else this.#replace(column, column + room.length, room, style)
  }

  /** Blanks from one column to another; what is blank at the end is gone. */
  erase(from: number, to = this.length): void {
    if (from >= this.length) return
    this.version++
    if (to >= this.length) this.#replace(from, this.length, '', plainStyle)
    else this.#replace(from, to, ' '.repeat(to - from), plainStyle)
  }

  /** Takes characters out; what follows moves up. */
  remove(from: number, count: number): void {
    if (from >= this.length) return
    this.version++
    this.#replace(from, Math.min(this.length, from + count), '', plainStyle)
  }

  #push(text: string, style: TerminalStyle): void {
    pushSpan(this.spans, { ...style, text })
    this.length += text.length
  }

  #replace(from: number, to: number, text: string, style: TerminalStyle): void {
    const before = this.spans.splice(0)
    this.length = 0
    let at = 0
    for (const span of before) {
      if (at < from) this.#push(span.text.slice(0, from - at), span)
      at += span.text.length
    }
    this.#push(text, style)
    at = 0
    for (const span of before) {
      const end = at + span.text.length
      if (end > to) this.#push(span.text.slice(Math.max(0, to - at)), span)
      at = end
    }
  }
}

/** Adds a span, joined to the last one when both look alike. */
export function pushSpan(spans: TerminalSpan[], span: TerminalSpan): void {
  if (span.text === '') return
  const last = spans.at(-1)
  if (last && looksLike(last, span)) last.text += span.text
  else
    spans.push({
      text: span.text,
      foreground: span.foreground,
      background: span.background,
      decorations: [...span.decorations],
    })
}

function looksLike(one: TerminalStyle, other: TerminalStyle): boolean {
  return (
    one.foreground === other.foreground &&
    one.background === other.background &&
    one.decorations.length === other.decorations.length &&
    one.decorations.every((decoration, i) => decoration === other.decorations[i])
  )
}
