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

  /** `ground`: the color behind the page, which belongs to the workbench and is invisible to axe. */
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

  /** The lowest contrast of these elements with what is behind them; axe measures neither icons nor what screen readers skip. */
  contrast(selector) {
    this.settle()
    const parse = color => {
      const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number)
      return { rgb: [red, green, blue], alpha }
    }
    const over = (front, back, alpha) => front.map((part, i) => part * alpha + back[i] * (1 - alpha))
    const behind = element => {
      if (!element) return [255, 255, 255]
      const { rgb, alpha } = parse(getComputedStyle(element).backgroundColor)
      return alpha === 1 ? rgb : over(rgb, behind(element.parentElement), alpha)
    }
    const luminance = rgb => {
      const [red, green, blue] = rgb.map(part =>
        part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
      )
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const ratios = [...document.querySelectorAll(selector)].map(element => {
      const { rgb, alpha } = parse(getComputedStyle(element).color)
      let shown = alpha
      for (let at = element; at; at = at.parentElement) shown *= Number(getComputedStyle(at).opacity)
      const back = behind(element)
      const [light, dark] = [over(rgb, back, shown), back].map(luminance).sort((a, b) => b - a)
      return (light + 0.05) / (dark + 0.05)
    })
    return Math.min(...ratios)
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
