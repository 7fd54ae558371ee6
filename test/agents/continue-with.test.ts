import assert from 'node:assert/strict'
import { HELLO, messageTexts } from './expect.ts'
import { AgentRig } from './rig.ts'

describe('a conversation that goes on with another real agent', () => {
  const rigs: AgentRig[] = []
  after(() => Promise.all(rigs.map(rig => rig.close())))

  it('tells the second agent the conversation, and later the first agent what happened since', async function () {
    this.timeout(300_000)
    const rigOf = async (name: 'claude' | 'codex') => {
      const rig = await AgentRig.create(name, { name: `${name}-continued` })
      rigs.push(rig)
      await rig.startScenario('continue')
      return rig
    }
    const claude = await rigOf('claude')
    const codex = await rigOf('codex')
    const lastAsked = ({ model }: AgentRig) => model.requests.at(-1)?.prompts?.join('\n') ?? ''

    const first = await claude.create()
    await claude.promptScenario(first, 'hello')
    await first.session.close()
    const second = await codex.continue(first)
    assert.deepEqual(await codex.promptScenario(second, 'hello'), { type: 'ended', stopReason: 'end_turn' })
    // what the agent says of itself there is no part of what it was told
    assert.match(lastAsked(codex), /## claude\s+/)
    assert.ok(lastAsked(codex).includes(HELLO))
    assert.deepEqual(messageTexts(second.session.state), [HELLO, HELLO])

    await second.session.close()
    const third = await claude.continue(second, first.session.sessionId)
    assert.equal(third.session.sessionId, first.session.sessionId)
    const { length } = claude.model.requests
    assert.deepEqual(await claude.promptScenario(third, 'hello'), { type: 'ended', stopReason: 'end_turn' })
    assert.ok(claude.model.requests.length > length)
    assert.match(lastAsked(claude), /## codex\s+/)
    assert.doesNotMatch(lastAsked(claude), /## claude\s+/)
    assert.deepEqual(messageTexts(third.session.state), [HELLO, HELLO, HELLO])
  })
})
