import assert from 'node:assert/strict'
import type { SessionSetup, SessionStart } from '../../../src/acp/model.ts'
import { until } from '../../support/until.ts'
import { Deferred } from '../conversation/fake-agent.ts'
import { chunk, sketch } from '../conversation/updates.ts'
import { House } from './house.ts'

describe('Forking a session', () => {
  const reference = { agentId: 'one', sessionId: 's1', cwd: '/w/a' }

  it('shows a new session that begins with the conversation, and leaves the other as it is', async () => {
    const house = await House.withSession()
    const forks: Array<{ sessionId: string; setup: SessionSetup; answer: Deferred<SessionStart> }> = []
    Object.assign(house.agent, {
      forkSession: (sessionId: string, setup: SessionSetup) => {
        const answer = new Deferred<SessionStart>()
        forks.push({ sessionId, setup, answer })
        return answer.promise
      },
    })
    await house.controller.prompt({ text: 'hello', attachments: [] })
    await until(() => house.agent.prompts.length === 1)
    house.agent.say('s1', chunk('agent', 'Hi'))
    const forking = house.controller.fork(reference)
    await until(() => forks.length === 1)
    assert.equal(forks[0]?.sessionId, 's1')
    assert.equal(forks[0]?.setup.cwd, '/w/a')
    forks[0]?.answer.resolve({ sessionId: 's2' })
    await forking
    assert.equal(house.controller.key, 'one/s2')
    const fork = house.controller.current?.session
    assert.deepEqual(fork && sketch(fork.state).slice(0, 2), ['user: hello', 'agent: Hi'])
    assert.match((fork && sketch(fork.state).at(-1)) ?? '', /^notice: Forked/)
    assert.equal(fork?.state.activity, 'idle')
    const original = house.manager.find('one', 's1')
    assert.equal(original?.session.state.activity, 'running')
    house.agent.say('s1', chunk('agent', ' there'))
    assert.equal(sketch(original!.session.state)[1], 'agent: Hi there')
    assert.equal(fork && sketch(fork.state)[1], 'agent: Hi')
    await until(() => house.transcripts.kept.get('one/s2')?.entries.length === fork?.state.entries.length)
  })

  it('says so when the agent cannot, and keeps the conversation', async () => {
    const house = await House.withSession()
    await house.controller.fork(reference)
    assert.equal(house.controller.key, 'one/s1')
    assert.equal(house.controller.phase, 'ready')
    assert.equal(house.controller.failures.size, 1)
  })
})
