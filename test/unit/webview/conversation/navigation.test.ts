import assert from 'node:assert/strict'
import { type Direction, nearestPrompt } from '../../../../src/bridge/conversation.ts'
import type { Entry } from '../../../../src/conversation/state.ts'
import type { App } from '../../../../src/webview/conversation/context.ts'
import { jumpTurn } from '../../../../src/webview/conversation/navigation/navigation.ts'
import { firstEntry, type Row } from '../../../../src/webview/conversation/row.ts'
import { ConversationStore } from '../../../../src/webview/conversation/store.ts'
import { head, message, toolCall } from './entries.ts'

/** Three turns of 1,000 tool calls each: prompts at 0, 1001 and 2002. */
const entries: Entry[] = [0, 1, 2].flatMap(turn => [
  message(`u${turn}`, 'user', `Prompt ${turn}`),
  ...Array.from({ length: 1000 }, (_, i) => toolCall(`t${turn}-${i}`)),
])

/** A view with only the last 100 entries loaded. Its upper edge is at the row of an entry. */
function openView(edge: number, options: { fails?: boolean } = {}) {
  const fetched: number[] = []
  const store = new ConversationStore(async (_key, from, to) => {
    fetched.push(from)
    if (options.fails) throw new Error('gone')
    return structuredClone(entries.slice(from, to))
  })
  store.applySnapshot({
    revision: 1,
    head: head(),
    entries: structuredClone(entries.slice(-100)),
    first: entries.length - 100,
    total: entries.length,
    terminals: [],
    draft: { text: '', chips: [], items: [] },
  })
  const view = { fetched, at: edge as number | 'top' | 'end', delta: 10 }
  const app = {
    store,
    list: {
      get firstVisible() {
        const item = store.rows.rowsOf(view.at as number)[0]!
        return { item, delta: view.delta }
      },
      toItem(row: Row) {
        view.at = firstEntry(row)
        view.delta = 0
        assert.equal(row.kind, 'prompt')
      },
      toTop: () => Object.assign(view, { at: 'top' }),
      toEnd: () => Object.assign(view, { at: 'end' }),
    },
    host: {
      request: async (_name: 'conversation/findPrompt', at: { from: number; direction: Direction }) =>
        nearestPrompt(entries, at.from, at.direction) ?? null,
    },
  } as unknown as App
  return { app, view }
}

describe('navigating between turns', () => {
  it("reaches the prompt of a turn with 1,000 tool calls, most of which aren't loaded", async () => {
    const { app, view } = openView(entries.length - 5)
    await jumpTurn(app, -1)
    assert.equal(view.at, 2002)
    assert.deepEqual(view.fetched, [2000])
  })

  it('continues to the previous turn, and forward again', async () => {
    const { app, view } = openView(2500)
    await jumpTurn(app, -1)
    await jumpTurn(app, -1)
    assert.equal(view.at, 1001)
    await jumpTurn(app, 1)
    assert.equal(view.at, 2002)
  })

  it('continues from the previous target if the key is pressed twice quickly', async () => {
    const { app, view } = openView(2500)
    await Promise.all([jumpTurn(app, -1), jumpTurn(app, -1)])
    assert.equal(view.at, 1001)
  })

  it('stops at the start and at the end', async () => {
    const first = openView(0)
    first.view.delta = 0
    await jumpTurn(first.app, -1)
    assert.equal(first.view.at, 'top')
    const last = openView(2600)
    await jumpTurn(last.app, 1)
    assert.equal(last.view.at, 'end')
  })

  it("stays if the entry can't be loaded", async () => {
    const { app, view } = openView(2500, { fails: true })
    await jumpTurn(app, -1)
    assert.equal(view.at, 2500)
  })

  it('skips prompts to subagents', () => {
    const within = { ...message('s', 'user', 'For a subagent'), within: 'child' }
    assert.equal(nearestPrompt([message('u', 'user', 'Mine'), within, toolCall('t')], 2, -1), 0)
    assert.equal(nearestPrompt([within], 0, 1), undefined)
    assert.equal(nearestPrompt([], 3, -1), undefined)
  })
})
