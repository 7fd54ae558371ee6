import type MarkdownIt from 'markdown-it'

type Markdown = InstanceType<typeof MarkdownIt>
type InlineState = Parameters<Parameters<Markdown['inline']['ruler']['push']>[1]>[0]
type BlockState = Parameters<Parameters<Markdown['block']['ruler']['push']>[1]>[0]

const definition = /^\[\^([^\s[\]]{1,80})\]:[ \t]*/
const mark = /\[\^([^\s[\]]{1,80})\]/y

/**
 * Footnotes: `[^1]` in a text, and `[^1]: …` where it's defined. A reference without a definition stays plain text
 * (`[^a-z]`). Footnotes stay where they were written, with their own labels, since numbering them would require the
 * complete text, which may still be growing. Definitions are stored with the link definitions, so that a reference before
 * its definition is rendered again when the definition arrives.
 */
export function footnotes(markdown: Markdown): void {
  markdown.block.ruler.before('reference', 'footnote', footnote)
  markdown.inline.ruler.before('link', 'footnote_mark', footnoteMark)
  const { escapeHtml } = markdown.utils
  markdown.renderer.rules.footnote_open = (tokens, index) => {
    const label = escapeHtml(String(tokens[index]!.meta?.label))
    return `<div class="footnote" data-footnote="${label}"><span class="footnote-label">${label}</span><div>`
  }
  markdown.renderer.rules.footnote_close = () => '</div></div>\n'
  markdown.renderer.rules.footnote_mark = (tokens, index) => {
    const label = escapeHtml(String(tokens[index]!.meta?.label))
    return `<sup class="footnote-mark"><a href="#" data-footnote="${label}">${label}</a></sup>`
  }

  /** A name that no link can use, since texts contain no NUL. */
  function footnoteName(label: string): string {
    return `\0${markdown.utils.normalizeReference(label)}`
  }

  function footnote(state: BlockState, startLine: number, endLine: number, silent: boolean): boolean {
    if (state.sCount[startLine]! - state.blkIndent >= 4) return false
    const lineAt = (line: number) =>
      state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line])
    const found = definition.exec(lineAt(startLine))
    if (!found) return false
    if (silent) return true
    let line = startLine + 1
    while (line < endLine && isContinued(state, line, lineAt)) line++
    state.env.references ??= {}
    state.env.references[footnoteName(found[1]!)] ??= { href: '', title: '' }

    const open = state.push('footnote_open', 'div', 1)
    open.map = [startLine, line]
    open.meta = { label: found[1]! }
    const paragraphs = state
      .getLines(startLine, line, state.blkIndent, false)
      .trim()
      .replace(definition, '')
      .replace(/^[ \t]+/gm, '')
      .split(/\n{2,}/)
    for (const content of paragraphs) {
      state.push('paragraph_open', 'p', 1)
      const inline = state.push('inline', '', 0)
      inline.content = content
      inline.map = [startLine, line]
      inline.children = []
      state.push('paragraph_close', 'p', -1)
    }
    state.push('footnote_close', 'div', -1)
    state.line = line
    return true
  }

  /** Whether a footnote continues in `line`, which is neither blank nor another definition, or is indented after a blank line. */
  function isContinued(state: BlockState, line: number, lineAt: (line: number) => string): boolean {
    if (state.sCount[line]! < state.blkIndent && !state.isEmpty(line)) return false
    if (state.isEmpty(line)) {
      const next = line + 1
      return next < state.lineMax && !state.isEmpty(next) && state.sCount[next]! - state.blkIndent >= 4
    }
    if (state.sCount[line]! - state.blkIndent >= 4) return true
    return (
      !state.isEmpty(line - 1) &&
      !definition.test(lineAt(line)) &&
      !/^(?:#{1,6}\s|>|```|~~~|[-*+]\s|\d+[.)]\s|\|)/.test(lineAt(line))
    )
  }

  function footnoteMark(state: InlineState, silent: boolean): boolean {
    if (state.src[state.pos] !== '[' || state.src[state.pos + 1] !== '^') return false
    mark.lastIndex = state.pos
    const found = mark.exec(state.src)
    if (!found || mark.lastIndex > state.posMax) return false
    if (!state.env.references?.[footnoteName(found[1]!)]) return false
    if (!silent) state.push('footnote_mark', 'sup', 0).meta = { label: found[1]! }
    state.pos += found[0].length
    return true
  }
}
