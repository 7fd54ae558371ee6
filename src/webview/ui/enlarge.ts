import { t } from '../l10n.ts'

/** Shows an image over the whole view, first fitted, and after a click in its original size. Escape or a click closes it. */
export function enlarge(source: HTMLImageElement): void {
  const dialog = document.createElement('dialog')
  dialog.className = 'enlarged'
  dialog.setAttribute('aria-label', source.alt || t('Image'))
  const area = document.createElement('div')
  area.className = 'enlarged-area'
  area.tabIndex = 0
  const picture = document.createElement('img')
  picture.src = source.src
  picture.alt = source.alt
  picture.addEventListener('click', event => {
    event.stopPropagation()
    dialog.classList.toggle('full-size')
  })
  const close = document.createElement('button')
  close.type = 'button'
  close.className = 'icon-button enlarged-close'
  close.title = t('Close')
  close.setAttribute('aria-label', t('Close'))
  const glyph = document.createElement('span')
  glyph.className = 'codicon codicon-close'
  glyph.setAttribute('aria-hidden', 'true')
  close.append(glyph)
  area.append(picture)
  dialog.append(area, close)
  dialog.addEventListener('click', () => dialog.close())
  // here Escape closes the dialog and must not stop the turn
  dialog.addEventListener('keydown', event => event.stopPropagation())
  const before = document.activeElement
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (before instanceof HTMLElement) before.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
  area.focus()
}
