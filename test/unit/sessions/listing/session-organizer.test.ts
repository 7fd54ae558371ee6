import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import { titleOf } from '../../../../src/sessions/session-title.ts'
import { until } from '../../../support/until.ts'
import { SessionsFixture } from '../sessions-fixture.ts'

describe('SessionOrganizer', () => {
  const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }

  const shown = (fixture: SessionsFixture) =>
    fixture.controller.current && titleOf(fixture.controller.current.session)

  it("stores the title if the agent doesn't support renaming, and keeps it after a load", async () => {
    const fixture = await SessionsFixture.withSession()
    await fixture.organizer.rename(reference, '  A name \n of mine ')
    fixture.agent.say('s1', { type: 'info', title: 'What the agent calls it' })
    assert.equal(shown(fixture), 'A name of mine')
    assert.equal(fixture.records.get('one', 's1')?.givenTitle, 'A name of mine')
    const loading = fixture.controller.opener.reopen('load', reference)
    await until(() => fixture.agent.loads.length === 1)
    fixture.agent.say('s1', { type: 'info', title: 'What the agent calls it' })
    fixture.agent.loads[0]?.resolve({ sessionId: 's1' })
    await loading
    assert.equal(shown(fixture), 'A name of mine')
    await fixture.organizer.rename(reference, ' ')
    assert.equal(shown(fixture), 'What the agent calls it')
    assert.equal(fixture.records.get('one', 's1')?.givenTitle, undefined)
  })

  it("renames a session that isn't open, and one that Parley never opened", async () => {
    const fixture = new SessionsFixture()
    await fixture.organizer.rename({ ...reference, sessionId: 'listed' }, 'Mine')
    assert.deepEqual(fixture.records.get('one', 'listed')?.givenTitle, 'Mine')
    assert.equal(fixture.started.length, 0)
  })

  it("renames with the agent if supported, and uses the agent's title", async () => {
    const fixture = await SessionsFixture.withSession()
    const asked: string[] = []
    Object.assign(fixture.agent, {
      capabilities: { ...fixture.agent.capabilities, setTitle: true },
      setSessionTitle: async (sessionId: string, title: string) => {
        asked.push(`${sessionId} ${title}`)
        if (title === 'No')
          throw new AgentRequestError('session/set_title', 'other', { code: 1, message: 'No.' })
        return `${title}!`
      },
    })
    await fixture.organizer.rename(reference, 'Better')
    assert.deepEqual(asked, ['s1 Better'])
    assert.equal(shown(fixture), 'Better!')
    assert.equal(fixture.records.get('one', 's1')?.givenTitle, undefined)
    await assert.rejects(fixture.organizer.rename(reference, 'No'), /No\./)
    assert.equal(shown(fixture), 'Better!')
  })

  it('pins a session, whatever its agent supports', async () => {
    const fixture = await SessionsFixture.withSession()
    let changes = 0
    fixture.organizer.onDidChange(() => {
      changes += 1
    })
    fixture.organizer.setPinned(reference, true)
    assert.equal(fixture.records.get('one', 's1')?.pinned, true)
    fixture.organizer.setPinned(reference, false)
    assert.deepEqual([fixture.records.get('one', 's1')?.pinned, changes], [false, 2])
  })

  it('archives only with an agent that supports it', async () => {
    const fixture = await SessionsFixture.withSession()
    await assert.rejects(fixture.organizer.setArchived(reference, true), /can't archive/)
    const asked: string[] = []
    Object.assign(fixture.agent, {
      capabilities: { ...fixture.agent.capabilities, archive: true },
      archiveSession: async (id: string) => void asked.push(`archive ${id}`),
      unarchiveSession: async (id: string) => void asked.push(`unarchive ${id}`),
    })
    await fixture.organizer.setArchived(reference, true)
    assert.equal(fixture.records.get('one', 's1')?.archived, true)
    await fixture.organizer.setArchived(reference, false)
    assert.equal(fixture.records.get('one', 's1')?.archived, false)
    assert.deepEqual(asked, ['archive s1', 'unarchive s1'])
  })

  it('unarchives a session when the user continues it', async () => {
    const fixture = await SessionsFixture.withSession()
    const asked: string[] = []
    Object.assign(fixture.agent, {
      capabilities: { ...fixture.agent.capabilities, archive: true },
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
    await fixture.organizer.setArchived(reference, true)
    await fixture.controller.opener.reopen('load', reference)
    assert.equal(fixture.records.get('one', 's1')?.archived, false)
    for (const [sessionId, archived] of [
      ['s2', true],
      ['no', true],
      ['s3', false],
    ] as const) {
      await fixture.controller.opener.reopen('load', { ...reference, sessionId, archived })
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
