import { type Signal, signal } from '@preact/signals'
import type { IBuffer, IBufferCell, IBufferLine, IMarker, Terminal } from '@xterm/headless'
import * as xterm from '@xterm/headless'

/** The style of a piece of terminal output. Colors are `ansi-…` class names or CSS colors (`rgb(1, 2, 3)`). */
export interface TerminalSpan {
  text: string
  foreground: string | undefined
  background: string | undefined
  /** any of `bold`, `dim`, `italic`, `underline`, `strikethrough`, `hidden`, `reverse` */
  decorations: string[]
}

/** A line as written by the program; a line longer than the terminal's width takes several rows. */
export interface TerminalLine {
  /** The line's first row, counted from the first row ever, so it identifies the line. */
  readonly start: number
  readonly rows: number
  /** columns up to its last character */
  readonly columns: number
}

/** In Node, the CommonJS file has one default export; a bundler uses the ES module. */
const emulator = (xterm as { default?: typeof xterm }).default ?? xterm

/** The terminal's size if the agent doesn't report one. */
const DEFAULT_COLUMNS = 200
const DEFAULT_ROWS = 50
/** Number of rows kept above the screen. */
export const MAX_SCROLLBACK_ROWS = 10_000
/** Length of output that the emulator processes before other work can run. Characters. */
const PIECE = 16_384

export interface TerminalSize {
  cols: number
  rows: number
}

function createTerminal(size: TerminalSize | undefined): Terminal {
  return new emulator.Terminal({
    cols: Math.min(Math.max(size?.cols ?? DEFAULT_COLUMNS, 20), 500),
    rows: Math.min(Math.max(size?.rows ?? DEFAULT_ROWS, 5), 200),
    scrollback: MAX_SCROLLBACK_ROWS,
    convertEol: true,
    allowProposedApi: true,
    logLevel: 'off',
  })
}

/** Writes text to the terminal. Resolves when the terminal has processed the text, in slices of a few milliseconds. */
function write(terminal: Terminal, text: string): Promise<void> {
  return new Promise(resolve => {
    for (let at = 0; at < text.length; at += PIECE) terminal.write(text.slice(at, at + PIECE))
    terminal.write('', resolve)
  })
}

/**
 * The lines of a terminal's output, emulated by xterm.js. Output is processed in slices in the background; after each
 * one, only the screen and the new rows are read again.
 */
export class TerminalScreen {
  /** Increases when lines were added or changed. */
  readonly version: Signal<number> = signal(0)
  readonly #terminal: Terminal
  #lines: TerminalLine[] = []
  #shown: readonly TerminalLine[] = []
  /** number of rows that are no longer kept, which is the number of the first kept row */
  #dropped = 0
  #isCut = false
  /** the first row that may still change, counted from the first row ever */
  #open = 0
  #marker: IMarker | undefined
  /** position of the marker when it was set */
  #markerRow = 0
  #type: IBuffer['type'] = 'normal'

  constructor(size?: TerminalSize) {
    this.#terminal = createTerminal(size)
    this.#terminal.onWriteParsed(() => this.#read())
  }

  /** Resolves when the lines include the text. */
  async append(text: string): Promise<void> {
    await write(this.#terminal, text)
    this.#read()
  }

  dispose(): void {
    this.#terminal.dispose()
  }

  /** The lines up to the last one with content. */
  get lines(): readonly TerminalLine[] {
    return this.#shown
  }

  /** Whether earlier lines were dropped. */
  get isCut(): boolean {
    return this.#isCut
  }

  text(line: TerminalLine): string {
    let text = ''
    for (let i = 0; i < line.rows; i++)
      text += this.#row(line, i)?.translateToString(i === line.rows - 1) ?? ''
    return text
  }

  /** Returns a line in pieces of one style each. */
  spans(line: TerminalLine): TerminalSpan[] {
    const spans: TerminalSpan[] = []
    const cell = this.#buffer.getNullCell()
    let remaining = line.columns
    for (let i = 0; i < line.rows; i++) {
      const row = this.#row(line, i)
      const columns = Math.min(remaining, row?.length ?? 0)
      for (let column = 0; column < columns; column++) {
        // the second half of a wide character
        if (!row?.getCell(column, cell) || cell.getWidth() === 0) continue
        pushCell(spans, cell)
      }
      remaining -= columns
    }
    return spans
  }

  get #buffer(): IBuffer {
    return this.#terminal.buffer.active
  }

  #row(line: TerminalLine, offset: number): IBufferLine | undefined {
    return this.#buffer.getLine(line.start - this.#dropped + offset)
  }

  /** Reads the rows that may have changed since the last time. */
  #read(): void {
    const buffer = this.#buffer
    const shift = this.#shift()
    const open = this.#open - this.#dropped - shift
    if (buffer.type !== this.#type || shift < 0 || open > buffer.baseY) {
      // a full-screen program is running, or the rows above the screen were cleared
      this.#type = buffer.type
      const last = this.#lines.at(-1)
      if (last) this.#dropped = last.start + last.rows
      this.#isCut = shift < 0
      this.#lines = []
      this.#readFrom(0)
    } else {
      this.#dropped += shift
      this.#isCut ||= shift > 0
      if (shift > 0) this.#dropLines()
      this.#readFrom(Math.max(0, open))
    }
    this.#open = this.#dropped + buffer.baseY
    this.#mark()
    this.version.value++
  }

  /** Returns the number of rows dropped since the last reading; negative if unknown. */
  #shift(): number {
    if (!this.#marker) return 0
    return this.#marker.isDisposed ? -1 : this.#markerRow - this.#marker.line
  }

  #mark(): void {
    this.#marker?.dispose()
    const { baseY, cursorY, type } = this.#buffer
    this.#markerRow = baseY
    // no markers in the alternate buffer, which drops nothing
    this.#marker = type === 'normal' ? this.#terminal.registerMarker(-cursorY) : undefined
  }

  #dropLines(): void {
    const gone = this.#lines.findIndex(line => line.start >= this.#dropped)
    this.#lines.splice(0, gone < 0 ? this.#lines.length : gone)
  }

  /** Reads all rows from `row` on, an index into the buffer. */
  #readFrom(row: number): void {
    const buffer = this.#buffer
    // read a wrapped line as a whole
    let first = row
    while (first > 0 && buffer.getLine(first)?.isWrapped) first--
    const from = first + this.#dropped
    let keep = this.#lines.length
    while (keep > 0 && this.#lines[keep - 1]!.start >= from) keep--
    this.#lines.length = keep
    for (let at = first; at < buffer.length; ) {
      let rows = 1
      while (at + rows < buffer.length && buffer.getLine(at + rows)!.isWrapped) rows++
      const tail = buffer.getLine(at + rows - 1)!.translateToString(true).length
      const columns = (rows - 1) * this.#terminal.cols + usedWidth(buffer.getLine(at + rows - 1)!, tail)
      this.#lines.push({ start: at + this.#dropped, rows, columns })
      at += rows
    }
    // skip the part of the screen that wasn't written to
    let end = this.#lines.length
    while (end > 0 && this.#lines[end - 1]!.columns === 0) end--
    this.#shown = this.#lines.slice(0, end)
  }
}

/** Returns the number of columns up to the last character of a row; wide characters take two columns. */
function usedWidth(row: IBufferLine, characters: number): number {
  if (characters === 0) return 0
  for (let column = row.length - 1; column >= 0; column--) {
    const cell = row.getCell(column)
    if (cell && cell.getWidth() > 0 && cell.getChars() !== '' && cell.getChars() !== ' ')
      return column + cell.getWidth()
  }
  return 0
}

const DECORATIONS = [
  ['bold', (cell: IBufferCell) => cell.isBold()],
  ['dim', (cell: IBufferCell) => cell.isDim()],
  ['italic', (cell: IBufferCell) => cell.isItalic()],
  ['underline', (cell: IBufferCell) => cell.isUnderline()],
  ['strikethrough', (cell: IBufferCell) => cell.isStrikethrough()],
  ['hidden', (cell: IBufferCell) => cell.isInvisible()],
  ['reverse', (cell: IBufferCell) => cell.isInverse()],
] as const

function pushCell(spans: TerminalSpan[], cell: IBufferCell): void {
  const text = cell.getChars() || ' '
  const isPlain = cell.isAttributeDefault()
  const foreground = isPlain ? undefined : toColor(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor())
  const background = isPlain ? undefined : toColor(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor())
  const decorations = isPlain ? [] : DECORATIONS.flatMap(([name, has]) => (has(cell) ? [name] : []))
  const last = spans.at(-1)
  const looksAlike =
    last?.foreground === foreground &&
    last?.background === background &&
    last?.decorations.join() === decorations.join()
  if (last && looksAlike) last.text += text
  else spans.push({ text, foreground, background, decorations })
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

function toColor(isDefault: boolean, isRgb: boolean, color: number): string | undefined {
  if (isDefault) return undefined
  if (isRgb) return `rgb(${color >> 16}, ${(color >> 8) & 255}, ${color & 255})`
  if (color < 8) return `ansi-${NAMES[color]}`
  return color < 16 ? `ansi-bright-${NAMES[color - 8]}` : paletteColor(color)
}

/** Returns color 16 to 255 of the xterm palette: a cube of 6 × 6 × 6 colors, then 24 grays. */
function paletteColor(index: number): string {
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10
    return `rgb(${gray}, ${gray}, ${gray})`
  }
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40)
  const cube = index - 16
  return `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`
}

/** Resolves to the whole output as plain text, as on a screen that drops no rows. */
export async function plainOutput(raw: string, size?: TerminalSize): Promise<string> {
  const screen = new TerminalScreen(size)
  const columns = Math.max(size?.cols ?? DEFAULT_COLUMNS, 20)
  const closed: string[] = []
  /** the first line that wasn't read yet, and the number of lines read */
  let from = 0
  const take = (until: number) => {
    for (const line of screen.lines) {
      if (line.start < from || line.start >= until) continue
      closed.push(screen.text(line))
      from = line.start + line.rows
    }
  }
  for (const piece of piecesOf(raw, MAX_SCROLLBACK_ROWS / 2, columns)) {
    await screen.append(piece)
    // rows far above the screen don't change anymore
    const { lines } = screen
    take(lines[lines.length - (size?.rows ?? DEFAULT_ROWS)]?.start ?? 0)
  }
  take(Number.POSITIVE_INFINITY)
  screen.dispose()
  return closed.join('\n') + (/\n$/.test(raw) ? '\n' : '')
}

/** Splits text into pieces that take at most this many rows of a terminal. */
function* piecesOf(text: string, rows: number, columns: number): Generator<string> {
  let begin = 0
  let taken = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1 || text.length
    const next = Math.min(end, at + rows * columns)
    taken += Math.ceil((next - at) / columns) + 1
    at = next
    if (taken < rows / 2) continue
    yield text.slice(begin, at)
    begin = at
    taken = 0
  }
  if (begin < text.length) yield text.slice(begin)
}
