import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { House } from './house.ts'

describe('SessionManager: deleting', () => {
  it('deletes with the agent, closes it here, and forgets what was kept', async () => {
    const house = await House.withSession()
    const deleted: string[] = []
    house.agent.deleteSession = async (id?: string) => void deleted.push(String(id))
    house.controller.leave()
    await house.manager.delete('one', 's1')
    assert.deepEqual(deleted, ['s1'])
    assert.deepEqual(house.manager.list(), [])
    assert.deepEqual(house.records.list('one'), [])
    assert.equal(house.transcripts.kept.has('one/s1'), false)
  })

  it('forgets nothing when the agent refuses or cannot', async () => {
    const house = await House.withSession()
    house.agent.deleteSession = async () => {
      throw new AgentRequestError('session/delete', 'other', { code: 1, message: 'It is locked.' })
    }
    await assert.rejects(house.manager.delete('one', 's1'), /It is locked/)
    assert.equal(house.records.list('one').length, 1)
    Object.assign(house.agent, { capabilities: { ...house.agent.capabilities, delete: false } })
    await assert.rejects(house.manager.delete('one', 's1'), /cannot delete/)
    await assert.rejects(house.manager.delete('two', 's1'), /cannot delete/)
  })
})
