/** Matches characters of markup; a text without them has no markup. */
const markup = /[*_`~\\[\]<>#&|!+]|^\s*[-=]|^\s*\d+[.)]\s/m
const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/
const tableRule = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/
const setextRule = /^ {0,3}(=+|-+)\s*$/
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' }

/**
 * The visible text of Markdown, precise enough for searching: without the markup of emphasis, headings, lists, links and tables; code is
 * unchanged. Takes linear time. Not a full parser, so unusually nested markup may remain.
 */
export function markdownText(source: string): string {
  if (!markup.test(source)) return source
  const out: string[] = []
  let open: string | undefined
  for (const line of source.split('\n')) {
    const mark = fence.exec(line)
    if (open !== undefined) {
      const ends = mark && mark[1]![0] === open[0] && mark[1]!.length >= open.length && mark[2]!.trim() === ''
      if (ends) open = undefined
      else out.push(line)
    } else if (mark && !(mark[1]![0] === '`' && mark[2]!.includes('`'))) open = mark[1]!
    else if (/^( {4}|\t)/.test(line)) out.push(line.replace(/^( {4}|\t)/, ''))
    else if (!(line.includes('-') || line.includes('=')) || !(tableRule.test(line) || setextRule.test(line)))
      out.push(inline(lineText(line)))
  }
  return out.join('\n')
}

/** A line without the markup of a heading, quotation, list item or table row. */
function lineText(line: string): string {
  if (!/^\s*[>*+\-#|\d]/.test(line)) return line
  const text = line
    .replace(/^\s*(?:>\s?)+/, '')
    .replace(/^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/, '')
    .replace(/^ {0,3}#{1,6}\s+(.*?)\s*#*$/, '$1')
  return /^\s*\|.*\|\s*$/.test(text)
    ? text.replace(/^\s*\|\s*|\s*\|\s*$/g, '').replace(/\s*\|\s*/g, '\n')
    : text
}

const special = /[*_`~\\![<&]/g
const linkHere = /!?\[([^[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\)/y
const addressHere = /<((?:https?|mailto|file):[^<>\s]*)>/y
const entityHere = /&(amp|lt|gt|quot|nbsp);/y
const wordCharacter = /[\p{L}\p{N}]/u

/** A line without inline markup. Code spans are unchanged. */
function inline(text: string): string {
  special.lastIndex = 0
  if (!special.test(text)) return text
  let out = ''
  let at = 0
  /** lengths of backtick runs that are known not to be closed */
  const unclosed = new Set<number>()
  while (at < text.length) {
    special.lastIndex = at
    const next = special.exec(text)?.index ?? text.length
    out += text.slice(at, next)
    at = next
    if (at === text.length) break
    const character = text[at]!
    if (character === '\\') {
      const escaped = /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')
      out += escaped ? text[at + 1] : character
      at += escaped ? 2 : 1
    } else if (character === '`') {
      const length = runAt(text, at)
      const end = unclosed.has(length) ? -1 : closingTicks(text, at + length, length)
      if (end < 0) unclosed.add(length)
      out += text.slice(end < 0 ? at : at + length, end < 0 ? at + length : end)
      at = end < 0 ? at + length : end + length
    } else if (character === '*' || character === '_' || character === '~') {
      const length = runAt(text, at)
      if (!isMark(text, at, length)) out += text.slice(at, at + length)
      at += length
    } else {
      const [whole, seen] = constructAt(text, at)
      out += seen
      at += whole
    }
  }
  return out
}

function runAt(text: string, at: number): number {
  let end = at + 1
  while (text[end] === text[at]) end++
  return end - at
}

/** The position of the next run of exactly `length` backticks. */
function closingTicks(text: string, from: number, length: number): number {
  for (let at = text.indexOf('`', from); at >= 0; ) {
    const run = runAt(text, at)
    if (run === length) return at
    at = text.indexOf('`', at + run)
  }
  return -1
}

/** Whether the run is next to a word, so that it may begin or end emphasis. */
function isMark(text: string, at: number, length: number): boolean {
  const before = text[at - 1] ?? ' '
  const after = text[at + length] ?? ' '
  if (text[at] === '~') return length === 2
  if (/\s/.test(before) && /\s/.test(after)) return false
  return text[at] === '*' || !(wordCharacter.test(before) && wordCharacter.test(after))
}

/** The length and the visible text of a link, image, URL or entity that starts at this position. */
function constructAt(text: string, at: number): [length: number, seen: string] {
  const pattern = text[at] === '<' ? addressHere : text[at] === '&' ? entityHere : linkHere
  pattern.lastIndex = at
  const found = pattern.exec(text)
  if (!found) return [1, text[at]!]
  const [whole, inner = ''] = found
  if (whole[0] === '!') return [whole.length, '']
  if (whole[0] === '&') return [whole.length, entities[inner]!]
  return [whole.length, whole[0] === '[' ? inline(inner) : inner]
}
