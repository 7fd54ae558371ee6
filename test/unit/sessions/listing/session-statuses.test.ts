import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import { SessionStatuses } from '../../../../src/sessions/listing/history-list.ts'
import { until } from '../../../support/until.ts'
import { FakeAgent } from '../../conversation/fake-agent.ts'

describe('SessionStatuses', () => {
  function begin(tell: (sessionId: string) => Promise<{ status: string; activity?: string }>) {
    const agent = new FakeAgent()
    const asked: string[] = []
    Object.assign(agent, {
      capabilities: { ...agent.capabilities, sessionStatus: true },
      sessionStatus: (sessionId: string) => {
        asked.push(sessionId)
        return tell(sessionId)
      },
    })
    let changes = 0
    const statuses = new SessionStatuses(agent, () => changes++)
    return { agent, statuses, asked, changes: () => changes }
  }

  it('requests one after the other and reports only changes', async () => {
    let running = 0
    const { statuses, asked, changes } = begin(async sessionId => {
      assert.equal(++running, 1)
      await Promise.resolve()
      running--
      return { status: sessionId === 'a' ? 'open' : 'saved' }
    })
    statuses.refresh(['a', 'b'])
    await until(() => changes() === 2)
    assert.deepEqual(asked, ['a', 'b'])
    assert.deepEqual(statuses.all.get('a'), { status: 'open' })
    statuses.refresh(['a', 'b'])
    await until(() => asked.length === 4)
    assert.equal(changes(), 2)
  })

  it('requests the statuses of only the newest fifty sessions', async () => {
    const { statuses, asked } = begin(async () => ({ status: 'saved' }))
    statuses.refresh(Array.from({ length: 80 }, (_, i) => `s${i}`))
    await until(() => asked.length >= 50)
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(asked.length, 50)
  })

  it("continues after a session that the agent doesn't know", async () => {
    let isThere = true
    const { statuses, asked, changes } = begin(async sessionId => {
      if (sessionId === 'gone' && !isThere) {
        throw new AgentRequestError('session/status', 'not-found', {
          code: -32002,
          message: 'Session not found',
        })
      }
      return { status: 'saved' }
    })
    statuses.refresh(['gone', 'b'])
    await until(() => changes() === 2)
    isThere = false
    statuses.refresh(['gone', 'b'])
    await until(() => asked.length === 4)
    assert.deepEqual(asked, ['gone', 'b', 'gone', 'b'])
    assert.equal(statuses.all.get('gone'), undefined)
    assert.deepEqual(statuses.all.get('b'), { status: 'saved' })
    assert.equal(changes(), 3)
  })

  it('requests nothing without the capability, or after a failure', async () => {
    const failing = begin(async () => {
      throw new Error('no')
    })
    failing.statuses.refresh(['a', 'b'])
    await until(() => failing.asked.length === 1)
    await new Promise(resolve => setImmediate(resolve))
    failing.statuses.refresh(['a', 'b'])
    assert.deepEqual(failing.asked, ['a'])
    const cannot = begin(async () => ({ status: 'open' }))
    Object.assign(cannot.agent, { capabilities: { ...cannot.agent.capabilities, sessionStatus: false } })
    cannot.statuses.refresh(['a'])
    assert.deepEqual(cannot.asked, [])
  })
})
