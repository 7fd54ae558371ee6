// Runs inside a webview, after axe: applies another theme to the page and checks it.
// Its functions are called from axe.ts.
globalThis.parleyLook = {
  /** What the theme defines in this page: variables on the root, classes and data on the body. */
  read() {
    const { body, documentElement } = document
    const theirs = Object.entries(body.dataset).filter(([name]) => name.startsWith('vscode'))
    return {
      style: documentElement.style.cssText,
      classes: [...body.classList].filter(name => name.startsWith('vscode-')),
      data: Object.fromEntries(theirs),
    }
  },

  /** `ground`: the color behind the page, which belongs to the workbench and is invisible to axe. Resolves to it. */
  async wear({ style, classes, data }, ground) {
    const { body, documentElement } = document
    const another = body.dataset.vscodeThemeId !== data.vscodeThemeId
    const colors = this.colors()
    documentElement.style.cssText = style
    documentElement.style.backgroundColor = `var(${ground})`
    for (const name of this.colors().keys()) documentElement.style.removeProperty(name)
    if (!another) for (const [name, value] of colors) documentElement.style.setProperty(name, value)
    body.className = [...[...body.classList].filter(name => !name.startsWith('vscode-')), ...classes].join(
      ' ',
    )
    Object.assign(body.dataset, data)
    // a page with colored code requests the theme's own colors from the host
    while (another && colors.size > 0 && this.colors().size === 0)
      await new Promise(resolve => setTimeout(resolve, 20))
    return getComputedStyle(documentElement).backgroundColor
  },

  /** The theme's colors for code, by their variables. */
  colors() {
    const { style } = document.documentElement
    const names = [...style].filter(name => name.startsWith('--parley-token-'))
    return new Map(names.map(name => [name, style.getPropertyValue(name)]))
  },

  /** Colors that are still in transition to the next theme's would be mixtures. */
  settle() {
    for (const animation of document.getAnimations())
      if (animation.effect?.getTiming().iterations !== Number.POSITIVE_INFINITY) animation.finish()
  },

  /** The lowest contrast of these elements with what is behind them: axe's rule skips icons, and what screen readers skip. */
  contrast(selector) {
    this.settle()
    const { axe } = globalThis
    const { getBackgroundColor, getContrast, getForegroundColor } = axe.commons.color
    axe.setup(document.body)
    try {
      const ratios = [...document.querySelectorAll(selector)].map(element => {
        element.scrollIntoView({ block: 'nearest' })
        const back = getBackgroundColor(element)
        return getContrast(back, getForegroundColor(element, false, back))
      })
      return Math.min(...ratios)
    } finally {
      axe.teardown()
    }
  },

  /** One line for each element that violates a rule with one of these tags; `onlyColors`: of those about colors. */
  async check(tags, onlyColors) {
    this.settle()
    const colors = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
    const { violations } = await globalThis.axe.run(document, {
      runOnly: onlyColors ? colors : { type: 'tag', values: tags },
      resultTypes: ['violations'],
    })
    // the headings in an agent's text are its own
    const isOurs = ({ id, target }) =>
      id !== 'heading-order' || !document.querySelector(target[0])?.closest('.prose')
    return violations.flatMap(({ id, nodes }) =>
      nodes
        .filter(({ target }) => isOurs({ id, target }))
        .map(({ html, failureSummary }) => {
          const why = failureSummary?.replace(/^Fix .*:\s*/, '').replace(/\s+/g, ' ')
          return `${id}: ${html.slice(0, 200)}\n    ${why}`
        }),
    )
  },
}
