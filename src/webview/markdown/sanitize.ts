import DOMPurify from 'dompurify'
import { visible } from '../../common/visible.ts'
import { linkTarget } from '../tools/link-target.ts'

const allowed = {
  ALLOWED_TAGS:
    'a b blockquote br button code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre s samp small span strong sub summary sup table tbody td th thead tr u ul var'.split(
      ' ',
    ),
  ALLOWED_ATTR:
    'href src alt title class data-path data-line data-column data-action data-footnote data-rich data-source data-language data-end start open colspan rowspan dir lang role aria-label aria-hidden tabindex type'.split(
      ' ',
    ),
  ALLOW_DATA_ATTR: false,
  /** http, https, mailto, file, a relative path, a Windows path; `data:` only in images */
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|file):|[a-z]:[\\/]|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
}

let purifier: typeof DOMPurify | undefined

/** HTML that holds nothing but what prose needs; each link says where it leads. */
export function sanitize(html: string): string {
  if (!purifier) {
    // an instance of its own: the hook is for prose alone
    purifier = DOMPurify(window)
    purifier.addHook('afterSanitizeAttributes', node => {
      if (node.nodeName === 'A') sayTarget(node)
    })
  }
  return purifier.sanitize(html, allowed)
}

/** In place of a title that the agent gave: it could name another address. */
function sayTarget(link: Element): void {
  const path = link.getAttribute('data-path')
  const href = link.getAttribute('href')
  if (link.hasAttribute('data-footnote')) link.removeAttribute('title')
  else if (path !== null) {
    const line = link.getAttribute('data-line')
    link.setAttribute('title', visible(line ? `${path}:${line}` : path))
  } else if (href) {
    const { title, host } = linkTarget(href, link.textContent)
    link.setAttribute('title', title)
    if (host !== undefined) link.setAttribute('data-host', host)
  }
}
