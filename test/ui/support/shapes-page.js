// Runs inside a webview: finds texts and controls that leave what contains them, overlap, or break inside a word.
// It compares bounding boxes, and knows nothing about the page's elements.
globalThis.parleyShapes ??= {
  CONTROLS:
    'button, a[href], input, textarea, select, img, [role="button"], [role="checkbox"], [role="radio"], [role="tab"]',

  /** One line for each problem: what is wrong, and with which element. */
  problems() {
    this.styles = new Map()
    this.boxes = new Map()
    const texts = this.texts()
    const items = [...texts.flatMap(text => text.lines), ...this.controls()]
    const found = [
      ...items.flatMap(item => this.leaves(item)),
      ...this.overlaps(items),
      ...texts.flatMap(text => this.breaks(text)),
    ]
    return [...new Set(found)]
  },

  styleOf(element) {
    const known = this.styles.get(element)
    if (known) return known
    const style = getComputedStyle(element)
    this.styles.set(element, style)
    return style
  },

  boxOf(element) {
    const known = this.boxes.get(element)
    if (known) return known
    const box = element.getBoundingClientRect()
    this.boxes.set(element, box)
    return box
  },

  isShown(element) {
    return (
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      // formulas and drawings place every glyph
      !element.closest('.visually-hidden, .katex, svg, script, style, [inert]')
    )
  },

  texts() {
    const texts = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement
      if (!node.data.trim() || !this.isShown(element)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      // the spaces at the end of a line hang over its edge
      const isSpace = width => width < 6 && node.data.trim().length > 2
      const lines = [...range.getClientRects()]
        .filter(({ width, height }) => width > 0 && height > 0 && !isSpace(width))
        .map(rect => this.item(element, element, rect, node.data))
      if (lines.length > 0) texts.push({ node, element, lines })
    }
    return texts
  },

  controls() {
    return [...document.querySelectorAll(this.CONTROLS)].flatMap(element => {
      if (!this.isShown(element)) return []
      const name = element.getAttribute('aria-label') ?? element.title ?? ''
      // a link can continue on the next line
      const isInline = this.styleOf(element).display === 'inline'
      return (isInline ? [...element.getClientRects()] : [element.getBoundingClientRect()])
        .filter(({ width, height }) => width > 0 && height > 0)
        .map(rect => this.item(element, element.parentElement, rect, name))
    })
  },

  /** Where an element or its text is seen, what cuts it off, and the boxes that are drawn around it. */
  item(element, container, { left, right, top, bottom }, text) {
    const seen = { left, right, top, bottom }
    const cut = []
    const boxes = []
    let scroller
    let position = container === element ? 'static' : this.styleOf(element).position
    let hasEllipsis = this.endsWithDots(element)
    for (let one = container; one && position !== 'fixed'; one = one.parentElement) {
      const style = this.styleOf(one)
      // not an ancestor of its place
      if (position === 'absolute' && style.position === 'static') continue
      const box = this.boxOf(one)
      hasEllipsis ||= this.endsWithDots(one)
      for (const [axis, start, end, slack] of [
        ['X', 'left', 'right', 1],
        ['Y', 'top', 'bottom', 3],
      ]) {
        const overflow = style[`overflow${axis}`]
        if (overflow === 'visible') continue
        const scrolls = overflow === 'auto' || overflow === 'scroll'
        if (scrolls) scroller ??= one
        const before = { ...seen }
        seen[start] = Math.max(seen[start], box[start])
        seen[end] = Math.min(seen[end], box[end])
        const isGone = seen[start] >= seen[end]
        const isCut = before[start] < box[start] - slack || before[end] > box[end] + slack
        const isEllipsis = hasEllipsis && axis === 'X'
        // what is hidden completely isn't seen as broken
        if (isCut && !scrolls && !isGone && !isEllipsis) cut.push(one)
      }
      const { position: next } = style
      if (this.isDrawn(one) && style.display !== 'inline') boxes.push(box)
      position = next
    }
    return { element, isText: container === element, text, seen, cut, boxes, scroller }
  },

  endsWithDots(element) {
    const { textOverflow, webkitLineClamp } = this.styleOf(element)
    return textOverflow === 'ellipsis' || (webkitLineClamp !== 'none' && webkitLineClamp !== '')
  },

  /** Whether a person sees where the element's box ends. */
  isDrawn(element) {
    const style = this.styleOf(element)
    const sides = ['Top', 'Right', 'Bottom', 'Left']
    return (
      this.alpha(style.backgroundColor) > 0 ||
      sides.every(
        side =>
          Number.parseFloat(style[`border${side}Width`]) > 0 && this.alpha(style[`border${side}Color`]) > 0,
      )
    )
  },

  alpha(color) {
    if (color === 'transparent') return 0
    const [, alpha] = /[,/]\s*([\d.]+)\)$/.exec(/^rgba|\//.test(color) ? color : '') ?? []
    return alpha === undefined ? 1 : Number(alpha)
  },

  isSeen({ seen: { left, right, top, bottom } }) {
    return right - left > 1 && bottom - top > 1
  },

  leaves(item) {
    if (!this.isSeen(item)) return []
    const { seen } = item
    const lines = item.cut.map(one => `cut off by ${this.nameOf(one)}: ${this.describe(item)}`)
    const outside = item.boxes.some(
      box =>
        seen.right > box.right + 1.5 ||
        seen.left < box.left - 1.5 ||
        seen.bottom > box.bottom + 3 ||
        seen.top < box.top - 3,
    )
    if (outside) lines.push(`outside of its box: ${this.describe(item)}`)
    if (seen.right > innerWidth + 1 || seen.left < -1) lines.push(`beyond the page: ${this.describe(item)}`)
    return lines
  },

  overlaps(items) {
    const lines = []
    // a picture may have buttons on it
    const shown = items
      .filter(item => this.isSeen(item) && !item.element.matches('img'))
      .sort((a, b) => a.seen.top - b.seen.top)
    for (const [at, first] of shown.entries())
      for (let next = at + 1; next < shown.length && shown[next].seen.top < first.seen.bottom; next++) {
        const second = shown[next]
        const [a, b] = [first.seen, second.seen]
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left)
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
        const least = Math.min(a.bottom - a.top, b.bottom - b.top)
        if (wide < 2 || high < Math.max(3, least / 3)) continue
        // a text that ends with an ellipsis has several boxes
        if (first.element === second.element && first.text === second.text) continue
        if (this.isWithin(first, second) || this.isWithin(second, first)) continue
        if (this.isLayered(first, second)) continue
        lines.push(`overlap: ${this.describe(first)} / ${this.describe(second)}`)
      }
    return lines
  },

  isWithin(inner, control) {
    return !control.isText && control.element.contains(inner.element)
  },

  /** One of both is on something opaque that floats above the other by design: a menu, or above a list that scrolls. */
  isLayered(first, second) {
    const floatsAbove = (above, below) => {
      const layer = this.layerOf(above.element)
      if (!layer || layer.contains(below.element)) return false
      return (
        layer.matches('.popup, [role="dialog"], [role="menu"], [role="listbox"]') ||
        ['sticky', 'fixed'].includes(this.styleOf(layer).position) ||
        (below.scroller !== undefined && !below.scroller.contains(layer))
      )
    }
    return floatsAbove(first, second) || floatsAbove(second, first)
  },

  layerOf(element) {
    let isOpaque = false
    for (let one = element; one; one = one.parentElement) {
      const style = this.styleOf(one)
      isOpaque ||= this.alpha(style.backgroundColor) > 0.9 || style.backgroundImage !== 'none'
      const floats = style.position !== 'static' && (style.position !== 'relative' || style.zIndex !== 'auto')
      if (floats && isOpaque) return one
    }
    return undefined
  },

  /** Words that start on one line and end on another, although they are short or would fit into one line. */
  breaks({ node, element, lines }) {
    if (lines.length < 2) return []
    const block = this.blockOf(element)
    const { paddingLeft, paddingRight } = this.styleOf(block)
    const room = block.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)
    const broken = []
    for (const { index, 0: token } of node.data.matchAll(/[^\s\p{Script=Han}]+/gu)) {
      if (this.lineCount(node, index, index + token.length) < 2) continue
      for (const { index: from, 0: word } of token.matchAll(/[\p{L}\p{N}]+/gu)) {
        const [start, end] = [index + from, index + from + word.length]
        if (this.lineCount(node, start, end) < 2) continue
        // a part of code in a color of its own
        const whole = this.tokenAround(block, node, index, token)
        const width = (this.widthOf(node, index, index + token.length) * whole.length) / token.length
        if (whole.length <= 16 || width < room - 8)
          broken.push(`breaks inside “${word}”: ${this.nameOf(element)} “${whole.slice(0, 40)}”`)
      }
    }
    return broken
  },

  /** The token with what is next to it in other elements, without a space between them. */
  tokenAround(block, node, index, token) {
    const range = document.createRange()
    range.setStart(block, 0)
    range.setEnd(node, index)
    const [before] = /\S*$/.exec(range.toString())
    range.setStart(node, index + token.length)
    range.setEnd(block, block.childNodes.length)
    const [after] = /^\S*/.exec(range.toString())
    return before + token + after
  },

  blockOf(element) {
    let one = element
    while (this.styleOf(one).display.startsWith('inline') && one.parentElement) one = one.parentElement
    return one
  },

  rects(node, start, end) {
    const range = document.createRange()
    range.setStart(node, start)
    range.setEnd(node, end)
    return [...range.getClientRects()].filter(({ width }) => width > 0)
  },

  lineCount(node, start, end) {
    const tops = this.rects(node, start, end).map(({ top }) => top)
    return tops.length === 0 || Math.max(...tops) - Math.min(...tops) < 4 ? 1 : 2
  },

  widthOf(node, start, end) {
    return this.rects(node, start, end).reduce((sum, { width }) => sum + width, 0)
  },

  describe(item) {
    const text = item.text.trim().replace(/\s+/g, ' ').slice(0, 40)
    return `${this.nameOf(item.element)} “${text}”`
  },

  nameOf(element) {
    const own = one => `${one.tagName.toLowerCase()}${[...one.classList].map(name => `.${name}`).join('')}`
    const parent = element.parentElement
    return parent ? `${own(parent)} > ${own(element)}` : own(element)
  },
}
