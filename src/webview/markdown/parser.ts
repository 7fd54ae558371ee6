import MarkdownIt from 'markdown-it'
import { codeBlockHtml } from './code.ts'
import { fileReference } from './file-reference.ts'

/**
 * The one markdown-it of the webviews. Its HTML is not yet sanitised: see `sanitize.ts`. Differences from the default:
 * - HTML is taken only for a few harmless tags; anything else that looks like a tag (`Vec<String>`, `<Foo>`) is text;
 * - only real addresses become links by themselves (`main.rs` and `README.md` do not);
 * - nothing remote is loaded: an image from elsewhere is a link;
 * - no style attributes, which the content security policy would refuse anyway;
 * - `path:line` in inline code is a link that opens the editor.
 */
export const markdown = new MarkdownIt({ html: true, linkify: true })

markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
markdown.validateLink = href =>
  !/^\s*(?:javascript|vbscript|data(?!:image\/(?:gif|png|jpeg|webp);)|blob)\s*:/i.test(href)

const rules = markdown.renderer.rules
const escapeHtml = markdown.utils.escapeHtml

rules.fence = (tokens, index) => {
  const token = tokens[index]!
  return codeBlockHtml(token.content, markdown.utils.unescapeAll(token.info))
}
rules.code_block = (tokens, index) => codeBlockHtml(tokens[index]!.content, '')

rules.code_inline = (tokens, index) => {
  const text = tokens[index]!.content
  const code = `<code>${escapeHtml(text)}</code>`
  const file = fileReference(text)
  if (!file) return code
  const line = file.line === undefined ? '' : ` data-line="${file.line}"`
  return `<a class="file-link" href="#" data-path="${escapeHtml(file.path)}"${line}>${code}</a>`
}

rules.image = (tokens, index) => {
  const token = tokens[index]!
  const source = String(token.attrGet('src') ?? '')
  const alt = token.content
  if (source.startsWith('data:image/')) {
    return `<img src="${escapeHtml(source)}" alt="${escapeHtml(alt)}">`
  }
  return `<a href="${escapeHtml(source)}" class="image-link">${escapeHtml(alt || source)}</a>`
}

/** Column alignment as a class instead of a style attribute. */
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
 * Tags that only format stay HTML, without attributes that could make them look like a part of Parley; every other tag
 * is shown as the text it is. Comments are dropped.
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

/** `- [ ] ` and `- [x] ` at the start of a list item become a box. */
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
