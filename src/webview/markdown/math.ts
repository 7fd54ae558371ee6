import type MarkdownIt from 'markdown-it'
import { packSource } from '../rich/rich-source.ts'

type Markdown = InstanceType<typeof MarkdownIt>

/** Longer formulas are shown as source. Characters. */
export const MAX_FORMULA = 8000
const MAX_INLINE_FORMULA = 1000

/**
 * Formulas in markdown: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` set apart, as a block of lines or within a line.
 * They are rendered later (see `rich/`); until then, their source is shown.
 *
 * A line that starts a block formula always starts a new block, either the formula or, if there is no end before a blank
 * line, a paragraph, so that the text before it is final.
 */
export function math(markdown: Markdown): void {
  markdown.inline.ruler.before('escape', 'math', inlineMath)
  markdown.block.ruler.before('fence', 'math', blockMath, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  })
  const { escapeHtml } = markdown.utils
  markdown.renderer.rules.math_inline = (tokens, index) => {
    const { content, markup, meta } = tokens[index]!
    return mathHtml(content, `${markup}${content}${closing[markup]}`, Boolean(meta?.display), escapeHtml)
  }
  markdown.renderer.rules.math_block = (tokens, index) => {
    const { content, markup } = tokens[index]!
    return `${mathHtml(content, `${markup}\n${content}\n${closing[markup]}`, true, escapeHtml)}\n`
  }
}

/** Returns the HTML of a formula to be rendered later: a `div` as a block, a `span` within a paragraph. */
export function mathHtml(
  formula: string,
  source: string,
  display: boolean,
  escapeHtml: (text: string) => string,
): string {
  const kind = display ? 'math math-display' : 'math'
  return `<span class="${kind}" data-rich="math" data-source="${packSource(formula)}" dir="ltr">${escapeHtml(source)}</span>`
}

const closing: Readonly<Record<string, string>> = { $: '$', $$: '$$', '\\(': '\\)', '\\[': '\\]' }

type InlineState = Parameters<Parameters<Markdown['inline']['ruler']['push']>[1]>[0]
type BlockState = Parameters<Parameters<Markdown['block']['ruler']['push']>[1]>[0]

function inlineMath(state: InlineState, silent: boolean): boolean {
  const found = inlineAt(state.src, state.pos, state.posMax)
  if (!found) return false
  if (!silent) {
    const token = state.push('math_inline', 'span', 0)
    token.markup = found.open
    token.content = found.formula
    token.meta = { display: found.open === '$$' || found.open === '\\[' }
  }
  state.pos = found.end
  return true
}

interface Found {
  open: string
  formula: string
  /** position after the formula */
  end: number
}

function inlineAt(text: string, at: number, limit: number): Found | undefined {
  const first = text[at]
  if (first === '\\') {
    const open = text.slice(at, at + 2)
    if (open !== '\\(' && open !== '\\[') return undefined
    return delimited(text, at, limit, open)
  }
  if (first !== '$' || text[at - 1] === '$') return undefined
  if (text[at + 1] === '$') {
    return text[at + 2] === '$' ? undefined : delimited(text, at, limit, '$$')
  }
  return dollars(text, at, limit)
}

function delimited(text: string, at: number, limit: number, open: string): Found | undefined {
  const close = closing[open]!
  const from = at + open.length
  const end = indexOfClose(text, close, from, Math.min(limit, from + MAX_FORMULA))
  if (end < 0) return undefined
  const formula = text.slice(from, end).trim()
  if (formula === '') return undefined
  // `\[link\](url)` and `\(text\)` are escaped brackets
  if (open === '\\[' && (text[end + 2] === '(' || !looksLikeMath(formula))) return undefined
  if (open === '\\(' && /^[\p{L}\s]{4,}$/u.test(formula)) return undefined
  return { open, formula, end: end + close.length }
}

/** `$x$`, but not `$5 and $10` or `$HOME/bin:$PATH`, since amounts and variables are more frequent in prose than formulas. */
function dollars(text: string, at: number, limit: number): Found | undefined {
  const before = text[at - 1] ?? ' '
  const next = text[at + 1] ?? ' '
  if (/[\p{L}\p{N}$\\]/u.test(before) || /\s/.test(next)) return undefined
  const from = at + 1
  const end = indexOfClose(text, '$', from, Math.min(limit, from + MAX_INLINE_FORMULA))
  if (end <= from) return undefined
  if (/\s/.test(text[end - 1]!) || /[\p{L}\p{N}$]/u.test(text[end + 1] ?? ' ')) return undefined
  const formula = text.slice(from, end)
  if (formula.includes('`') || (/^\d/.test(formula) && /(?<!\\)\b\p{L}{2,}/u.test(formula))) return undefined
  return { open: '$', formula, end: end + 1 }
}

/** The position of the first unescaped `close`; -1 if there is none before `limit`. */
function indexOfClose(text: string, close: string, from: number, limit: number): number {
  for (let at = text.indexOf(close, from); at >= 0 && at < limit; at = text.indexOf(close, at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\' && at - 1 - slashes >= from) slashes++
    if (slashes % 2 === 0) return at + close.length <= limit ? at : -1
  }
  return -1
}

function looksLikeMath(formula: string): boolean {
  return /[\\^_=+<>{}]|\d\s*[-*/]|^\p{L}$/u.test(formula)
}

/** Returns the start of the block formula that begins in the line, and whether the line contains the `whole` formula. */
function opens(line: string): { open: string; rest: string; whole: boolean } | undefined {
  const open = /^(?:\$\$(?!\$)|\\\[)/.exec(line)?.[0]
  if (!open) return undefined
  const rest = line.slice(2)
  const end = indexOfClose(rest, closing[open]!, 0, rest.length)
  if (end < 0) return { open, rest, whole: false }
  // with text after its end, the formula is an inline one
  if (rest.slice(end + 2).trim() !== '' || rest.slice(0, end).trim() === '') return undefined
  return open === '\\[' && !looksLikeMath(rest) ? undefined : { open, rest: rest.slice(0, end), whole: true }
}

function blockMath(state: BlockState, startLine: number, endLine: number, silent: boolean): boolean {
  if (state.sCount[startLine]! - state.blkIndent >= 4) return false
  const lineAt = (line: number) =>
    state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]).trimEnd()
  const begin = opens(lineAt(startLine))
  if (!begin) return false
  if (silent) return true
  const lines = [begin.rest]
  let line = startLine + 1
  let closed = begin.whole
  let length = begin.rest.length
  for (; !closed && line < endLine; line++) {
    if (state.isEmpty(line) || state.sCount[line]! < state.blkIndent) break
    const text = lineAt(line)
    length += text.length
    const end = length > MAX_FORMULA ? -1 : indexOfClose(text, closing[begin.open]!, 0, text.length)
    if (end >= 0 && text.slice(end + 2).trim() === '') {
      closed = true
      lines.push(text.slice(0, end))
    } else lines.push(text)
  }
  const formula = lines.join('\n').trim()
  if (closed && formula !== '') {
    const token = state.push('math_block', 'div', 0)
    token.block = true
    token.markup = begin.open
    token.content = formula
    token.map = [startLine, line]
  } else {
    const content = state.getLines(startLine, line, state.blkIndent, false).trim()
    const open = state.push('paragraph_open', 'p', 1)
    open.map = [startLine, line]
    const inline = state.push('inline', '', 0)
    inline.content = content
    inline.map = [startLine, line]
    inline.children = []
    state.push('paragraph_close', 'p', -1)
  }
  state.line = line
  return true
}
