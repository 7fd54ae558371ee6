import { escapeHtml } from '../../common/escape-html.ts'
import { t } from '../l10n.ts'
import { highlight } from '../tools/highlight.ts'
import { type FenceInfo, fenceInfo } from './fence-info.ts'

/** Longer code isn't highlighted, because it would take too long. Characters. */
const MAX_HIGHLIGHTED = 240_000
/** Longer code is first rendered plain and then highlighted in pieces, see `draw.ts`. Characters. */
const MAX_HIGHLIGHTED_AT_ONCE = 8000

/** Long plain code is rendered in pieces of about this length, which the browser lays out independently. */
export const PIECE_LENGTH = 4000

/** by block element: the whole code of a block of which the page has only a part */
const codes = new WeakMap<Element, () => string>()

/** Registers the code of a block of which the page has only a part. */
export function setCodeOf(block: Element, code: () => string): void {
  codes.set(block, code)
}

/** The code of a block with the class `code-block`. */
export function codeOf(block: Element): string {
  return codes.get(block)?.() ?? block.querySelector('code')?.textContent ?? ''
}

/** The HTML of a code block with its toolbar; `info` is the text after the fence. */
export function codeBlockHtml(code: string, info: string): string {
  const about = fenceInfo(info)
  const { language } = about
  const text = code.endsWith('\n') ? code.slice(0, -1) : code
  const mayColor = language !== '' && text.length <= MAX_HIGHLIGHTED
  // long code is highlighted later; this call only requests the grammar
  const html = mayColor ? highlight(text.length > MAX_HIGHLIGHTED_AT_ONCE ? '' : text, language) : undefined
  const colored = text.length > MAX_HIGHLIGHTED_AT_ONCE ? undefined : html
  return (
    `<div class="code-block"${placeAttributes(about)}>${codeBarHtml(about)}` +
    `<pre dir="ltr" tabindex="0"><code>${colored ?? plainHtml(text)}</code></pre></div>\n`
  )
}

/** The toolbar of a code block: its language and buttons. */
export function codeBarHtml(about: FenceInfo): string {
  return (
    `<div class="code-bar"><span class="code-language">${escapeHtml(blockName(about))}</span>` +
    `${buttons(about.language)}</div>`
  )
}

/** Attributes with the code's language and the lines of the file that applying the code replaces. */
function placeAttributes({ language, path, from, to }: FenceInfo): string {
  let attributes = ''
  if (language) attributes += ` data-language="${escapeHtml(language)}"`
  if (path) attributes += ` data-path="${escapeHtml(path)}"`
  if (from !== undefined && to !== undefined) attributes += ` data-line="${from}" data-end="${to}"`
  return attributes
}

function blockName({ language, path, from, to }: FenceInfo): string {
  if (!path) return language
  const name = path.split(/[\\/]/).at(-1) ?? path
  return from === undefined ? name : `${name}:${from}–${to}`
}

/** Commands and their output can't be applied to a file. */
const notApplied =
  /^(?:(?:ba|z|fi)?sh|shell|console|terminal|shellsession|powershell|ps1?|text|txt|plaintext)$/i

function buttons(language: string): string {
  let html = ''
  if (!notApplied.test(language)) html += button('apply-code', 'git-pull-request-create', t('Apply…'))
  html += button('insert-code', 'insert', t('Insert at Cursor'))
  html += button('open-code', 'new-file', t('Open as File'))
  return html + button('copy-code', 'copy', t('Copy'))
}

function button(action: string, icon: string, label: string): string {
  const name = escapeHtml(label)
  return (
    `<button type="button" class="icon-button" data-action="${action}" title="${name}" aria-label="${name}">` +
    `<span class="codicon codicon-${icon}" aria-hidden="true"></span></button>`
  )
}

function plainHtml(text: string): string {
  if (text.length <= MAX_HIGHLIGHTED_AT_ONCE) return escapeHtml(text)
  let html = ''
  for (let at = 0; at < text.length; ) {
    const line = text.indexOf('\n', at + PIECE_LENGTH) + 1
    const end = line > 0 ? line : text.length
    html += `<span class="code-piece">${escapeHtml(text.slice(at, end))}</span>`
    at = end
  }
  return html
}

/** Returns the language named in a fence's info (`ts`, `ts title="a"`, `{.python}`); for `12:30:src/a.ts`, the file's extension. */
export function languageOf(info: string): string {
  return fenceInfo(info).language
}
