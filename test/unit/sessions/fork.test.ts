import assert from 'node:assert/strict'
import type { SessionSetup, SessionStart } from '../../../src/acp/model.ts'
import { changedLimit, limitState } from '../../../src/conversation/session-limit.ts'
import { titleOf } from '../../../src/sessions/session-title.ts'
import { until } from '../../support/until.ts'
import { Deferred } from '../conversation/fake-agent.ts'
import { chunk, summarize } from '../conversation/updates.ts'
import { SessionsFixture, sendPrompt } from './sessions-fixture.ts'

describe('forking a session', () => {
  const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }

  it('shows a new session that starts with the conversation, and keeps the original', async () => {
    const fixture = await SessionsFixture.withSession()
    const forks: Array<{ sessionId: string; setup: SessionSetup; answer: Deferred<SessionStart> }> = []
    Object.assign(fixture.agent, {
      forkSession: (sessionId: string, setup: SessionSetup) => {
        const answer = new Deferred<SessionStart>()
        forks.push({ sessionId, setup, answer })
        return answer.promise
      },
    })
    await sendPrompt(fixture.controller, 'hello')
    await until(() => fixture.agent.prompts.length === 1)
    fixture.agent.say('s1', chunk('agent', 'Hi'))
    const forking = fixture.controller.opener.fork(reference)
    await until(() => forks.length === 1)
    assert.equal(forks[0]?.sessionId, 's1')
    assert.equal(forks[0]?.setup.cwd, '/w/a')
    forks[0]?.answer.resolve({ sessionId: 's2' })
    await forking
    assert.equal(fixture.controller.key, 'one/s2')
    const fork = fixture.controller.current?.session
    assert.deepEqual(fork && summarize(fork.state).slice(0, 2), ['user: hello', 'agent: Hi'])
    assert.match((fork && summarize(fork.state).at(-1)) ?? '', /^notice: Forked/)
    // the fork's checkpoints include the turns of the original
    assert.deepEqual(fixture.controller.current?.changes.origins(), [{ session: 'one/s1', turn: 1 }])
    assert.equal(fork?.state.activity, 'idle')
    const original = fixture.manager.find('one', 's1')
    assert.equal(original?.session.state.activity, 'running')
    fixture.agent.say('s1', chunk('agent', ' there'))
    assert.equal(summarize(original!.session.state)[1], 'agent: Hi there')
    assert.equal(fork && summarize(fork.state)[1], 'agent: Hi')
    await until(() => fixture.transcripts.kept.get('one/s2')?.entries.length === fork?.state.entries.length)
  })

  it('tells the agent with the next prompt where the user restored a checkpoint', async () => {
    const fixture = await SessionsFixture.withSession()
    const { controller, agent } = fixture
    await sendPrompt(controller, 'hello')
    await until(() => agent.prompts.length === 1)
    agent.endTurn(agent.prompts[0]!)
    const { session } = controller.current!
    await until(() => session.state.activity === 'idle')
    session.notify({ severity: 'info', title: 'Back', rewind: { from: 1, to: 1 } })
    for (const text of ['again', 'more']) {
      await sendPrompt(controller, text)
      await until(() => JSON.stringify(agent.prompts.at(-1)?.content).includes(text))
      agent.endTurn(agent.prompts.at(-1)!)
      await until(() => session.state.activity === 'idle')
    }
    const [, again, more] = agent.prompts.map(({ content }) => content)
    assert.deepEqual(again?.[0], { type: 'text', text: 'again' })
    assert.match(JSON.stringify(again?.[1]), /Disregard that prompt.*hello/)
    assert.deepEqual(more, [{ type: 'text', text: 'more' }])
  })

  it("has a title with the original's title: the user's, or the one from the agent's list", async () => {
    const fixture = await SessionsFixture.withSession()
    const title = () => {
      const session = fixture.controller.current?.session
      return session && titleOf(session)
    }
    let forks = 0
    Object.assign(fixture.agent, { forkSession: async () => ({ sessionId: `fork ${++forks}` }) })
    await fixture.controller.opener.fork({ ...reference, title: 'Listed' })
    assert.equal(title(), 'Fork of Listed')
    await fixture.organizer.rename({ ...reference, title: 'Listed' }, 'Mine')
    await fixture.controller.opener.fork({ ...reference, title: 'Mine' })
    assert.equal(title(), 'Fork of Mine')
    const { sessionId } = fixture.controller.current!.session
    assert.equal(fixture.records.get('one', sessionId)?.givenTitle, 'Fork of Mine')
    await fixture.controller.opener.fork({ ...reference, sessionId })
    assert.equal(title(), 'Fork of Mine')
  })

  it('keeps the limit that the user set, and counts from zero', async () => {
    const fixture = await SessionsFixture.withSession()
    const limit = changedLimit(limitState({}), 'cost', 5)
    fixture.usage.putSpan(reference, { ms: 1000, limit: { ...limit, limits: { cost: 10 } } })
    Object.assign(fixture.agent, { forkSession: async () => ({ sessionId: 'fork' }) })
    await fixture.controller.opener.fork(reference)
    assert.deepEqual(fixture.usage.span('one', 'fork'), { ms: 0, limit: limitState({ cost: 5 }) })
  })

  it("reports that the agent can't fork, and keeps the conversation", async () => {
    const fixture = await SessionsFixture.withSession()
    await fixture.controller.opener.fork(reference)
    assert.equal(fixture.controller.key, 'one/s1')
    assert.equal(fixture.controller.phase, 'ready')
    assert.equal(fixture.controller.failures.size, 1)
  })
})
