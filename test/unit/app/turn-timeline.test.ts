import assert from 'node:assert/strict'
import fc from 'fast-check'
import { RecordedFrames } from '../../../src/app/inspector/recorded-frames.ts'
import { findTurn } from '../../../src/app/inspector/turn-timeline.ts'
import type { TurnTimeline } from '../../../src/bridge/inspector.ts'
import { runAllSteps } from '../../../src/conversation/replay/stepped-work.ts'

type Direction = 'send' | 'receive'
const source = { connection: 1, agentId: 'a', agent: 'Agent A' }

class Recording {
  readonly frames = new RecordedFrames((text, length) => text.slice(0, length))

  add(at: number, direction: Direction, message: object, queued?: number, connection = 1): number {
    const json = JSON.stringify(message)
    return this.frames.add({ ...source, connection }, { at, direction, message, json, isCut: false, queued })
      .n
  }

  update(at: number, sessionUpdate: string, fields: object = {}, sessionId = 's'): number {
    const update = { sessionUpdate, ...fields }
    return this.add(at, 'receive', { method: 'session/update', params: { sessionId, update } })
  }

  prompt(at: number, id = 1, queued?: number): number {
    return this.add(
      at,
      'send',
      { id, method: 'session/prompt', params: { sessionId: 's', prompt: [] } },
      queued,
    )
  }

  answer(at: number, result: object, id = 1): number {
    return this.add(at, 'receive', { id, ...result })
  }

  turn(n: number): TurnTimeline | undefined {
    return runAllSteps(findTurn(this.frames, n, ({ json }) => json))
  }

  /** The spans as text: kind, name, begin to end, outcome. */
  spans(n: number): string[] {
    return (this.turn(n)?.spans ?? []).map(({ kind, name, start, end, isOpen, outcome }) =>
      [kind, name, `${start}-${end}${isOpen ? '…' : ''}`, outcome].filter(Boolean).join(' '),
    )
  }
}

describe('the timeline of a turn', () => {
  let recording: Recording

  beforeEach(() => {
    recording = new Recording()
  })

  it('shows the queue, the first output, tools and permissions of a turn in version 1', () => {
    recording.update(500, 'agent_message_chunk')
    const first = recording.prompt(1000, 1, 300)
    recording.update(1100, 'available_commands_update')
    recording.update(1400, 'agent_thought_chunk')
    recording.update(1500, 'agent_thought_chunk')
    recording.update(1600, 'agent_message_chunk')
    recording.update(1700, 'tool_call', { toolCallId: 't', title: 'Edit', status: 'pending' })
    const params = { sessionId: 's', toolCall: { toolCallId: 't', title: 'Edit a.ts' }, options: [] }
    recording.add(1750, 'receive', { id: 7, method: 'session/request_permission', params })
    recording.add(2750, 'send', { id: 7, result: { outcome: { outcome: 'selected', optionId: 'x' } } })
    recording.add(2800, 'receive', { id: 8, method: 'fs/write_text_file', params: { sessionId: 's' } })
    recording.add(2850, 'send', { id: 8, error: { code: 1, message: 'no' } })
    recording.update(2900, 'tool_call_update', { toolCallId: 't', status: 'completed', title: 'Edited' })
    recording.update(2950, 'agent_message_chunk')
    const last = recording.answer(3000, { result: { stopReason: 'end_turn' } })
    const after = recording.update(3100, 'session_info_update')
    const shown = [
      'queue 0-300',
      'wait 300-700',
      'thought 700-800',
      'message 900-900',
      'tool Edited 1000-2200 completed',
      'permission Edit a.ts 1050-2050',
      'request fs/write_text_file 2100-2150 failed',
      'message 2250-2250',
    ]
    for (const n of [first, first + 5, last]) assert.deepEqual(recording.spans(n), shown)
    const { spans: _, ...turn } = recording.turn(last)!
    assert.deepEqual(turn, {
      ...{ first, at: 700, duration: 2300, more: 0, firstOutput: 700, stopReason: 'end_turn' },
    })
    for (const n of [1, after]) assert.equal(recording.turn(n), undefined)
  })

  it('ends with an idle state in version 2, which accepts the prompt at once, and may start by itself', () => {
    recording.prompt(0)
    recording.answer(10, { result: { messageId: 'm' } })
    recording.update(20, 'state_update', { state: 'running' })
    recording.update(30, 'agent_message', { messageId: 'n' })
    recording.prompt(40, 2)
    recording.answer(45, { result: {} }, 2)
    const end = recording.update(50, 'state_update', { state: 'idle', stopReason: 'refusal' })
    assert.deepEqual(recording.spans(end), ['wait 0-30', 'message 30-30'])
    assert.equal(recording.turn(end)?.stopReason, 'refusal')

    const own = recording.update(100, 'state_update', { state: 'running' })
    recording.update(150, 'tool_call_update', { toolCallId: 't', status: 'in_progress' })
    assert.deepEqual(recording.turn(own)?.isRunning, true)
    recording.update(200, 'state_update', { state: 'idle' })
    assert.deepEqual(recording.spans(own), ['wait 0-50', 'tool 50-100…'])
    assert.equal(recording.turn(own)?.isRunning, undefined)
  })

  it('shows how long the agent took to stop, and that it answered with an error', () => {
    recording.prompt(0)
    recording.add(100, 'send', { method: 'session/cancel', params: { sessionId: 's' } })
    const end = recording.answer(400, { error: { code: 1, message: 'stopped' } })
    assert.deepEqual(recording.spans(end), ['wait 0-400', 'stop 100-400'])
    assert.equal(recording.turn(end)?.failed, true)
  })

  it('knows the turns of other sessions and connections apart', () => {
    recording.prompt(0)
    const other = recording.update(10, 'agent_message_chunk', {}, 'other')
    recording.add(
      20,
      'receive',
      { method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'plan' } } },
      undefined,
      2,
    )
    const own = recording.update(30, 'plan')
    assert.equal(recording.turn(other), undefined)
    assert.equal(recording.turn(own)?.firstOutput, 30)
  })

  it('never goes back in time, whatever the frames and their clocks say', () => {
    const at = fc.integer({ min: 0, max: 5000 })
    const id = fc.integer({ min: 1, max: 3 })
    const status = fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 5, undefined)
    const kinds = [
      'tool_call',
      'tool_call_update',
      'agent_message_chunk',
      'agent_thought_chunk',
      'state_update',
      'plan',
      'x',
    ]
    const update = fc.record({
      sessionUpdate: fc.constantFrom(...kinds),
      toolCallId: fc.constantFrom('1', '2', 3, null),
      title: fc.constantFrom('T', '', 7),
      state: fc.constantFrom('running', 'idle', 'requires_action', 1),
      status,
    })
    const sessionId = fc.constantFrom('s', 'other')
    const request = (...methods: string[]) =>
      fc.record({
        id,
        method: fc.constantFrom(...methods),
        params: fc.record({ sessionId, subject: fc.anything() }),
      })
    const message = fc.oneof(
      request('session/prompt', 'session/request_permission', 'elicitation/create', 'fs/read_text_file'),
      fc.record({
        id,
        result: fc.oneof(fc.constant({ stopReason: 'end_turn' }), fc.constant({}), fc.anything()),
      }),
      fc.record({ id, error: fc.anything() }),
      fc.record({ method: fc.constant('session/cancel'), params: fc.record({ sessionId }) }),
      fc.record({ method: fc.constant('session/update'), params: fc.record({ sessionId, update }) }),
    )
    const direction = fc.constantFrom<Direction>('send', 'receive')
    const frame = fc.tuple(at, direction, message, fc.option(at, { nil: undefined }))
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 60 }), list => {
        const recorded = new Recording()
        for (const one of list) recorded.add(...one)
        for (let n = 1; n <= list.length; n++) {
          const turn = recorded.turn(n)
          if (!turn) continue
          assert.ok(turn.first <= n && turn.duration >= 0)
          assert.ok(turn.firstOutput === undefined || turn.firstOutput <= turn.duration)
          let before = 0
          for (const { start, end, n: begun } of turn.spans) {
            assert.ok(start >= before && start <= end && end <= turn.duration, JSON.stringify(turn))
            assert.ok(begun >= turn.first)
            before = start
          }
          // every frame of the turn leads to the same turn
          assert.deepEqual(recorded.turn(turn.first), turn)
        }
      }),
    )
  })

  it('shows a part of a turn with very many tool calls, whose titles may be enormous', () => {
    recording.prompt(0)
    for (let i = 0; i < 1000; i++)
      recording.update(i, 'tool_call', { toolCallId: `${i}`, title: 'x'.repeat(i === 0 ? 1e6 : 1) })
    const turn = recording.turn(500)!
    assert.equal(turn.spans.length + turn.more, 1001)
    assert.ok(turn.spans.length <= 300 && JSON.stringify(turn).length < 50_000)
  })
})
