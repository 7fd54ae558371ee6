import assert from 'node:assert/strict'
import { contextFullHandlers } from '../../../src/app/conversation/context-full.ts'
import { until } from '../../support/until.ts'
import { chunk } from '../conversation/updates.ts'
import { SessionsFixture } from '../sessions/sessions-fixture.ts'

describe('the prompt for which the context was full', () => {
  it('goes to the input of the new session, or stays where it is if the user opens another one meanwhile', async () => {
    const fixture = new SessionsFixture()
    const { controller } = fixture
    const begin = async () => {
      void controller.opener.start('one')
      const asked = () => fixture.started.length > 0 && fixture.agent.newSessions.length
      const count = (asked() || 0) + 1
      await until(() => asked() === count)
    }
    const answer = async (sessionId: string) => {
      fixture.agent.newSessions.at(-1)?.resolve({ sessionId })
      await until(() => controller.current?.session.sessionId === sessionId && controller.phase === 'ready')
      return controller.current!
    }
    await begin()
    const other = await answer('other')
    await begin()
    const full = await answer('full')
    void full.session.prompt([{ type: 'text', text: 'go' }])
    fixture.agent.say('full', chunk('agent', '{"error": {"code": "context_length_exceeded"}}'))
    fixture.agent.endTurn(fixture.agent.prompts[0]!)
    await until(() => full.session.state.entries.at(-1)?.kind === 'turn_end')

    const attached: string[] = []
    const handlers = contextFullHandlers(controller, () => attached.push(controller.key))
    const go = () => {
      const count = fixture.agent.newSessions.length + 1
      const done = handlers['conversation/contextFull']({
        key: full.key,
        entryId: full.session.state.entries.at(-1)!.id,
        next: 'continue',
      })
      return until(() => fixture.agent.newSessions.length === count).then(() => ({ done }))
    }
    const returned = () =>
      [other.key, full.key, controller.key].map(key =>
        fixture.queues.of(key).returned.map(({ draft }) => draft.text),
      )

    const { done: first } = await go()
    controller.show(other)
    await first
    assert.deepEqual([attached, returned()], [[], [[], [], []]])

    controller.show(full)
    const { done: second } = await go()
    const fresh = await answer('new')
    await second
    assert.deepEqual([attached, returned()], [[fresh.key], [[], [], ['go']]])
    await fixture.close()
  })
})
