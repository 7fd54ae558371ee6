import { effect, signal } from '@preact/signals'
import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { Navigate, type NavigateTo, type PendingRequestNote } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import type { App } from '../context.ts'
import { placeToAnswer } from './question-focus.ts'
import { jumpTurn } from './turns.ts'

/** Commands of the palette that move through the conversation. */
export function listenNavigation(connection: MessageConnection, app: App): void {
  const wanted = signal<string | undefined>(undefined)
  connection.onNotification(Navigate, ({ to, requestId }) => {
    wanted.value = requestId
    if (requestId === undefined) navigate(app, to)
  })
  // a page that was just shown may hear of the request later
  effect(() => {
    const request = app.store.head.value?.pendingRequests.find(one => one.requestId === wanted.value)
    if (request && goToRequest(app, request)) wanted.value = undefined
  })
}

export function navigate(app: App, to: NavigateTo): void {
  if (to === 'previousTurn') void jumpTurn(app, -1)
  else if (to === 'nextTurn') void jumpTurn(app, 1)
  else if (to === 'first') app.list.toTop()
  else if (to === 'latest') app.list.toEnd()
  else toQuestion(app)
}

/** Brings the next request that waits into view and gives it the focus; after the last comes the first. */
function toQuestion(app: App): void {
  const pending = app.store.head.peek()?.pendingRequests ?? []
  const focused = document.activeElement?.closest('[data-request]')?.getAttribute('data-request')
  const at = pending.findIndex(({ requestId }) => requestId === focused)
  const next = pending[(at + 1) % pending.length]
  if (next) goToRequest(app, next)
  else announce(t('No pending requests'))
}

/** False while the page has no row of it. */
function goToRequest({ store, list }: App, { requestId, index }: PendingRequestNote): boolean {
  const row = store.rows.rowsOf(index)[0]
  if (!row) return false
  list.toItem(row)
  focusWhenDrawn(requestId, 30)
  return true
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
