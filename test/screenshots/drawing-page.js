// Runs inside a page: lists what it shows, for a drawing of it. Colors and places are those of the page; it knows nothing
// about the page's elements, except how icons are drawn.
globalThis.parleyDrawing ??= {
  /**
   * Boxes, icons and lines of text, from the back to the front, in CSS pixels. `selector`: the part to draw, and what may
   * float above it.
   */
  draw(selector) {
    this.found = []
    const parts = [...document.querySelectorAll(selector)]
    const { left, top, width, height } = parts[0].getBoundingClientRect()
    const clip = { left, top, right: left + width, bottom: top + height }
    for (const part of parts) this.visit(part, clip, 1)
    const shapes = this.found.map(shape => ({ ...shape, x: shape.x - left, y: shape.y - top }))
    return { width: Math.round(width), height: Math.round(height), shapes }
  },

  visit(element, clip, opacity) {
    const style = getComputedStyle(element)
    if (style.display === 'none' || element.matches('.visually-hidden, [inert]')) return
    const box = element.getBoundingClientRect()
    const shade = opacity * Number(style.opacity)
    if (shade === 0) return
    const isShown = style.visibility === 'visible'
    if (isShown) this.box(style, box, clip, shade)
    const inner = style.overflow === 'visible' ? clip : this.within(clip, box)
    if (isShown) this.icon(element, style, box, inner, shade)
    if (isShown && element.matches('input')) this.field(element, style, box, inner, shade)
    for (const node of element.childNodes) {
      if (node.nodeType === Node.ELEMENT_NODE) this.visit(node, inner, shade)
      else if (node.nodeType === Node.TEXT_NODE && isShown) this.text(node, style, inner, shade)
    }
  },

  within(clip, box) {
    return {
      left: Math.max(clip.left, box.left),
      top: Math.max(clip.top, box.top),
      right: Math.min(clip.right, box.right),
      bottom: Math.min(clip.bottom, box.bottom),
    }
  },

  add(kind, { left, top, right, bottom }, opacity, more) {
    this.found.push({ kind, x: left, y: top, width: right - left, height: bottom - top, opacity, ...more })
  },

  /** What is seen of a box whose edges may be cut off. */
  box(style, box, clip, opacity) {
    const seen = this.within(clip, box)
    if (seen.right - seen.left < 1 || seen.bottom - seen.top < 1) return
    const radius = Number.parseFloat(style.borderTopLeftRadius) || 0
    // cut out by an icon
    const fill = style.maskImage === 'none' ? this.hex(style.backgroundColor) : undefined
    const sides = ['Top', 'Right', 'Bottom', 'Left'].map(side => ({
      width: style[`border${side}Style`] === 'none' ? 0 : Number.parseFloat(style[`border${side}Width`]),
      color: this.hex(style[`border${side}Color`]),
    }))
    const drawn = sides.map(({ width, color }) => width > 0 && color)
    const stroke = drawn.every(Boolean) ? sides[0].color : undefined
    if (fill || stroke) this.add('box', seen, opacity, { fill, stroke, radius })
    if (stroke) return
    const { left, top, right, bottom } = box
    const edges = [
      { left, top, right, bottom: top + sides[0].width },
      { left: right - sides[1].width, top, right, bottom },
      { left, top: bottom - sides[2].width, right, bottom },
      { left, top, right: left + sides[3].width, bottom },
    ]
    for (const [at, edge] of edges.entries()) {
      const part = this.within(clip, edge)
      if (drawn[at] && part.right > part.left && part.bottom > part.top)
        this.add('box', part, opacity, { fill: sides[at].color, radius: 0 })
    }
  },

  icon(element, style, box, clip, opacity) {
    const center = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 }
    if (center.x < clip.left || center.x > clip.right || center.y < clip.top || center.y > clip.bottom) return
    const size = Number.parseFloat(style.fontSize)
    const square = {
      left: center.x - size / 2,
      top: center.y - size / 2,
      right: center.x + size / 2,
      bottom: center.y + size / 2,
    }
    const mask = /^url\("data:image\/svg\+xml([^,]*),(.*)"\)$/s.exec(style.maskImage)
    if (mask) {
      const [, encoding, data] = mask
      const svg = encoding.includes('base64') ? atob(data) : decodeURIComponent(data)
      this.add('svg', box, opacity, { svg, fill: this.hex(style.backgroundColor) })
      return
    }
    const before = getComputedStyle(element, '::before')
    const name = [...element.classList].find(one => /^codicon-(?!modifier)/.test(one))
    if (name && before.content !== 'none')
      this.add('icon', square, opacity, { icon: name.slice('codicon-'.length), fill: this.hex(before.color) })
  },

  /** The words of each line together, which an ellipsis may end. */
  text(node, style, clip, opacity) {
    const lines = []
    for (const { index, 0: word } of node.data.matchAll(/\S+/g))
      for (const part of this.partsOf(node, index, word)) {
        const line = lines.at(-1)
        if (line && Math.abs(line.top - part.top) < 4) {
          line.text += node.data.slice(line.end, part.start).replace(/\s+/g, ' ') + part.text
          line.end = part.end
          line.right = part.right
        } else lines.push(part)
      }
    for (const { text, ...box } of lines) {
      this.line(text, box, style, clip, opacity)
    }
  },

  /** The parts of a word on each line: a long one can continue on the next line. */
  partsOf(node, index, word) {
    const range = document.createRange()
    const parts = []
    const add = (start, end) => {
      range.setStart(node, start)
      range.setEnd(node, end)
      const { left, top, right, bottom } = range.getBoundingClientRect()
      const last = parts.at(-1)
      if (last && Math.abs(last.top - top) < 4) {
        last.text += node.data.slice(start, end)
        Object.assign(last, { right, end })
      } else if (right > left)
        parts.push({ text: node.data.slice(start, end), left, top, right, bottom, start, end })
    }
    range.setStart(node, index)
    range.setEnd(node, index + word.length)
    if (range.getClientRects().length < 2) add(index, index + word.length)
    else for (let at = index; at < index + word.length; at++) add(at, at + 1)
    return parts
  },

  /** What is entered in a field, or its placeholder. */
  field(input, style, box, clip, opacity) {
    const isEmpty = input.value === ''
    const text = isEmpty ? input.placeholder : input.value
    if (!text) return
    const middle = (box.top + box.bottom) / 2
    const size = Number.parseFloat(style.fontSize)
    const left = box.left + Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.borderLeftWidth)
    const place = {
      left,
      top: middle - size * 0.6,
      right: left + (text.length * size) / 2,
      bottom: middle + size * 0.6,
    }
    this.line(text, place, isEmpty ? getComputedStyle(input, '::placeholder') : style, clip, opacity)
  },

  line(text, box, style, clip, opacity) {
    const middle = (box.top + box.bottom) / 2
    if (middle < clip.top || middle > clip.bottom || box.left > clip.right - 4 || box.right < clip.left)
      return
    const width = box.right - box.left
    const room = clip.right - box.left
    const isCut = width > room + 1
    const shown = isCut
      ? `${text.slice(0, Math.max(0, Math.floor((text.length * room) / width) - 1))}…`
      : text
    this.add('text', { ...box, right: isCut ? clip.right : box.right }, opacity, {
      text: shown,
      fill: this.hex(style.color),
      size: Number.parseFloat(style.fontSize),
      isBold: Number(style.fontWeight) > 500,
      isCode: /mono|menlo|consolas|courier/i.test(style.fontFamily),
    })
  },

  /** `#rrggbb`, with its opacity if it's transparent; undefined if it can't be seen. */
  hex(color) {
    this.colors ??= new Map()
    if (!this.colors.has(color)) {
      const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
      const context = canvas.getContext('2d')
      context.fillStyle = color
      context.fillRect(0, 0, 1, 1)
      const bytes = [...context.getImageData(0, 0, 1, 1).data]
      const used = bytes[3] === 255 ? bytes.slice(0, 3) : bytes
      const text = `#${used.map(byte => byte.toString(16).padStart(2, '0')).join('')}`
      this.colors.set(color, bytes[3] === 0 ? undefined : text)
    }
    return this.colors.get(color)
  },
}
