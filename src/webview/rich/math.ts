import katex from 'katex'
import { t } from '../l10n.ts'

/** Formulas that an agent wrote cannot load, link or run anything, grow without end or fill the page. */
const limits = { trust: false, strict: 'ignore', maxSize: 24, maxExpand: 300 } as const

/** Draws a formula into its element, with MathML beside it for screen readers; one that cannot be read stays as it was. */
export function drawFormula(element: HTMLElement, source: string): void {
  loadStyles()
  const displayMode = element.classList.contains('math-display')
  const drawn = document.createElement('span')
  try {
    // node by node, never by HTML: the page's policy allows no style attributes in HTML
    katex.render(source, drawn, { ...limits, displayMode, output: 'htmlAndMathml', throwOnError: true })
  } catch (error) {
    element.dataset.state = 'failed'
    element.title = t("Can't render this formula: {0}", error instanceof Error ? error.message : '')
    return
  }
  element.dataset.state = 'drawn'
  element.replaceChildren(...drawn.childNodes)
  if (displayMode) element.tabIndex = 0
}

let loaded = false

/** The styles and fonts lie beside the view's own styles. */
function loadStyles(): void {
  if (loaded) return
  loaded = true
  const own = document.querySelector<HTMLLinkElement>('link[rel="stylesheet"][href*="conversation.css"]')
  if (!own) return
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = own.href.replace('conversation.css', 'math.css')
  document.head.append(link)
}
