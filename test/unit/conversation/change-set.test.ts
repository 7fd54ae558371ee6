import { strict as assert } from 'node:assert'
import { ChangeSet } from '../../../src/conversation/change-set.ts'

describe('ChangeSet', () => {
  it('joins appended text by entry and block, and contains each change once', () => {
    const changes = new ChangeSet()
    changes.add([
      { type: 'text', id: 'e0', block: 0, text: 'a' },
      { type: 'text', id: 'e0', block: 1, text: 'x' },
      { type: 'text', id: 'e0', block: 0, text: 'b' },
      { type: 'entry', id: 'e1' },
      { type: 'entry', id: 'e1' },
      { type: 'terminal_output', terminalId: 't', text: '1' },
      { type: 'terminal_output', terminalId: 't', text: '2' },
      { type: 'head', key: 'usage' },
      { type: 'head', key: 'usage' },
    ])
    assert.deepEqual(changes.take(), {
      reset: false,
      entries: ['e1'],
      texts: [
        { id: 'e0', block: 0, text: 'ab' },
        { id: 'e0', block: 1, text: 'x' },
      ],
      terminals: [],
      outputs: [{ terminalId: 't', text: '12' }],
      head: ['usage'],
    })
    assert(changes.isEmpty)
  })

  it('drops appended text if the whole entry is reported before or after it', () => {
    const changes = new ChangeSet()
    changes.add([
      { type: 'text', id: 'e0', block: 0, text: 'a' },
      { type: 'entry', id: 'e0' },
      { type: 'text', id: 'e0', block: 0, text: 'b' },
      { type: 'terminal_output', terminalId: 't', text: '1' },
      { type: 'terminal', terminalId: 't' },
      { type: 'terminal_output', terminalId: 't', text: '2' },
    ])
    const taken = changes.take()
    assert.deepEqual([taken.entries, taken.texts], [['e0'], []])
    assert.deepEqual([taken.terminals, taken.outputs], [['t'], []])
  })

  it('contains only a reset after a reset', () => {
    const changes = new ChangeSet()
    changes.add([{ type: 'entry', id: 'e0' }, { type: 'reset' }, { type: 'entry', id: 'e1' }])
    assert(!changes.isEmpty)
    const taken = changes.take()
    assert.equal(taken.reset, true)
    assert.deepEqual(taken.entries, [])
    changes.add([{ type: 'entry', id: 'e2' }])
    assert.deepEqual([changes.take().reset, changes.isEmpty], [false, true])
  })
})
