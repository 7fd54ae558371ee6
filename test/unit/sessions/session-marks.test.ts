import assert from 'node:assert/strict'
import type { OpenSession } from '../../../src/sessions/session-manager.ts'
import { markOf, SessionMarks } from '../../../src/sessions/session-marks.ts'
import { until } from '../../support/until.ts'
import { chunk } from '../conversation/updates.ts'
import { House } from './house.ts'

describe('The mark of a session', () => {
  let house: House
  let seen: OpenSession | undefined
  let marks: SessionMarks
  let told = 0

  beforeEach(async () => {
    house = new House()
    seen = undefined
    told = 0
    marks = new SessionMarks(house.manager, open => open === seen)
    marks.onDidChange(() => told++)
    const starting = house.controller.start()
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    assert.equal(markOf(house.controller, marks), 'running', 'while it starts')
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await starting
  })
  afterEach(() => marks.dispose())

  const open = () => house.controller.current!
  async function turn(stopReason: string): Promise<void> {
    const count = house.agent.prompts.length
    await house.controller.prompt({ text: 'go', attachments: [] })
    await until(() => house.agent.prompts.length === count + 1)
    assert.equal(marks.of(open()), 'running')
    house.agent.endTurn(house.agent.prompts.at(-1)!, stopReason)
    await until(() => open().session.state.activity === 'idle')
  }

  it('tells of work that ended while nobody looked, until somebody does', async () => {
    assert.equal(marks.of(open()), 'idle')
    await turn('end_turn')
    assert.equal(marks.of(open()), 'done')
    assert.equal(marks.endedOf('one', 's1'), 'done')
    assert.equal(marks.count('done'), 1)
    marks.look()
    assert.equal(marks.of(open()), 'done', 'it is not the one that is looked at')
    seen = open()
    const before = told
    marks.look()
    assert.equal(marks.of(open()), 'idle')
    assert.ok(told > before)
    await turn('end_turn')
    assert.equal(marks.of(open()), 'idle', 'it was looked at all the time')
  })

  it('tells what failed from what is done, and forgets both when work begins', async () => {
    await turn('error')
    assert.equal(marks.of(open()), 'failed')
    await turn('end_turn')
    assert.equal(marks.of(open()), 'done')
  })

  it('says that the person is waited for, while they are', async () => {
    await house.controller.prompt({ text: 'go', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.say('s1', { type: 'state', state: 'requires_action' })
    assert.equal(markOf(house.controller, marks), 'waiting')
    house.agent.say('s1', { type: 'state', state: 'running' }, chunk('agent', 'x'))
    assert.equal(markOf(house.controller, marks), 'running')
  })

  it('stays failed where the agent is gone, and counts only what is open', async () => {
    await turn('end_turn')
    house.agent.exit()
    await until(() => house.controller.phase === 'ended')
    assert.equal(markOf(house.controller, marks), 'failed')
    assert.equal(marks.count('done'), 0)
  })

  it('is told of when the title is known', async () => {
    const before = told
    house.agent.say('s1', { type: 'info', title: 'A title' })
    assert.ok(told > before)
  })
})
