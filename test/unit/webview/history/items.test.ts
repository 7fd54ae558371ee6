import assert from 'node:assert/strict'
import type { HistoryChanges, HistoryRow } from '../../../../src/bridge/history.ts'
import { defaultAction, type HistoryFilter, HistoryLines } from '../../../../src/webview/history/items.ts'
import { shortTime } from '../../../../src/webview/ui/session-dates.ts'
import { historyRow, plainSummary } from './rows.ts'

const now = new Date(2026, 10, 20, 15, 30).getTime()
const hour = 3_600_000

const row = (sessionId: string, more: Partial<HistoryRow> = {}) =>
  historyRow(sessionId, { updatedAt: now, ...more })
const changes = (rows: HistoryRow[], removed?: HistoryChanges['removed']): HistoryChanges => ({
  rows,
  ...(removed && { removed }),
  ...plainSummary,
})
const linesOf = (rows: HistoryRow[], filter: HistoryFilter = { text: '', here: false, archived: false }) => {
  const lines = new HistoryLines()
  lines.show(filter, now)
  lines.update(changes(rows))
  return lines
}
const keysOf = (lines: HistoryLines) => lines.window.items.map(item => item.key)
const keys = (...list: Parameters<typeof linesOf>) => keysOf(linesOf(...list))

describe('history items', () => {
  it('are rows below their date, newest first', () => {
    const list = [row('3', { updatedAt: undefined }), row('2', { updatedAt: now - 24 * hour }), row('1')]
    assert.deepEqual(keys(list), [
      'group/today',
      'row/a/1',
      'group/yesterday',
      'row/a/2',
      'group/undated',
      'row/a/3',
    ])
  })

  it('are first if they are pinned, except in a search', () => {
    const list = [row('1'), row('2', { updatedAt: now - 24 * hour, pinned: true })]
    const lines = linesOf(list)
    assert.deepEqual(keysOf(lines), ['group/pinned', 'row/a/2', 'group/today', 'row/a/1'])
    lines.update({ ...changes([row('1', { pinned: true })]), removed: [] })
    assert.deepEqual(keysOf(lines), ['group/pinned', 'row/a/1', 'row/a/2'])
    // its time is another day, but its group is the same
    lines.update({ ...changes([row('2', { updatedAt: now - 48 * hour, pinned: true })]), removed: [] })
    assert.deepEqual(keysOf(lines), ['group/pinned', 'row/a/1', 'row/a/2'])
    lines.update({ ...changes([row('1'), row('2', { updatedAt: now - 24 * hour })]), removed: [] })
    assert.deepEqual(keysOf(lines), ['group/today', 'row/a/1', 'group/yesterday', 'row/a/2'])
    assert.deepEqual(keys(list, { text: 'session', here: false, archived: false }), ['row/a/1', 'row/a/2'])
  })

  it('are below their agent or folder on request, the one used last first', () => {
    const list = [
      row('1', { updatedAt: now - 48 * hour }),
      row('2', { agentId: 'b', agentName: 'Other', cwd: '/q/p', updatedAt: now - hour }),
      row('3', { updatedAt: now - 72 * hour, cwd: '/q/p', pinned: true }),
      row('4', { updatedAt: now - 96 * hour }),
    ]
    const by = (group: 'agent' | 'folder') => ({ text: '', here: false, archived: false, group })
    const lines = linesOf(list, by('agent'))
    const before = [
      'group/pinned',
      'row/a/3',
      'group/agent/b',
      'row/b/2',
      'group/agent/a',
      'row/a/1',
      'row/a/4',
    ]
    assert.deepEqual(keysOf(lines), before)
    // it's now before the other agent's
    lines.update({ ...changes([row('4')]), removed: [] })
    assert.deepEqual(keysOf(lines).slice(2, 4), ['group/agent/a', 'row/a/4'])
    assert.deepEqual(
      keys(list, by('folder')).filter(key => key.startsWith('group')),
      ['group/pinned', 'group/folder//q/p q/p', 'group/folder//p p'],
    )
    assert.deepEqual(keys(list, { ...by('agent'), text: 'agent:other' }), ['group/agent/b', 'row/b/2'])
  })

  it('match all filters', () => {
    const list = [row('1', { title: 'Fix parser' }), row('2', { title: 'Fix build', here: false })]
    assert.deepEqual(keys(list, { text: 'fix', here: true, archived: false }), ['row/a/1'])
    assert.deepEqual(keys(list, { text: 'build', here: false, archived: false }), ['row/a/2'])
    assert.deepEqual(keys(list, { text: 'none', here: false, archived: false }), [])
  })

  it('are in all states that are searched for', () => {
    const list = [
      row('1', { open: true, activity: 'running', pinned: true }),
      row('2', { open: true, activity: 'requires_action' }),
      row('3', { elsewhere: 'running' }),
      row('4', { ended: 'failed' }),
      row('5', { archived: true }),
      row('6', { unlisted: 'gone' }),
    ]
    const found = (text: string) =>
      keys(list, { text, here: false, archived: false }).filter(key => key.startsWith('row/'))
    assert.deepEqual(found('is:running').sort(), ['row/a/1', 'row/a/3'])
    assert.deepEqual(found('is:waiting'), ['row/a/2'])
    assert.deepEqual(found('is:open').sort(), ['row/a/1', 'row/a/2', 'row/a/3'])
    const there = [row('1', { inWindow: true, ended: 'done' })]
    assert.deepEqual(keys(there, { text: 'is:open', here: false, archived: false }).at(-1), 'row/a/1')
    assert.deepEqual(found('is:failed'), ['row/a/4'])
    assert.deepEqual(found('is:done'), [])
    assert.deepEqual(found('is:archived'), ['row/a/5'])
    assert.deepEqual(found('is:unlisted'), ['row/a/6'])
    assert.deepEqual(found('is:Running is:pinned session'), ['row/a/1'])
    assert.deepEqual(found('is:runn').length, 5)
  })

  it('are ranked while text is searched for: titles first, then what conversations contain', () => {
    const lines = linesOf(
      [
        row('1', { title: 'Build', updatedAt: now - hour }),
        row('2', { title: 'Fix the build' }),
        row('3', { title: 'Parser' }),
        row('4', { title: 'Lexer', archived: true }),
        row('5', { title: 'Tests', agentName: 'Codex' }),
        row('6', { title: 'None' }),
      ],
      { text: 'build', here: false, archived: false },
    )
    const hit = (sessionId: string) => ({
      agentId: 'a',
      sessionId,
      entry: 'e',
      excerpt: ['the ', 'build'],
      count: 1,
    })
    assert.deepEqual(keysOf(lines), ['row/a/2', 'row/a/1'])
    lines.found(['5', '4', '1', '3', 'unknown'].map(hit))
    assert.deepEqual(keysOf(lines), ['row/a/2', 'row/a/1', 'row/a/5', 'row/a/3'])
    assert.deepEqual(
      lines.rows.map(item => [item.hit.value?.sessionId, item.height]),
      [
        [undefined, 44],
        ['1', 63],
        ['5', 63],
        ['3', 63],
      ],
    )
    lines.show({ text: 'build agent:codex', here: false, archived: false }, now)
    assert.deepEqual(keysOf(lines), ['row/a/5'])
    lines.show({ text: '', here: false, archived: false }, now)
    assert.equal(lines.item('row/a/3')?.hit.value, undefined)
    assert.equal(keysOf(lines)[0], 'group/today')
  })

  it('keep the other rows when one changes in place', () => {
    const lines = linesOf(
      Array.from({ length: 10_000 }, (_, i) => row(String(i), { updatedAt: now - i * 60_000 })),
    )
    const before = [...lines.window.items]
    const version = lines.version.value
    const values = lines.rows.map(item => item.row.value)
    const running = row('5', { updatedAt: now - 5 * 60_000 + 1, open: true, activity: 'running' })
    lines.update(changes([running], []))
    assert.equal(lines.version.value, version, 'no line moved')
    assert.ok(before.every((line, i) => line === lines.window.items[i]))
    assert.deepEqual(
      lines.rows.flatMap((item, i) => (item.row.value === values[i] ? [] : [i])),
      [5],
    )
    assert.equal(lines.item('row/a/5')?.row.value, running)
  })

  it('are moved, added and removed with changes', () => {
    const lines = linesOf([
      row('1'),
      row('2', { updatedAt: now - hour }),
      row('3', { updatedAt: now - 24 * hour }),
    ])
    const [first] = lines.rows
    const order = ['group/today', 'row/a/1', 'row/a/2', 'group/yesterday', 'row/a/3']
    assert.deepEqual(keysOf(lines), order)
    lines.update(changes([row('2', { updatedAt: now + 1 })], []))
    assert.deepEqual(keysOf(lines), ['group/today', 'row/a/2', 'row/a/1', 'group/yesterday', 'row/a/3'])
    assert.equal(lines.item('row/a/1'), first, 'its line is the same')
    assert.equal(lines.positionOf(first!), 2)
    // moves the last one of a date to the next date
    lines.update(changes([row('1', { updatedAt: now - 23 * hour })], []))
    assert.deepEqual(keysOf(lines), ['group/today', 'row/a/2', 'group/yesterday', 'row/a/1', 'row/a/3'])
    assert.equal(lines.positionOf(first!), 2)
    lines.update(changes([row('4', { updatedAt: undefined })], [{ agentId: 'a', sessionId: '2' }]))
    assert.deepEqual(keysOf(lines), ['group/yesterday', 'row/a/1', 'row/a/3', 'group/undated', 'row/a/4'])
    lines.update(changes([row('3', { updatedAt: now - 24 * hour, archived: true })], []))
    assert.deepEqual(keysOf(lines), ['group/yesterday', 'row/a/1', 'group/undated', 'row/a/4'])
    assert.deepEqual(lines.count.value, { all: 3, archived: 1 })
    lines.update(changes([row('1')]))
    assert.deepEqual(keysOf(lines), ['group/today', 'row/a/1'])
    assert.deepEqual(lines.count.value, { all: 1, archived: 0 })
  })

  it('are below different names if two folders have the same', () => {
    const list = [
      row('1', { cwd: '/work/a/app', folder: 'app' }),
      row('2', { cwd: '/work/b/app', folder: 'app', updatedAt: now - 1 }),
      row('3', { cwd: '/work/other', folder: 'other', updatedAt: now - 2 }),
      row('4', { cwd: '/old/b/app', folder: 'app', updatedAt: now - 3 }),
    ]
    const lines = linesOf(list.slice(0, 1), { text: '', here: false, archived: false, group: 'folder' })
    const names = () =>
      lines.window.items.flatMap(item =>
        item.kind === 'group' && item.group.kind === 'folder' ? [item.group.name] : [],
      )
    assert.deepEqual(names(), ['app'])
    lines.update(changes(list, []))
    assert.deepEqual(names(), ['a/app', 'work/b/app', 'other', 'old/b/app'])
  })

  it('choose the action for Enter that shows the most', () => {
    assert.equal(defaultAction(row('1')), 'load')
    assert.equal(defaultAction(row('1', { canLoad: false })), 'resume')
    assert.equal(defaultAction(row('1', { open: true })), 'show')
    const closed = { canLoad: false, canResume: false }
    assert.equal(defaultAction(row('1', closed)), undefined)
    assert.equal(defaultAction(row('1', { ...closed, inWindow: 'only' })), 'show')
    assert.equal(defaultAction(row('1', { inWindow: true })), 'load', 'it can be followed and taken over')
  })

  it('have a short time', () => {
    assert.equal(shortTime(now - 20_000, now), 'just now')
    assert.equal(shortTime(now + 20_000, now), 'just now')
    assert.equal(shortTime(now - 3 * 60_000, now), '3 min ago')
    assert.match(shortTime(now - 5 * hour, now), /10:30/)
    assert.match(shortTime(now - 60 * 24 * hour, now), /Sep 21/)
    assert.match(shortTime(now - 600 * 24 * hour, now), /2025/)
  })
})
