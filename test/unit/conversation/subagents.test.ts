import { strict as assert } from 'node:assert'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { reduceLocalWithin, reduceWithin } from '../../../src/conversation/reducer/reduce-within.ts'
import { restoreState } from '../../../src/conversation/replay/restore-state.ts'
import { entriesOfRequests } from '../../../src/conversation/requests/shown-requests.ts'
import { chunk, permissionRequest, summarize, tool } from './updates.ts'

const text = (value: string) => ({ type: 'text' as const, text: value })

function announced() {
  const state = createSessionState()
  reduce(
    state,
    {
      type: 'subagent',
      subagent: { sessionId: 'child', title: 'Child', state: { activity: 'running' }, canCancel: true },
    },
    1,
  )
  return state
}

describe('reduce: subagents', () => {
  it('have one entry each, where they were announced', () => {
    const state = announced()
    reduce(state, { type: 'message_chunk', role: 'agent', content: text('x') }, 2)
    const changes = reduce(
      state,
      { type: 'subagent', subagent: { sessionId: 'child', description: 'Looks', title: null } },
      3,
    )
    assert.deepEqual(changes, [{ type: 'entry', id: 'e0' }])
    assert.deepEqual(state.entries[0], {
      kind: 'subagent',
      id: 'e0',
      turn: 0,
      startedAt: 1,
      sessionId: 'child',
      description: 'Looks',
      state: { activity: 'running' },
      canCancel: true,
    })
  })

  it('replace their whole state, and end their work', () => {
    const state = announced()
    const reported = (subagent: object, now: number) =>
      reduce(state, { type: 'subagent', subagent: { sessionId: 'child', ...subagent } }, now)
    reported({ state: { activity: 'idle', stopReason: 'cancelled' } }, 5)
    const entry = state.entries[0]
    assert(entry?.kind === 'subagent')
    assert.equal(entry.endedAt, 5)
    reported({ state: { activity: 'running' } }, 6)
    assert.deepEqual([entry.state, entry.endedAt], [{ activity: 'running' }, undefined])
    reported({ state: null, canCancel: null }, 7)
    assert.deepEqual([entry.state, entry.canCancel], [undefined, false])
  })

  it("continue after their parent's turn, and end with the agent", () => {
    const state = announced()
    reduce(state, { type: 'state', state: 'running' }, 2)
    reduce(state, { type: 'state', state: 'idle', stopReason: 'end_turn' }, 3)
    assert.deepEqual(summarize(state), ['subagent Child: running'])
    reduceLocal(state, { type: 'agent_gone' }, 9)
    const entry = state.entries[0]
    assert(entry?.kind === 'subagent')
    assert.deepEqual([entry.state, entry.canCancel, entry.endedAt], [undefined, false, 9])
  })

  it('are joined with a message between sessions, whichever arrives first', () => {
    const state = createSessionState()
    reduce(state, { type: 'session_message_chunk', messageId: 'm', content: text('a') })
    reduce(state, { type: 'session_message', message: { messageId: 'm', from: 'child', to: 's' } })
    const changes = reduce(state, { type: 'session_message_chunk', messageId: 'm', content: text('b') })
    assert.deepEqual(changes, [{ type: 'text', id: 'e0', block: 0, text: 'b' }])
    const entry = state.entries[0]
    assert(entry?.kind === 'session_message')
    assert.deepEqual([entry.from, entry.to, entry.blocks], ['child', 's', [text('ab')]])
    reduce(state, { type: 'session_message', message: { messageId: 'm', to: null, content: [] } })
    assert.deepEqual([entry.from, entry.to, entry.blocks], ['child', undefined, []])
    assert.equal(state.entries.length, 1)
  })

  it("aren't confused by a message of the conversation with the id of a message between sessions", () => {
    const state = createSessionState()
    reduce(state, { type: 'message', role: 'agent', messageId: 'm', content: [text('a')] })
    reduce(state, { type: 'session_message', message: { messageId: 'm', content: [text('b')] } })
    assert.deepEqual(summarize(state), ['agent: a', 'session message: b'])
  })

  it('are restored from a saved conversation, no longer working', () => {
    const { entries } = announced()
    const state = restoreState({ entries, terminals: [], head: {} })
    reduce(state, { type: 'subagent', subagent: { sessionId: 'child', title: 'Again' } })
    assert.deepEqual(summarize(state), ['subagent Again: not known'])
  })
})

describe('reduce: the tool calls of a subagent without a session of its own', () => {
  const parents = (state: ReturnType<typeof announced>) =>
    state.entries.flatMap(entry => (entry.kind === 'tool_call' ? [entry.parentId] : []))

  it('belong to the call that runs it, also if only a request for a permission says so', () => {
    const state = createSessionState()
    reduce(state, tool('task', { status: 'in_progress' }), 1)
    reduce(state, tool('first', { parentId: 'task' }), 2)
    reduce(state, tool('first', { status: 'completed' }), 3)
    const subject = { type: 'tool_call', toolCall: { toolCallId: 'second', parentId: 'task' } } as const
    const request = { ...permissionRequest({ title: 'May I?' }), subject }
    reduceLocal(state, { type: 'permission_asked', requestId: 'p1', request }, 4)
    assert.deepEqual(parents(state), [undefined, 'task', 'task'])
    assert.deepEqual(
      entriesOfRequests(state).map(({ id }) => id),
      ['e3', 'e2', 'e0'],
    )
  })

  it('belong to nothing else if that call is unknown, that of another session, or the call itself', () => {
    const state = announced()
    reduce(state, tool('task'), 2)
    reduce(state, tool('lost', { parentId: 'gone' }), 3)
    reduce(state, tool('own', { parentId: 'own' }), 4)
    reduceWithin(state, 'child', tool('its', { parentId: 'task' }), 5)
    assert.deepEqual(parents(state), [undefined, undefined, undefined, undefined])
  })
})

describe('reduce: the work of a subagent', () => {
  const nested = (state: ReturnType<typeof announced>) =>
    state.entries.map(({ within }, at) => `${within ?? '-'} ${summarize(state)[at]}`)

  it("is shown among its parent's entries, with its own ids and open message", () => {
    const state = announced()
    reduce(state, chunk('agent', 'one '), 2)
    reduceWithin(state, 'child', chunk('agent', 'child '), 3)
    reduce(state, chunk('agent', 'two'), 4)
    reduceWithin(state, 'child', chunk('agent', 'says'), 5)
    reduce(state, tool('t', { status: 'completed' }), 6)
    reduceWithin(state, 'child', tool('t', { status: 'in_progress' }), 7)
    assert.deepEqual(nested(state), [
      '- subagent Child: running',
      '- agent: one two',
      'child agent: child says',
      '- tool t: completed',
      'child tool t: in_progress',
    ])
  })

  it('follows the state of its session, and closes only its own open entries', () => {
    const state = announced()
    reduce(state, { type: 'state', state: 'running' }, 2)
    reduce(state, tool('mine', { status: 'in_progress' }), 2)
    reduceWithin(state, 'child', { type: 'state', state: 'running' }, 3)
    reduceWithin(state, 'child', tool('its', { status: 'in_progress' }), 3)
    const idle = { type: 'state', state: 'idle', stopReason: 'max_tokens' } as const
    reduceWithin(state, 'child', idle, 9)
    assert.deepEqual(nested(state), [
      '- subagent Child: idle',
      '- tool mine: in_progress',
      'child tool its: cancelled',
      'child turn_end: max_tokens',
    ])
    const entry = state.entries[0]
    assert(entry?.kind === 'subagent')
    assert.deepEqual([entry.state?.stopReason, entry.endedAt], ['max_tokens', 9])
    assert.equal(state.activity, 'running')
  })

  it('ends even if only its parent reports the end, as in v1', () => {
    const state = announced()
    reduceWithin(state, 'child', tool('its', { status: 'in_progress' }), 3)
    const subagent = { sessionId: 'child', state: { activity: 'idle', stopReason: 'end_turn' } }
    reduce(state, { type: 'subagent', subagent }, 9)
    assert.deepEqual(nested(state).slice(1, 2), ['child tool its: cancelled'])
    assert.equal(state.activity, 'idle')
  })

  it('can ask the user, and gets the answer', () => {
    const state = announced()
    const request = { ...permissionRequest({ title: 'May I?' }), sessionId: 'child' }
    reduceLocalWithin(state, { type: 'permission_asked', requestId: 'p1', request }, 2)
    assert.equal(state.activity, 'requires_action')
    assert.equal(state.entries.at(-1)?.within, 'child')
    const outcome = { type: 'selected', optionId: 'yes' } as const
    reduceLocalWithin(state, { type: 'request_answered', requestId: 'p1', outcome }, 3)
    assert.equal(state.activity, 'idle')
    assert.equal(summarize(state).at(-1), 'permission May I?: selected')
  })

  it('starts with instructions that are neither a prompt of the user nor a turn', () => {
    const state = announced()
    reduceWithin(state, 'child', chunk('user', 'Look '), 2)
    reduceWithin(state, 'child', chunk('user', 'there'), 3)
    assert.deepEqual(nested(state).slice(1), ['child session message: Look there'])
    const entry = state.entries[1]
    assert(entry?.kind === 'session_message')
    assert.deepEqual([entry.to, state.turn], ['child', 0])
  })

  it('ends with the agent', () => {
    const state = announced()
    reduceWithin(state, 'child', { type: 'state', state: 'running' }, 2)
    reduceWithin(state, 'child', tool('t', { status: 'in_progress' }), 2)
    reduceLocalWithin(state, { type: 'agent_gone', message: 'gone' }, 3)
    assert.deepEqual(nested(state), [
      '- subagent Child: not known',
      'child tool t: cancelled',
      'child turn_end: interrupted',
    ])
  })

  it('is restored from a saved conversation', () => {
    const before = announced()
    reduceWithin(before, 'child', tool('t', { status: 'in_progress' }), 2)
    reduceWithin(before, 'child', { type: 'message', role: 'agent', messageId: 'm', content: [text('a')] }, 2)
    const state = restoreState({ entries: before.entries, terminals: [], head: {} })
    reduceWithin(state, 'child', tool('t', { status: 'completed' }))
    reduceWithin(state, 'child', { type: 'message_chunk', role: 'agent', messageId: 'm', content: text('b') })
    assert.deepEqual(nested(state), [
      '- subagent Child: not known',
      'child tool t: completed',
      'child agent: ab',
    ])
  })
})
