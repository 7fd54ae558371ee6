import assert from 'node:assert/strict'
import { restoreState } from '../../../src/conversation/replay/restore-state.ts'
import { rewindNote, rewindsOf } from '../../../src/conversation/rewinds.ts'
import type { Entry, Rewind } from '../../../src/conversation/state.ts'

describe('going back in a conversation', () => {
  const user = (turn: number, text: string): Entry => ({
    kind: 'message',
    role: 'user',
    id: `u${turn}`,
    turn,
    blocks: [{ type: 'text', text }],
  })
  const answer = (turn: number): Entry => ({
    kind: 'message',
    role: 'agent',
    id: `a${turn}`,
    turn,
    blocks: [{ type: 'text', text: 'done' }],
  })
  const back = (id: string, rewind: Rewind): Entry => ({
    kind: 'notice',
    id,
    turn: rewind.to,
    severity: 'info',
    title: 'back',
    rewind,
  })
  const noteOf = (entries: Entry[]) => {
    const note = rewindNote({ entries })
    return note?.type === 'text' ? note.text : undefined
  }
  const talk = () => [user(1, 'first'), answer(1), user(2, 'second'), answer(2), user(3, 'third'), answer(3)]

  it('is reported to the agent once, with the next prompt', () => {
    const entries = talk()
    assert.equal(noteOf(entries), undefined)
    entries.push(back('n', { from: 2, to: 3, restored: 'x' }))
    assert.match(
      noteOf(entries)!,
      /Disregard that prompt.*files that changed.*restored.*\n\nThe prompt was:\nsecond$/s,
    )
    assert.deepEqual(rewindNote({ entries }), { type: 'text', text: noteOf(entries), agentOnly: true })
    // a command is sent without the report
    entries.push(user(4, '/compact'))
    assert.match(noteOf(entries)!, /second/)
    entries.push(user(5, 'again'))
    assert.equal(noteOf(entries), undefined)
  })

  it('reports the state of the files before the earliest restored prompt', () => {
    const entries = [...talk(), back('n', { from: 3, to: 3 })]
    assert.match(noteOf(entries)!, /left as they are.*third$/s)
    entries.push(back('m', { from: 1, to: 3 }))
    assert.match(noteOf(entries)!, /first$/)
  })

  it("isn't reported after it was undone", () => {
    const entries = talk()
    const state = { entries }
    assert.deepEqual(rewindsOf(state), [])
    const notice = back('n', { from: 2, to: 3, restored: 'x' })
    entries.push(notice)
    assert.deepEqual(rewindsOf(state), [notice])
    entries[entries.length - 1] = back('n', { from: 2, to: 3, restored: 'x', withdrawn: true })
    assert.deepEqual(rewindsOf(state), [])
    assert.equal(noteOf(entries), undefined)
  })

  it('is restored after a reload', () => {
    const entries = JSON.parse(JSON.stringify([...talk(), back('n', { from: 2, to: 3, restored: 'x' })]))
    const state = restoreState({ entries, terminals: [], head: {} } as never)
    assert.deepEqual(
      rewindsOf(state).map(({ rewind }) => rewind),
      [{ from: 2, to: 3, restored: 'x' }],
    )
  })
})
