import {
  MAX_PREVIEW_LENGTH,
  PREVIEW_TAGS,
  type Preview,
  type PreviewElement,
  type PreviewPart,
} from '../../bridge/preview.ts'

const tags = new Set(PREVIEW_TAGS)

/** Elements that are visible only while the pointer is over something, or never. */
const unseen = '[hidden], .visually-hidden, .row-actions'
/** Elements that the preview leaves empty: their font isn't loaded yet, or scripts set their sizes. */
const empty = '[style], .codicon, .katex'

/**
 * Returns a preview of the displayed conversation for the next time that this page is opened; `undefined` if the end isn't in view, or the
 * preview would be too large.
 */
export function takePreview(): Preview | undefined {
  const find = (selector: string) => document.querySelector<HTMLElement>(`main.conversation ${selector}`)
  const list = find('.transcript')
  const title = find('.header-title')
  const dock = find('.dock')
  const composer = find('.composer')
  if (!list || !title || !dock || !composer) return undefined
  const top = list.getBoundingClientRect().top
  const rows: PreviewPart[] = []
  for (const row of list.querySelectorAll('[role=log] > .row')) {
    // include one more row, so that the preview's conversation is also longer than its view
    if ((row.nextElementSibling ?? row).getBoundingClientRect().bottom >= top) add(row, rows)
  }
  const { style } = document.documentElement
  const own = Array.from(style).filter(name => name.startsWith('--parley-'))
  const header = title.parentElement!.lastElementChild!.getBoundingClientRect()
  const preview: Preview = {
    themeId: document.body.dataset.vscodeThemeId ?? '',
    colors: Object.fromEntries(own.map(name => [name, style.getPropertyValue(name)])),
    title: title.textContent,
    besideTitle: Math.max(0, header.right - title.getBoundingClientRect().right),
    dock: dock.getBoundingClientRect().height,
    composer: composer.getBoundingClientRect().height,
    rows,
  }
  return JSON.stringify(preview).length <= MAX_PREVIEW_LENGTH ? preview : undefined
}

function add(element: Element, parts: PreviewPart[]): void {
  if (element.matches(unseen)) return
  const isEmpty = !tags.has(element.localName) || element.matches(empty)
  const about: PreviewElement = { tag: isEmpty ? 'svg' : element.localName }
  const name = element.getAttribute('class')
  if (name) about.class = name
  const dir = element.getAttribute('dir')
  if (dir === 'auto' || dir === 'ltr' || dir === 'rtl') about.dir = dir
  const start = Number(element.getAttribute('start') ?? 1)
  if (Number.isInteger(start) && start !== 1) about.start = start
  if (isEmpty) {
    const { width, height } = element.getBoundingClientRect()
    about.size = [width, height]
  }
  parts.push(about)
  // code is plain text in the preview, since its colors are also loaded later in the page
  if (element.localName === 'code') parts.push(element.textContent)
  else if (!isEmpty)
    for (const node of element.childNodes) {
      if (node.nodeType === Node.ELEMENT_NODE) add(node as Element, parts)
      else if (node.nodeType === Node.TEXT_NODE && node.textContent) parts.push(node.textContent)
    }
  parts.push(null)
}
