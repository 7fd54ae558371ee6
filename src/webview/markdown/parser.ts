import MarkdownIt from 'markdown-it'
import { isFile, LINK, linkedParts } from '../../common/file-links.ts'
import { t } from '../l10n.ts'
import { packSource } from '../rich/rich-source.ts'
import { codeBlockHtml, languageOf } from './code.ts'
import { footnotes } from './footnotes.ts'
import { MAX_FORMULA, math, mathHtml } from './math.ts'

/**
 * The only markdown-it instance of the webviews. Its HTML is not sanitized yet: see `document.ts`. Differences from the default:
 * - only a few harmless HTML tags are supported; anything else that looks like a tag (`Vec<String>`, `<Foo>`) is text;
 * - only real URLs are linked automatically (not `main.rs` or `README.md`);
 * - a link that Parley doesn't open (`command:`, `mailto:`) is text;
 * - nothing remote is loaded: an image from elsewhere is a link;
 * - no style attributes, which the content security policy would refuse anyway;
 * - `path:line` in inline code is a link that opens the editor;
 * - formulas and diagrams are rendered by `rich/`;
 * - footnotes: see `footnotes.ts`.
 */
export const markdown = new MarkdownIt({ html: true, linkify: true })

markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
markdown.validateLink = href => LINK.test(href) || /^data:image\/(?:gif|png|jpeg|webp);/i.test(href)

markdown.use(math)
markdown.use(footnotes)

const rules = markdown.renderer.rules
const escapeHtml = markdown.utils.escapeHtml

/** Longer diagrams are shown as code, because rendering them would take too long. Characters. */
const MAX_DIAGRAM = 20_000

rules.fence = (tokens, index) => {
  const token = tokens[index]!
  const info = markdown.utils.unescapeAll(token.info)
  const code = codeBlockHtml(token.content, info)
  // an incomplete formula or diagram can't be rendered
  if (!token.meta?.ended) return code
  const language = languageOf(info).toLowerCase()
  const source = token.content.trim()
  if (language === 'math' && source !== '' && source.length <= MAX_FORMULA)
    return `${mathHtml(source, source, true, escapeHtml)}\n`
  if (language === 'mermaid' && source !== '' && source.length <= MAX_DIAGRAM)
    return `<div class="diagram" data-rich="mermaid" data-source="${packSource(source)}">${code}</div>\n`
  return code
}
/** Sets `meta.ended` of each closed fence. */
markdown.core.ruler.after('block', 'ended_fences', state => {
  let lines: string[] | undefined
  for (const token of state.tokens) {
    if (token.type !== 'fence' || !token.map || !/^\s*(?:math|mermaid)\b/i.test(token.info)) continue
    lines ??= state.src.split('\n')
    const last = lines[token.map[1] - 1] ?? ''
    const length = token.markup.length
    const close = token.markup[0] === '~' ? /(~{3,})[ \t]*$/ : /(`{3,})[ \t]*$/
    const ended = token.map[1] - token.map[0] > 1 && (close.exec(last)?.[1]?.length ?? 0) >= length
    token.meta = { ended }
  }
})
/** Lowers the level of headings in an answer by two, below the page's title and the prompts. */
rules.heading_open = (tokens, index, options, _, renderer) => {
  const token = tokens[index]!
  token.attrSet('aria-level', String(Number(token.tag.slice(1)) + 2))
  return renderer.renderToken(tokens, index, options)
}
rules.code_block = (tokens, index) => codeBlockHtml(tokens[index]!.content, '')

rules.code_inline = (tokens, index) => {
  const text = tokens[index]!.content
  const code = `<code>${escapeHtml(text)}</code>`
  return isFile(text) ? fileLink(text, code) : code
}

function fileLink(file: string, html: string): string {
  return `<a class="file-link" href="#" data-path="${escapeHtml(file)}">${html}</a>`
}

/** `src/a.ts:12` in text is also a link. */
markdown.core.ruler.after('text_join', 'file_links', state => {
  for (const { type, children } of state.tokens) {
    if (type !== 'inline' || !children) continue
    let within = 0
    for (let i = 0; i < children.length; i++) {
      const child = children[i]!
      if (child.type === 'link_open') within++
      else if (child.type === 'link_close') within--
      if (child.type !== 'text' || within > 0) continue
      const parts = linkedParts(child.content)
      if (!parts.some(part => part.file)) continue
      const tokens = parts.map(part => {
        const token = new state.Token(part.file ? 'file_link' : 'text', '', 0)
        token.content = part.text
        token.meta = { file: part.file }
        return token
      })
      children.splice(i, 1, ...tokens)
      i += tokens.length - 1
    }
  }
})
rules.file_link = (tokens, index) => {
  const { content, meta } = tokens[index]!
  return fileLink(String(meta?.file), escapeHtml(content))
}

rules.image = (tokens, index) => {
  const token = tokens[index]!
  const source = String(token.attrGet('src') ?? '')
  const alt = token.content
  if (source.startsWith('data:image/')) {
    const label = escapeHtml(alt === '' ? t('Enlarge') : t('{0}: Enlarge', alt))
    const image = `<img src="${escapeHtml(source)}" alt="${escapeHtml(alt)}">`
    return `<button type="button" class="picture" data-action="enlarge" aria-label="${label}">${image}</button>`
  }
  return `<a href="${escapeHtml(source)}" class="image-link">${escapeHtml(alt || source)}</a>`
}

/** Sets column alignment by a class instead of a style attribute. */
for (const rule of ['th_open', 'td_open'] as const) {
  rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index]!
    const align = /text-align:(left|center|right)/.exec(String(token.attrGet('style') ?? ''))?.[1]
    token.attrs = align ? [['class', `align-${align}`]] : null
    return self.renderToken(tokens, index, options)
  }
}
rules.table_open = () => '<div class="table-scroll" tabindex="0"><table>\n'
rules.table_close = () => '</table></div>\n'

const harmless =
  /^(?:b|i|u|s|em|strong|code|kbd|samp|var|sub|sup|small|mark|del|ins|br|hr|p|div|span|details|summary|blockquote|pre|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|th|td)$/i
const harmlessAttribute = /\s(?:open|start|colspan|rowspan|dir|lang|title)(?:="[^"<>]*")?(?=[\s/>])/gi

/**
 * Formatting tags stay HTML, without attributes that could make them look like a part of Parley; other tags are shown as
 * text. Comments are dropped.
 */
function onlyHarmless(html: string): string {
  return html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(
      /<(\/?)([a-zA-Z][^\s/<>]*)?([^<>]*>?)/g,
      (tag, slash: string, name: string | undefined, rest: string) => {
        if (name === undefined || !harmless.test(name) || !rest.endsWith('>')) return escapeHtml(tag)
        return `<${slash}${name}${rest.match(harmlessAttribute)?.join('') ?? ''}>`
      },
    )
}
rules.html_inline = (tokens, index) => onlyHarmless(tokens[index]!.content)
rules.html_block = (tokens, index) => {
  const html = onlyHarmless(tokens[index]!.content)
  return /^\s*</.test(html) || html.trim() === '' ? html : `<p>${html}</p>\n`
}

/** Renders `- [ ] ` and `- [x] ` at the start of a list item as a checkbox. */
markdown.core.ruler.after('inline', 'task_list', state => {
  const { tokens } = state
  for (let i = 2; i < tokens.length; i++) {
    const inline = tokens[i]!
    if (inline.type !== 'inline' || tokens[i - 1]!.type !== 'paragraph_open') continue
    if (tokens[i - 2]!.type !== 'list_item_open') continue
    const box = /^\[([ xX])\]\s/.exec(inline.content)
    const text = inline.children?.[0]
    if (!box || text?.type !== 'text') continue
    text.content = text.content.slice(4)
    const mark = new state.Token('html_task', '', 0)
    mark.meta = { done: box[1] !== ' ' }
    inline.children!.unshift(mark)
    tokens[i - 2]!.attrJoin('class', 'task')
  }
})
rules.html_task = (tokens, index) => {
  const done = Boolean((tokens[index]!.meta as { done: boolean }).done)
  return `<span class="task-box codicon codicon-${done ? 'pass-filled' : 'circle-large-outline'}" role="img" aria-label="${done ? '☑' : '☐'}"></span>`
}
