import { matchesIn } from '../../../common/find-pattern.ts'

/** What stands in the page but is no part of the conversation's text. */
const aside =
  '.visually-hidden, .row-actions, .subagent-name, .code-actions, .line-end, .permission-options, .key, .katex-mathml, svg, style'
const blocks = new Set(
  'ADDRESS BLOCKQUOTE BR BUTTON DD DEL DETAILS DIV DL DT FIGURE H1 H2 H3 H4 H5 H6 HR INS LI OL P PRE SUMMARY TABLE TD TH TR UL'.split(
    ' ',
  ),
)

interface Piece {
  node: Text
  /** where its text begins in the whole */
  start: number
}

/** The text of a part of the page as one reads it: elements that stand apart are apart in it. */
function textOf(root: Element): { text: string; pieces: Piece[] } {
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

/** Where the pattern matches in a part of the page, in order; at most `most`. Nothing in the page is changed. */
export function rangesIn(root: Element, pattern: RegExp, most: number): Range[] {
  const { text, pieces } = textOf(root)
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
