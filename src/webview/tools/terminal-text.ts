import { pushSpan, TerminalLine, type TerminalSpan } from './terminal-line.ts'
import { StyleState } from './terminal-style.ts'

/** Some lines that will not change any more. */
export interface TerminalLines {
  readonly id: number
  readonly spans: TerminalSpan[]
}

/** Lines kept in one group, so that the view draws a closed group once. */
const groupLines = 50
/** Older groups are dropped: a terminal's screen is not its log. */
const keptGroups = 20
/** The last lines are the screen, in which the cursor may move: at least so many, at most a group more. */
const screenLines = 60

const esc = '\u001b'
/** Text without controls, or one control: a sequence whole. */
const pieces = new RegExp(
  [
    `${esc}\\[([0-9;:?<=>!]*)[ -/]*([@-~])`,
    `${esc}\\][^\u0007${esc}]*(?:\u0007|${esc}\\\\)`,
    `${esc}[()*+][A-Za-z0-9]`,
    `${esc}[ -/]?.`,
    '[\u0000-\u001f\u007f]',
    '[^\u0000-\u001f\u007f]+',
  ].join('|'),
  'gs',
)
/** An escape sequence whose end has not come. */
const unfinished = new RegExp(`${esc}(?:\\[[0-9;:?<=>!]*[ -/]*|\\][^\u0007${esc}]{0,4096}${esc}?|[()*+])?$`)

/**
 * A terminal's output as lines of coloured spans, taken in as it comes: what was read is never read again. The last lines
 * are a screen in which the cursor moves, as progress bars and lists of tasks want; lines above it stay as they are.
 */
export class TerminalText {
  /** lines above the screen, closed */
  readonly groups: TerminalLines[] = []
  /** the screen; the last line may have no end yet */
  readonly screen: TerminalLine[] = [new TerminalLine(0)]
  /** how many lines were dropped at the beginning */
  dropped = 0
  readonly #style = new StyleState()
  readonly #keptGroups: number
  #row = 0
  #column = 0
  #saved = { row: 0, column: 0 }
  /** the beginning of a sequence whose end has not come */
  #rest = ''
  #nextId = 1

  /** `kept`: how many groups of lines are kept above the screen. */
  constructor(kept = keptGroups) {
    this.#keptGroups = kept
  }

  /** All lines that are kept, without colours. */
  get plain(): string {
    const text = (spans: readonly TerminalSpan[]) => spans.map(span => span.text).join('')
    return [...this.groups, ...this.screen].map(({ spans }) => text(spans)).join('\n')
  }

  append(text: string): void {
    let more = this.#rest + text
    this.#rest = unfinished.exec(more)?.[0] ?? ''
    if (this.#rest !== '') more = more.slice(0, -this.#rest.length)
    for (const match of more.matchAll(pieces)) {
      const piece = match[0]
      const code = piece.charCodeAt(0)
      if (code >= 32 && code !== 127) {
        this.#line.write(this.#column, piece, this.#style.current)
        this.#column += piece.length
      } else if (match[2] !== undefined) this.#sequence(match[2], match[1] ?? '', piece)
      else this.#control(piece)
    }
  }

  get isEmpty(): boolean {
    return this.groups.length === 0 && this.screen.length === 1 && this.screen[0]!.length === 0
  }

  get #line(): TerminalLine {
    return this.screen[this.#row]!
  }

  #control(piece: string): void {
    switch (piece) {
      case '\n':
        this.#moveTo(this.#row + 1, 0, true)
        return
      case '\r':
        this.#column = 0
        return
      case '\b':
        this.#column = Math.max(0, this.#column - 1)
        return
      case '\t': {
        // as a tab, so that it is copied as one, where nothing follows yet
        const { length } = this.#line
        if (this.#column >= length) {
          this.#line.write(this.#column, '\t', this.#style.current)
          this.#column++
        } else this.#column = Math.min(length, this.#column + 8 - (this.#column % 8))
        return
      }
      case `${esc}7`:
        this.#saved = { row: this.#row, column: this.#column }
        return
      case `${esc}8`:
        this.#moveTo(this.#saved.row, this.#saved.column)
        return
      case `${esc}c`:
        this.#clear(0)
        this.#moveTo(0, 0)
        return
      case `${esc}M`:
        this.#moveTo(this.#row - 1, this.#column)
    }
  }

  #sequence(final: string, parameters: string, piece: string): void {
    if (final === 'm') {
      if (/^[0-9;:]*$/.test(parameters)) this.#style.apply(piece)
      return
    }
    const [first = 0, second = 0] = parameters.split(';').map(value => Number.parseInt(value, 10) || 0)
    const count = Math.min(first || 1, 10_000)
    switch (final) {
      case 'A':
        this.#moveTo(this.#row - count, this.#column)
        break
      case 'B':
        this.#moveTo(this.#row + count, this.#column)
        break
      case 'C':
        this.#moveTo(this.#row, this.#column + count)
        break
      case 'D':
        this.#moveTo(this.#row, this.#column - count)
        break
      case 'E':
        this.#moveTo(this.#row + count, 0)
        break
      case 'F':
        this.#moveTo(this.#row - count, 0)
        break
      case 'G':
      case '`':
        this.#moveTo(this.#row, count - 1)
        break
      case 'd':
        this.#moveTo(count - 1, this.#column)
        break
      case 'H':
      case 'f':
        this.#moveTo(count - 1, (second || 1) - 1)
        break
      case 'J':
        this.#clear(first)
        break
      case 'K':
        if (first === 0) this.#line.erase(this.#column)
        else if (first === 1) this.#line.erase(0, this.#column + 1)
        else if (first === 2) this.#line.erase(0)
        break
      case 'P':
        this.#line.remove(this.#column, count)
        break
      case 'X':
        this.#line.erase(this.#column, this.#column + count)
        break
      case 's':
        this.#saved = { row: this.#row, column: this.#column }
        break
      case 'u':
        this.#moveTo(this.#saved.row, this.#saved.column)
        break
    }
  }

  /** Only a line end makes new lines; the cursor otherwise stays on those that are there. */
  #moveTo(row: number, column: number, grow = false): void {
    this.#row = Math.max(0, row)
    if (grow && this.#row === this.screen.length) this.screen.push(new TerminalLine(this.#nextId++))
    this.#row = Math.min(this.#row, this.screen.length - 1)
    this.#column = Math.max(0, Math.min(column, 10_000))
    if (this.screen.length >= screenLines + groupLines) this.#close()
  }

  /** 0: from the cursor on, 1: up to it, 2 and 3: all of the screen. */
  #clear(what: number): void {
    if (what === 0) {
      this.#line.erase(this.#column)
      for (const line of this.screen.slice(this.#row + 1)) line.erase(0)
    } else if (what === 1) {
      for (const line of this.screen.slice(0, this.#row)) line.erase(0)
      this.#line.erase(0, this.#column + 1)
    } else for (const line of this.screen) line.erase(0)
    // blank lines at the end would only be in the way
    while (this.screen.length - 1 > this.#row && this.screen.at(-1)!.length === 0) this.screen.pop()
  }

  /** The upper lines of the screen become a group that stays as it is. */
  #close(): void {
    const lines = this.screen.splice(0, groupLines)
    const spans: TerminalSpan[] = []
    for (const [i, line] of lines.entries()) {
      // a line break after every line but the last: the group's element is a block
      if (i > 0) pushBreak(spans)
      for (const span of line.spans) pushSpan(spans, span)
    }
    this.groups.push({ id: lines[0]!.id, spans })
    this.#row = Math.max(0, this.#row - groupLines)
    this.#saved.row = Math.max(0, this.#saved.row - groupLines)
    while (this.groups.length > this.#keptGroups) {
      this.groups.shift()
      this.dropped += groupLines
    }
  }
}

function pushBreak(spans: TerminalSpan[]): void {
  const last = spans.at(-1)
  if (last && !last.background && last.decorations.length === 0) last.text += '\n'
  else spans.push({ text: '\n', foreground: undefined, background: undefined, decorations: [] })
}

/** All of an output, as it would be read on the screen, without colours. */
export function plainOutput(raw: string): string {
  const whole = new TerminalText(Number.POSITIVE_INFINITY)
  whole.append(raw)
  return whole.plain
}
