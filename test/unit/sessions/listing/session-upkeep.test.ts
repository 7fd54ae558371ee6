import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import { titleOf } from '../../../../src/sessions/session-title.ts'
import { until } from '../../../support/until.ts'
import { House } from '../house.ts'

describe('Naming sessions and putting them away', () => {
  const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }

  const shown = (house: House) => house.controller.current && titleOf(house.controller.current.session)

  it('keeps a name here for an agent that takes none, over its own title and through a load', async () => {
    const house = await House.withSession()
    await house.upkeep.rename(reference, '  A name \n of mine ')
    house.agent.say('s1', { type: 'info', title: 'What the agent calls it' })
    assert.equal(shown(house), 'A name of mine')
    assert.equal(house.records.get('one', 's1')?.givenTitle, 'A name of mine')
    const loading = house.controller.reopen('load', reference)
    await until(() => house.agent.loads.length === 1)
    house.agent.say('s1', { type: 'info', title: 'What the agent calls it' })
    house.agent.loads[0]?.resolve({ sessionId: 's1' })
    await loading
    assert.equal(shown(house), 'A name of mine')
    await house.upkeep.rename(reference, ' ')
    assert.equal(shown(house), 'What the agent calls it')
    assert.equal(house.records.get('one', 's1')?.givenTitle, undefined)
  })

  it('names a session that is not open, and one that Parley never opened', async () => {
    const house = new House()
    await house.upkeep.rename({ ...reference, sessionId: 'listed' }, 'Mine')
    assert.deepEqual(house.records.get('one', 'listed')?.givenTitle, 'Mine')
    assert.equal(house.started.length, 0)
  })

  it('asks an agent that keeps titles, and takes the words it chose', async () => {
    const house = await House.withSession()
    const asked: string[] = []
    Object.assign(house.agent, {
      capabilities: { ...house.agent.capabilities, setTitle: true },
      setSessionTitle: async (sessionId: string, title: string) => {
        asked.push(`${sessionId} ${title}`)
        if (title === 'No')
          throw new AgentRequestError('session/set_title', 'other', { code: 1, message: 'No.' })
        return `${title}!`
      },
    })
    await house.upkeep.rename(reference, 'Better')
    assert.deepEqual(asked, ['s1 Better'])
    assert.equal(shown(house), 'Better!')
    assert.equal(house.records.get('one', 's1')?.givenTitle, undefined)
    await assert.rejects(house.upkeep.rename(reference, 'No'), /No\./)
    assert.equal(shown(house), 'Better!')
  })

  it('archives with an agent that can, and not otherwise', async () => {
    const house = await House.withSession()
    await assert.rejects(house.upkeep.setArchived(reference, true), /cannot archive/)
    const asked: string[] = []
    Object.assign(house.agent, {
      capabilities: { ...house.agent.capabilities, archive: true },
      archiveSession: async (id: string) => void asked.push(`archive ${id}`),
      unarchiveSession: async (id: string) => void asked.push(`unarchive ${id}`),
    })
    await house.upkeep.setArchived(reference, true)
    assert.equal(house.records.get('one', 's1')?.archived, true)
    await house.upkeep.setArchived(reference, false)
    assert.equal(house.records.get('one', 's1')?.archived, false)
    assert.deepEqual(asked, ['archive s1', 'unarchive s1'])
  })

  it('brings a session back that the person goes on with', async () => {
    const house = await House.withSession()
    const asked: string[] = []
    Object.assign(house.agent, {
      capabilities: { ...house.agent.capabilities, archive: true },
      archiveSession: async () => {},
      unarchiveSession: async (id: string) => {
        asked.push(`unarchive ${id}`)
        if (id === 'no')
          throw new AgentRequestError('session/unarchive', 'other', { code: 1, message: 'No.' })
      },
      loadSession: async (id: string) => {
        asked.push(`load ${id}`)
        return { sessionId: id }
      },
    })
    await house.upkeep.setArchived(reference, true)
    await house.controller.reopen('load', reference)
    assert.equal(house.records.get('one', 's1')?.archived, false)
    for (const [sessionId, archived] of [
      ['s2', true],
      ['no', true],
      ['s3', false],
    ] as const) {
      await house.controller.reopen('load', { ...reference, sessionId, archived })
    }
    assert.deepEqual(asked, [
      'unarchive s1',
      'load s1',
      'unarchive s2',
      'load s2',
      'unarchive no',
      'load no',
      'load s3',
    ])
  })
})
