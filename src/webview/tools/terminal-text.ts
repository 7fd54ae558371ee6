import Anser from 'anser'

/** A piece of terminal output in one style. Colours are `ansi-…` class names or CSS colours (`rgb(1, 2, 3)`). */
export interface TerminalSpan {
  text: string
  foreground?: string
  background?: string
  /** of `bold`, `dim`, `italic`, `underline`, `strikethrough`, `hidden` */
  decorations: readonly string[]
}
/** Some lines that will not change any more. */
export interface TerminalLines {
  readonly id: number
  readonly spans: TerminalSpan[]
  count: number
}

/** Lines kept in one group, so that the view draws a closed group once. */
const groupLines = 50
/** Older groups are dropped: a terminal's screen is not its log. */
const keptGroups = 20
/** A line is cut here; terminals that draw with one endless line exist. */
const longestLine = 20_000

const esc = '\u001b'
/** Everything but colours: titles and links (OSC), cursor movement, erasing, character sets. */
const notColour = new RegExp(
  [
    `${esc}\\][^\u0007${esc}]*(?:\u0007|${esc}\\\\)`,
    `${esc}\\[[0-9;:?<=>!]*[ -/]*[@-ln-~]`,
    `${esc}[()*+][A-Za-z0-9]`,
    `${esc}[@-Z\\\\^_=>78]`,
    '[\u0000-\u0007\u000b\u000c\u000e-\u001a\u007f]',
  ].join('|'),
  'g',
)
/** An escape sequence whose end has not come. */
const unfinished = new RegExp(`${esc}(?:\\[[0-9;:?<=>!]*[ -/]*|\\][^\u0007${esc}]{0,4096}${esc}?|[()*+])?$`)

/**
 * A terminal's output as lines of coloured spans, taken in as it comes: what was read is never read again. A carriage
 * return starts the line over, as progress bars want; other cursor movement is left out.
 */
export class TerminalText {
  readonly groups: TerminalLines[] = []
  /** older lines were dropped */
  dropped = false
  /** lines that were completed */
  lines = 0
  #colours = new Anser()
  /** the line that has not ended, raw */
  #line = ''
  #nextId = 0

  append(text: string): void {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop()!
    if (this.#line.length > longestLine * 2) this.#line = this.#line.slice(-longestLine)
    for (const line of lines) this.#complete(line)
    while (this.groups.length > keptGroups) {
      this.groups.shift()
      this.dropped = true
    }
  }

  /** The line that has not ended. */
  get openLine(): TerminalSpan[] {
    const colours = Object.assign(new Anser(), structuredClone({ ...this.#colours }))
    return spansOf(colours, shown(this.#line.replace(unfinished, '')))
  }

  get isEmpty(): boolean {
    return this.lines === 0 && this.#line === ''
  }

  #complete(line: string): void {
    let group = this.groups.at(-1)
    if (!group || group.count >= groupLines) {
      group = { id: this.#nextId++, spans: [], count: 0 }
      this.groups.push(group)
    }
    // a line break after the line, but for the one that ends the group: its element is a block
    if (group.count > 0) pushText(group.spans, '\n')
    for (const span of spansOf(this.#colours, shown(line))) push(group.spans, span)
    group.count++
    this.lines++
  }
}

/** What a terminal shows of a raw line. */
function shown(raw: string): string {
  let line = raw.replace(notColour, '').replace(colour, code => code.replace(/:+/g, ';'))
  while (line.endsWith('\r')) line = line.slice(0, -1)
  const start = line.lastIndexOf('\r')
  if (start >= 0) line = (line.slice(0, start).match(colour)?.join('') ?? '') + line.slice(start + 1)
  while (line.includes('\b')) {
    const next = line.replace(backspace, '')
    if (next === line) break
    line = next
  }
  return line.length > longestLine ? line.slice(0, longestLine) : line
}
// outside of a class \b is the edge of a word
const backspace = /[^\b]?[\b]/
const colour = new RegExp(`${esc}\\[[0-9;:]*m`, 'g')

function spansOf(colours: Anser, line: string): TerminalSpan[] {
  const spans: TerminalSpan[] = []
  if (line === '') return spans
  // the library colours only what follows a code: begin with one that changes nothing
  for (const piece of colours.process(
    `${esc}[55m${line}`,
    {
      json: true,
      remove_empty: true,
      use_classes: true,
    },
    true,
  )) {
    if (piece.content === '') continue
    push(spans, {
      text: piece.content,
      foreground: colourOf(piece.fg, piece.fg_truecolor),
      background: colourOf(piece.bg, piece.bg_truecolor),
      decorations: piece.decorations,
    })
  }
  return spans
}

function colourOf(name: string | null, rgb: string | null): string | undefined {
  if (!name) return undefined
  if (name === 'ansi-truecolor') return rgb ? `rgb(${rgb})` : undefined
  const palette = /^ansi-palette-(\d+)$/.exec(name)
  return palette ? paletteColour(Number(palette[1])) : name
}

/** Colours 16 to 255 of the usual palette: a cube of 6 × 6 × 6, then 24 greys. */
function paletteColour(index: number): string {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return `rgb(${grey}, ${grey}, ${grey})`
  }
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40)
  const cube = index - 16
  return `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`
}

function pushText(spans: TerminalSpan[], text: string): void {
  const last = spans.at(-1)
  if (last && !last.background && last.decorations.length === 0) last.text += text
  else spans.push({ text, decorations: [] })
}

/** Joins a span to the one before it when both look alike. */
function push(spans: TerminalSpan[], span: TerminalSpan): void {
  const last = spans.at(-1)
  if (
    last &&
    last.foreground === span.foreground &&
    last.background === span.background &&
    last.decorations.join() === span.decorations.join()
  ) {
    last.text += span.text
  } else spans.push({ ...span, decorations: [...span.decorations] })
}
