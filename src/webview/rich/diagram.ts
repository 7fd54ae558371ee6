import DOMPurify from 'dompurify'
import mermaid from 'mermaid'
import { diagramColors } from './diagram-colors.ts'

/** A drawn diagram as an image: a document of its own, in which nothing runs and nothing is loaded. */
export interface DiagramImage {
  src: string
  /** CSS pixels */
  width: number
  height: number
}

/** Drawn again only in another theme. */
const kept = new Map<string, Promise<DiagramImage>>()
const mostKept = 40

/**
 * Draws a diagram in the colors of the theme. `large`: one that takes longer is wanted all the same. Rejects with the
 * reason when it cannot be drawn.
 */
export function diagramImage(source: string, large = false): Promise<DiagramImage> {
  const colors = diagramColors()
  const key = `${JSON.stringify(colors)}\n${source}`
  let image = kept.get(key)
  if (!image) {
    image = inTurn(() => draw(source, colors, large))
    kept.set(key, image)
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
  }
  return image
}

let last: Promise<unknown> = Promise.resolve()

/** One at a time, each when the page has nothing else to do. */
function inTurn<T>(task: () => Promise<T>): Promise<T> {
  const mine = last.then(idle).then(task)
  last = mine.catch(() => undefined)
  return mine
}

function idle(): Promise<void> {
  return new Promise(resolve => requestIdleCallback(() => resolve(), { timeout: 500 }))
}

let count = 0

async function draw(
  source: string,
  colors: ReturnType<typeof diagramColors>,
  large: boolean,
): Promise<DiagramImage> {
  allowDrawnStyles()
  mermaid.initialize({
    startOnLoad: false,
    // Drawn in the document of a frame: labels become markup while they are measured, and none of it may touch this page.
    securityLevel: 'sandbox',
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    suppressErrorRendering: true,
    maxTextSize: large ? 1_000_000 : 20_000,
    maxEdges: large ? 10_000 : 300,
    // what the diagram's own text may not change
    secure: [
      ...['secure', 'securityLevel', 'startOnLoad', 'maxTextSize', 'suppressErrorRendering', 'maxEdges'],
      ...['htmlLabels', 'theme', 'themeVariables', 'themeCSS', 'fontFamily', 'fontSize', 'dompurifyConfig'],
    ],
    theme: 'base',
    darkMode: colors.darkMode,
    fontFamily: colors.fontFamily,
    themeVariables: colors,
  })
  const workshop = document.createElement('div')
  workshop.className = 'diagram-workshop'
  workshop.setAttribute('aria-hidden', 'true')
  document.body.append(workshop)
  try {
    const { svg } = await mermaid.render(`parley-diagram-${count++}`, source, workshop)
    return imageOf(svgIn(svg))
  } finally {
    workshop.remove()
  }
}

/** The picture in the frame that Mermaid answers: `<iframe src="data:text/html;charset=UTF-8;base64,…">`. */
function svgIn(frame: string): string {
  const encoded = /;base64,([A-Za-z0-9+/=]+)"/.exec(frame)?.[1]
  if (encoded === undefined) throw new Error('It is empty.')
  const bytes = Uint8Array.from(atob(encoded), character => character.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}

function imageOf(svg: string): DiagramImage {
  const clean = DOMPurify.sanitize(svg, {
    USE_PROFILES: { svg: true, svgFilters: true },
    RETURN_DOM_FRAGMENT: true,
  })
  const root = clean.querySelector('svg')
  if (!root) throw new Error('It is empty.')
  const [, , width = 0, height = 0] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  if (!(width > 0 && height > 0)) throw new Error('It has no size.')
  root.setAttribute('width', String(Math.ceil(width)))
  root.setAttribute('height', String(Math.ceil(height)))
  root.removeAttribute('style')
  const text = new XMLSerializer().serializeToString(root)
  return { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, width, height }
}

let allowed = false

/**
 * The page's content security policy refuses style attributes and style elements that a script writes as text. A diagram is
 * measured while it is drawn, so it needs its own: attributes set by script go through the CSSOM, which is no inline style,
 * and style elements made by script carry the page's nonce. What an agent writes never gets here as HTML.
 */
function allowDrawnStyles(): void {
  if (allowed) return
  allowed = true
  const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce
  const signed = <T>(element: T): T => {
    if (nonce && (element instanceof HTMLStyleElement || element instanceof SVGStyleElement))
      element.nonce = nonce
    return element
  }
  const create = document.createElement
  document.createElement = function (this: Document, name: string, options?: ElementCreationOptions) {
    return signed(create.call(this, name, options))
  } as typeof document.createElement
  const createIn = document.createElementNS
  document.createElementNS = function (this: Document, space: string | null, name: string) {
    return signed(createIn.call(this, space, name))
  } as typeof document.createElementNS
  const set = Element.prototype.setAttribute
  Element.prototype.setAttribute = function (this: Element, name: string, value: string) {
    if (name === 'style' && (this instanceof SVGElement || this instanceof HTMLElement)) {
      this.style.cssText = value
    } else set.call(this, name, value)
  }
}
