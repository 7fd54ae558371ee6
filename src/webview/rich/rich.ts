import { loadOnce } from '../../common/async.ts'
import { t } from '../l10n.ts'
import type { DiagramImage } from './diagram.ts'
import { sourceOf } from './rich-source.ts'

/**
 * Renders the formulas and diagrams that the Markdown parser left as source (`data-rich`). The libraries are loaded on
 * first use. Rendered elements have `data-state`, and are kept as long as their source.
 */
export function enrich(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-rich]:not([data-state])')) {
    if (element.dataset.rich === 'math') drawMath(element)
    else if (element.dataset.rich === 'mermaid') drawDiagram(element)
  }
}

type DrawFormula = typeof import('./math.ts').drawFormula
let drawFormula: DrawFormula | undefined

function drawMath(element: HTMLElement): void {
  const source = sourceOf(element)
  if (drawFormula) {
    drawFormula(element, source)
    return
  }
  // meanwhile, this element may have been removed or rendered
  void loadMath().then(
    draw => {
      drawFormula = draw
      if (element.isConnected && !element.dataset.state) draw(element, source)
    },
    () => {
      element.dataset.state = 'failed'
    },
  )
}

const loadMath = loadOnce(async () => {
  const { drawFormula, loadLook } = await import('./math.ts')
  await loadLook()
  return drawFormula
})

const loadDiagrams = loadOnce(() => import('./diagram.ts'))
/** whether changes of the theme are observed, after which displayed diagrams are rendered again */
let watching = false

/** Renders a large diagram on request. */
export function drawAnyway(element: HTMLElement): void {
  element.dataset.wanted = ''
  drawDiagram(element)
}

function drawDiagram(element: HTMLElement): void {
  const source = sourceOf(element)
  const frame = diagramFrame(element)
  const wanted = element.dataset.wanted !== undefined
  watchTheme()
  if (!wanted && diagramWork(source) > MAX_WORK) {
    askToDraw(element, frame)
    return
  }
  element.dataset.state = 'drawing'
  if (wanted) showDrawing(frame)
  void loadDiagrams()
    .then(module => module.diagramImage(source, wanted))
    .then(
      image => showDiagram(element, frame, image),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        showFailure(element, frame, t("Can't render this diagram: {0}", reason.split('\n', 1)[0]!))
      },
    )
}

function watchTheme(): void {
  if (watching) return
  watching = true
  new MutationObserver(() => {
    for (const element of document.querySelectorAll<HTMLElement>('.diagram[data-state]')) drawDiagram(element)
  }).observe(document.body, { attributes: true, attributeFilter: ['data-vscode-theme-id', 'class'] })
}

/**
 * The work of rendering a diagram is estimated from its source. Rendering can't be stopped and blocks the page: in a
 * busy browser, for about 5 ms per unit of work, measured over all kinds of diagrams.
 */

/** A diagram that needs more work is rendered only on request, because rendering may take more than a second. */
export const MAX_WORK = 160
/** Longer sources aren't analyzed and count as too much work. UTF-16 units. */
const MAX_LENGTH = 20_000

/** Kinds of diagrams whose layout depends on links, so that both nodes and links cost time. */
const linked = /^(?:graph|flowchart|class|state|er|requirement|block|architecture|c4|swimlane|usecase)/i
/** Kinds of diagrams for which Mermaid tries several layouts. */
const tried = /^(?:mindmap|ishikawa|venn)/i

export function diagramWork(source: string): number {
  if (source.length > MAX_LENGTH) return Number.POSITIVE_INFINITY
  const statements = source
    .replace(/^\s*---\n[\s\S]*?\n---\n/, '')
    .split(/[\n;]/)
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('%%'))
  const [kind = ''] = statements
  if (tried.test(kind)) return statements.length * 1.5
  if (!linked.test(kind)) return statements.length / 2
  return statements.reduce((sum, statement) => sum + linksIn(statement), statements.length / 2)
}

/** Returns the number of links in a statement: `a & b --> c & d` are four. */
function linksIn(statement: string): number {
  const ends = statement.split(/[-=~.]{2,}/).map(part => part.split('&').length)
  let links = 0
  for (let i = 1; i < ends.length; i++) links += ends[i - 1]! * ends[i]!
  return links
}

/** The parts of a diagram's element besides its source, which is the code block created by the Markdown parser. */
interface DiagramFrame {
  figure: HTMLElement
  note: HTMLElement
}

/** Adds an element for the image above the source, and one for an error message. */
function diagramFrame(element: HTMLElement): DiagramFrame {
  let figure = element.querySelector<HTMLElement>(':scope > .diagram-figure')
  let note = element.querySelector<HTMLElement>(':scope > .diagram-note')
  if (!figure || !note) {
    figure = document.createElement('div')
    figure.className = 'diagram-figure'
    figure.hidden = true
    note = document.createElement('div')
    note.className = 'diagram-note quiet'
    note.hidden = true
    element.prepend(figure, note)
  }
  return { figure, note }
}

function showDiagram(element: HTMLElement, { figure, note }: DiagramFrame, image: DiagramImage): void {
  const picture = figure.querySelector('img') ?? document.createElement('img')
  picture.src = image.src
  picture.width = Math.ceil(image.width)
  picture.height = Math.ceil(image.height)
  picture.alt = diagramName(sourceOf(element))
  if (!picture.isConnected) figure.append(picture, toolbar())
  figure.hidden = false
  note.hidden = true
  element.dataset.state = 'drawn'
}

/** Shows a button that renders a large diagram, since rendering would block the page. */
function askToDraw(element: HTMLElement, { note }: DiagramFrame): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'link-button'
  button.dataset.action = 'draw-diagram'
  button.textContent = t('Render Anyway')
  note.replaceChildren(t('Large diagram. Rendering may take several seconds.'), ' ', button)
  note.hidden = false
  element.dataset.state = 'asked'
}

function showDrawing({ note }: DiagramFrame): void {
  note.textContent = t('Rendering…')
  note.hidden = false
}

function showFailure(element: HTMLElement, { figure, note }: DiagramFrame, text: string): void {
  figure.hidden = true
  note.hidden = false
  note.textContent = text
  element.dataset.state = 'failed'
}

function toolbar(): HTMLElement {
  const bar = document.createElement('div')
  bar.className = 'code-bar'
  for (const [action, icon, label] of [
    ['diagram-source', 'code', t('Show Source')],
    ['copy-diagram', 'copy', t('Copy Source')],
    ['enlarge', 'screen-full', t('Enlarge')],
  ] as const) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'icon-button'
    button.dataset.action = action
    button.title = label
    button.setAttribute('aria-label', label)
    const glyph = document.createElement('span')
    glyph.className = `codicon codicon-${icon}`
    glyph.setAttribute('aria-hidden', 'true')
    button.append(glyph)
    bar.append(button)
  }
  return bar
}

/** Returns a label such as `Diagram (sequenceDiagram)`, or with the diagram's title if it has one. */
function diagramName(source: string): string {
  const title = /^\s*(?:accTitle\s*:|title:?)\s*(.+)$/m.exec(source)?.[1]?.trim()
  if (title) return t('Diagram: {0}', title.slice(0, 120))
  const kind = /^\s*(?!%%|---)([A-Za-z][\w-]*)/m.exec(source)?.[1]
  return kind ? t('Diagram ({0})', kind) : t('Diagram')
}
