// Runs inside a webview: lists what doesn't fit into it.
globalThis.parleyLayout ??= {
  /** One line for each element beyond the page's edge, or with cut text that can't be read otherwise. */
  problems() {
    const lines = []
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) lines.push(`the page scrolls sideways: ${scrollWidth} of ${clientWidth}`)
    for (const element of document.querySelectorAll('.popup'))
      if (element.scrollHeight > element.clientHeight + 1)
        lines.push(`cut off below: ${this.nameOf(element)}`)
    for (const element of document.querySelectorAll('#root *, .popup *')) {
      const { left, right, top, bottom, width, height } = element.getBoundingClientRect()
      if (width === 0 || height === 0 || element.closest('.visually-hidden')) continue
      if ((right > innerWidth + 1 || left < -1) && !this.isClipped(element))
        lines.push(`over the edge (${Math.round(left)} to ${Math.round(right)}): ${this.nameOf(element)}`)
      if ((bottom > innerHeight + 1 || top < -1) && !this.isClipped(element))
        lines.push(
          `over the edge (${Math.round(top)} to ${Math.round(bottom)} down): ${this.nameOf(element)}`,
        )
      if (this.isCutOff(element)) lines.push(`cut off: ${this.nameOf(element)}`)
    }
    return lines
  },

  /** Inside of an element that scrolls or hides what is too wide. */
  isClipped(element) {
    for (let one = element.parentElement; one && one.id !== 'root'; one = one.parentElement)
      if (getComputedStyle(one).overflowX !== 'visible') return true
    return false
  },

  /** A button whose text doesn't fit and isn't in its title. */
  isCutOff(element) {
    if (!element.matches('button, button *') || element.childElementCount > 0) return false
    if (element.scrollWidth <= element.clientWidth + 1 || getComputedStyle(element).overflowX === 'visible')
      return false
    return !element.closest('[title]')
  },

  nameOf(element) {
    return `${element.tagName.toLowerCase()}.${element.className} ${element.textContent.trim().slice(0, 60)}`
  },

  /** Running animations and transitions that move something. */
  moving() {
    return document
      .getAnimations()
      .filter(one => one.playState === 'running' && one.timeline instanceof DocumentTimeline)
      .map(one => this.nameOf(one.effect.target))
  },
}
