import assert from 'node:assert/strict'
import {
  type DeletableSession,
  SessionDeletions,
} from '../../../../src/sessions/listing/session-deletions.ts'
import { until } from '../../../support/until.ts'

describe('SessionDeletions', () => {
  let reserved: Set<string>
  let expired: string[][]

  const session = (sessionId: string): DeletableSession => ({
    agentId: 'one',
    agentName: 'Agent One',
    sessionId,
    title: sessionId,
    deletesCopy: false,
  })
  function begin(undoMs: number) {
    const deletions = new SessionDeletions(undoMs)
    reserved = new Set()
    expired = []
    deletions.onDidExpire(items => expired.push(items.map(({ sessionId }) => sessionId)))
    return deletions
  }
  function mark(deletions: SessionDeletions, sessionId: string): void {
    reserved.add(sessionId)
    deletions.mark([
      { item: session(sessionId), reserved: { dispose: () => void reserved.delete(sessionId) } },
    ])
  }
  const undoable = (deletions: SessionDeletions) => deletions.undoable.map(({ sessionId }) => sessionId)

  it('brings all back together, with nothing left of them', () => {
    const deletions = begin(1e6)
    mark(deletions, 'a')
    mark(deletions, 'b')
    assert.deepEqual(
      [undoable(deletions), [...reserved]],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    )
    assert.ok(deletions.has('one', 'a') && !deletions.has('two', 'a'))
    deletions.undo()
    assert.deepEqual([undoable(deletions), [...reserved], expired], [[], [], []])
    assert.ok(!deletions.has('one', 'a'))
  })

  it('deletes them after a while, hidden and reserved until that has ended', async () => {
    const deletions = begin(1)
    mark(deletions, 'a')
    mark(deletions, 'b')
    await until(() => expired.length > 0)
    assert.deepEqual([expired, undoable(deletions), [...reserved]], [[['a', 'b']], [], ['a', 'b']])
    deletions.undo()
    assert.ok(deletions.has('one', 'a'))
    // the user may delete another one meanwhile
    mark(deletions, 'c')
    deletions.ended(session('a'))
    assert.deepEqual([deletions.has('one', 'a'), [...reserved]], [false, ['b', 'c']])
    await until(() => expired.length > 1)
    assert.deepEqual(expired[1], ['c'])
  })

  it("doesn't bring others back on behalf of those that are gone", async () => {
    const deletions = begin(1)
    mark(deletions, 'a')
    await until(() => expired.length === 1)
    deletions.ended(session('a'))
    const later = begin(1e6)
    mark(later, 'b')
    assert.equal(later.undo([session('a')]), false)
    assert.deepEqual(undoable(later), ['b'])
    assert.equal(later.undo([session('a'), session('b')]), true)
    assert.deepEqual(undoable(later), [])
    deletions.dispose()
    later.dispose()
  })

  it('brings a single one back that is needed again, unless it is being deleted', async () => {
    const deletions = begin(1)
    mark(deletions, 'a')
    mark(deletions, 'b')
    assert.equal(deletions.restore(session('a')), true)
    assert.equal(deletions.restore(session('other')), true)
    assert.deepEqual([undoable(deletions), [...reserved]], [['b'], ['b']])
    await until(() => expired.length > 0)
    assert.deepEqual(expired, [['b']])
    assert.equal(deletions.restore(session('b')), false)
    assert.deepEqual([...reserved], ['b'])
    deletions.dispose()
  })

  it('says that nothing came back if there was nothing', () => {
    const deletions = begin(1e6)
    assert.equal(deletions.undo(), false)
    mark(deletions, 'a')
    assert.equal(deletions.undo(), true)
    deletions.dispose()
  })

  it('counts a session that is deleted twice once', () => {
    const deletions = begin(1e6)
    mark(deletions, 'a')
    let released = false
    const reserved = {
      dispose() {
        released = true
      },
    }
    deletions.mark([{ item: session('a'), reserved }])
    assert.deepEqual([undoable(deletions), released], [['a'], true])
    deletions.dispose()
  })

  it('deletes nothing when the window closes', async () => {
    const deletions = begin(1)
    mark(deletions, 'a')
    deletions.dispose()
    await new Promise(resolve => setTimeout(resolve, 5))
    assert.deepEqual([expired, [...reserved]], [[], []])
    mark(deletions, 'b')
    assert.deepEqual([undoable(deletions), [...reserved]], [[], []])
  })
})
