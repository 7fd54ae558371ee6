import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { restoreState } from '../../../src/conversation/replay/restore-state.ts'
import { Session } from '../../../src/conversation/session.ts'
import { Clock } from './clock.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { chunk, running, text } from './updates.ts'

describe('a prompt for the running turn', () => {
  let agent: FakeAgent
  let clock: Clock
  let session: Session

  beforeEach(() => {
    agent = new FakeAgent()
    agent.capabilities.steering = true
    clock = new Clock()
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    session = new Session({ agent, sessionId: 's', setup, phase: 'ready', schedule: clock.schedule })
    agent.onUpdate(({ update }) => session.receive(update))
    agent.onDidClose(exit => session.agentEnded(exit))
    void session.prompt([text('first')])
    agent.say('s', chunk('agent', 'Working. ', 'm1'))
  })

  /** Queues a prompt and asks the agent to add it to the turn. */
  const steer = (words: string) => {
    const outcome = session.prompt([text(words)])
    assert.equal(session.turns.steer(session.turns.queue.queued.at(-1)!.id), true)
    return outcome
  }
  const shown = () =>
    session.state.entries.flatMap(entry =>
      entry.kind === 'message'
        ? [[entry.blocks.map(block => (block.type === 'text' ? block.text : '')).join(), entry.steering]]
        : [],
    )
  const states = () => session.turns.queue.prompts.map(({ state, reason }) => [state, reason])

  it('is shown where it was sent, and stays in the queue until the agent has taken it', async () => {
    const outcome = steer('second')
    assert.deepEqual(shown().at(-1), ['second', 'sent'])
    assert.deepEqual(states(), [['steering', undefined]])
    agent.say('s', chunk('agent', 'Noted.', 'm2'))
    agent.steered[0]!.answer.resolve('injected')
    await settle()
    assert.deepEqual(shown(), [
      ['first', undefined],
      ['Working. ', undefined],
      ['second', 'injected'],
      ['Noted.', undefined],
    ])
    assert.deepEqual([states(), agent.cancels, session.state.turn], [[], [], 1])
    agent.endTurn(agent.prompts[0]!)
    assert.deepEqual(await outcome, { type: 'ended', stopReason: 'end_turn' })
    assert.equal(agent.prompts.length, 1)
  })

  it('becomes the next turn if no turn was running anymore', async () => {
    steer('second')
    void session.prompt([text('third')])
    agent.endTurn(agent.prompts[0]!)
    await settle()
    // nothing is sent before the agent has answered
    assert.deepEqual(
      states().map(([state]) => state),
      ['steering', 'queued'],
    )
    agent.steered[0]!.answer.resolve('promptRequired')
    await settle()
    assert.deepEqual(shown(), [
      ['first', undefined],
      ['Working. ', undefined],
      ['', 'notTaken'],
      ['second', undefined],
    ])
    assert.deepEqual(
      agent.prompts.map(({ content }) => content),
      [[text('first')], [text('second')]],
    )
    assert.equal(session.state.turn, 2)
  })

  it('is first in the queue again, with the reason, if the agent fails to add it', async () => {
    void session.prompt([text('third')])
    steer('second')
    const error = { code: 1, message: 'The model sees no images' }
    agent.steered[0]!.answer.reject(new AgentRequestError('_session/steering', 'other', error))
    await settle()
    assert.deepEqual(states(), [
      ['queued', 'The model sees no images'],
      ['queued', undefined],
    ])
    assert.deepEqual(shown().at(-1), ['', 'notTaken'])
    steer('fourth')
    agent.steered[1]!.answer.resolve('failed')
    await settle()
    assert.match(String(states()[0]?.[1]), /couldn't add/)
  })

  it('is only sent again by the user if the agent never answers', async () => {
    steer('second')
    agent.endTurn(agent.prompts[0]!)
    await settle()
    clock.pass(6000)
    assert.deepEqual([states()[0]?.[0], session.turns.queue.isPaused], ['queued', true])
    assert.match(String(states()[0]?.[1]), /didn't say/)
    assert.equal(agent.prompts.length, 1)
    // an answer may still come
    agent.steered[0]!.answer.resolve('injected')
    await settle()
    assert.deepEqual([states(), shown().at(-1)], [[], ['second', 'injected']])
  })

  it('goes back to the composer if the agent dies before it answers', async () => {
    const outcome = steer('second')
    agent.exit()
    assert.equal((await outcome).type, 'failed')
    assert.deepEqual([states(), shown().at(-1)], [[['returned', undefined]], ['', 'notTaken']])
  })

  it("isn't sent to the turn while it's being stopped, or to an agent that can't add it", async () => {
    void session.prompt([text('second')])
    const { id } = session.turns.queue.queued[0]!
    session.turns.cancel()
    assert.deepEqual([session.turns.canSteer, session.turns.steer(id)], [false, false])
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    session.turns.queue.resume()
    await settle()
    agent.capabilities.steering = false
    assert.equal(session.turns.canSteer, false)
    assert.deepEqual([agent.steered, agent.prompts.length], [[], 2])
  })

  it('can be for a turn that the agent started itself, and start one', async () => {
    agent.endTurn(agent.prompts[0]!)
    await settle()
    agent.say('s', running)
    const outcome = steer('second')
    agent.steered[0]!.answer.resolve('startedNewTurn')
    assert.deepEqual(await outcome, { type: 'ended' })
    assert.deepEqual(shown().at(-1), ['second', 'startedNewTurn'])
    session.turns.cancel()
    assert.equal(agent.cancels.length, 1)
  })

  it('is shown once if the agent echoes it, with and without ids, before and after its answer', async () => {
    steer('second')
    steer('third')
    agent.say('s', chunk('user', 'second', 'u2'))
    for (const call of agent.steered) call.answer.resolve('injected')
    await settle()
    agent.say('s', chunk('user', 'thi', 'u3'), chunk('user', 'rd', 'u3'))
    steer('fourth')
    agent.say('s', chunk('user', 'fourth'))
    const own = shown().filter(([, steering]) => steering)
    assert.deepEqual(
      own.map(([words]) => words),
      ['second', 'third', 'fourth'],
    )
    assert.equal(shown().length, 5)
  })

  it("doesn't make a turn look empty", async () => {
    steer('second')
    agent.endTurn(agent.prompts[0]!)
    assert.deepEqual(
      session.state.entries.filter(({ kind }) => kind === 'turn_end'),
      [],
    )
  })

  it('is in the composer alone after a crash before the answer', () => {
    steer('second')
    const { entries, terminals } = structuredClone({ ...session.state, terminals: [] })
    const restored = restoreState({ entries, terminals, head: { working: true } })
    const last = restored.entries.filter(({ kind }) => kind === 'message').at(-1)
    assert.deepEqual(last?.kind === 'message' && [last.blocks, last.steering], [[], 'notTaken'])
  })

  for (const hasIds of [true, false])
    it(`is merged with a replay, in which it begins a turn, ${hasIds ? 'with' : 'without'} ids`, async () => {
      const [first, second] = ['I will read the parser first. ', 'Noted: tabs and no semicolons.']
      agent.say('s', chunk('agent', first, 'm1'))
      steer('Use tabs')
      steer('No, wait')
      agent.steered[0]!.answer.resolve('injected')
      agent.steered[1]!.answer.resolve('failed')
      await settle()
      agent.say('s', chunk('agent', second, 'm2'))
      agent.endTurn(agent.prompts[0]!)
      agent.prompts[1]?.answer.resolve()
      const known = session.conversation.state
      const before = known.entries.filter(({ turn }) => turn === 1).length
      const other = new FakeAgent()
      const sessions = new AgentSessions(other, { now: () => clock.now, schedule: clock.schedule })
      const loading = sessions.loadSession('s', session.setup, undefined, () => known)
      const id = (name: string) => (hasIds ? name : undefined)
      other.say(
        's',
        chunk('user', 'first', id('r1')),
        chunk('agent', `Working. ${first}`, id('r2')),
        chunk('user', 'Use tabs', id('r3')),
        chunk('agent', second, id('r4')),
      )
      other.loads[0]!.resolve({ sessionId: 's' })
      await loading.opened
      clock.pass(3000)
      const merged = loading.session.state.entries
      assert.equal(merged.filter(({ turn }) => turn === 1).length, before)
      const users = merged.filter(entry => entry.kind === 'message' && entry.role === 'user')
      assert.equal(users.filter(entry => entry.kind === 'message' && entry.steering === 'injected').length, 1)
      assert.deepEqual(
        users.filter(entry => JSON.stringify(entry).includes('Use tabs')).map(({ turn }) => turn),
        [1],
      )
    })
})
