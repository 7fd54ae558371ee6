import katex from 'katex'
import { t } from '../l10n.ts'
import { loadStyles } from '../ui/lazy.tsx'

/** An agent's formulas can't load, link or run anything, expand endlessly or fill the page. */
const limits = { trust: false, strict: 'ignore', maxSize: 24, maxExpand: 300 } as const

/** Loads the styles and the fonts that nearly all formulas use, since text would be blank while its font loads. */
export async function loadLook(): Promise<void> {
  await loadStyles('math')
  const fonts = ['1em KaTeX_Main', 'italic 1em KaTeX_Math']
  // if a font can't be loaded, another one is used
  await Promise.allSettled(fonts.map(font => document.fonts?.load(font)))
}

/** Renders a formula into its element, with MathML for screen readers; an invalid formula stays source. */
export function drawFormula(element: HTMLElement, source: string): void {
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
