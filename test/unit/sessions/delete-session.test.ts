import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { CancelledError } from '../../../src/common/errors.ts'
import { restoreNeeded, SessionDeletions } from '../../../src/sessions/listing/session-deletions.ts'
import { until } from '../../support/until.ts'
import { SessionsFixture, twoWindows } from './sessions-fixture.ts'

const theirs = { agentId: 'one', sessionId: 's1', agentName: 'Agent One', deletesCopy: false }

describe('SessionDeleter', () => {
  it('deletes the session with the agent, closes it, and deletes what is saved', async () => {
    const fixture = await SessionsFixture.withSession()
    const deleted: string[] = []
    fixture.agent.deleteSession = async (id?: string) => void deleted.push(String(id))
    fixture.controller.leave()
    await fixture.deleter.delete(theirs)
    assert.deepEqual(deleted, ['s1'])
    assert.deepEqual(fixture.manager.list(), [])
    assert.deepEqual(fixture.records.list('one'), [])
    assert.equal(fixture.transcripts.kept.has('one/s1'), false)
  })

  it('deletes what the user has written for the session, and nothing of others', async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.controller.leave()
    const draft = (text: string) => ({ text, chips: [], items: [] })
    fixture.drafts.set('one/s1', draft('written for it'))
    fixture.drafts.set('one/s2', draft('written for another one'))
    fixture.queues.of('one/s1').addReturned([{ id: 'p1', draft: draft('queued') }])
    await until(() => fixture.drafts.prompts('one/s1').length > 0)
    await fixture.deleter.delete(theirs)
    assert.deepEqual(fixture.drafts.keys(), ['one/s2'])
    assert.deepEqual(fixture.queues.of('one/s1').returned, [])
  })

  it('keeps what is saved if the agent refuses or another window has the session', async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.agent.deleteSession = async () => {
      throw new AgentRequestError('session/delete', 'other', { code: 1, message: 'It is locked.' })
    }
    await assert.rejects(fixture.deleter.delete(theirs), /It is locked/)
    assert.equal(fixture.records.list('one').length, 1)
    const [first, second] = twoWindows()
    first.leases.acquire('one', 's1')
    second.records.opened('one', { sessionId: 's1', cwd: '/w', additionalDirectories: [], title: 'Theirs' })
    await assert.rejects(second.deleter.delete(theirs), /open in another window/)
    assert.equal(second.records.list('one').length, 1)
  })

  it('stays reserved until all who reserved it are done', () => {
    const [first, second] = twoWindows()
    const marked = first.held.reserve(theirs)
    first.held.reserve(theirs).dispose()
    assert.throws(() => second.held.reserve(theirs), /open in another window/)
    marked.dispose()
    second.held.reserve(theirs).dispose()
  })

  it('keeps other windows from an open session until its agent has deleted it', async () => {
    const [first, second] = twoWindows()
    const starting = first.controller.opener.start('one')
    await until(() => first.started.length > 0 && first.agent.newSessions.length > 0)
    first.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
    first.controller.leave()
    let wasFree = false
    first.agent.deleteSession = async () => {
      wasFree = second.leases.acquire('one', 's1')
    }
    await first.deleter.delete(theirs)
    assert.equal(wasFree, false)
    assert.equal(second.leases.acquire('one', 's1'), true)
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
      await fixture.deleter.delete({ agentId, sessionId: 's1', agentName: agentId, deletesCopy: true })
      assert.deepEqual(fixture.records.list(agentId), [])
      assert.equal(fixture.transcripts.kept.has(`${agentId}/s1`), false)
    }
    assert.deepEqual(fixture.manager.list(), [])
  })

  it('leaves the agent its own copy if the user was told so, though it runs by now', async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.agent.deleteSession = async () => assert.fail('the user was told that the agent keeps it')
    fixture.controller.leave()
    await fixture.deleter.delete({ ...theirs, deletesCopy: true })
    assert.deepEqual(fixture.records.list('one'), [])
    assert.equal(fixture.transcripts.kept.has('one/s1'), false)
  })

  it("deletes nothing if the agent should delete the session, but doesn't run anymore", async () => {
    const fixture = await SessionsFixture.withSession()
    const [open] = fixture.manager.list()
    await fixture.manager.openSessions.close(open!)
    fixture.agent.dispose()
    await until(() => !fixture.runners.peek('one')?.running)
    await assert.rejects(
      fixture.deleter.delete(theirs),
      /Agent One isn't running anymore, so the session wasn't deleted/,
    )
    assert.equal(fixture.records.list('one').length, 1)
  })

  it("says that the saved conversation couldn't be deleted, and keeps its session in the list", async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.controller.leave()
    fixture.transcripts.write('one', 's1', { replace: true, entries: [], terminals: [] })
    fixture.transcripts.fails = true
    await assert.rejects(fixture.deleter.delete(theirs), /couldn't be deleted from this machine/)
    assert.equal(fixture.records.list('one').length, 1)
    fixture.transcripts.fails = false
    await fixture.deleter.delete(theirs)
    assert.deepEqual([fixture.records.list('one'), fixture.transcripts.kept.has('one/s1')], [[], false])
  })

  it("doesn't ask an agent again that has deleted the session while the disk couldn't be written", async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.controller.leave()
    fixture.agent.deleteSession = async () => {}
    fixture.transcripts.fails = true
    await assert.rejects(fixture.deleter.delete(theirs), /couldn't be deleted from this machine/)
    fixture.transcripts.fails = false
    fixture.agent.deleteSession = async () => {
      throw new AgentRequestError('session/delete', 'other', {
        code: 1,
        message: 'There is no such session.',
      })
    }
    await fixture.deleter.delete(theirs)
    assert.deepEqual(fixture.records.list('one'), [])
  })

  it('asks an agent again that had the session after all', async () => {
    const fixture = await SessionsFixture.withSession()
    const deleted: string[] = []
    fixture.agent.deleteSession = async (id?: string) => void deleted.push(String(id))
    fixture.controller.leave()
    fixture.transcripts.fails = true
    await assert.rejects(fixture.deleter.delete(theirs), /couldn't be deleted from this machine/)
    fixture.transcripts.fails = false
    const opening = fixture.controller.opener.reopen('resume', { ...theirs, cwd: '/w' })
    await until(() => fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await opening
    fixture.controller.leave()
    await fixture.deleter.delete(theirs)
    assert.deepEqual(deleted, ['s1', 's1'])
  })

  it('keeps a session that another window has imported since the user deleted it', async () => {
    const fixture = await SessionsFixture.withSession()
    fixture.controller.leave()
    fixture.agent.deleteSession = async () => assert.fail('the session stays')
    const copies = fixture.transcripts.copies()
    fixture.transcripts.separate.add('imported')
    await assert.rejects(fixture.deleter.delete({ ...theirs, copies }), CancelledError)
    assert.equal(fixture.records.list('one').length, 1)
    // it may also be imported while the agent deletes it
    fixture.transcripts.separate.clear()
    fixture.agent.deleteSession = async () => void fixture.transcripts.separate.add('imported')
    await fixture.deleter.delete({ ...theirs, copies })
    assert.deepEqual([...fixture.transcripts.separate], ['imported'])
    assert.equal(fixture.records.list('one').length, 1)
  })

  it('says when another window requests or takes a session that is only reserved here', async () => {
    const [first, second] = twoWindows()
    const yielded: string[] = []
    first.manager.openSessions.onDidYield(({ sessionId }) => yielded.push(sessionId))
    const marked = first.held.reserve(theirs)
    second.leases.request('one', 's1')
    assert.deepEqual(yielded, ['s1'])
    // it's still needed here until that has been decided
    assert.equal(second.leases.acquire('one', 's1'), false)
    marked.dispose()
    assert.equal(second.leases.acquire('one', 's1'), true)
  })

  it("doesn't delete a session that is opened again meanwhile", async () => {
    const fixture = await SessionsFixture.withSession()
    const [open] = fixture.manager.list()
    const deletions = new SessionDeletions(1e6)
    restoreNeeded(deletions, fixture.openSessions)
    fixture.controller.leave()
    await fixture.manager.openSessions.close(open!)
    deletions.mark([{ item: theirs, reserved: fixture.held.reserve(theirs) }])
    assert.ok(deletions.has('one', 's1'))
    // the agent doesn't respond
    fixture.starter.reopen('resume', { ...theirs, cwd: '/w' }, new AbortController().signal).catch(() => {})
    await until(() => fixture.manager.list().length > 0)
    assert.equal(deletions.has('one', 's1'), false)
    deletions.dispose()
  })

  it("doesn't delete a session that another window takes over meanwhile", async () => {
    const [first, second] = twoWindows()
    const deletions = new SessionDeletions(1e6)
    restoreNeeded(deletions, first.openSessions)
    deletions.mark([{ item: theirs, reserved: first.held.reserve(theirs) }])
    await second.held.takeOver(theirs, new AbortController().signal)
    assert.equal(deletions.has('one', 's1'), false)
    assert.throws(() => first.held.reserve(theirs), /open in another window/)
    deletions.dispose()
  })
})
