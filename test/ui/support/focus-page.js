// Runs inside a webview: reports where the focus is and whether it's visible, and records announcements.
globalThis.parleyFocus ??= {
  heard: [],

  listen() {
    const region = document.querySelector('[role="status"][aria-live]')
    if (!region || this.observer) return
    this.observer = new MutationObserver(() => this.heard.push(region.textContent.trim()))
    this.observer.observe(region, { childList: true, characterData: true, subtree: true })
  },

  /** Undefined if the focus is outside of the page, or on nothing. */
  stop() {
    const element = document.activeElement
    if (!document.hasFocus() || !element || element === document.body) return undefined
    // a mark in transition would not have its color yet
    for (const animation of document.getAnimations())
      if (animation.effect?.getTiming().iterations !== Number.POSITIVE_INFINITY) animation.finish()
    const { left, top, right, bottom } = element.getBoundingClientRect()
    const name = element.getAttribute('aria-label') ?? element.textContent.trim()
    return {
      name: name.replace(/\s+/g, ' ').slice(0, 60),
      class: element.className,
      shown: this.isMarked(element),
      inView:
        right > 0 && bottom > 0 && left < innerWidth && top < innerHeight && right > left && bottom > top,
    }
  },

  /**
   * An outline of 2 pixels, a line in the focus color, or a text field whose container has a border in the focus color.
   */
  isMarked(element) {
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
    const visible = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
    if (visible && !/, 0\)$|transparent/.test(outlineColor)) return true
    const field = element.matches('input, textarea, select, [contenteditable="true"]')
    const probe = document.createElement('i')
    probe.style.color = 'var(--vscode-focusBorder)'
    document.body.append(probe)
    const wanted = getComputedStyle(probe).color
    probe.remove()
    if (getComputedStyle(element, '::after').backgroundColor === wanted) return true
    for (let one = element, up = 0; field && one && up < 6; one = one.parentElement, up++)
      if (getComputedStyle(one).borderBottomColor === wanted) return true
    return false
  },
}
