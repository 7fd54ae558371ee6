import { matchesIn } from '../../../common/find-pattern.ts'

/** Maximum number of highlighted matches; a screen shows fewer. */
const MAX_HIGHLIGHTS = 2000
/** Maximum share of time that is spent on updating highlights. */
const TIME_SHARE = 1 / 8

const ALL = 'parley-find'
const CURRENT = 'parley-find-current'

/** Whether the browser can highlight text without changing the page. */
const supported = typeof Highlight === 'function' && typeof CSS === 'object' && 'highlights' in CSS

/** The current match, in a form that can be found again after its row was redrawn. */
export interface CurrentMatch {
  range: Range
  /** the row's element now; `undefined` while the row is not in the page */
  row: () => Element | undefined
  /** index among the row's matches, from 0 */
  occurrence: number
  /** number of the row's matches in the page, if only a part of the row is in the page */
  among?: number
}

/**
 * Highlights the matches in the rows that are in the page, and updates them when rows are added, removed or changed. The
 * cost of a change is limited to its row.
 */
export class Highlights {
  readonly #rows = new Map<Element, Range[]>()
  readonly #dirty = new Set<Element>()
  #list: Element | undefined
  #observer: MutationObserver | undefined
  #pattern: RegExp | undefined
  #frame: number | undefined
  #notBefore = 0
  #current: CurrentMatch | undefined

  /** Starts to highlight in this list, or continues with another pattern. */
  show(list: Element, pattern: RegExp): void {
    this.#pattern = pattern
    this.#rows.clear()
    if (this.#list !== list) {
      this.#observer?.disconnect()
      this.#list = list
      this.#observer = new MutationObserver(records => this.#noteMutations(records))
      this.#observer.observe(list, { childList: true, characterData: true, subtree: true })
    }
    this.update()
  }

  clear(): void {
    this.#observer?.disconnect()
    this.#list = undefined
    this.#pattern = undefined
    this.#current = undefined
    this.#rows.clear()
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#frame = undefined
    if (supported) for (const name of [ALL, CURRENT]) CSS.highlights.delete(name)
  }

  /** Ends highlighting, but the current match stays marked until the user clicks in the conversation. */
  leave(): void {
    const list = this.#list
    const range = this.#current?.range
    this.clear()
    if (!range || !list) return
    markCurrent(range)
    list.addEventListener('pointerdown', () => this.#pattern ?? markCurrent(undefined), { once: true })
  }

  /** Returns the matches in a row, in order. */
  of(row: Element): Range[] {
    return this.#pattern ? rangesIn(row, this.#pattern, MAX_HIGHLIGHTS) : []
  }

  /** Highlights this match as the current one, also after its row was redrawn or added to the page again. */
  setCurrent(current: CurrentMatch | undefined): void {
    this.#current = current
    markCurrent(current?.range)
  }

  /** Highlights the matches that are in the page now. */
  update(): void {
    this.#frame = undefined
    const pattern = this.#pattern
    if (!this.#list || !pattern) return
    const start = performance.now()
    const rows = new Set(this.#list.querySelectorAll('.row'))
    let changed = false
    for (const row of this.#rows.keys()) if (!rows.has(row)) changed = this.#rows.delete(row) || changed
    for (const row of rows) {
      if (this.#rows.has(row) && !this.#dirty.has(row)) continue
      this.#rows.set(row, rangesIn(row, pattern, MAX_HIGHLIGHTS))
      changed = true
    }
    this.#dirty.clear()
    this.#findCurrent()
    if (changed && supported) {
      const all = new Highlight()
      for (const ranges of this.#rows.values())
        for (const range of ranges) if (all.size < MAX_HIGHLIGHTS) all.add(range)
      CSS.highlights.set(ALL, all)
    }
    const end = performance.now()
    this.#notBefore = end + (end - start) / TIME_SHARE
  }

  /** Finds the current match again, since its nodes are replaced when code is highlighted or a row is added again. */
  #findCurrent(): void {
    const current = this.#current
    const row = current?.row()
    const ranges = row && this.#rows.get(row)
    if (!current || !row || !ranges || isIn(row, current.range)) return
    if (current.among !== undefined && current.among !== ranges.length) return
    const range = ranges[Math.min(current.occurrence, ranges.length - 1)]
    if (!range) return
    current.range = range
    markCurrent(range)
  }

  #noteMutations(records: readonly MutationRecord[]): void {
    for (const { target } of records) {
      const row = (target instanceof Element ? target : target.parentElement)?.closest('.row')
      if (row) this.#dirty.add(row)
    }
    if (this.#frame !== undefined) return
    const next = () => {
      if (performance.now() < this.#notBefore) this.#frame = requestAnimationFrame(next)
      else this.update()
    }
    this.#frame = requestAnimationFrame(next)
  }
}

/** Whether a range is still in a row. A range becomes empty when its text is removed from the page. */
function isIn(row: Element, range: Range): boolean {
  return !range.collapsed && row.contains(range.startContainer) && row.contains(range.endContainer)
}

function markCurrent(range: Range | undefined): void {
  if (!supported) return
  if (!range) {
    CSS.highlights.delete(CURRENT)
    return
  }
  const highlight = new Highlight(range)
  highlight.priority = 1
  CSS.highlights.set(CURRENT, highlight)
}

/** Text of the page that isn't part of the conversation. */
const aside =
  '.visually-hidden, .row-actions, .subagent-name, .code-actions, .line-end, .permission-options, .key, .katex-mathml, svg, style'
const blocks = new Set(
  'ADDRESS BLOCKQUOTE BR BUTTON DD DEL DETAILS DIV DL DT FIGURE H1 H2 H3 H4 H5 H6 HR INS LI OL P PRE SUMMARY TABLE TD TH TR UL'.split(
    ' ',
  ),
)

interface Piece {
  node: Text
  /** offset of the node's text in the whole text */
  start: number
}

/** Returns the visible text of a part of the page, with separators between separate elements. */
function collectText(root: Element): { text: string; pieces: Piece[] } {
  const pieces: Piece[] = []
  let text = ''
  let apart = false
  const visit = (node: Node): void => {
    if (node instanceof Text) {
      if (node.data === '') return
      if (apart && text !== '') text += '\n'
      apart = false
      pieces.push({ node, start: text.length })
      text += node.data
    } else if (node instanceof Element) {
      if (node.matches(aside)) return
      const block = blocks.has(node.tagName)
      apart ||= block
      for (let child = node.firstChild; child; child = child.nextSibling) visit(child)
      apart ||= block
    }
  }
  visit(root)
  return { text, pieces }
}

/** Returns the matches of the pattern in a part of the page, in order, at most `most`. Doesn't change the page. */
function rangesIn(root: Element, pattern: RegExp, most: number): Range[] {
  const { text, pieces } = collectText(root)
  const ranges: Range[] = []
  let from = 0
  for (const [start, end] of matchesIn(pattern, text, most)) {
    while (from + 1 < pieces.length && pieces[from + 1]!.start <= start) from++
    let to = from
    while (to + 1 < pieces.length && pieces[to + 1]!.start < end) to++
    const first = pieces[from]
    const last = pieces[to]
    if (!first || !last) continue
    const range = root.ownerDocument.createRange()
    range.setStart(first.node, Math.min(start - first.start, first.node.length))
    range.setEnd(last.node, Math.min(end - last.start, last.node.length))
    ranges.push(range)
  }
  return ranges
}
