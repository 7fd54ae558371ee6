import { type Direction, isPrompt } from '../../../views/bridge/conversation.ts'
import type { App } from '../context.ts'
import { firstEntry, lastEntry } from '../rows/row.ts'

/** Jumps come one after the other: each begins where the one before it led. */
let last: Promise<void> = Promise.resolve()

/**
 * Brings the prompt before or after the one at the upper edge of the view there, also where it is not loaded yet. After
 * the last prompt comes the end of the conversation, before the first one its beginning.
 */
export function jumpTurn(app: App, direction: Direction): Promise<void> {
  last = last.then(() => jump(app, direction))
  return last
}

async function jump(app: App, direction: Direction): Promise<void> {
  const { store, list } = app
  const from = list.firstVisible
  if (!from) return
  // the prompt at the edge counts as passed when one goes up from its very beginning
  const above = firstEntry(from.item) - (from.delta > 4 ? 0 : 1)
  const index = await nearest(app, direction < 0 ? above : lastEntry(from.item) + 1, direction)
  const slot = index === undefined ? undefined : await store.load(index)
  const row = slot && store.rows.rowsOf(slot.index)[0]
  if (row) list.toItem(row, 0)
  else if (index !== undefined) return
  else if (direction > 0) list.toEnd()
  else list.toTop()
}

/** The host knows where prompts are among entries that are not loaded. */
async function nearest(
  { store, host }: App,
  from: number,
  direction: Direction,
): Promise<number | undefined> {
  const { slots } = store.rows
  for (let at = from; at >= 0 && at < slots.length; at += direction) {
    const slot = slots[at]
    if (!slot)
      return (
        (await host.request('conversation/findPrompt', { from: at, direction }).catch(() => null)) ??
        undefined
      )
    if (isPrompt(slot.entry.peek())) return at
  }
  return undefined
}
