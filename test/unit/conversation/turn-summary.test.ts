import { strict as assert } from 'node:assert'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'
import type { TurnSummary } from '../../../src/conversation/state.ts'
import { isNotable } from '../../../src/conversation/turn-summary.ts'
import { readEntry } from '../../../src/history/transcript-schema.ts'
import { turnAnswer } from '../../../src/sessions/prompts.ts'
import { chunk, idle, permissionRequest, running, text, tool } from './updates.ts'

function begun() {
  const state = createSessionState()
  let now = 1000
  const take = (...updates: Parameters<typeof reduce>[1][]) => {
    for (const update of updates) reduce(state, update, now)
  }
  const prompt = (words: string) => reduceLocal(state, { type: 'prompt', content: [text(words)] }, now)
  const summaries = () =>
    state.entries.flatMap(
      ({ turnSummary }, i): Array<[number, TurnSummary]> => (turnSummary ? [[i, turnSummary]] : []),
    )
  return {
    ...{ state, take, prompt, summaries },
    wait: (ms: number) => {
      now += ms
    },
  }
}

const usage = (amount: number) =>
  ({ type: 'usage', usage: { used: 1, size: 2, cost: { amount, currency: 'USD' } } }) as const

describe('the summary of a turn', () => {
  it('is with its last entry, and counts its time, tools and cost alone', () => {
    const { take, prompt, summaries, wait } = begun()
    prompt('one')
    take(tool('a', { status: 'completed' }), usage(2), idle('end_turn'))
    prompt('two')
    wait(3000)
    take(tool('b', { status: 'failed' }), tool('c', { status: 'completed' }), chunk('agent', 'Done'))
    take(usage(2.5), idle('end_turn'))
    const cost = (amount: number) => ({ amount, currency: 'USD' })
    assert.deepEqual(summaries(), [
      [1, { took: 0, tools: 1, failed: 0, cost: cost(2) }],
      [5, { took: 3000, tools: 2, failed: 1, cost: cost(0.5) }],
    ])
  })

  it("doesn't count as failed what the user rejected, although the agent reports that", () => {
    const { state, take, prompt, summaries } = begun()
    prompt('one')
    const asked = (toolCallId: string, optionId: string) => {
      const subject = { type: 'tool_call', toolCall: { toolCallId } } as const
      const request = permissionRequest({ subject })
      reduceLocal(state, { type: 'permission_asked', requestId: toolCallId, request }, 1000)
      const outcome = { type: 'selected', optionId } as const
      reduceLocal(state, { type: 'request_answered', requestId: toolCallId, outcome }, 1000)
    }
    take(tool('a', { status: 'pending' }), tool('b', { status: 'pending' }))
    asked('a', 'no')
    asked('b', 'yes')
    take(tool('a', { status: 'failed' }), tool('b', { status: 'failed' }), idle('end_turn'))
    assert.deepEqual(summaries(), [[4, { took: 0, tools: 2, failed: 1 }]])
  })

  it('comes after the reason why the turn ended, and not after a short answer or a replay', () => {
    const { state, take, prompt, summaries } = begun()
    prompt('one')
    take(chunk('agent', 'Hi'), idle('end_turn'))
    assert.deepEqual(summaries(), [])
    prompt('two')
    take(tool('a', { status: 'in_progress' }), idle('cancelled'))
    assert.deepEqual(summaries(), [[4, { took: 0, tools: 1, failed: 0 }]])
    const replayed = createSessionState()
    for (const update of [running, tool('a'), tool('b'), idle('end_turn')]) reduce(replayed, update)
    assert.ok(replayed.entries.every(entry => !entry.turnSummary))
    assert.equal(state.entries.length, 5)
  })

  it('moves down, and adds up, when the turn goes on', () => {
    const { take, prompt, summaries, wait } = begun()
    prompt('one')
    wait(1000)
    take(tool('a'), idle('end_turn'))
    wait(5000)
    take(running, tool('b'))
    wait(2000)
    take(idle('end_turn'))
    assert.deepEqual(summaries(), [[2, { took: 3000, tools: 2, failed: 0 }]])
  })

  it('has of a replayed turn what can be counted in it, and the number of its files', () => {
    const state = createSessionState()
    const replayed = (...updates: Parameters<typeof reduce>[1][]) => {
      for (const update of updates) reduce(state, update)
    }
    const edit = (id: string, path: string, status: 'completed' | 'failed') =>
      tool(id, { status, kind: 'edit', locations: [{ path }] })
    replayed(chunk('user', 'One'), edit('a', '/a', 'completed'), edit('b', '/a', 'completed'))
    replayed(edit('c', '/b', 'completed'), edit('d', '/c', 'failed'), chunk('agent', 'Done'))
    replayed(chunk('user', 'Two'), tool('e'), chunk('agent', 'A short answer'))
    reduceLocal(state, { type: 'load_finished' })
    const done = state.entries.filter(({ turnSummary }) => turnSummary)
    assert.deepEqual(
      done.map(({ kind, turn, turnSummary }) => ({ kind, turn, turnSummary })),
      [{ kind: 'message', turn: 1, turnSummary: { tools: 4, failed: 1, files: { count: 2 } } }],
    )
    reduceLocal(state, { type: 'load_finished' })
    assert.equal(state.entries.filter(({ turnSummary }) => turnSummary).length, 1)
  })

  it('gets the changed files once they are known, also during the next turn', () => {
    const { state, take, prompt, summaries } = begun()
    prompt('one')
    take(tool('a'), idle('end_turn'))
    prompt('two')
    const files = { count: 2, added: 3, removed: 1 }
    assert.deepEqual(reduceLocal(state, { type: 'turn_files', turn: 1, files }), [
      { type: 'entry', id: 'e1' },
    ])
    assert.deepEqual(summaries(), [[1, { took: 0, tools: 1, failed: 0, files }]])
    take(chunk('agent', 'No tool'), idle('end_turn'))
    assert.deepEqual(reduceLocal(state, { type: 'turn_files', turn: 2, files: { ...files, count: 1 } }), [])
    reduceLocal(state, { type: 'turn_files', turn: 2, files })
    assert.deepEqual(summaries()[1], [3, { tools: 0, failed: 0, files }])
  })

  it('of a stored conversation is left out if it is damaged, and the entry stays', () => {
    const message = { kind: 'message', id: 'e0', turn: 1, role: 'agent', blocks: [text('Hi')] }
    const summary: TurnSummary = { took: 1, tools: 2, failed: 0, files: { count: 2, added: 3, removed: 1 } }
    const read = (turnSummary: unknown) => readEntry(JSON.stringify({ ...message, turnSummary }), 0)
    assert.deepEqual(read(summary), { ...message, turnSummary: summary })
    for (const damaged of [null, 'x', {}, { ...summary, files: { added: 2 } }, { ...summary, cost: 1 }])
      assert.deepEqual(read(damaged), message, JSON.stringify(damaged))
  })

  it('is notable if the turn did several things, or took long', () => {
    const turn = { tools: 1, failed: 0 }
    assert.equal(isNotable({ ...turn, took: 5000, files: { count: 1, added: 1, removed: 0 } }), false)
    assert.equal(isNotable({ ...turn, took: 60_000 }), true)
    assert.deepEqual(
      [2, 5].map(tools => isNotable({ ...turn, tools })),
      [false, true],
    )
    assert.equal(isNotable({ ...turn, files: { count: 2, added: 1, removed: 0 } }), true)
  })
})

describe('the answer of a turn', () => {
  it('has all that the agent said in it, before and after its tool calls', () => {
    const { state, take, prompt } = begun()
    prompt('one')
    take(
      chunk('agent', 'First.'),
      tool('a'),
      chunk('thought', 'Hm'),
      chunk('agent', 'Last.'),
      idle('end_turn'),
    )
    prompt('two')
    take(chunk('agent', 'Other.'), idle('end_turn'))
    assert.equal(turnAnswer(state, 1), 'First.\n\nLast.')
  })
})
