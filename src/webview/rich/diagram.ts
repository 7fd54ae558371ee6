import DOMPurify from 'dompurify'
import mermaid from 'mermaid'

/** A rendered diagram as an image: a separate document in which nothing runs or is loaded. */
export interface DiagramImage {
  src: string
  /** CSS pixels */
  width: number
  height: number
}

/** by theme colors and source: rendered or pending images */
const images = new Map<string, Promise<DiagramImage>>()
const MAX_IMAGES = 40

/**
 * Renders a diagram in the colors of the theme. `large`: even if rendering may take long. Rejects with the reason if the diagram
 * can't be rendered.
 */
export function diagramImage(source: string, large = false): Promise<DiagramImage> {
  const colors = diagramColors()
  const key = `${JSON.stringify(colors)}\n${source}`
  let image = images.get(key)
  if (!image) {
    image = inTurn(() => draw(source, colors, large))
    images.set(key, image)
    const [oldest] = images.keys()
    if (images.size > MAX_IMAGES && oldest !== undefined) images.delete(oldest)
  }
  return image
}

let last: Promise<unknown> = Promise.resolve()

/** Runs tasks one at a time, while the page is idle. */
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
  findInFrames()
  mermaid.initialize({
    startOnLoad: false,
    // Mermaid renders in the document of a frame, because labels become markup while they are measured, which must not affect
    // this page.
    securityLevel: 'sandbox',
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    suppressErrorRendering: true,
    maxTextSize: large ? 1_000_000 : 20_000,
    maxEdges: large ? 10_000 : 300,
    // options that the diagram's own text can't change
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
    return toImage(svgIn(svg))
  } finally {
    workshop.remove()
  }
}

/** Returns the image in the frame that Mermaid returns: `<iframe src="data:text/html;charset=UTF-8;base64,…">`. */
function svgIn(frame: string): string {
  const encoded = /;base64,([A-Za-z0-9+/=]+)"/.exec(frame)?.[1]
  if (encoded === undefined) throw new Error('It is empty.')
  const bytes = Uint8Array.from(atob(encoded), character => character.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}

function toImage(svg: string): DiagramImage {
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

let findsInFrames = false

/** Lets Mermaid's git graph find its own elements, which are in a frame, not in this document. */
function findInFrames(): void {
  if (findsInFrames) return
  findsInFrames = true
  const find = document.querySelector
  document.querySelector = (selector: string): Element | null => {
    const found = find.call(document, selector)
    if (found || !selector.startsWith('[id="parley-diagram-')) return found
    const frame = find.call(document, '.diagram-workshop iframe') as HTMLIFrameElement | null
    return frame?.contentDocument?.querySelector(selector) ?? null
  }
}

let allowed = false

/**
 * The page's content security policy refuses style attributes and style elements that a script writes as text. A diagram
 * is measured while it's rendered, so it needs an exception: style attributes are set through the CSSOM, which doesn't count
 * as inline style, and style elements get the page's nonce. An agent's text never gets here as HTML.
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

/** Returns the variables of Mermaid's theme, derived from VS Code's colors. */
export function diagramColors() {
  const style = getComputedStyle(document.body)
  const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const surface = opaque(probe, variable(style, '--vscode-editor-background'), '#ffffff')
  const read = (names: readonly string[], fallback: string) => {
    for (const name of names) {
      const value = variable(style, name)
      if (value) return opaque(probe, value, surface)
    }
    return fallback
  }
  const darkMode = luminance(surface) < 0.4
  const text = read(['--vscode-editor-foreground', '--vscode-foreground'], darkMode ? '#cccccc' : '#333333')
  const line = read(['--vscode-descriptionForeground', '--vscode-foreground'], text)
  const border = read(['--vscode-contrastBorder', '--vscode-focusBorder', '--vscode-charts-blue'], line)
  const node = read(['--vscode-editorWidget-background', '--vscode-textCodeBlock-background'], surface)
  const second = read(['--vscode-editor-inactiveSelectionBackground', '--vscode-input-background'], node)
  const chart = (name: string) => read([`--vscode-charts-${name}`], line)
  const charts = ['blue', 'green', 'orange', 'purple', 'red', 'yellow'].map(chart)
  const series = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => charts[i % charts.length]!).flatMap((color, i) => {
      const soft = mixed(color, surface, darkMode ? 0.45 : 0.3)
      return [
        [`cScale${i}`, soft],
        [`cScaleLabel${i}`, text],
        [`pie${i + 1}`, mixed(color, surface, 0.6)],
        [`git${i}`, color],
        [`gitInv${i}`, surface],
        [`gitBranchLabel${i}`, luminance(color) > 0.4 ? '#000000' : '#ffffff'],
        [`fillType${i}`, soft],
      ]
    }),
  )
  return {
    darkMode,
    fontFamily: style.fontFamily,
    fontSize: style.fontSize,
    background: surface,
    mainBkg: node,
    primaryColor: node,
    primaryTextColor: text,
    primaryBorderColor: border,
    secondaryColor: second,
    secondaryTextColor: text,
    secondaryBorderColor: line,
    tertiaryColor: surface,
    tertiaryTextColor: text,
    tertiaryBorderColor: line,
    lineColor: line,
    textColor: text,
    titleColor: text,
    nodeTextColor: text,
    nodeBorder: border,
    clusterBkg: surface,
    clusterBorder: line,
    edgeLabelBackground: surface,
    noteBkgColor: second,
    noteTextColor: text,
    noteBorderColor: line,
    actorBkg: node,
    actorTextColor: text,
    actorBorder: border,
    actorLineColor: line,
    signalColor: line,
    signalTextColor: text,
    labelBoxBkgColor: node,
    labelBoxBorderColor: line,
    labelTextColor: text,
    loopTextColor: text,
    activationBkgColor: second,
    activationBorderColor: line,
    sequenceNumberColor: surface,
    pieTitleTextColor: text,
    pieSectionTextColor: text,
    pieLegendTextColor: text,
    pieStrokeColor: surface,
    pieOuterStrokeColor: line,
    gridColor: line,
    sectionBkgColor: second,
    sectionBkgColor2: node,
    altSectionBkgColor: surface,
    taskBkgColor: mixed(charts[0]!, surface, 0.4),
    taskBorderColor: charts[0]!,
    taskTextColor: text,
    taskTextDarkColor: text,
    taskTextLightColor: text,
    taskTextOutsideColor: text,
    taskTextClickableColor: text,
    activeTaskBkgColor: mixed(charts[1]!, surface, 0.4),
    activeTaskBorderColor: charts[1]!,
    doneTaskBkgColor: second,
    doneTaskBorderColor: line,
    critBkgColor: mixed(charts[4]!, surface, 0.4),
    critBorderColor: charts[4]!,
    todayLineColor: charts[4]!,
    classText: text,
    commitLabelColor: text,
    commitLabelBackground: second,
    tagLabelColor: text,
    tagLabelBackground: node,
    tagLabelBorder: line,
    relationColor: line,
    relationLabelColor: text,
    relationLabelBackground: surface,
    attributeBackgroundColorOdd: surface,
    attributeBackgroundColorEven: node,
    rowOdd: surface,
    rowEven: node,
    errorBkgColor: second,
    errorTextColor: text,
    ...series,
  }
}

function variable(style: CSSStyleDeclaration, name: string): string {
  return style.getPropertyValue(name).trim()
}

type Probe = CanvasRenderingContext2D | null

/** Returns the color as `#rrggbb`, blended with the surface if it's transparent, since Mermaid calculates with colors. */
function opaque(probe: Probe, color: string, surface: string): string {
  if (!probe || color === '') return surface
  probe.globalCompositeOperation = 'source-over'
  probe.fillStyle = surface
  probe.fillRect(0, 0, 1, 1)
  probe.fillStyle = color
  probe.fillRect(0, 0, 1, 1)
  return hex([...probe.getImageData(0, 0, 1, 1).data.subarray(0, 3)])
}

function mixed(color: string, surface: string, share: number): string {
  const [a, b] = [rgb(color), rgb(surface)]
  return hex(a.map((value, i) => Math.round(value * share + b[i]! * (1 - share))))
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = rgb(color)
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255
}

function rgb(color: string): number[] {
  return [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16) || 0)
}

function hex(parts: readonly number[]): string {
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}
