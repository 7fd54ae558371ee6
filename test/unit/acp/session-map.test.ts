import assert from 'node:assert/strict'
import { SessionMap } from '../../../src/acp/session-map.ts'

describe('the sessions of an agent', () => {
  let created: string[]
  let sessions: SessionMap<{ id: string }>
  beforeEach(() => {
    created = []
    sessions = new SessionMap(id => {
      created.push(id)
      return { id }
    })
  })

  it('are the same whether an update or the response comes first', () => {
    const early = sessions.reported('a')
    assert.equal(sessions.opened('a'), early)
    assert.equal(sessions.reported('a'), early)
    assert.deepEqual(created, ['a'])
    sessions.delete('a')
    assert.notEqual(sessions.reported('a'), early)
  })

  it('are forgotten, the oldest first, if an agent reports a new one with each update, but not those that are open', () => {
    const open = sessions.opened('open')
    const first = sessions.reported('0')
    const last = sessions.reported('1')
    for (let i = 2; i <= 1000; i++) sessions.reported(String(i))
    assert.equal(sessions.reported('1'), last)
    assert.notEqual(sessions.reported('0'), first)
    assert.equal(sessions.opened('open'), open)
  })
})
