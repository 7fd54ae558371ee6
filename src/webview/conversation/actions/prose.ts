import { codeOf } from '../../markdown/code.ts'
import { drawAnyway } from '../../rich/rich.ts'
import { sourceOf } from '../../rich/rich-source.ts'
import type { App } from '../context.ts'

/** Handles clicks on links and buttons in rendered prose, which is plain HTML. */
export function onProseClick(event: MouseEvent, host: App['host']): void {
  const target = event.target instanceof Element ? event.target : undefined
  const button = target?.closest<HTMLElement>('[data-action]')
  if (button && onCodeAction(button, host)) return
  const link = target?.closest('a')
  if (!link) return
  // VS Code's own listener would also open it
  event.preventDefault()
  event.stopPropagation()
  const { path, footnote } = link.dataset
  if (footnote !== undefined) {
    findExplanation(link, footnote)?.scrollIntoView({ block: 'nearest' })
    return
  }
  const href = path ?? link.getAttribute('href')
  if (href && (path || !href.startsWith('#'))) host.send('conversation/link', { href, of: 'text' })
}

/** Returns the definition of a footnote: the first one in the page below the reference. */
function findExplanation(mark: Element, label: string): Element | undefined {
  const all = document.querySelectorAll<HTMLElement>('.footnote')
  return [...all].find(
    one =>
      one.dataset.footnote === label && mark.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING,
  )
}

/** Converts a selection to Markdown. Loaded with the first selection, since a copy event can't wait. */
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

/** Copies prose as Markdown and lines of a diff as code; parts of a line or of code are copied unchanged. */
export function onProseCopy(event: ClipboardEvent): void {
  const selection = document.getSelection()
  const text = selection && (selectedDiff(selection) ?? selectedMarkdown?.(selection))
  if (!text || !event.clipboardData) return
  event.clipboardData.setData('text/plain', text)
  event.preventDefault()
}

/** Handles clicks on buttons of code blocks, formulas and diagrams, which are plain HTML; returns false for other buttons. */
function onCodeAction(button: HTMLElement, host: App['host']): boolean {
  const block = button.closest<HTMLElement>('.code-block')
  const diagram = button.closest<HTMLElement>('.diagram')
  const text = block ? codeOf(block) : ''
  const { language = '', path, line, end } = block?.dataset ?? {}
  switch (button.dataset.action) {
    case 'copy-code':
      host.send('conversation/copy', { text })
      showDone(button)
      return true
    case 'insert-code':
      host.send('conversation/insertCode', { text })
      return true
    case 'open-code':
      host.send('conversation/openText', { text, language })
      return true
    case 'apply-code':
      host.send('conversation/applyCode', {
        text,
        language,
        ...(path !== undefined && { path }),
        ...(line !== undefined && end !== undefined && { from: Number(line), to: Number(end) }),
      })
      return true
    case 'copy-diagram':
      host.send('conversation/copy', { text: sourceOf(diagram) })
      showDone(button)
      return true
    case 'draw-diagram':
      if (diagram) drawAnyway(diagram)
      return true
    case 'diagram-source':
      button.setAttribute('aria-pressed', String(diagram?.toggleAttribute('data-open') ?? false))
      return true
    case 'enlarge': {
      const picture = (diagram ?? button.closest('.picture'))?.querySelector('img')
      if (picture) void import('../../ui/enlarge.ts').then(({ enlarge }) => enlarge(picture))
      return true
    }
    default:
      return false
  }
}

function showDone(button: HTMLElement): void {
  const icon = button.querySelector('.codicon')
  if (!icon) return
  icon.classList.replace('codicon-copy', 'codicon-check')
  setTimeout(() => icon.classList.replace('codicon-check', 'codicon-copy'), 1500)
}

/**
 * Returns the selected code in a diff, without line numbers and signs, but with empty lines, which the browser omits. Of a
 * partially selected line, only the selected part. `undefined` if the selection isn't within one diff.
 */
export function selectedDiff(selection: Selection): string | undefined {
  if (selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0)
  const { commonAncestorContainer: all } = range
  const lines = (all instanceof Element ? all : all.parentElement)?.closest('.diff-lines')
  if (!lines) return undefined
  return [...lines.querySelectorAll('.diff-line:not(.diff-fold, .diff-nothing)')]
    .filter(line => range.intersectsNode(line))
    .map(line => selectedPart(line, range))
    .join('\n')
}

function selectedPart(line: Element, selected: Range): string {
  const part = line.ownerDocument.createRange()
  part.selectNodeContents(line)
  if (line.contains(selected.startContainer)) part.setStart(selected.startContainer, selected.startOffset)
  if (line.contains(selected.endContainer)) part.setEnd(selected.endContainer, selected.endOffset)
  return part.toString()
}
