import assert from 'node:assert/strict'
import type { HistoryRow, HistoryState } from '../../../../src/views/bridge/history.ts'
import { shortTime } from '../../../../src/webview/history/dates.ts'
import { defaultAction, historyItems } from '../../../../src/webview/history/items.ts'
import { historyRow } from './rows.ts'

const now = new Date(2026, 10, 20, 15, 30).getTime()
const hour = 3_600_000

const row = (sessionId: string, more: Partial<HistoryRow> = {}) =>
  historyRow(sessionId, { updatedAt: now, ...more })
const state = (rows: HistoryRow[]): HistoryState => ({
  rows,
  agents: [],
  trusted: true,
  hasFolder: true,
  storage: { used: 0, max: 0 },
})
const keys = (of: HistoryState, filter = { text: '', here: false, archived: false }) =>
  historyItems(of, filter, now).map(item => item.key)

describe('history items', () => {
  it('are rows under their date, the newest first', () => {
    const list = state([
      row('3', { updatedAt: undefined }),
      row('2', { updatedAt: now - 24 * hour }),
      row('1'),
    ])
    assert.deepEqual(keys(list), [
      'group/today',
      'row/a/1',
      'group/yesterday',
      'row/a/2',
      'group/undated',
      'row/a/3',
    ])
  })

  it('pass the filters together', () => {
    const list = state([row('1', { title: 'Fix parser' }), row('2', { title: 'Fix build', here: false })])
    assert.deepEqual(keys(list, { text: 'fix', here: true, archived: false }), ['group/today', 'row/a/1'])
    assert.deepEqual(keys(list, { text: 'build', here: false, archived: false }), ['group/today', 'row/a/2'])
    assert.deepEqual(keys(list, { text: 'none', here: false, archived: false }), [])
  })

  it('are opened by Enter in the way that shows most', () => {
    assert.equal(defaultAction(row('1')), 'load')
    assert.equal(defaultAction(row('1', { canLoad: false })), 'resume')
    assert.equal(defaultAction(row('1', { open: true })), 'show')
    assert.equal(defaultAction(row('1', { canLoad: false, canResume: false })), undefined)
  })

  it('say their time as short as it can be understood', () => {
    assert.equal(shortTime(now - 20_000, now), 'just now')
    assert.equal(shortTime(now + 20_000, now), 'just now')
    assert.equal(shortTime(now - 3 * 60_000, now), '3 min ago')
    assert.match(shortTime(now - 5 * hour, now), /10:30/)
    assert.match(shortTime(now - 60 * 24 * hour, now), /Sep 21/)
    assert.match(shortTime(now - 600 * 24 * hour, now), /2025/)
  })
})
