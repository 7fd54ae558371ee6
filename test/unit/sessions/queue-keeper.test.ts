import assert from 'node:assert/strict'
import { until } from '../../support/until.ts'
import { House } from './house.ts'

describe('QueueKeeper', () => {
  const kept = (house: House) => house.drafts.sent.map(({ draft }) => draft.text)
  const found = (house: House) => house.drafts.claim('one/s1').map(({ draft }) => draft.text)

  async function begin() {
    const house = await House.withSession()
    for (const text of ['first', 'second', 'third', 'fourth']) {
      await house.controller.prompt({ text, attachments: [] })
    }
    const session = house.controller.current?.session
    assert.ok(session)
    await until(() => house.agent.prompts.length === 1 && kept(house).length === 3)
    return { house, session }
  }

  it('keeps what waits, and nothing that was sent, withdrawn or never had to wait', async () => {
    const { house, session } = await begin()
    assert.deepEqual(kept(house), ['second', 'third', 'fourth'])
    assert.deepEqual(found(house), [], 'this window answers for them')
    session.withdraw(session.queued[1]?.id ?? '')
    await until(() => kept(house).length === 2)
    assert.deepEqual(kept(house), ['second', 'fourth'])
    house.agent.prompts[0]?.answer.resolve()
    session.receive({ type: 'state', state: 'idle', stopReason: 'end_turn' })
    await until(() => house.agent.prompts.length === 2 && kept(house).length === 1)
    assert.deepEqual(kept(house), ['fourth'])
  })

  it('leaves on disk what was taken to be written on, until the composer has it', async () => {
    const { house, session } = await begin()
    const taken = house.controller.editQueued(session.queued[1]?.id ?? '')
    assert.deepEqual(taken?.content, [{ type: 'text', text: 'third' }])
    assert.equal(session.queued.length, 2)
    assert.equal(house.controller.editQueued('gone'), null)
    // a page that is made anew, or another window, finds it as nobody's
    assert.deepEqual(found(house), ['third'])
    house.controller.outbox.takenBack('one/s1', [taken?.id ?? ''])
    assert.deepEqual(kept(house), ['second', 'fourth'])
  })

  it('follows the order of the queue in one write', async () => {
    const { house, session } = await begin()
    house.drafts.writes.length = 0
    session.moveQueued(session.queued[2]?.id ?? '', 0)
    await until(() => kept(house)[0] === 'fourth')
    assert.deepEqual(kept(house), ['fourth', 'second', 'third'])
    assert.deepEqual(house.drafts.writes, ['order'])
  })

  it('leaves them to the next who shows the conversation when the window goes', async () => {
    const { house, session } = await begin()
    house.controller.leave()
    session.dispose()
    await until(() => house.drafts.sent.every(({ claimed }) => !claimed))
    assert.deepEqual(found(house), ['second', 'third', 'fourth'])
  })

  it('has none left when the composer got them back', async () => {
    const { house } = await begin()
    house.agent.exit()
    await until(() => house.controller.phase === 'ended' && kept(house).length === 0)
    assert.equal(house.drafts.get('one/s1').text, 'second\n\nthird\n\nfourth')
  })
})
