import DOMPurify from 'dompurify'

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

/** HTML that holds nothing but what prose needs. */
export function sanitize(html: string): string {
  return DOMPurify.sanitize(html, allowed)
}
