import assert from 'node:assert/strict'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { createSessionState, type ReducingState } from '../../../src/conversation/reducer/books.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { Clock } from './clock.ts'
import { FakeAgent } from './fake-agent.ts'
import { chunk, modes, running, sketch, text } from './updates.ts'

const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
const MARK = 'What stands above is what Parley kept.'

function kept(): ReducingState {
  const state = createSessionState()
  for (const update of [chunk('user', 'once'), chunk('agent', 'said')]) reduce(state, update)
  state.title = 'Kept'
  return state
}

async function load(known: () => ReducingState | undefined = kept) {
  const agent = new FakeAgent()
  const clock = new Clock()
  const sessions = new AgentSessions(agent, { now: () => clock.now, schedule: clock.schedule })
  const { session, opened } = sessions.loadSession('s', setup, undefined, known)
  const changes: string[] = []
  session.onDidChange(list => changes.push(...list.map(({ type }) => type)))
  const answer = async () => {
    agent.loads[0]?.resolve({ sessionId: 's', configOptions: [modes('code')] })
    await opened
  }
  const titles = () => session.state.entries.flatMap(entry => (entry.kind === 'notice' ? entry.title : []))
  return { agent, clock, session, answer, changes, titles }
}

const before = ['user: once', 'agent: said']

describe('a load that replays nothing', () => {
  it('leaves what was kept, with what the agent told of the session, and says so below', async () => {
    const { clock, session, answer, changes, titles } = await load()
    await answer()
    assert.deepEqual(sketch(session.state).slice(0, 2), before)
    assert.ok(changes.includes('reset'))
    const [option] = session.state.configOptions
    assert.equal(option?.type === 'select' && option.currentValue, 'code')
    assert.deepEqual([session.state.title, session.state.activity], ['Kept', 'idle'])
    assert.deepEqual(titles(), [])
    clock.pass(250)
    assert.deepEqual(titles(), [MARK])
  })

  it('has the next turn stand after it', async () => {
    const { agent, session, answer, titles } = await load()
    await answer()
    const turn = session.prompt([text('and now')])
    agent.say('s', running, chunk('agent', 'go on'))
    agent.endTurn(agent.prompts[0]!)
    await turn
    assert.deepEqual(titles(), [MARK])
    assert.deepEqual(
      session.state.entries.map(({ kind }) => kind),
      ['message', 'message', 'notice', 'message', 'message'],
    )
    // an echo is no replay
    agent.say('s', chunk('user', 'unasked'))
    assert.equal(session.state.entries.length, 6)
  })

  it('gives way to a replay that comes after the answer', async () => {
    const { agent, clock, session, answer } = await load()
    await answer()
    clock.pass(250)
    agent.say('s', { type: 'info', title: 'Told' }, chunk('agent', 'welcome'))
    assert.deepEqual(sketch(session.state).slice(0, 2), before)
    agent.say('s', chunk('user', 'replayed'), chunk('agent', 'late'))
    assert.deepEqual(sketch(session.state), ['user: replayed', 'agent: late'])
    assert.deepEqual([session.state.title, session.state.configOptions.length], ['Told', 1])
    agent.say('s', chunk('user', 'the second'))
    assert.equal(session.state.entries.length, 3)
  })

  it('says it once, however often it is loaded', async () => {
    const first = await load()
    await first.answer()
    first.clock.pass(250)
    const again = await load(() => first.session.reducingState)
    await again.answer()
    again.clock.pass(250)
    assert.deepEqual(again.titles(), [MARK])
  })

  it('is shown as it is when nothing was kept, or something is replayed', async () => {
    const none = await load(() => undefined)
    await none.answer()
    assert.equal(none.clock.waiting, 0)
    assert.deepEqual(none.session.state.entries, [])

    const some = await load(() => assert.fail('nobody needs it'))
    some.agent.say('s', chunk('agent', 'replayed'))
    await some.answer()
    assert.deepEqual(sketch(some.session.state), ['agent: replayed'])
  })

  it('leaves a conversation that was open as it was', async () => {
    const { agent, session, answer } = await load(() => undefined)
    agent.say('s', chunk('user', 'open'))
    await answer()
    session.beginLoad(setup)
    assert.deepEqual(session.state.entries, [])
    session.loaded()
    assert.deepEqual(sketch(session.state), ['user: open'])
  })
})
