import { strict as assert } from 'node:assert'
import type { SessionUpdate, ToolCallPatch } from '../../../src/acp/model.ts'
import { messageText, wholeMessage } from '../../../src/conversation/entries/message.ts'
import { toolCallOf } from '../../../src/conversation/entries/tool-call.ts'
import { createSessionState, type ReducingState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocal } from '../../../src/conversation/reducer/reduce-local.ts'
import type { Change } from '../../../src/conversation/state.ts'
import { chunk, idle, modes, permissionRequest, running, summarize, text, tool } from './updates.ts'

function take(state: ReducingState, updates: SessionUpdate[], now?: number): Change[] {
  return updates.flatMap(update => reduce(state, update, now))
}

function replayed(...updates: SessionUpdate[]): ReducingState {
  const state = createSessionState()
  take(state, updates)
  return state
}

describe('a request for a tool call', () => {
  it('keeps the text that the agent reported before, once', () => {
    const state = createSessionState()
    const content = (value: string) => ({ type: 'content' as const, content: text(value) })
    reduce(state, tool('t', { kind: 'execute', title: 'npm test', content: [content('npm test')] }))
    const request = permissionRequest({
      subject: {
        type: 'tool_call',
        toolCall: { toolCallId: 't', title: 'Bash', content: [content('May I run it?')] },
      },
    })
    for (const requestId of ['p1', 'p2']) reduceLocal(state, { type: 'permission_asked', requestId, request })
    const [call] = state.entries
    assert(call?.kind === 'tool_call')
    assert.deepEqual(call.content, [content('npm test'), content('May I run it?')])
  })
})

describe('reduce: messages', () => {
  it('joins adjacent text and reports only what was appended', () => {
    const state = createSessionState()
    take(state, [chunk('agent', 'Hel')])
    assert.deepEqual(take(state, [chunk('agent', 'lo')]), [{ type: 'text', id: 'e0', block: 0, text: 'lo' }])
    assert.deepEqual(summarize(state), ['agent: Hello'])
  })

  it('keeps text after another block separate', () => {
    const state = replayed(
      chunk('agent', 'a'),
      { type: 'message_chunk', role: 'agent', content: { type: 'image', data: '', mimeType: 'image/png' } },
      chunk('agent', 'b'),
      chunk('agent', 'c'),
    )
    assert.deepEqual(summarize(state), ['agent: a|[image]|bc'])
  })

  it('never changes an update', () => {
    const update = chunk('agent', 'one', 'm')
    const whole: SessionUpdate = { type: 'message', role: 'agent', messageId: 'n', content: [text('list')] }
    const call = tool('t', { content: [{ type: 'content', content: text('x') }] })
    const before = structuredClone([update, whole, call])
    const state = createSessionState()
    for (let round = 0; round < 2; round++) {
      take(state, [update, whole, call])
      take(state, [chunk('agent', ' more', 'm'), chunk('agent', ' more', 'n')])
      reduce(state, {
        type: 'tool_call_content',
        toolCallId: 't',
        content: { type: 'terminal', terminalId: 'x' },
      })
    }
    assert.deepEqual([update, whole, call], before)
  })

  it('separates interleaved chunks of two messages by their ids', () => {
    const state = replayed(chunk('agent', 'a1', 'a'), chunk('agent', 'b1', 'b'), chunk('agent', 'a2', 'a'))
    assert.deepEqual(summarize(state), ['agent: a1a2', 'agent: b1'])
  })

  it("doesn't append a message without an id to one with an id", () => {
    const state = replayed(chunk('agent', 'Warning'), chunk('agent', 'Hello', 'm'), chunk('agent', 'Late'))
    assert.deepEqual(summarize(state), ['agent: Warning', 'agent: Hello', 'agent: Late'])
  })

  it('starts a new message after a tool call if there is no id, but not after an unknown update', () => {
    const state = replayed(
      chunk('agent', 'be'),
      { type: 'unknown', kind: 'vendor', raw: {} },
      chunk('agent', 'fore'),
      tool('t'),
      chunk('agent', 'after'),
    )
    assert.deepEqual(summarize(state), [
      'agent: before',
      'unknown: vendor',
      'tool t: pending',
      'agent: after',
    ])
  })

  it('updates a whole message by keeping absent properties, clearing null and replacing lists', () => {
    const state = replayed(chunk('agent', 'old', 'm'))
    const upsert = (content?: null | ReturnType<typeof text>[]) =>
      reduce(state, {
        type: 'message',
        role: 'agent',
        messageId: 'm',
        ...(content !== undefined && { content }),
      })
    assert.deepEqual(upsert(), [])
    assert.deepEqual(summarize(state), ['agent: old'])
    upsert([text('new')])
    assert.deepEqual(summarize(state), ['agent: new'])
    upsert(null)
    assert.deepEqual(summarize(state), ['agent: '])
    take(state, [chunk('agent', 'again', 'm')])
    assert.deepEqual(summarize(state), ['agent: again'])
  })

  it('shows text that continues a message after a tool call at the end', () => {
    const state = createSessionState()
    take(state, [chunk('agent', 'Let me look. ', 'm'), tool('t')])
    assert.deepEqual(take(state, [chunk('agent', 'Fou', 'm')]), [{ type: 'entry', id: 'e2' }])
    assert.deepEqual(take(state, [chunk('agent', 'nd', 'm')]), [
      { type: 'text', id: 'e2', block: 0, text: 'nd' },
    ])
    assert.deepEqual(summarize(state), ['agent: Let me look. ', 'tool t: pending', 'agent: Found'])
    // only text in between, so it's one message
    take(state, [chunk('thought', 'hm', 'n'), chunk('agent', ' it', 'm')])
    assert.deepEqual(summarize(state).slice(2), ['agent: Found it', 'thought: hm'])
  })

  it('copies the whole message from each of its parts', () => {
    const state = replayed(
      chunk('agent', 'Other', 'other'),
      chunk('agent', 'One ', 'm'),
      tool('t'),
      chunk('agent', 'two ', 'm'),
      tool('u'),
      chunk('agent', 'three', 'm'),
    )
    for (const index of [1, 3, 5]) {
      assert.equal(messageText(wholeMessage(state.entries, index)!), 'One two three')
    }
    assert.equal(messageText(wholeMessage(state.entries, 0)!), 'Other')
    assert.equal(wholeMessage(state.entries, 2), undefined)
  })

  it('updates a whole message that starts above a tool call', () => {
    const upsert = (value: string): SessionUpdate => ({
      type: 'message',
      role: 'agent',
      messageId: 'm',
      content: [text(value)],
    })
    const state = replayed(chunk('agent', 'One ', 'm'), tool('t'), upsert('One two'))
    assert.deepEqual(summarize(state), ['agent: One ', 'tool t: pending', 'agent: two'])
    take(state, [upsert('One two three')])
    assert.deepEqual(summarize(state), ['agent: One ', 'tool t: pending', 'agent: two three'])
    take(state, [upsert('Something else')])
    assert.deepEqual(summarize(state), ['agent: Something else', 'tool t: pending', 'agent: '])
  })

  it('keeps the position of a prompt that starts empty', () => {
    const state = replayed(
      { type: 'message', role: 'user', messageId: 'u', content: [] },
      chunk('user', 'question', 'u'),
      { type: 'message', role: 'agent', messageId: 'a', content: [] },
      tool('t'),
      chunk('agent', 'answer', 'a'),
    )
    assert.deepEqual(summarize(state), ['user: question', 'agent: ', 'tool t: pending', 'agent: answer'])
  })

  it('numbers the turns of a replay by its user messages', () => {
    const state = replayed(
      chunk('agent', 'banner'),
      chunk('user', 'one', 'u1'),
      chunk('agent', '1', 'a1'),
      chunk('user', 'two', 'u2'),
      tool('t'),
    )
    assert.deepEqual(
      state.entries.map(entry => entry.turn),
      [0, 1, 1, 2, 2],
    )
  })

  it('measures a thought that arrives at once from the time of the previous entry', () => {
    const state = createSessionState()
    take(state, [chunk('user', 'Why?')], 1000)
    take(state, [chunk('thought', 'hm')], 5000)
    take(state, [tool('t', { status: 'completed' })], 5010)
    take(state, [chunk('thought', 'so')], 7000)
    take(state, [chunk('agent', 'Because')], 7010)
    take(state, [chunk('thought', 'or')], 9000)
    take(state, [chunk('agent', 'not')], 9010)
    const times = state.entries.map(({ startedAt, endedAt }) => [startedAt, endedAt])
    assert.deepEqual(
      [times[1], times[3]],
      [
        [1000, 5010],
        [5010, 7010],
      ],
    )
    assert.deepEqual(times[5], [9000, 9010], 'nobody knows when a message ended')
  })

  it('sets the times of a thought in a turn, but not in a replay', () => {
    assert.equal('startedAt' in replayed(chunk('thought', 'hm')).entries[0]!, false)
    const state = createSessionState()
    take(state, [chunk('thought', 'hm')], 1000)
    take(state, [chunk('thought', ' well')], 2000)
    const changes = take(state, [chunk('agent', 'Yes')], 3000)
    assert.deepEqual([state.entries[0]!.startedAt, state.entries[0]!.endedAt], [1000, 3000])
    assert.deepEqual(changes, [
      { type: 'entry', id: 'e0' },
      { type: 'entry', id: 'e1' },
    ])
  })
})

describe('reduce: thoughts', () => {
  it('end when an earlier message continues', () => {
    const state = createSessionState()
    take(state, [chunk('agent', 'One', 'a')], 1)
    take(state, [chunk('thought', 'hm', 't')], 2)
    take(state, [chunk('agent', ', two', 'a')], 5)
    assert.equal(state.entries[1]?.endedAt, 5)
  })
})

describe('reduce: tool calls', () => {
  it('keep absent properties, clear null and replace lists', () => {
    const state = replayed(
      tool('t', {
        title: 'Read',
        name: 'read',
        kind: 'read',
        status: 'in_progress',
        content: [{ type: 'content', content: text('a') }],
        locations: [{ path: '/a' }],
        rawInput: { a: 1 },
        rawOutput: 'out',
        canCancel: true,
      }),
      tool('t', { status: 'completed' }),
    )
    const entry = state.entries[0]!
    assert(entry.kind === 'tool_call')
    assert.deepEqual(
      { ...entry },
      {
        kind: 'tool_call',
        id: 'e0',
        turn: 0,
        toolCallId: 't',
        title: 'Read',
        toolName: 'read',
        toolKind: 'read',
        status: 'completed',
        content: [{ type: 'content', content: text('a') }],
        locations: [{ path: '/a' }],
        rawInput: { a: 1 },
        rawOutput: 'out',
        canCancel: true,
      },
    )
    take(state, [
      tool('t', {
        title: null,
        name: null,
        kind: null,
        status: null,
        content: null,
        locations: null,
        rawInput: null,
        rawOutput: null,
        canCancel: null,
      }),
    ])
    assert.deepEqual(
      { ...entry },
      {
        kind: 'tool_call',
        id: 'e0',
        turn: 0,
        toolCallId: 't',
        title: '',
        toolKind: 'other',
        status: 'pending',
        content: [],
        locations: [],
        canCancel: false,
      },
    )
  })

  it('start anew if an agent announces one with the id of one that finished in an earlier turn', () => {
    const announced = (patch: Omit<ToolCallPatch, 'toolCallId'> = {}): SessionUpdate => ({
      type: 'tool_call',
      toolCall: { toolCallId: 't', ...patch },
      isNew: true,
    })
    const state = replayed(
      chunk('user', 'one'),
      announced({ title: 'Read', status: 'in_progress', rawInput: { path: 'a' } }),
      // the same one twice, and a correction
      announced({ status: 'completed' }),
      announced({ title: 'Read a' }),
      chunk('agent', 'Done.'),
      chunk('user', 'two'),
      tool('t', { status: 'completed' }),
    )
    const first = ['user: one', 'tool t: completed', 'agent: Done.', 'user: two']
    assert.deepEqual(summarize(state), first)
    const before = structuredClone(state.entries[1])
    take(state, [announced({ title: 'Edit' })])
    take(state, [
      tool('t', { status: 'in_progress' }),
      { type: 'tool_call_content', toolCallId: 't', content: { type: 'terminal', terminalId: 'x' } },
    ])
    assert.deepEqual(summarize(state), [...first, 'tool t: in_progress'])
    assert.deepEqual(state.entries[1], before)
    assert.deepEqual(state.entries[4], {
      id: 'e4',
      turn: 2,
      kind: 'tool_call',
      toolCallId: 't',
      title: 'Edit',
      toolKind: 'other',
      status: 'in_progress',
      canCancel: false,
      content: [{ type: 'terminal', terminalId: 'x' }],
      locations: [],
    })
    // one that still runs is meant in the next turn, too
    take(state, [chunk('user', 'three'), announced({ status: 'completed' })])
    assert.deepEqual(summarize(state).slice(4), ['tool t: completed', 'user: three'])
  })

  it('that were canceled get their end later, and start anew otherwise', () => {
    const states = ['failed', 'in_progress'].map(status => {
      const state = replayed(
        chunk('user', 'one'),
        running,
        tool('t', { status: 'in_progress' }),
        idle('cancelled'),
      )
      const toolCall = { toolCallId: 't', status }
      take(state, [chunk('user', 'two'), { type: 'tool_call', toolCall, isNew: true }])
      return summarize(state).filter(entry => entry.startsWith('tool'))
    })
    assert.deepEqual(states, [['tool t: failed'], ['tool t: cancelled', 'tool t: in_progress']])
  })

  it('are never mistaken for an earlier one with the same id by a permission request', () => {
    const state = replayed(
      chunk('user', 'one'),
      tool('t', { title: 'List', status: 'completed', rawInput: { command: 'ls' } }),
      chunk('user', 'two'),
    )
    const request = permissionRequest({
      title: '',
      subject: { type: 'tool_call', toolCall: { toolCallId: 't', title: 'Remove' } },
    })
    const asked = () => {
      const { title, rawInput } = toolCallOf(state, request)!
      return { title, rawInput }
    }
    assert.deepEqual(asked(), { title: 'Remove', rawInput: undefined })
    reduceLocal(state, { type: 'permission_asked', requestId: 'r', request })
    take(state, [tool('t', { rawInput: { command: 'rm' } })])
    assert.deepEqual(asked(), { title: 'Remove', rawInput: { command: 'rm' } })
    assert.deepEqual(summarize(state), [
      'user: one',
      'tool t: completed',
      'user: two',
      'tool t: pending',
      'permission Remove: open',
    ])
  })

  it('append streamed content, also before the tool call is known', () => {
    const state = createSessionState()
    const item = (value: string): SessionUpdate => ({
      type: 'tool_call_content',
      toolCallId: 't',
      content: { type: 'content', content: text(value) },
    })
    take(state, [item('a'), item('b')])
    const entry = state.entries[0]
    assert(entry?.kind === 'tool_call')
    assert.equal(entry.content.length, 2)
  })

  it('are timed from the answer to their permission request', () => {
    const state = createSessionState()
    const request = {
      sessionId: 's',
      title: 'May I?',
      options: [],
      subject: { type: 'tool_call' as const, toolCall: { toolCallId: 't' } },
    }
    take(state, [tool('t', { status: 'pending' })], 1000)
    reduceLocal(state, { type: 'permission_asked', requestId: 'p', request }, 1100)
    const outcome = { type: 'selected' as const, optionId: 'yes' }
    reduceLocal(state, { type: 'request_answered', requestId: 'p', outcome }, 90_000)
    take(state, [tool('t', { status: 'completed' })], 90_200)
    assert.deepEqual([state.entries[0]!.startedAt, state.entries[0]!.endedAt], [90_000, 90_200])
  })

  it('have an end time, which is removed if they continue', () => {
    const state = createSessionState()
    take(state, [tool('t', { status: 'in_progress' })], 1000)
    take(state, [tool('t', { status: 'completed' })], 1500)
    assert.deepEqual([state.entries[0]!.startedAt, state.entries[0]!.endedAt], [1000, 1500])
    take(state, [tool('t', { status: 'in_progress' })], 1600)
    assert.equal(state.entries[0]!.endedAt, undefined)
  })

  it('report nothing if an update changes nothing', () => {
    const state = replayed(tool('t', { title: 'Read', status: 'completed' }))
    assert.deepEqual(take(state, [tool('t', { title: 'Read', status: 'completed' }), tool('t')]), [])
  })
})

describe('reduce: turns', () => {
  it('change from state to state', () => {
    const state = createSessionState()
    take(state, [running], 5)
    assert.deepEqual([state.activity, state.turnStartedAt], ['running', 5])
    take(state, [{ type: 'state', state: 'requires_action' }], 6)
    assert.equal(state.activity, 'requires_action')
    take(state, [running], 7)
    assert.deepEqual([state.activity, state.turnStartedAt], ['running', 5])
    take(state, [idle('end_turn')], 8)
    assert.equal(state.activity, 'idle')
    assert.equal('turnStartedAt' in state, false)
    assert.deepEqual(summarize(state), [])
  })

  it('treat an unknown state as busy, but unconfirmed', () => {
    for (const name of ['_dreaming', 'unknown']) {
      const state = createSessionState()
      take(state, [running])
      const changes = take(state, [{ type: 'state', state: name }])
      assert.deepEqual(changes, [{ type: 'head', key: 'activity' }])
      assert.deepEqual([state.activity, state.unconfirmed], ['running', true])
      take(state, [running])
      assert.equal(state.unconfirmed, undefined)
      take(state, [{ type: 'state', state: name }, idle('end_turn')])
      assert.deepEqual([state.activity, state.unconfirmed], ['idle', undefined])
    }
  })

  it("show once how they ended, unless that's normal", () => {
    const state = createSessionState()
    take(state, [running, idle('max_tokens'), idle('max_tokens')])
    assert.deepEqual(summarize(state), ['turn_end: max_tokens'])
    take(state, [running, { type: 'state', state: 'idle', error: { code: 1, message: 'broken' } }])
    assert.deepEqual(summarize(state), ['turn_end: max_tokens', 'turn_end: error'])
    const last = state.entries[1]
    assert(last?.kind === 'turn_end')
    assert.deepEqual(last.error, { code: 1, message: 'broken' })
  })

  it('leave no step of a plan in progress, however they end', () => {
    const plan: SessionUpdate = {
      type: 'plan',
      plan: {
        planId: 'p',
        entries: (['completed', 'in_progress', 'pending'] as const).map(status => ({
          ...{ content: status, priority: 'medium', status },
        })),
      },
    }
    const ends: Array<(state: ReducingState) => Change[]> = [
      state => take(state, [idle('end_turn')]),
      state => take(state, [idle('cancelled')]),
      state => take(state, [{ type: 'state', state: 'idle', error: { code: 1, message: 'broken' } }]),
      state => reduceLocal(state, { type: 'agent_gone' }),
    ]
    for (const end of ends) {
      const state = createSessionState()
      take(state, [running, plan])
      assert.equal(state.plans[0]?.entries[1]?.status, 'in_progress')
      assert.ok(end(state).some(change => change.type === 'head' && change.key === 'plans'))
      assert.deepEqual(
        state.plans[0].entries.map(({ status }) => status),
        ['completed', 'pending', 'pending'],
      )
    }
  })

  it('leave background work open', () => {
    const state = createSessionState()
    take(state, [running, tool('watch', { status: 'in_progress' }), tool('t', { status: 'in_progress' })])
    take(state, [{ type: 'state', state: 'idle', stopReason: 'end_turn', background: ['watch'] }])
    assert.deepEqual(summarize(state), ['tool watch: in_progress', 'tool t: cancelled'])
  })
})

describe('reduce: open entries of a turn', () => {
  it('are canceled with an interrupted turn, even without a status', () => {
    for (const stopReason of ['cancelled', 'error']) {
      assert.equal(summarize(replayed(running, tool('t'), idle(stopReason)))[0], 'tool t: cancelled')
    }
    assert.equal(summarize(replayed(running, tool('t'), idle('max_tokens')))[0], 'tool t: completed')
  })
})

describe('reduce: terminals', () => {
  it('are created and updated; output is appended, replaced and cleared', () => {
    const state = createSessionState()
    const output = (value: string): SessionUpdate => ({
      type: 'terminal_output',
      terminalId: 'x',
      text: value,
    })
    take(state, [output('a')])
    assert.deepEqual(take(state, [output('b')]), [{ type: 'terminal_output', terminalId: 'x', text: 'b' }])
    take(state, [
      {
        type: 'terminal',
        terminal: { terminalId: 'x', command: 'ls', cwd: '/', size: { cols: 80, rows: 24 } },
      },
    ])
    assert.deepEqual(state.terminals.get('x'), {
      terminalId: 'x',
      command: 'ls',
      cwd: '/',
      size: { cols: 80, rows: 24 },
      output: 'ab',
      truncated: false,
    })
    take(state, [
      { type: 'terminal', terminal: { terminalId: 'x', output: 'new', cwd: null, exit: { exitCode: 3 } } },
    ])
    assert.deepEqual(state.terminals.get('x'), {
      terminalId: 'x',
      command: 'ls',
      size: { cols: 80, rows: 24 },
      output: 'new',
      truncated: false,
      exit: { exitCode: 3 },
    })
    take(state, [{ type: 'terminal', terminal: { terminalId: 'x', output: null } }])
    assert.equal(state.terminals.get('x')?.output, '')
  })
})

describe("reduce: the session's properties", () => {
  it('keep plans by id', () => {
    const plan = (planId: string, content: string): SessionUpdate => ({
      type: 'plan',
      plan: { planId, entries: [{ content, priority: 'high', status: 'pending' }] },
    })
    const state = replayed(plan('a', '1'), plan('b', '2'), plan('a', '3'))
    assert.deepEqual(
      state.plans.map(known => [known.planId, known.entries[0]?.content]),
      [
        ['a', '3'],
        ['b', '2'],
      ],
    )
    assert.deepEqual(take(state, [{ type: 'plan_removed', planId: 'a' }]), [{ type: 'head', key: 'plans' }])
    assert.deepEqual(take(state, [{ type: 'plan_removed', planId: 'a' }]), [])
    assert.equal(state.plans.length, 1)
  })

  it('remove a completed plan with the next prompt, and keep an incomplete one', () => {
    const plan = (planId: string, ...statuses: string[]): SessionUpdate => ({
      type: 'plan',
      plan: { planId, entries: statuses.map(status => ({ content: 'x', priority: 'high', status })) },
    })
    const state = replayed(
      chunk('user', 'first'),
      plan('done', 'completed', 'cancelled'),
      plan('open', 'completed', 'pending'),
      plan('bare'),
    )
    const ids = () => state.plans.map(({ planId }) => planId)
    assert.deepEqual(ids(), ['done', 'open', 'bare'])
    const changes = take(state, [chunk('agent', 'Done.'), chunk('user', 'second')])
    assert.deepEqual(ids(), ['open', 'bare'])
    assert.ok(changes.some(change => change.type === 'head' && change.key === 'plans'))
    take(state, [plan('done', 'pending')])
    assert.deepEqual(ids(), ['open', 'bare', 'done'])
  })

  it('report a title once, clear it with null and read the time', () => {
    const state = createSessionState()
    assert.deepEqual(
      take(state, [{ type: 'info', title: ' T ', updatedAt: '2026-11-20T09:33:09.874572231Z' }]),
      [
        { type: 'head', key: 'title' },
        { type: 'head', key: 'updatedAt' },
      ],
    )
    assert.deepEqual([state.title, state.updatedAt], ['T', Date.UTC(2026, 10, 20, 9, 33, 9, 874)])
    assert.deepEqual(take(state, [{ type: 'info', title: 'T' }, { type: 'info' }]), [])
    take(state, [{ type: 'info', title: null, updatedAt: null }])
    assert.deepEqual(['title' in state, 'updatedAt' in state], [false, false])
  })

  it("change an option by its category, even to a value that isn't a choice", () => {
    const update: SessionUpdate = { type: 'config_options', options: [modes()] }
    const state = replayed(update)
    take(state, [{ type: 'config_value', category: 'mode', value: 'elsewhere' }])
    const option = state.configOptions[0]
    assert(option?.type === 'select')
    assert.equal(option.currentValue, 'elsewhere')
    assert.deepEqual(update.options, [modes()])
    assert.deepEqual(take(state, [{ type: 'config_value', category: 'model', value: 'x' }]), [])
  })
})

describe('reduce: the end of a message', () => {
  it('keeps later text without an id separate, and ends a thought', () => {
    const state = createSessionState()
    const end = { type: 'message_end' } as const
    reduce(state, chunk('thought', 'hm'), 1)
    assert.deepEqual(reduce(state, end, 2), [{ type: 'entry', id: 'e0' }])
    reduce(state, chunk('agent', 'one'), 3)
    assert.deepEqual(reduce(state, end, 4), [])
    reduce(state, chunk('agent', 'two'), 5)
    assert.deepEqual(summarize(state), ['thought: hm', 'agent: one', 'agent: two'])
  })
})

describe('reduce: notices, compactions, unknown updates', () => {
  it('are shown in order', () => {
    const state = replayed(
      { type: 'notice', severity: 'warning', title: 'careful' },
      { type: 'compaction', compactionId: 'c', status: 'in_progress' },
      { type: 'compaction_chunk', compactionId: 'c', content: text('sum') },
      { type: 'compaction_chunk', compactionId: 'c', content: text('mary') },
      { type: 'compaction', compactionId: 'c', status: 'failed', error: 'no' },
      { type: 'unknown', kind: 'new_thing', raw: { a: 1 } },
    )
    assert.deepEqual(summarize(state), ['notice: careful', 'compaction: failed', 'unknown: new_thing'])
    const compaction = state.entries[1]
    assert(compaction?.kind === 'compaction')
    assert.deepEqual([compaction.summary, compaction.error], [[text('summary')], 'no'])
    take(state, [{ type: 'compaction', compactionId: 'c', status: 'completed', summary: null, error: null }])
    assert.deepEqual([compaction.summary, 'error' in compaction], [[], false])
  })

  it('start a compaction with a chunk', () => {
    const state = replayed({ type: 'compaction_chunk', compactionId: 'c', content: text('x') })
    assert.deepEqual(summarize(state), ['compaction: in_progress'])
  })
})

describe('reduceLocal', () => {
  it('adds a prompt and starts a turn', () => {
    const state = createSessionState()
    const content = [text('hello')]
    reduceLocal(state, { type: 'prompt', content }, 9)
    assert.deepEqual(summarize(state), ['user: hello'])
    assert.deepEqual([state.activity, state.turn, state.turnStartedAt], ['running', 1, 9])
    assert.deepEqual(state.entries[0]?.turn, 1)
  })

  it('shows a request and its answer, and continues', () => {
    const state = createSessionState()
    reduceLocal(state, { type: 'prompt', content: [text('x')] }, 1)
    reduceLocal(
      state,
      { type: 'permission_asked', requestId: 'p1', request: permissionRequest({ title: 'A' }) },
      2,
    )
    reduceLocal(
      state,
      { type: 'permission_asked', requestId: 'p2', request: permissionRequest({ title: 'B' }) },
      3,
    )
    assert.equal(state.activity, 'requires_action')
    const yes = { type: 'selected', optionId: 'yes' } as const
    reduceLocal(state, { type: 'request_answered', requestId: 'p1', outcome: yes }, 4)
    assert.equal(state.activity, 'requires_action')
    reduceLocal(state, { type: 'request_answered', requestId: 'p2', outcome: { type: 'cancelled' } }, 5)
    assert.equal(state.activity, 'running')
    assert.deepEqual(summarize(state), ['user: x', 'permission A: selected', 'permission B: cancelled'])
    const again = { type: 'request_answered', requestId: 'p1', outcome: { type: 'cancelled' } } as const
    assert.deepEqual(reduceLocal(state, again, 6), [])
  })

  it("continues after an answer even if the agent doesn't report it", () => {
    const state = createSessionState()
    take(state, [running, { type: 'state', state: 'requires_action' }])
    reduceLocal(state, { type: 'permission_asked', requestId: 'p', request: permissionRequest() })
    reduceLocal(state, { type: 'request_answered', requestId: 'p', outcome: { type: 'cancelled' } })
    assert.equal(state.activity, 'running')
  })

  it('shows the tool call or command that a request is about', () => {
    const state = createSessionState()
    const ask = (requestId: string, patch: Parameters<typeof permissionRequest>[0]) =>
      reduceLocal(state, { type: 'permission_asked', requestId, request: permissionRequest(patch) })
    ask('p1', { title: '', subject: { type: 'tool_call', toolCall: { toolCallId: 't', title: 'Edit a' } } })
    ask('p2', { subject: { type: 'command', command: 'rm x', cwd: '/w', toolCallId: 'c' } })
    ask('p3', { subject: { type: 'unknown', kind: 'plan', raw: 1 } })
    const shown = state.entries.flatMap(entry =>
      entry.kind === 'permission' ? [[entry.title, entry.toolCallId, entry.command, entry.subject]] : [],
    )
    assert.deepEqual(shown, [
      ['Edit a', 't', undefined, undefined],
      ['May I?', 'c', { command: 'rm x', cwd: '/w' }, undefined],
      ['May I?', undefined, undefined, { kind: 'plan', raw: 1 }],
    ])
    const command = state.entries.find(entry => entry.kind === 'tool_call' && entry.toolCallId === 'c')
    assert(command?.kind === 'tool_call')
    assert.deepEqual([command.title, command.toolKind], ['rm x', 'execute'])
  })

  it('closes everything when the agent exits', () => {
    const state = createSessionState()
    reduceLocal(state, { type: 'prompt', content: [text('x')] }, 1)
    take(state, [chunk('thought', 'hm'), tool('t', { status: 'in_progress' })], 2)
    take(state, [{ type: 'compaction', compactionId: 'c', status: 'in_progress' }], 2)
    take(state, [{ type: 'terminal', terminal: { terminalId: 'term', command: 'sleep 9' } }], 2)
    reduceLocal(state, { type: 'permission_asked', requestId: 'p', request: permissionRequest() }, 3)
    reduceLocal(state, { type: 'agent_gone', message: 'It crashed.', code: 139 }, 4)
    assert.deepEqual(summarize(state), [
      'user: x',
      'thought: hm',
      'tool t: cancelled',
      'compaction: cancelled',
      'permission May I?: cancelled',
      'turn_end: error',
    ])
    assert.equal(state.activity, 'idle')
    assert.deepEqual(state.terminals.get('term')?.exit, { exitCode: null, signal: null })
  })

  it('closes what a replay left open, unless the agent is working', () => {
    const state = replayed(tool('told', { status: 'in_progress' }), tool('untold', { title: 'x' }))
    reduceLocal(state, { type: 'load_finished' })
    assert.deepEqual(summarize(state), ['tool told: cancelled', 'tool untold: completed'])
    const busy = replayed(tool('told', { status: 'in_progress' }), running)
    reduceLocal(busy, { type: 'load_finished' })
    assert.deepEqual(summarize(busy), ['tool told: in_progress'])
  })
})
