import { strict as assert } from 'node:assert'
import type { PermissionRequest } from '../../../src/acp/model.ts'
import { AgentSessions } from '../../../src/conversation/agent-sessions.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { savedBackground } from '../../../src/conversation/replay/restore-state.ts'
import { FakeAgent, settle } from './fake-agent.ts'
import { form, permissionRequest, summarize, text, tool } from './updates.ts'

const idle = (more: object = {}) =>
  ({ type: 'state', state: 'idle', stopReason: 'end_turn', ...more }) as const

/** A session whose turn left two tool calls running in the background. */
function working() {
  const state = createSessionState()
  reduce(state, { type: 'state', state: 'running' }, 1)
  reduce(state, tool('watch', { status: 'in_progress' }), 2)
  reduce(state, tool('sleep', { status: 'in_progress' }), 2)
  reduce(state, idle({ background: ['watch', 'sleep'] }), 3)
  return state
}

describe('reduce: work in the background', () => {
  it('continues after the turn', () => {
    const state = working()
    assert.deepEqual(summarize(state), ['tool watch: in_progress', 'tool sleep: in_progress'])
    assert.equal(state.activity, 'idle')
  })

  it("isn't saved with each change of the session if its list is enormous", () => {
    const state = working()
    assert.deepEqual(
      savedBackground(state)?.map(({ toolCalls }) => toolCalls),
      [['watch', 'sleep']],
    )
    for (const background of [
      Array.from({ length: 20_000 }, (_, i) => `tool ${i}`),
      ['x'.repeat(1_000_000)],
    ]) {
      reduce(state, idle({ background }), 4)
      assert.equal(savedBackground(state), undefined)
    }
  })

  it('ends when an idle session no longer reports it', () => {
    const state = working()
    const changes = reduce(state, idle({ background: ['watch'] }), 9)
    assert.deepEqual(changes, [
      { type: 'head', key: 'activity' },
      { type: 'entry', id: 'e1' },
    ])
    assert.deepEqual(summarize(state), ['tool watch: in_progress', 'tool sleep: cancelled'])
    assert.equal(state.entries[1]?.endedAt, 9)
  })

  it("ends when a running session no longer reports it, except for the turn's own tool calls", () => {
    const state = working()
    reduce(state, { type: 'state', state: 'running', background: ['watch'] }, 4)
    reduce(state, tool('new', { status: 'in_progress' }), 5)
    reduce(state, { type: 'state', state: 'requires_action', background: ['watch'] }, 6)
    assert.deepEqual(summarize(state), [
      'tool watch: in_progress',
      'tool sleep: cancelled',
      'tool new: in_progress',
    ])
  })

  it('continues if nothing is reported', () => {
    const state = working()
    reduce(state, { type: 'state', state: 'running' }, 4)
    assert.deepEqual(summarize(state), ['tool watch: in_progress', 'tool sleep: in_progress'])
  })

  it('is matched to a tool call by its terminal if it is a process', () => {
    const state = createSessionState()
    reduce(state, { type: 'state', state: 'running' }, 1)
    const content = [{ type: 'terminal', terminalId: 'x' } as const]
    reduce(state, tool('serve', { status: 'in_progress', content }), 2)
    reduce(state, tool('left', { status: 'in_progress' }), 2)
    reduce(state, idle({ background: [], backgroundTerminals: ['x'] }), 3)
    assert.deepEqual(summarize(state), ['tool serve: in_progress', 'tool left: cancelled'])
    reduce(state, { type: 'state', state: 'running', background: [] }, 4)
    assert.deepEqual(summarize(state), ['tool serve: cancelled', 'tool left: cancelled'])
  })

  it("is counted, including work that isn't shown", () => {
    const state = working()
    assert.equal(state.background, 2)
    const reported = { background: ['watch'], backgroundTerminals: ['x'], backgroundOthers: 2 }
    assert.deepEqual(reduce(state, { type: 'state', state: 'running', ...reported }, 4)[0], {
      type: 'head',
      key: 'activity',
    })
    assert.equal(state.background, 4)
    reduce(state, idle({ background: [] }), 5)
    assert.equal(state.background, undefined)
    reduce(state, idle({ background: ['watch'] }), 6)
    reduceLocal(state, { type: 'agent_gone' })
    assert.equal(state.background, undefined)
  })

  it('is shown after a load', () => {
    const state = working()
    reduceLocal(state, { type: 'load_finished' })
    assert.deepEqual(summarize(state), ['tool watch: in_progress', 'tool sleep: in_progress'])
  })

  it("doesn't end twice", () => {
    const state = working()
    reduce(state, tool('sleep', { status: 'completed' }), 4)
    const changes = reduce(state, idle({ background: ['watch'] }), 9)
    assert.deepEqual(changes, [{ type: 'head', key: 'activity' }])
    assert.deepEqual(summarize(state), ['tool watch: in_progress', 'tool sleep: completed'])
  })
})

describe('reduce: token counts', () => {
  it('are shown with the context usage, whichever arrives first', () => {
    const tokens = { of: 'turn', total: 150, input: 100, output: 50 } as const
    const state = createSessionState()
    reduce(state, { type: 'state', state: 'running' })
    assert.ok(
      reduce(state, idle({ tokens })).some(change => change.type === 'head' && change.key === 'usage'),
    )
    assert.deepEqual(state.usage, { used: 0, size: 0, tokens })
    reduce(state, { type: 'usage', usage: { used: 5, size: 9 } })
    assert.deepEqual(state.usage, { used: 5, size: 9, tokens })
    const next = { ...tokens, input: 7 }
    reduce(state, idle({ tokens: next }))
    assert.deepEqual(state.usage, { used: 5, size: 9, tokens: next })
  })
})

describe('reduce: the cost', () => {
  it('is kept if a usage update omits it, and cleared by null', () => {
    const cost = { amount: 0.5, currency: 'USD' }
    const state = createSessionState()
    reduce(state, { type: 'usage', usage: { used: 1, size: 9, cost } })
    reduce(state, { type: 'usage', usage: { used: 2, size: 9 } })
    assert.deepEqual(state.usage, { used: 2, size: 9, cost })
    reduce(state, { type: 'usage', usage: { used: 3, size: 9, cost: null } })
    assert.deepEqual(state.usage, { used: 3, size: 9 })
  })
})

describe('Session: work in the background', () => {
  it('keeps its requests when the turn is stopped or ends', async () => {
    const agent = new FakeAgent()
    const sessions = new AgentSessions(agent)
    const making = sessions.newSession({ cwd: '/w', additionalDirectories: [], mcpServers: [] })
    agent.newSessions[0]!.resolve({ sessionId: 's' })
    const session = await making
    const reported = { background: ['watch'], backgroundTerminals: ['x'], backgroundSubagents: ['child'] }
    const signal = new AbortController()
    void session.prompt([text('go')])
    agent.say('s', { type: 'state', state: 'running', ...reported })
    agent.say('s', { type: 'subagent', subagent: { sessionId: 'child' } })
    agent.say('s', tool('serve', { content: [{ type: 'terminal', terminalId: 'x' }] }))
    const outcomes: string[] = []
    const ask = (name: string, request: Partial<PermissionRequest>) =>
      void session.requests
        .requestPermission(permissionRequest({ title: name, ...request }), signal.signal)
        .then(({ type }) => outcomes.push(`${name} ${type}`))
    ask('turn', { subject: { type: 'tool_call', toolCall: { toolCallId: 't' } } })
    ask('nothing', {})
    ask('tool call', { subject: { type: 'tool_call', toolCall: { toolCallId: 'watch' } } })
    ask('its terminal', { subject: { type: 'tool_call', toolCall: { toolCallId: 'serve' } } })
    ask('terminal', { subject: { type: 'command', command: 'kill', terminalId: 'x' } })
    ask('subagent', { sessionId: 'child' })
    void session.requests
      .createElicitation({ ...form(), toolCallId: 'watch' }, signal.signal)
      .then(({ action }) => outcomes.push(`form ${action}`))
    session.turns.cancel()
    await settle()
    assert.deepEqual(outcomes, ['turn cancelled', 'nothing cancelled'])
    agent.say('s', { type: 'state', state: 'idle', stopReason: 'cancelled', ...reported })
    await settle()
    assert.equal(outcomes.length, 2)
    signal.abort()
    await settle()
    assert.equal(outcomes.length, 7)
  })
})
