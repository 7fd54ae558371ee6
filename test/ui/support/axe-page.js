// Runs inside a webview, after axe: dresses the page in another theme and looks for what is wrong with it.
// What it makes is called from axe.ts.
globalThis.parleyLook = {
  /** What the theme gave to this page: variables on the root, classes and data on the body. */
  read() {
    const { body, documentElement } = document
    const theirs = Object.entries(body.dataset).filter(([name]) => name.startsWith('vscode'))
    return {
      style: documentElement.style.cssText,
      classes: [...body.classList].filter(name => name.startsWith('vscode-')),
      data: Object.fromEntries(theirs),
    }
  },

  /** `ground`: the color behind the page, which is the workbench's and which axe cannot see. */
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
    // a page that colors code asks the host for the theme's own colors
    while (another && colors.size > 0 && this.colors().size === 0)
      await new Promise(resolve => setTimeout(resolve, 20))
  },

  /** The theme's colors of code, by their variables. */
  colors() {
    const { style } = document.documentElement
    const names = [...style].filter(name => name.startsWith('--parley-token-'))
    return new Map(names.map(name => [name, style.getPropertyValue(name)]))
  },

  /** Colors that still fade into the next theme's would be mixtures of both. */
  settle() {
    for (const animation of document.getAnimations())
      if (animation.effect?.getTiming().iterations !== Number.POSITIVE_INFINITY) animation.finish()
  },

  /** One line for each element that breaks a rule. */
  async check(tags) {
    this.settle()
    const { violations } = await globalThis.axe.run(document, {
      runOnly: { type: 'tag', values: tags },
      resultTypes: ['violations'],
    })
    // the headings inside of what an agent wrote are its own
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
