import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { FocusChanged, Navigate, type NavigateTo } from '../../../views/bridge/navigate.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import type { App } from '../context.ts'
import { placeToAnswer } from './question-focus.ts'
import { jumpTurn } from './turns.ts'

/** Commands of the palette that move through the conversation. */
export function listenNavigation(connection: MessageConnection, app: App): void {
  connection.onNotification(Navigate, ({ to }) => navigate(app, to))
  const tell = (focused: boolean) => void connection.sendNotification(FocusChanged, { focused })
  window.addEventListener('focus', () => tell(true))
  window.addEventListener('blur', () => tell(false))
}

export function navigate(app: App, to: NavigateTo): void {
  if (to === 'previousTurn') jumpTurn(app, -1)
  else if (to === 'nextTurn') jumpTurn(app, 1)
  else if (to === 'first') app.list.toTop()
  else if (to === 'latest') app.list.toEnd()
  else toQuestion(app)
}

/** Brings the next question that waits into view and gives it the focus; after the last comes the first. */
function toQuestion(app: App): void {
  const { store, list } = app
  const waiting = store.waiting.peek()
  if (waiting.length === 0) {
    announce(t('No question waits for you'))
    return
  }
  const focused = document.activeElement?.closest('[data-request]')?.getAttribute('data-request')
  const requestOf = (id: string) => {
    const entry = store.slot(id)?.entry.peek()
    return entry?.kind === 'permission' || entry?.kind === 'elicitation' ? entry.requestId : undefined
  }
  const at = focused == null ? -1 : waiting.findIndex(id => requestOf(id) === focused)
  const next = waiting[(at + 1) % waiting.length]!
  const slot = store.slot(next)
  const row = slot && store.rows.rowsOf(slot.index)[0]
  if (!row) return
  list.toItem(row)
  focusWhenDrawn(requestOf(next)!, 30)
}

function focusWhenDrawn(request: string, frames: number): void {
  requestAnimationFrame(() => {
    const box = [...document.querySelectorAll<HTMLElement>('[data-request]')].find(
      one => one.dataset.request === request,
    )
    if (box) placeToAnswer(box).focus()
    else if (frames > 0) focusWhenDrawn(request, frames - 1)
  })
}
