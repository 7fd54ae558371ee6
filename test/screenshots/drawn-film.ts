import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Frame } from 'playwright-core'
import { outDirectory, projectDirectory } from '../host/paths.ts'

/** What a page shows, from the back to the front, in CSS pixels: see `drawing-page.js`. */
interface Shape {
  kind: 'box' | 'text' | 'icon' | 'svg'
  x: number
  y: number
  width: number
  height: number
  opacity: number
  fill?: string
  stroke?: string
  radius?: number
  text?: string
  size?: number
  isBold?: boolean
  isCode?: boolean
  icon?: string
  svg?: string
}

interface Drawing {
  width: number
  height: number
  shapes: Shape[]
}

interface Picture {
  shapes: Shape[]
  /** how long it's shown */
  ms: number
}

const page = readFileSync(join(import.meta.dirname, 'drawing-page.js'), 'utf8')

/**
 * A moving picture of a page as an SVG file, which has a few kilobytes where images of its pixels have a hundred. It needs no
 * script, and shows one of its pictures if the user wants no motion.
 */
export class DrawnFilm {
  readonly #part: string
  readonly #background: string
  readonly #pictures: Picture[] = []
  #size = { width: 0, height: 0 }
  /** The shown picture if nothing may move. */
  #still = 0

  /** `part`: selects the part of a page to draw, and what may float above that part. */
  constructor({ part = 'body', background = '#181818' } = {}) {
    this.#part = part
    this.#background = background
  }

  /** Adds what the page shows now. The first picture has the film's size. */
  async show(frame: Frame, ms: number, { isStill = false } = {}): Promise<void> {
    await frame.evaluate(page)
    if (isStill) this.#still = this.#pictures.length
    const { width, height, shapes } = await frame.evaluate<Drawing>(
      `parleyDrawing.draw(${JSON.stringify(this.#part)})`,
    )
    if (this.#pictures.length === 0) this.#size = { width, height }
    this.#pictures.push({ shapes, ms })
  }

  /** Writes it to `out/screenshots`. `title` describes it to screen readers. */
  save(name: string, title: string): void {
    const { width, height } = this.#size
    const styles = new Names()
    const symbols = new Names()
    const bodies = this.#pictures.map(({ shapes }) =>
      shapes.map(shape => draw(shape, styles, symbols)).join('\n'),
    )
    const total = this.#pictures.reduce((sum, { ms }) => sum + ms, 0)
    const rules: string[] = []
    let start = 0
    for (const [at, { ms }] of this.#pictures.entries()) {
      const [from, to] = [start, start + ms].map(time => `${((time / total) * 100).toFixed(1)}%`)
      const before = at > 0 ? '0%{visibility:hidden}' : ''
      rules.push(`@keyframes p${at}{${before}${from}{visibility:visible}${to}{visibility:hidden}}`)
      rules.push(`.p${at}{animation:p${at} ${total / 1000}s step-end infinite}`)
      start += ms
    }
    const lines = [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
      `<title>${escaped(title)}</title>`,
      '<style>',
      'text{font-family:system-ui,"Segoe UI",Ubuntu,sans-serif;white-space:pre}',
      '.p{visibility:hidden}',
      ...rules,
      `@media(prefers-reduced-motion){.p{animation:none}.p${this.#still}{visibility:visible}}`,
      ...styles.all.map(([name, style]) => `.${name}{${style}}`),
      '</style>',
      '<defs>',
      ...symbols.all.map(([name, symbol]) => symbol.replace('<symbol', `<symbol id="${name}"`)),
      '</defs>',
      `<rect width="${width}" height="${height}" rx="6" fill="${this.#background}"/>`,
      ...bodies.map((body, at) => `<g class="p p${at}">\n${body}\n</g>`),
      '</svg>',
      '',
    ]
    writeFileSync(join(outDirectory, 'screenshots', `${name}.svg`), lines.join('\n'))
  }
}

/** Short names for texts that are used several times. */
class Names {
  readonly #names = new Map<string, string>()

  of(text: string): string {
    const name =
      this.#names.get(text) ?? `${String.fromCharCode(97 + (this.#names.size % 15))}${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  get all(): Array<[name: string, text: string]> {
    return [...this.#names].map(([text, name]) => [name, text])
  }
}

function draw(shape: Shape, styles: Names, symbols: Names): string {
  const { kind, fill, stroke, opacity } = shape
  const [x, y, width, height] = [shape.x, shape.y, shape.width, shape.height].map(Math.round) as [
    number,
    number,
    number,
    number,
  ]
  const shade = opacity < 1 ? `;opacity:${opacity.toFixed(2)}` : ''
  if (kind === 'text') {
    const size = shape.size === 13 ? '' : `;font-size:${shape.size}px`
    const font = shape.isCode ? ';font-family:ui-monospace,Menlo,Consolas,monospace' : ''
    const style = styles.of(
      `fill:${fill}${size || ';font-size:13px'}${shape.isBold ? ';font-weight:600' : ''}${font}${shade}`,
    )
    // as wide as here, with any font
    const fit = shape.text!.length > 5 ? ` textLength="${width}"` : ''
    // of the usual fonts
    const baseline = Math.round(shape.y + shape.height * 0.79)
    return `<text x="${x}" y="${baseline}"${fit} class="${style}">${escaped(shape.text!)}</text>`
  }
  if (kind === 'box') {
    const style = styles.of(`fill:${fill ?? 'none'}${stroke ? `;stroke:${stroke}` : ''}${shade}`)
    const inset = stroke ? 0.5 : 0
    const radius = shape.radius ? ` rx="${Math.min(shape.radius, height / 2)}"` : ''
    const least = stroke ? 0 : 1
    return `<rect x="${x + inset}" y="${y + inset}" width="${Math.max(least, width - inset * 2)}" height="${Math.max(least, height - inset * 2)}"${radius} class="${style}"/>`
  }
  const svg = shape.svg ?? readIcon(shape.icon!)
  if (svg === undefined) return ''
  const [, viewBox = '0 0 16 16'] = /viewBox="([^"]*)"/.exec(svg) ?? []
  const content = svg
    .replace(/^[\s\S]*?<svg[^>]*>|<\/svg>\s*$/g, '')
    .replace(/ (?:fill|clip-rule)="(?:currentColor|none|evenodd)"/g, '')
    .trim()
  const paths = [...content.matchAll(/ d="([^"]*)"/g)].map(([, path]) => shortened(path!))
  const isShort = paths.every(path => path !== undefined)
  const box = isShort ? viewBox.replace(/[\d.]+/g, number => String(Number(number) * 10)) : viewBox
  const drawn = isShort ? content.replace(/ d="[^"]*"/g, () => ` d="${paths.shift()}"`) : content
  const name = symbols.of(`<symbol viewBox="${box}">${drawn}</symbol>`)
  return `<use href="#${name}" x="${x}" y="${y}" width="${width}" height="${height}" class="${styles.of(`fill:${fill}${shade}`)}"/>`
}

/** How many numbers a command takes. */
const NUMBERS: Record<string, number> = { m: 2, l: 2, h: 1, v: 1, c: 6, s: 4, q: 4, t: 2, z: 0 }

/**
 * With tenths of a pixel in place of pixels, each as the distance from the one before: half as long. The flags of arcs can be
 * written together with numbers, so a path with arcs stays as it is.
 */
function shortened(path: string): string | undefined {
  if (/[ae]/i.test(path)) return undefined
  let [x, y, startX, startY] = [0, 0, 0, 0]
  let short = ''
  for (const [, letter, rest] of path.matchAll(/([a-z])([^a-z]*)/gi)) {
    const kind = letter!.toLowerCase()
    const isRelative = letter === kind
    const numbers = (rest!.match(/-?(?:\d*\.\d+|\d+)/g) ?? []).map(number => Number(number) * 10)
    const steps: number[] = []
    const count = NUMBERS[kind] ?? 0
    for (let at = 0; at < numbers.length; at += count) {
      const [fromX, fromY] = [x, y]
      for (const [index, number] of numbers.slice(at, at + count).entries()) {
        const isX = kind === 'h' || (kind !== 'v' && index % 2 === 0)
        const from = isX ? fromX : fromY
        const to = isRelative ? from + number : number
        steps.push(Math.round(to) - Math.round(from))
        if (isX) x = to
        else y = to
      }
      if (kind === 'm' && at === 0) [startX, startY] = [x, y]
    }
    if (kind === 'z') [x, y] = [startX, startY]
    short += `${kind}${steps.join(' ').replaceAll(' -', '-')}`
  }
  return short
}

/** One that has another name in the font's files isn't drawn. */
function readIcon(name: string): string | undefined {
  try {
    return readFileSync(join(projectDirectory, `node_modules/@vscode/codicons/src/icons/${name}.svg`), 'utf8')
  } catch {
    return undefined
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
