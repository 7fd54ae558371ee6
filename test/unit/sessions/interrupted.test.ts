import assert from 'node:assert/strict'
import { Interrupted, SessionIndicators } from '../../../src/sessions/session-indicators.ts'
import { until } from '../../support/until.ts'
import { SessionsFixture, sendPrompt } from './sessions-fixture.ts'

describe('Interrupted', () => {
  const disk = new Map<string, unknown>()
  const keep = {
    get: <T>(key: string) => disk.get(key) as T,
    set: (key: string, value: unknown) => void disk.set(key, structuredClone(value)),
  }
  const window = async () => {
    const fixture = await SessionsFixture.withSession()
    const indicators = new SessionIndicators(fixture.manager, () => false)
    return {
      fixture,
      interrupted: new Interrupted(fixture.manager, indicators.onDidChange, () => false, keep),
    }
  }
  const work = async (fixture: SessionsFixture) => {
    await sendPrompt(fixture.controller, 'long')
    await until(() => fixture.agent.prompts.length === 1)
  }

  beforeEach(() => disk.clear())

  it('remembers which sessions were working when the window closed, until they are opened again', async () => {
    const before = await window()
    await work(before.fixture)
    assert.equal(before.interrupted.has('one', 's1'), false, 'it is at work')

    const fixture = new SessionsFixture()
    const indicators = new SessionIndicators(fixture.manager, () => false)
    const after = new Interrupted(fixture.manager, indicators.onDidChange, () => false, keep)
    assert.equal(after.has('one', 's1'), true)
    assert.equal(after.has('one', 's2'), false)
    const starting = fixture.controller.opener.start('one')
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's2' })
    await starting
    await work(fixture)
    assert.equal(after.has('one', 's1'), true, 'nobody opened it')
    const reopening = fixture.controller.opener.reopen('resume', {
      agentId: 'one',
      sessionId: 's1',
      cwd: '/w/a',
    })
    await until(() => fixture.agent.resumes.length === 1)
    fixture.agent.resumes[0]?.resolve({ sessionId: 's1' })
    await reopening
    assert.equal(after.has('one', 's1'), false)
    assert.deepEqual([...disk.values()], [[['one', 's2']]])
  })

  it('forgets sessions that ended their work, and keeps the others when the window closes', async () => {
    const { fixture, interrupted } = await window()
    await work(fixture)
    fixture.agent.endTurn(fixture.agent.prompts[0]!)
    await until(() => fixture.controller.current?.session.state.activity === 'idle')
    assert.deepEqual([...disk.values()], [[]])
    await sendPrompt(fixture.controller, 'again')
    await until(() => fixture.agent.prompts.length === 2)
    interrupted.dispose()
    fixture.manager.dispose()
    assert.deepEqual([...disk.values()], [[['one', 's1']]])
  })

  it('accepts any content of its file', async () => {
    disk.set('parley.atWork', [['one', 's1'], 7, ['x'], { y: 1 }])
    const { interrupted } = await window()
    assert.equal(interrupted.has('one', 's1'), true)
    disk.set('parley.atWork', 'nonsense')
    assert.equal((await window()).interrupted.has('one', 's1'), false)
  })
})
