import type { App } from '../context.ts'

/** Brings the prompt before or after the one at the upper edge of the view there. After the last one comes the end. */
export function jumpTurn(app: App, direction: 1 | -1): void {
  const { window } = app.store.rows
  const from = app.list.firstVisible
  if (from === undefined) return
  // the row at the edge counts as passed when one goes up from its very beginning
  const start = direction < 0 ? from.item.index - (from.delta > 4 ? 0 : 1) : from.item.index + 1
  for (let i = start; i >= 0 && i < window.count; i += direction) {
    const row = window.items[i]!
    if (row.kind === 'prompt') {
      app.list.toItem(row, 0)
      return
    }
  }
  if (direction > 0) app.list.toEnd()
  else app.list.toTop()
}
