import { selectedDiff } from '../../tools/copy-diff.ts'
import type { App } from '../context.ts'
import { onCodeAction } from './code-actions.ts'

/** Presses on links and buttons inside of rendered prose, which is plain HTML. */
export function onProseClick(event: MouseEvent, host: App['host']): void {
  const target = event.target instanceof Element ? event.target : undefined
  const button = target?.closest<HTMLElement>('[data-action]')
  if (button && onCodeAction(button, host)) return
  const link = target?.closest('a')
  if (!link) return
  // VS Code listens further out and would open it on its own
  event.preventDefault()
  event.stopPropagation()
  const { path, line, column, footnote } = link.dataset
  if (footnote !== undefined) {
    explanationOf(link, footnote)?.scrollIntoView({ block: 'nearest' })
    return
  }
  if (path !== undefined) {
    host.send('conversation/file', {
      path,
      line: line === undefined ? undefined : Number(line),
      column: column === undefined ? undefined : Number(column),
    })
    return
  }
  const href = link.getAttribute('href')
  if (href && !href.startsWith('#')) host.send('conversation/link', { href })
}

/** Where a footnote is explained, of those that are in the page the first one below its mark. */
function explanationOf(mark: Element, label: string): Element | undefined {
  const all = document.querySelectorAll<HTMLElement>('.footnote')
  return [...all].find(
    one =>
      one.dataset.footnote === label && mark.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING,
  )
}

/** Converts a selection to Markdown. A copy event can't wait, so this is loaded with the first selection. */
let selectedMarkdown: ((selection: Selection) => string | undefined) | undefined

/** Loads the conversion to Markdown; until it is loaded, the browser copies plain text. */
export function loadCopying(): void {
  void import('../../markdown/copy.ts').then(
    module => {
      selectedMarkdown = module.selectedMarkdown
    },
    () => undefined,
  )
}

/** Prose is copied as Markdown, lines of a diff as their code; a piece of a line or of code as it is. */
export function onProseCopy(event: ClipboardEvent): void {
  const selection = document.getSelection()
  const text = selection && (selectedDiff(selection) ?? selectedMarkdown?.(selection))
  if (!text || !event.clipboardData) return
  event.clipboardData.setData('text/plain', text)
  event.preventDefault()
}
