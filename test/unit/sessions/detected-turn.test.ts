import assert from 'node:assert/strict'
import type { Snapshot } from '../../../src/changes/detect/work-tree.ts'
import { deferred } from '../../../src/common/async.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { DetectedTurn } from '../../../src/sessions/detected-turn.ts'
import { RecentSaves } from '../../../src/sessions/recent-saves.ts'
import { tool } from '../conversation/updates.ts'

const before = Promise.resolve<Snapshot>({ repositories: [], folders: [], unseen: [], accepted: [] })

function note(turn: DetectedTurn, patch: Parameters<typeof tool>[1]): boolean {
  const state = createSessionState()
  reduce(state, tool('t', patch))
  return turn.note(state.entries[0])
}

describe('a turn whose changes are detected', () => {
  it('changed nothing as long as tools only read', () => {
    const turn = new DetectedTurn(1, 0, before)
    assert.equal(note(turn, { kind: 'read', status: 'completed' }), false)
    assert.equal(turn.worked, false)
  })

  it('knows whether a tool call may have run anything, or Git', () => {
    const turn = new DetectedTurn(1, 0, before)
    assert.equal(note(turn, { kind: 'edit', status: 'completed' }), true)
    assert.deepEqual([turn.worked, turn.ran], [true, false])
    assert.equal(note(turn, { kind: 'execute', status: 'in_progress', rawInput: { command: 'ls' } }), false)
    assert.deepEqual([turn.ran, turn.ranGit], [true, false])
    note(turn, { kind: 'execute', rawInput: { command: 'gh pr checkout 1' } })
    assert.equal(turn.ranGit, true)
    const next = new DetectedTurn(2, 0, before, turn)
    assert.deepEqual([next.worked, next.ran, next.ranGit], [true, true, true])
  })

  it('waits until every file is accepted that the user saved', async () => {
    const turn = new DetectedTurn(1, 0, before)
    turn.save('/a', Promise.resolve())
    const isSaved = turn.watchSaves()
    const accepting = deferred()
    turn.save('/b', accepting.promise)
    turn.save('/c', Promise.resolve())
    let isAccepted = false
    const accepted = turn.accepted.then(() => {
      isAccepted = true
    })
    await turn.before
    assert.equal(isAccepted, false)
    accepting.resolve()
    await accepted
    assert.deepEqual(['/a', '/b', '/c'].map(isSaved), [false, true, true])
  })
})

describe('files saved in the last moments', () => {
  it('are forgotten later, and if the clock is set back', () => {
    const saves = new RecentSaves()
    saves.add('/a', 1000)
    saves.add('/b', 1015)
    assert.deepEqual(saves.between(1000, 1015), ['/a', '/b'])
    assert.deepEqual(saves.between(1010, 1015), ['/b'])
    saves.add('/c', 1030)
    assert.deepEqual(saves.between(0, 2000), ['/b', '/c'])
    saves.add('/d', 10)
    assert.deepEqual(saves.between(0, 2000), ['/d'])
  })
})
