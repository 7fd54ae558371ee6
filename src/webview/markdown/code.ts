import { t } from '../l10n.ts'
import { type FenceInfo, fenceInfo } from './fence-info.ts'
import { highlight } from './highlight.ts'

/** Longer code is shown plain: colors would cost more than they tell. Characters. */
const longestColored = 240_000
/** Longer code is drawn plain, and colored piece by piece: see `draw.ts`. Characters. */
const coloredAtOnce = 8000

/** Long plain code is drawn in pieces of about this length, so that a browser that lays out one leaves the others. */
export const pieceLength = 4000

/** by element: the code of blocks that have only a part of it in the page */
const codes = new WeakMap<Element, () => string>()

/** Says what the code of a block is of which the page has only a part. */
export function setCodeOf(block: Element, code: () => string): void {
  codes.set(block, code)
}

/** The code of a block with the class `code-block`. */
export function codeOf(block: Element): string {
  return codes.get(block)?.() ?? block.querySelector('code')?.textContent ?? ''
}

/** The HTML of a code block with its bar; `info` is the text after the fence. */
export function codeBlockHtml(code: string, info: string): string {
  const about = fenceInfo(info)
  const { language } = about
  const text = code.endsWith('\n') ? code.slice(0, -1) : code
  const mayColor = language !== '' && text.length <= longestColored
  // of long code this only asks for the grammar
  const html = mayColor ? highlight(text.length > coloredAtOnce ? '' : text, language) : undefined
  const colored = text.length > coloredAtOnce ? undefined : html
  return (
    `<div class="code-block"${placeOf(about)}>${codeBarHtml(about)}` +
    `<pre dir="ltr" tabindex="0"><code>${colored ?? plainHtml(text)}</code></pre></div>\n`
  )
}

/** The bar of a code block: its language and what can be done with it. */
export function codeBarHtml(about: FenceInfo): string {
  return (
    `<div class="code-bar"><span class="code-language">${escaped(nameOf(about))}</span>` +
    `${buttons(about.language)}</div>`
  )
}

/** Where the code belongs, for those who apply it. */
function placeOf({ language, path, from, to }: FenceInfo): string {
  let attributes = ''
  if (language) attributes += ` data-language="${escaped(language)}"`
  if (path) attributes += ` data-path="${escaped(path)}"`
  if (from !== undefined && to !== undefined) attributes += ` data-line="${from}" data-end="${to}"`
  return attributes
}

function nameOf({ language, path, from, to }: FenceInfo): string {
  if (!path) return language
  const name = path.split(/[\\/]/).at(-1) ?? path
  return from === undefined ? name : `${name}:${from}–${to}`
}

/** Commands and their output are not applied to a file. */
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
  const name = escaped(label)
  return (
    `<button type="button" class="icon-button" data-action="${action}" title="${name}" aria-label="${name}">` +
    `<span class="codicon codicon-${icon}" aria-hidden="true"></span></button>`
  )
}

function plainHtml(text: string): string {
  if (text.length <= coloredAtOnce) return escaped(text)
  let html = ''
  for (let at = 0; at < text.length; ) {
    const line = text.indexOf('\n', at + pieceLength) + 1
    const end = line > 0 ? line : text.length
    html += `<span class="code-piece">${escaped(text.slice(at, end))}</span>`
    at = end
  }
  return html
}

/** The language's name in a fence's info: `ts`, `ts title="a"`, `{.python}`; of `12:30:src/a.ts` its extension. */
export function languageOf(info: string): string {
  return fenceInfo(info).language
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => entities[character]!)
}
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
