/**
 * Most of what an agent writes continues a line of prose. Such text changes nothing before it, so it is appended without
 * parsing. Everything else is parsed.
 */

/** Characters that mean nothing to markdown inside of a line. */
const plain = /^[\p{L}\p{M}\p{N} ,.;:'"()!?%=+-]*$/u

/** A line whose kind is settled: after marks of lists, quotes, headings, cells and tasks comes a letter. */
const begun =
  /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*(?:#{1,6}[ \t]+)?(?:\[[ xX]\][ \t]+)?(?:\|[ \t]*)?\p{L}/u

/** The last word, with the spaces after it: one that is a word and nothing else, no part of a link or of a mark. */
const lastWord = /(?:^|\s)([\p{L}\p{M}\p{N},;'"()!?%-]+[.:]?)( *)$/u
/** A longer word than this is not looked for. */
const longestWord = 80

const extension = /\.\p{L}/u

/** Whether `added`, appended to a block that nothing has closed, only makes its last line longer. */
export function continuesText(source: string, added: string): boolean {
  if (!plain.test(added)) return false
  const line = source.slice(source.lastIndexOf('\n') + 1)
  // the name of a file may become a link
  if (extension.test(line.slice(-1) + added)) return false
  return begun.test(line) && lastWord.test(line.slice(-longestWord))
}

/**
 * Shows what was appended to a text that `element` shows, as far as `shown`; only for what {@link continuesText} allows. False
 * when the page is not as it should be, and the text has to be drawn as a whole.
 */
export function growLine(element: Element, shown: string, added: string): boolean {
  const [, word, spaces] = lastWord.exec(shown.slice(-longestWord)) ?? []
  if (word === undefined || spaces === undefined) return false
  const text = lastText(element)
  if (!text?.data.endsWith(word) || text.parentElement?.closest('a, code, pre, button')) return false
  // spaces at the end of a line are not shown until something follows them
  const more = added.trimEnd()
  if (more !== '') text.appendData(spaces + more)
  return true
}

/** The last text that is seen. */
function lastText(node: Node): CharacterData | undefined {
  for (let child = node.lastChild; child; child = child.previousSibling) {
    if (child.nodeType === child.TEXT_NODE) {
      if (child.nodeValue?.trim() !== '') return child as CharacterData
    } else {
      const text = lastText(child)
      if (text) return text
    }
  }
  return undefined
}
