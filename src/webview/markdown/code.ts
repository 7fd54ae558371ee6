import { t } from '../l10n.ts'
import { highlight } from './highlight.ts'

/** Longer code is shown plain: colours would cost more than they tell. Characters. */
const longestColoured = 60_000

/** Long plain code is drawn in pieces of about this length, so that a browser that lays out one leaves the others. */
export const pieceLength = 4000

/** The HTML of a code block with its bar; `info` is what stands after the fence. */
export function codeBlockHtml(code: string, info: string): string {
  const language = languageOf(info)
  const text = code.endsWith('\n') ? code.slice(0, -1) : code
  const coloured = language && text.length <= longestColoured ? highlight(text, language) : undefined
  const copy = escaped(t('Copy'))
  return (
    `<div class="code-block"><div class="code-bar"><span class="code-language">${escaped(language)}</span>` +
    `<button type="button" class="icon-button" data-action="copy-code" title="${copy}" aria-label="${copy}">` +
    `<span class="codicon codicon-copy" aria-hidden="true"></span></button></div>` +
    `<pre dir="ltr" tabindex="0"><code>${coloured ?? plainHtml(text)}</code></pre></div>\n`
  )
}

function plainHtml(text: string): string {
  if (text.length <= pieceLength * 2) return escaped(text)
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
  const word =
    info
      .trim()
      .split(/[\s,{]+/)
      .find(Boolean) ?? ''
  const path = /^\d+:\d+:(.+)$/.exec(word)?.[1]
  if (path) return /\.([A-Za-z0-9]+)$/.exec(path)?.[1] ?? ''
  return word.replace(/^\.|\}$/g, '').slice(0, 40)
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => entities[character]!)
}
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
