import assert from 'node:assert/strict'
import { HistoryPageState, historyState } from '../../../src/app/history/rows.ts'
import type { HistoryItem } from '../../../src/sessions/listing/history-item.ts'
import type { HistoryList } from '../../../src/sessions/listing/history-list.ts'

const item = (more: Partial<HistoryItem>): HistoryItem => ({
  agentId: 'a',
  agentName: 'Agent',
  sessionId: 's',
  cwd: '/w',
  open: false,
  archived: false,
  pinned: false,
  canLoad: true,
  canResume: true,
  canClose: false,
  canDelete: false,
  deletesCopy: false,
  canFork: false,
  canArchive: false,
  ...more,
})

/** the sessions that a view shows */
const shown = new Set<string>()

const around = {
  trusted: true,
  hasFolder: true,
  isHere: () => true,
  worktreeOf: () => undefined,
  endedOf: () => undefined,
  isShown: ({ sessionId }: { sessionId: string }) => shown.has(sessionId),
  accountOf: () => undefined,
  iconOf: () => undefined,
  storage: { used: 0, max: 0 },
  search: {},
  deleted: [],
  others: [],
}

describe('the rows of History', () => {
  const elsewhere = (more: Partial<HistoryItem>) => {
    const list = { items: () => [item(more)], agents: () => [] } as unknown as HistoryList
    return historyState(list, around).rows[0]?.elsewhere
  }

  it('show what a session does in another client, if that is known', () => {
    assert.equal(elsewhere({}), undefined)
    assert.equal(elsewhere({ status: { status: 'saved' } }), 'saved')
    assert.equal(elsewhere({ status: { status: 'open' } }), 'open')
    assert.equal(elsewhere({ status: { status: 'open', activity: 'running' } }), 'running')
    assert.equal(elsewhere({ status: { status: 'open', activity: 'requires_action' } }), 'requires_action')
    assert.equal(elsewhere({ status: { status: 'open', activity: 'idle' } }), 'open')
    assert.equal(elsewhere({ open: true, status: { status: 'open' } }), undefined)
  })

  it('are shown only if a view shows them, whether or not they are open in this window', () => {
    const [background, seen] = [item({ open: true, sessionId: 'b' }), item({ open: true, sessionId: 's' })]
    const list = { items: () => [background, seen, item({ sessionId: 'c' })], agents: () => [] }
    const isShown = () => historyState(list as unknown as HistoryList, around).rows.map(row => row.shown)
    assert.deepEqual(isShown(), [undefined, undefined, undefined])
    shown.add('s').add('c')
    assert.deepEqual(isShown(), [undefined, true, undefined])
    shown.clear()
    assert.deepEqual(isShown(), [undefined, undefined, undefined])
  })

  it('show running sessions of other windows, also those that only other windows have', () => {
    const list = { items: () => [item({})], agents: () => [] } as unknown as HistoryList
    const other = { agentId: 'a', agentName: 'Agent', cwd: '/x', window: { name: 'w' } }
    const others = [
      { ...other, sessionId: 's', indicator: 'running' as const },
      { ...other, sessionId: 't', indicator: 'waiting' as const },
    ]
    const { rows } = historyState(list, { ...around, others })
    assert.deepEqual(
      rows.map(({ sessionId, inWindow, activity }) => [sessionId, inWindow, activity]),
      [
        ['s', true, 'running'],
        ['t', 'only', 'requires_action'],
      ],
    )
  })

  it('treat an unknown status as a saved session', () => {
    assert.equal(elsewhere({ status: { status: '_frozen', activity: 'running' } }), 'saved')
  })

  it("don't offer to start an agent in Restricted Mode", () => {
    const agents = [
      { agentId: 'a', name: 'A', more: false, paging: false, state: 'not-started' },
      { agentId: 'b', name: 'B', more: false, paging: false, state: 'cannot-list' },
    ]
    const list = { items: () => [item({})], agents: () => agents } as unknown as HistoryList
    const offered = (trusted: boolean) =>
      historyState(list, { ...around, trusted }).agents.map(({ agentId }) => agentId)
    assert.deepEqual(offered(true), ['a', 'b'])
    assert.deepEqual(offered(false), ['b'])
  })

  it('are sent in parts when they are thousands, the first of the list first', () => {
    const items = Array.from({ length: 5000 }, (_, i) => item({ sessionId: `s${i}`, updatedAt: i }))
    const list = { items: () => items, agents: () => [] } as unknown as HistoryList
    const sent = new HistoryPageState()
    let found = 0
    const stateOf = (most?: number) => {
      found++
      return historyState(list, around, most)
    }
    const parts = [sent.update(stateOf), ...Array.from({ length: 6 }, () => sent.rest(stateOf))]
    assert.deepEqual(
      parts.map(part => [part?.rows.length, part?.more]),
      [
        [100, true],
        [1000, true],
        [1000, true],
        [1000, true],
        [1000, true],
        [900, undefined],
        [undefined, undefined],
      ],
    )
    // the first ones, all others, what changed until the last of them, and nothing more
    assert.equal(found, 4)
    const ids = parts.flatMap(part => part?.rows.map(({ sessionId }) => sessionId) ?? [])
    const newest = items.map(({ sessionId }) => sessionId).reverse()
    assert.deepEqual(ids.slice(0, 4100), newest.slice(0, 4100))
    assert.deepEqual(new Set(ids), new Set(newest))
  })

  it('that changed or were removed while the others were sent are right in the end', () => {
    let items = Array.from({ length: 5000 }, (_, i) => item({ sessionId: `s${i}`, updatedAt: i }))
    const list = { items: () => items, agents: () => [] } as unknown as HistoryList
    const sent = new HistoryPageState()
    const stateOf = (most?: number) => historyState(list, around, most)
    const page = new Map<string, boolean>()
    let part = sent.update(stateOf)
    for (let i = 0; part; i++) {
      for (const { sessionId } of part.removed ?? []) page.delete(sessionId)
      for (const { sessionId, open } of part.rows) page.set(sessionId, open)
      // one that the page has, and two that it hasn't yet
      if (i === 1)
        items = items
          .filter(({ sessionId }) => sessionId !== 's10' && sessionId !== 's4999')
          .map(one => (one.sessionId === 's5' ? { ...one, open: true } : one))
      part = part.more && sent.rest(stateOf)
    }
    assert.deepEqual(
      [page.size, page.has('s10'), page.has('s4999'), page.get('s5')],
      [4998, false, false, true],
    )
  })

  it('are sent once, then only changed and removed ones', () => {
    let items = Array.from({ length: 1000 }, (_, i) =>
      item({ sessionId: `s${i}`, formerTitles: ['Former'], updatedAt: i, pinned: i === 3 }),
    )
    const list = { items: () => structuredClone(items), agents: () => [] } as unknown as HistoryList
    let sent = new HistoryPageState()
    const update = () => sent.update(most => historyState(list, around, most))
    // first what can be seen
    const first = update()
    assert.deepEqual([first?.rows.length, first?.removed, first?.more], [100, undefined, true])
    const firstIds = first?.rows.map(({ sessionId }) => sessionId)
    assert.deepEqual(firstIds?.slice(0, 3), ['s3', 's999', 's998'])
    const others = update()
    assert.deepEqual([others?.rows.length, others?.removed, others?.more], [900, [], undefined])
    assert.equal(update(), undefined, 'nothing changed')
    items = items
      .map((one, i) => (i === 7 ? { ...one, open: true, activity: 'running' as const } : one))
      .slice(0, -1)
    const second = update()
    assert.deepEqual(
      second?.rows.map(({ sessionId, activity }) => [sessionId, activity]),
      [['s7', 'running']],
    )
    assert.deepEqual(second.removed, [{ agentId: 'a', sessionId: 's999' }])
    around.storage = { used: 5, max: 0 }
    const { trusted, hasFolder, storage } = around
    assert.deepEqual(update(), {
      rows: [],
      removed: [],
      agents: [],
      trusted,
      hasFolder,
      storage,
      search: {},
      deleted: [],
    })
    // another page
    sent = new HistoryPageState()
    assert.equal(update()?.rows.length, 100)
    assert.equal(update()?.rows.length, 899)
  })
})
