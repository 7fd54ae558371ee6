/**
 * Makes the children of `target` those of `source`, keeping every node that is already right, so that a selection, a
 * scroll position and the focus inside survive. Nodes of `source` are moved or dropped.
 */
export function morphChildren(target: Node, source: Node): void {
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

/** Changes `node` into `to` in place; false when they are of different kinds. */
function morphNode(node: Node, to: Node): boolean {
  if (node.nodeType !== to.nodeType || node.nodeName !== to.nodeName) return false
  if (node instanceof Text) {
    setText(node, to.nodeValue ?? '')
    return true
  }
  if (node instanceof Element && to instanceof Element) {
    // what was drawn into it is not in `to`: it stays, or all of it goes
    if (node.hasAttribute('data-rich') || to.hasAttribute('data-rich')) return sameRich(node, to)
    morphAttributes(node, to)
    morphChildren(node, to)
  }
  return true
}

function sameRich(node: Element, to: Element): boolean {
  return ['data-rich', 'data-source'].every(name => node.getAttribute(name) === to.getAttribute(name))
}

/** Appends instead of replacing where it can: a selection in the text then stays. */
function setText(node: Text, text: string): void {
  const now = node.data
  if (now === text) return
  if (text.startsWith(now)) node.appendData(text.slice(now.length))
  else node.data = text
}

function morphAttributes(node: Element, to: Element): void {
  for (const { name } of [...node.attributes]) {
    // what the person opened stays open
    if (!to.hasAttribute(name) && !(name === 'open' && node.tagName === 'DETAILS')) node.removeAttribute(name)
  }
  for (const { name, value } of to.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value)
  }
}
