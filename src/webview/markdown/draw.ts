import { whenIdle } from '../host/when-idle.ts'
import { enrich } from '../rich/rich.ts'
import { highlight } from '../tools/highlight.ts'
import type { MarkdownBlock } from './blocks.ts'
import { PIECE_LENGTH } from './code.ts'
import type { MarkdownDocument } from './document.ts'
import { growLine } from './plain.ts'

/** A longer growing code block isn't highlighted at every step: new text is added plain until the block closes. Characters. */
const MAX_HIGHLIGHTED_WHILE_OPEN = 6000

/** Whether a fence's source ends with its closing line. The last block of a text is never `closed`, even then. */
function hasEnded(source: string): boolean {
  return /\n {0,3}(?:`{3,}|~{3,})\s*$/.test(source.slice(-100))
}

/** the block and version that each element shows */
const drawn = new WeakMap<Element, Drawn>()

interface Drawn {
  document: MarkdownDocument
  part: number
  version: number
  /** characters of the block's source */
  length: number
}

/** Renders a block into its element, unless the element already shows it. */
export function drawBlock(element: HTMLElement, document: MarkdownDocument, part: number): void {
  const block = document.blocks[part]
  if (!block) return
  const before = drawn.get(element)
  const same = before?.document === document && before.part === part
  if (same && before.version === block.version) return
  const start = performance.now()
  drawn.set(element, { document, part, version: block.version, length: block.source.length })
  if (!(same && grow(element, block, before))) {
    const html = document.html(part)
    if (same) {
      const template = element.ownerDocument.createElement('template')
      template.innerHTML = html
      morphChildren(element, template.content)
    } else element.innerHTML = html
    if (html.includes('data-rich')) enrich(element)
    if (html.includes('code-piece') && (block.closed || hasEnded(block.source))) colorLater(element)
  }
  if (!block.closed) document.spent(performance.now() - start)
}

/** Appends only the new text of an open block; returns false if it must be rendered as a whole. */
function grow(element: HTMLElement, block: MarkdownBlock, before: Drawn): boolean {
  if (block.closed) return false
  if (block.type === 'fence') return !hasEnded(block.source) && growCode(element, block.source)
  if (before.version < block.settled) return false
  return growLine(element, block.source.slice(0, before.length), block.source.slice(before.length))
}

/** by growing code element: the number of characters it shows */
const shownLength = new WeakMap<Element, number>()

/** Appends the new text of a long open fence; returns false if it must be rendered as a whole. */
function growCode(element: HTMLElement, source: string): boolean {
  if (source.length < MAX_HIGHLIGHTED_WHILE_OPEN || !/^(?:[ \t]*\n)*(?:```|~~~)/.test(source)) return false
  const code = element.querySelector('code')
  if (!code) return false
  const start = source.indexOf('\n', source.search(/\S/)) + 1
  const shown = shownLength.get(code) ?? code.textContent?.length ?? 0
  shownLength.set(code, Math.max(shown, source.length - start))
  appendCode(code, source.slice(start + shown))
  return true
}

/** Fills the last piece up to the end of a line, then starts another one; each piece is a block element. */
function appendCode(code: Element, text: string): void {
  let rest = text
  while (rest !== '') {
    const last = code.lastChild
    const piece = last instanceof HTMLElement && last.className === 'code-piece' ? last : undefined
    const room = piece ? Math.max(0, PIECE_LENGTH - (piece.textContent?.length ?? 0)) : 0
    const end = rest.indexOf('\n', room) + 1
    const take = end > 0 ? rest.slice(0, end) : rest
    const target = piece ?? code
    if (target.lastChild instanceof Text) target.lastChild.appendData(take)
    else target.append(take)
    rest = rest.slice(take.length)
    if (rest === '') return
    const next = code.ownerDocument.createElement('span')
    next.className = 'code-piece'
    code.append(next)
  }
}

/**
 * Highlights long code in pieces while the browser is idle, since doing it all at once would block the view. Each piece is highlighted
 * separately, so a long comment across two pieces may lose its color in the second.
 */
function colorLater(element: HTMLElement): void {
  const pieces = [...element.querySelectorAll<HTMLElement>('.code-block[data-language] .code-piece')]
  if (pieces.length === 0) return
  const next = () => {
    const piece = pieces.shift()
    // the block was redrawn meanwhile, or left the page
    if (!piece?.isConnected) return
    if (isSelected(piece)) pieces.push(piece)
    else {
      const language = piece.closest<HTMLElement>('.code-block')?.dataset.language ?? ''
      const html = highlight(piece.textContent ?? '', language)
      // the grammar is still loading; the block is rendered again once it has loaded
      if (html === undefined) return
      piece.innerHTML = html
    }
    whenIdle(next, isSelected(pieces[0]) ? 1000 : 0)
  }
  whenIdle(next, 0)
}

/** Whether the user's selection touches the piece: selected text isn't changed. */
function isSelected(piece: HTMLElement | undefined): boolean {
  const selection = getSelection()
  if (!piece || !selection?.rangeCount || selection.isCollapsed) return false
  return selection.getRangeAt(0).intersectsNode(piece)
}

/**
 * Changes the children of `target` to those of `source`, reusing every unchanged node, so that a selection, scroll position or focus inside
 * is preserved. Nodes of `source` are moved or dropped.
 */
function morphChildren(target: Node, source: Node): void {
  let old = target.firstChild
  let next = source.firstChild
  while (next) {
    const after = next.nextSibling
    if (!old) {
      target.appendChild(next)
    } else {
      const following = old.nextSibling
      if (!morphNode(old, next)) target.replaceChild(next, old)
      old = following
    }
    next = after
  }
  while (old) {
    const following = old.nextSibling
    target.removeChild(old)
    old = following
  }
}

/** Changes `node` to `to` in place; returns false if they are of different kinds. */
function morphNode(node: Node, to: Node): boolean {
  if (node.nodeType !== to.nodeType || node.nodeName !== to.nodeName) return false
  if (node instanceof Text) {
    setText(node, to.nodeValue ?? '')
    return true
  }
  if (node instanceof Element && to instanceof Element) {
    // rendered content isn't in `to`: keep all of it or none
    if (node.hasAttribute('data-rich') || to.hasAttribute('data-rich')) return sameRich(node, to)
    morphAttributes(node, to)
    morphChildren(node, to)
  }
  return true
}

function sameRich(node: Element, to: Element): boolean {
  return ['data-rich', 'data-source'].every(name => node.getAttribute(name) === to.getAttribute(name))
}

/** Changes the text, by appending if possible, which preserves a selection in the text. */
function setText(node: Text, text: string): void {
  const now = node.data
  if (now === text) return
  if (text.startsWith(now)) node.appendData(text.slice(now.length))
  else node.data = text
}

function morphAttributes(node: Element, to: Element): void {
  for (const { name } of [...node.attributes]) {
    // elements that the user expanded stay expanded
    if (!to.hasAttribute(name) && !(name === 'open' && node.tagName === 'DETAILS')) node.removeAttribute(name)
  }
  for (const { name, value } of to.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value)
  }
}
