import assert from 'node:assert/strict'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { indicatorOf, SessionIndicators } from '../../../src/sessions/session-indicators.ts'
import { until } from '../../support/until.ts'
import { chunk } from '../conversation/updates.ts'
import { SessionsFixture, sendPrompt } from './sessions-fixture.ts'

describe('the indicator of a session', () => {
  let fixture: SessionsFixture
  let seen: OpenSession | undefined
  let indicators: SessionIndicators
  let reported = 0

  beforeEach(async () => {
    fixture = new SessionsFixture()
    seen = undefined
    reported = 0
    indicators = new SessionIndicators(fixture.manager, open => open === seen)
    indicators.onDidChange(() => reported++)
    const starting = fixture.controller.opener.start()
    await until(() => fixture.started.length > 0 && fixture.agent.newSessions.length > 0)
    assert.equal(indicatorOf(fixture.controller, indicators), 'running', 'while it starts')
    fixture.agent.newSessions[0]?.resolve({ sessionId: 's1' })
    await starting
  })
  afterEach(() => indicators.dispose())

  const open = () => fixture.controller.current!
  async function turn(stopReason: string): Promise<void> {
    const count = fixture.agent.prompts.length
    await sendPrompt(fixture.controller, 'go')
    await until(() => fixture.agent.prompts.length === count + 1)
    assert.equal(indicators.of(open()), 'running')
    fixture.agent.endTurn(fixture.agent.prompts.at(-1)!, stopReason)
    await until(() => open().session.state.activity === 'idle')
  }

  it("shows that work ended while the session wasn't visible, until it is", async () => {
    assert.equal(indicators.of(open()), 'idle')
    await turn('end_turn')
    assert.equal(indicators.of(open()), 'done')
    assert.equal(indicators.endedOf('one', 's1'), 'done')
    assert.equal(indicators.count('done'), 1)
    indicators.markSeen()
    assert.equal(indicators.of(open()), 'done', 'it is not the one that is looked at')
    seen = open()
    const before = reported
    indicators.markSeen()
    assert.equal(indicators.of(open()), 'idle')
    assert.ok(reported > before)
    await turn('end_turn')
    assert.equal(indicators.of(open()), 'idle', 'it was looked at all the time')
  })

  it('distinguishes failed from completed work, and is reset when work starts', async () => {
    await turn('error')
    assert.equal(indicators.of(open()), 'failed')
    await turn('end_turn')
    assert.equal(indicators.of(open()), 'done')
  })

  it('shows that a request is pending', async () => {
    await sendPrompt(fixture.controller, 'go')
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.say('s1', { type: 'state', state: 'requires_action' })
    assert.equal(indicatorOf(fixture.controller, indicators), 'waiting')
    fixture.agent.say('s1', { type: 'state', state: 'running' }, chunk('agent', 'x'))
    assert.equal(indicatorOf(fixture.controller, indicators), 'running')
  })

  it('stays failed if the agent exited, and counts only open sessions', async () => {
    await turn('end_turn')
    fixture.agent.exit()
    await until(() => fixture.controller.phase === 'ended')
    assert.equal(indicatorOf(fixture.controller, indicators), 'failed')
    assert.equal(indicators.count('done'), 0)
  })

  it("isn't failed if the user only has to choose an agent or to trust the workspace", async () => {
    fixture.entries.length = 0
    await fixture.controller.opener.start()
    assert.equal(indicatorOf(fixture.controller, indicators), 'idle')
    await fixture.controller.opener.start('nobody')
    assert.equal(indicatorOf(fixture.controller, indicators), 'failed')
    fixture.trusted = false
    await fixture.controller.opener.start('one')
    assert.equal(indicatorOf(fixture.controller, indicators), 'idle')
  })

  it('is reported when the title changes', async () => {
    const before = reported
    fixture.agent.say('s1', { type: 'info', title: 'A title' })
    assert.ok(reported > before)
  })
})
