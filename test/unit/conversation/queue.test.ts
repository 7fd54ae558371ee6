import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { Session } from '../../../src/conversation/session.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { idle, running } from './updates.ts'

const text = (words: string) => ({ type: 'text' as const, text: words })

describe('the queue of a session', () => {
  let agent: FakeAgent
  let session: Session

  beforeEach(() => {
    agent = new FakeAgent()
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    session = new Session({ agent, sessionId: 's', setup, phase: 'ready' })
    agent.onUpdate(({ update }) => session.receive(update))
    for (const words of ['running', 'one', 'two', 'three']) void session.prompt([text(words)])
  })

  const waiting = () =>
    session.queued.map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''))
  const idOf = (words: string) => session.queued[waiting().indexOf(words)]!.id
  const sent = () => agent.prompts.map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''))

  it('is put into another order', () => {
    session.moveQueued(idOf('three'), 0)
    assert.deepEqual(waiting(), ['three', 'one', 'two'])
    session.moveQueued(idOf('three'), 99)
    assert.deepEqual(waiting(), ['one', 'two', 'three'])
    session.moveQueued('gone', 0)
    assert.deepEqual(waiting(), ['one', 'two', 'three'])
  })

  it('sends one at once: the turn is stopped, and the rest follows in its order', async () => {
    session.sendNow(idOf('two'))
    assert.equal(agent.cancels.length, 1)
    assert.deepEqual(sent(), ['running'])
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    assert.deepEqual(sent(), ['running', 'two'])
    agent.endTurn(agent.prompts[1]!)
    await settle()
    assert.deepEqual([sent(), session.queueHeld], [['running', 'two', 'one'], false])
  })

  it('sends it also when the agent answers the stopped turn with an error', async () => {
    session.sendNow(idOf('two'))
    agent.prompts[0]!.answer.reject(
      new AgentRequestError('session/prompt', 'cancelled', { code: -32800, message: 'cancelled' }),
    )
    await settle()
    assert.deepEqual(sent(), ['running', 'two'])
  })

  it('sends it from a queue that is held, without stopping anything', async () => {
    session.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    assert.equal(session.queueHeld, true)
    session.sendNow(idOf('three'))
    assert.deepEqual([sent(), agent.cancels.length], [['running', 'three'], 1])
  })

  it('stops what the agent does on its own, too', async () => {
    session.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    agent.say('s', running)
    session.sendNow(idOf('three'))
    assert.deepEqual([agent.cancels.length, sent().length], [2, 1])
    agent.say('s', idle('cancelled'))
    await settle()
    assert.equal(sent()[1], 'three')
  })

  it('does nothing for one that is gone', () => {
    session.sendNow('gone')
    assert.deepEqual([agent.cancels.length, sent()], [0, ['running']])
  })
})
