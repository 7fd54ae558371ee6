import { t } from '../l10n.ts'
import { sourceOf } from '../markdown/rich-source.ts'
import { askToDraw, diagramFrame, showDiagram, showDrawing, showFailure } from './diagram-view.ts'
import { diagramWork, MOST_WORK } from './diagram-work.ts'

/**
 * Draws the formulas and diagrams that markdown left as their source (`data-rich`). The libraries for it load when the
 * first is met; what was drawn carries `data-state`, and stays as long as its source does.
 */
export function enrich(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-rich]:not([data-state])')) {
    if (element.dataset.rich === 'math') drawMath(element)
    else if (element.dataset.rich === 'mermaid') drawDiagram(element)
  }
}

type MathModule = typeof import('./math.ts')
let math: MathModule | undefined
let loadingMath: Promise<MathModule> | undefined

function drawMath(element: HTMLElement): void {
  const source = sourceOf(element)
  if (math) {
    math.drawFormula(element, source)
    return
  }
  // in the next line this element may be gone, or drawn already
  loadingMath ??= import('./math.ts')
  void loadingMath.then(
    module => {
      math = module
      if (element.isConnected && !element.dataset.state) module.drawFormula(element, source)
    },
    () => {
      element.dataset.state = 'failed'
    },
  )
}

type DiagramModule = typeof import('./diagram.ts')
let diagrams: Promise<DiagramModule> | undefined
/** Those on the screen are drawn again in the colors of another theme. */
let watching = false

/** Draws a diagram that was only offered to be drawn. */
export function drawAnyway(element: HTMLElement): void {
  element.dataset.wanted = ''
  drawDiagram(element)
}

function drawDiagram(element: HTMLElement): void {
  const source = sourceOf(element)
  const frame = diagramFrame(element)
  const wanted = element.dataset.wanted !== undefined
  watchTheme()
  if (!wanted && diagramWork(source) > MOST_WORK) {
    askToDraw(element, frame)
    return
  }
  element.dataset.state = 'drawing'
  if (wanted) showDrawing(frame)
  diagrams ??= import('./diagram.ts')
  void diagrams
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
