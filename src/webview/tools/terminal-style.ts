import Anser from 'anser'
import { plainStyle, type TerminalStyle } from './terminal-line.ts'

/** The style that output has from a point on, changed by its codes. */
export class StyleState {
  readonly #colours = new Anser()
  current: TerminalStyle = plainStyle

  /** Takes in `ESC [ … m`. */
  apply(code: string): void {
    // the library colours only what follows a code, and knows no colons
    const pieces = this.#colours.process(
      `${code.replace(/:+/g, ';')}x`,
      { json: true, remove_empty: true, use_classes: true },
      true,
    )
    const piece = pieces.at(-1)
    if (!piece) return
    const foreground = colourOf(piece.fg, piece.fg_truecolor)
    const background = colourOf(piece.bg, piece.bg_truecolor)
    if (!foreground && !background && piece.decorations.length === 0) this.current = plainStyle
    else this.current = { foreground, background, decorations: [...piece.decorations] }
  }
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
