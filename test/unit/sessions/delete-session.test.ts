import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { SessionsFixture, twoWindows } from './sessions-fixture.ts'

describe('SessionManager: deleting', () => {
  it('deletes the session with the agent, closes it, and deletes what is saved', async () => {
    const fixture = await SessionsFixture.withSession()
    const deleted: string[] = []
    fixture.agent.deleteSession = async (id?: string) => void deleted.push(String(id))
    fixture.controller.leave()
    await fixture.manager.delete('one', 's1')
    assert.deepEqual(deleted, ['s1'])
    assert.deepEqual(fixture.manager.list(), [])
    assert.deepEqual(fixture.records.list('one'), [])
    assert.equal(fixture.transcripts.kept.has('one/s1'), false)
  })

  it('keeps what is saved if the agent refuses or another window has the session', async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.agent.deleteSession = async () => {
      throw new AgentRequestError('session/delete', 'other', { code: 1, message: 'It is locked.' })
    }
    await assert.rejects(fixture.manager.delete('one', 's1'), /It is locked/)
    assert.equal(fixture.records.list('one').length, 1)
    const [first, second] = twoWindows()
    first.leases.acquire('one', 's1')
    second.records.opened('one', { sessionId: 's1', cwd: '/w', additionalDirectories: [], title: 'Theirs' })
    await assert.rejects(second.manager.delete('one', 's1'), /open in another window/)
    assert.equal(second.records.list('one').length, 1)
  })

  it('stays reserved until all who reserved it are done', () => {
    const [first, second] = twoWindows()
    const marked = first.manager.reserve('one', 's1')
    first.manager.reserve('one', 's1').dispose()
    assert.throws(() => second.manager.reserve('one', 's1'), /open in another window/)
    marked.dispose()
    second.manager.reserve('one', 's1').dispose()
  })

  it("deletes what is saved if the agent can't delete, isn't running or is gone", async () => {
    const fixture = await SessionsFixture.withSession()
    Object.assign(fixture.agent, { capabilities: { ...fixture.agent.capabilities, delete: false } })
    fixture.agent.deleteSession = async () => assert.fail('it cannot')
    for (const agentId of ['one', 'two', 'gone']) {
      fixture.records.opened(agentId, {
        sessionId: 's1',
        cwd: '/w',
        additionalDirectories: [],
        title: 'Saved',
      })
      fixture.transcripts.write(agentId, 's1', { replace: true, entries: [], terminals: [] })
      await fixture.manager.delete(agentId, 's1')
      assert.deepEqual(fixture.records.list(agentId), [])
      assert.equal(fixture.transcripts.kept.has(`${agentId}/s1`), false)
    }
    assert.deepEqual(fixture.manager.list(), [])
  })
})
