import { codeOf } from '../../markdown/code.ts'
import { sourceOf } from '../../markdown/rich-source.ts'
import { drawAnyway } from '../../rich/rich.ts'
import type { App } from '../context.ts'

/** Presses on the buttons of code blocks, formulas and diagrams, which are plain HTML; false for any other. */
export function onCodeAction(button: HTMLElement, host: App['host']): boolean {
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
