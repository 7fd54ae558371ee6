import type { ConversationHost } from './context.ts'

/** Presses on links and buttons inside of rendered prose, which is plain HTML. */
export function onProseClick(event: MouseEvent, host: ConversationHost): void {
  const target = event.target instanceof Element ? event.target : undefined
  const button = target?.closest<HTMLElement>('[data-action="copy-code"]')
  if (button) {
    host.copy(button.closest('.code-block')?.querySelector('code')?.textContent ?? '')
    showCopied(button)
    return
  }
  const link = target?.closest('a')
  if (!link) return
  // VS Code listens further out and would open it on its own
  event.preventDefault()
  event.stopPropagation()
  const { path, line } = link.dataset
  if (path !== undefined) {
    host.openFile(path, line === undefined ? undefined : Number(line))
    return
  }
  const href = link.getAttribute('href')
  if (href && !href.startsWith('#')) host.openLink(href)
}

function showCopied(button: HTMLElement): void {
  const icon = button.querySelector('.codicon')
  if (!icon) return
  icon.classList.replace('codicon-copy', 'codicon-check')
  setTimeout(() => icon.classList.replace('codicon-check', 'codicon-copy'), 1500)
}
