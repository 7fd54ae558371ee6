import { effect, signal } from '@preact/signals'
import type { HostListeners } from '../../../bridge/contract.ts'
import type { Direction, NavigateTo, PendingRequestNote } from '../../../bridge/conversation.ts'
import type { ConversationHostMessages } from '../../../bridge/conversation-messages.ts'
import { isShownPrompt } from '../../../conversation/user-prompts.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import type { App } from '../context.ts'
import { firstEntry, lastEntry } from '../row.ts'
import { placeToAnswer } from './question-focus.ts'

/** Returns the listeners for commands that move through the conversation. */
export function navigationListeners(app: App) {
  const wanted = signal<string | undefined>(undefined)
  // a page that was just shown may receive the pending request later
  effect(() => {
    const request = app.store.head.value?.pendingRequests.find(one => one.requestId === wanted.value)
    if (request && goToRequest(app, request)) wanted.value = undefined
  })
  return {
    'conversation/navigate': ({ to, requestId }) => {
      wanted.value = requestId
      if (requestId === undefined) navigate(app, to)
    },
    'conversation/foldTurns': ({ folded }) => foldTurns(app, folded),
    'conversation/outline': () => {
      const { list, store, host } = app
      const edge = list.following.peek() ? undefined : list.firstVisible
      const index = edge ? firstEntry(edge.item) : Math.max(0, store.rows.slots.length - 1)
      host.send('conversation/outline', { index })
    },
    'conversation/goTo': ({ index }) => {
      last = last.then(() => toEntry(app, index))
    },
  } satisfies Partial<HostListeners<ConversationHostMessages>>
}

/** Collapses or expands all turns. The turn in view stays in view: a collapsed turn shows only its prompt. */
function foldTurns({ store, list }: App, folded: boolean): void {
  const first = list.firstVisible?.item
  let at = first && !list.following.peek() ? firstEntry(first) : -1
  store.setAllFolded(folded)
  while (at >= 0 && store.rows.rowsOf(at).length === 0) at--
  const row = store.rows.rowsOf(at)[0]
  if (row) list.toItem(row, 0)
}

export function navigate(app: App, to: NavigateTo): void {
  if (to === 'previousTurn') void jumpTurn(app, -1)
  else if (to === 'nextTurn') void jumpTurn(app, 1)
  else if (to === 'first') app.list.toTop()
  else if (to === 'latest') app.list.toEnd()
  else toQuestion(app)
}

/** Reveals and focuses the next pending request; wraps around after the last. */
function toQuestion(app: App): void {
  const pending = app.store.head.peek()?.pendingRequests ?? []
  const focused = document.activeElement?.closest('[data-request]')?.getAttribute('data-request')
  const at = pending.findIndex(({ requestId }) => requestId === focused)
  const next = pending[(at + 1) % pending.length]
  if (next) goToRequest(app, next)
  else announce(t('No pending requests'))
}

/** Scrolls to a pending request and focuses it; returns false while the page has no row for the request. */
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

/** Jumps run one after the other: each starts where the previous one ended. */
let last: Promise<void> = Promise.resolve()

/**
 * Scrolls the previous or next prompt to the upper edge of the view, even if the prompt isn't loaded yet. After the last
 * prompt comes the end of the conversation, before the first prompt its start.
 */
export function jumpTurn(app: App, direction: Direction): Promise<void> {
  last = last.then(() => jump(app, direction))
  return last
}

async function jump(app: App, direction: Direction): Promise<void> {
  const { list } = app
  const from = list.firstVisible
  if (!from) return
  // going up from the very start of the prompt at the edge skips it
  const above = firstEntry(from.item) - (from.delta > 4 ? 0 : 1)
  const index = await nearest(app, direction < 0 ? above : lastEntry(from.item) + 1, direction)
  if (index !== undefined) await toEntry(app, index)
  else if (direction > 0) list.toEnd()
  else list.toTop()
}

/** Scrolls an entry to the upper edge of the view, once it is loaded. */
export async function toEntry({ store, list }: App, index: number): Promise<void> {
  const slot = await store.load(index)
  if (slot) store.expandFor(slot)
  const row = slot && store.rows.rowsOf(slot.index)[0]
  if (row) list.toItem(row, 0)
}

/** Resolves to the index of the nearest prompt; the host finds prompts that aren't loaded. Hidden turns that were set aside are skipped. */
export async function nearest(
  { store, host }: App,
  from: number,
  direction: Direction,
): Promise<number | undefined> {
  const { rows, expansion } = store
  for (let at = from; at >= 0 && at < rows.slots.length; at += direction) {
    const aside = expansion.hiddenAsideAt(at)
    if (aside) {
      at = direction < 0 ? aside.first : aside.end - 1
      continue
    }
    const slot = rows.slots[at]
    if (slot && isShownPrompt(slot.entry.peek())) return at
    if (slot) continue
    const found = await host.request('conversation/findPrompt', { from: at, direction }).catch(() => null)
    if (found === null) return undefined
    if (!expansion.hiddenAsideAt(found)) return found
    at = found - direction
  }
  return undefined
}
