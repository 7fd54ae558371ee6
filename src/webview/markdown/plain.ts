/**
 * Most of an agent's text continues a line of prose. Such text doesn't affect the text before it, so it's appended without parsing. All
 * other text is parsed.
 */

/** Characters without a meaning in Markdown inside of a line. */
const plain = /^[\p{L}\p{M}\p{N} ,.;:'"()!?%=+-]*$/u

/** A line whose kind is settled, because a letter follows the markup of lists, quotes, headings, cells and tasks. */
const begun =
  /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*(?:#{1,6}[ \t]+)?(?:\[[ xX]\][ \t]+)?(?:\|[ \t]*)?\p{L}/u

/** The last word and the spaces after it, if it's only a word and not part of a link or other markup. */
const lastWord = /(?:^|\s)([\p{L}\p{M}\p{N},;'"()!?%-]+[.:]?)( *)$/u
/** Maximum length of the last word. Characters. */
const MAX_WORD = 80

const fileEnd = /\.\p{L}|:\d|\d\)/u

/** Whether `added`, appended to an open block, only extends its last line. */
export function continuesText(source: string, added: string): boolean {
  if (!plain.test(added)) return false
  const line = source.slice(source.lastIndexOf('\n') + 1)
  // a file's name may become a link, with an extension or a line
  if (fileEnd.test(line.slice(-1) + added)) return false
  return begun.test(line) && lastWord.test(line.slice(-MAX_WORD))
}

/**
 * Appends text to `element`, which shows the text up to `shown`; only if {@link continuesText} allows it. Returns false
 * if the page isn't as expected, so that the text must be rendered as a whole.
 */
export function growLine(element: Element, shown: string, added: string): boolean {
  const [, word, spaces] = lastWord.exec(shown.slice(-MAX_WORD)) ?? []
  if (word === undefined || spaces === undefined) return false
  const text = lastText(element)
  if (!text?.data.endsWith(word) || text.parentElement?.closest('a, code, pre, button')) return false
  // spaces at the end of a line aren't shown until something follows them
  const more = added.trimEnd()
  if (more !== '') text.appendData(spaces + more)
  return true
}

/** The last visible text node. */
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
