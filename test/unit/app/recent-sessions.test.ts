import assert from 'node:assert/strict'
import { firstSessions, RecentSessions } from '../../../src/app/conversation/recent-sessions.ts'
import { withOtherWindows } from '../../../src/app/history/rows.ts'
import type { OtherSession } from '../../../src/app/window-sessions.ts'
import { Emitter } from '../../../src/common/event.ts'
import { historyRow } from '../webview/history/rows.ts'

describe('the sessions on the start page', () => {
  const idsOf = (rows: ReturnType<typeof historyRow>[], hasFolder = true) =>
    firstSessions(rows, hasFolder).map(({ sessionId }) => sessionId)

  it('are ordered: sessions that need the user, running ones, ended ones, then the most recent', () => {
    const rows = [
      historyRow('old', { updatedAt: 1 }),
      historyRow('new', { updatedAt: 5 }),
      historyRow('done', { open: true, ended: 'done', updatedAt: 2 }),
      historyRow('interrupted', { ended: 'interrupted', updatedAt: 3 }),
      historyRow('running', { open: true, activity: 'running', updatedAt: 1 }),
      historyRow('waiting', { open: true, activity: 'requires_action', updatedAt: 0 }),
    ]
    assert.deepEqual(idsOf(rows), ['waiting', 'running', 'interrupted', 'done', 'new', 'old'])
  })

  it('are at most six', () => {
    assert.equal(idsOf(Array.from({ length: 40 }, (_, at) => historyRow(`s${at}`))).length, 6)
  })

  it('are found without sorting all sessions', () => {
    const times = Array.from({ length: 2000 }, (_, at) => (at * 7919) % 2003)
    let read = 0
    const rows = times.map((updatedAt, at) =>
      Object.defineProperty(historyRow(`s${at}`), 'updatedAt', {
        get: () => {
          read += 1
          return updatedAt
        },
      }),
    )
    const newest = times
      .map((time, at) => ({ time, at }))
      .sort((a, b) => b.time - a.time)
      .slice(0, 6)
    assert.deepEqual(
      idsOf(rows),
      newest.map(({ at }) => `s${at}`),
    )
    // sorting compares each row about eleven times, and reads four times to compare two
    assert.ok(read < 10 * rows.length, `${read}`)
  })

  it('are those of this workspace, and open ones of any folder; without a folder, those of all', () => {
    const rows = [
      historyRow('here'),
      historyRow('there', { here: false }),
      historyRow('open there', { here: false, open: true }),
      historyRow('archived', { archived: true }),
      historyRow('lost', { canLoad: false, canResume: false }),
    ]
    assert.deepEqual(idsOf(rows), ['here', 'open there'])
    assert.deepEqual(idsOf(rows, false), ['here', 'there', 'open there'])
  })

  it('include running sessions of other windows in any folder, with their state', () => {
    const other = (
      sessionId: string,
      indicator: OtherSession['indicator'],
      more: Partial<OtherSession> = {},
    ) => ({
      ...{ agentId: 'a', agentName: 'Agent', sessionId, indicator, cwd: '/elsewhere' },
      ...{ window: { name: 'w' }, ...more },
    })
    const rows = [
      historyRow('idle', { updatedAt: 9 }),
      historyRow('known', { here: false, title: 'My title', updatedAt: 1, elsewhere: 'open' }),
      historyRow('taken', { open: true, activity: 'running', updatedAt: 2 }),
    ]
    const others = [
      other('known', 'running', { at: 5 }),
      other('taken', 'done'),
      other('foreign', 'waiting', { title: ' \u202eOther\u200b ', agentName: 'Unknown' }),
      other('over', 'failed'),
    ]
    const all = withOtherWindows(rows, others, () => false)
    const shown = firstSessions(all, true)
    assert.deepEqual(
      shown.map(({ sessionId, inWindow, activity, ended }) => [sessionId, inWindow, activity ?? ended]),
      [
        ['foreign', 'only', 'requires_action'],
        ['known', true, 'running'],
        ['taken', undefined, 'running'],
        ['over', 'only', 'failed'],
        ['idle', undefined, undefined],
      ],
    )
    assert.deepEqual([shown[1]?.title, shown[1]?.updatedAt], ['My title', 5])
    assert.deepEqual([shown[0]?.untitled, shown[0]?.folder, shown[0]?.canLoad], [false, 'elsewhere', false])
    assert.ok(!shown[0]?.title.includes('\u202e'))
    assert.equal(
      withOtherWindows(rows, [], () => false),
      rows,
    )
  })

  it('are listed again only after a change, also of the folders', () => {
    const change = new Emitter<void>()
    let listed = 0
    let folders = ['/p']
    const recent = new RecentSessions({
      rows: () => {
        listed += 1
        return [historyRow('s')]
      },
      folders: () => folders,
      open: async () => {},
      refresh: () => {},
      changes: [change.event],
    })
    let changes = 0
    recent.onDidChange(() => {
      changes += 1
    })
    assert.equal(recent.list(), recent.list())
    assert.equal(listed, 1)
    change.fire()
    recent.list()
    assert.deepEqual([listed, changes], [2, 1])
    folders = ['/p', '/q']
    recent.list()
    assert.equal(listed, 3)
    recent.dispose()
  })
})
