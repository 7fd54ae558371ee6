import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import type { SessionUpdate } from '../../../src/acp/model.ts'
import { ChangeSet } from '../../../src/conversation/change-set.ts'
import { SESSION_MESSAGE } from '../../../src/conversation/entries/session-message.ts'
import { SUBAGENT } from '../../../src/conversation/entries/subagent.ts'
import { isFinalStatus, TOOL_CALL } from '../../../src/conversation/entries/tool-call.ts'
import { createSessionState, type ReducingState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { reduceLocalWithin, reduceWithin } from '../../../src/conversation/reducer/reduce-within.ts'
import type { Change } from '../../../src/conversation/state.ts'
import { positionsOf } from '../../../src/conversation/step.ts'
import { block, eventSequences, type SessionEvent, update } from './arbitrary-updates.ts'
import { snapshotOf } from './updates.ts'

function happen(state: ReducingState, item: SessionEvent, now?: number): Change[] {
  return item.from === 'agent'
    ? reduceWithin(state, item.within, item.update, now)
    : reduceLocalWithin(state, item.event, now)
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}

const time = fc.option(fc.constant(1_800_000_000_000), { nil: undefined })

describe('reduce (property)', () => {
  it('never throws, never changes its input, and keeps its index consistent', () => {
    fc.assert(
      fc.property(eventSequences, time, (list, now) => {
        const state = createSessionState()
        list.forEach((item, at) => {
          happen(state, deepFreeze(item), now === undefined ? undefined : now + at)
          assertConsistent(state)
        })
      }),
    )
  })

  it('reports every change that a view needs', () => {
    fc.assert(
      fc.property(eventSequences, time, (list, now) => {
        const state = createSessionState()
        const follower = snapshotOf(state)
        for (const item of list) follower.apply(state, happen(state, item, now))
        assert.deepEqual(follower, snapshotOf(state))
      }),
    )
  })

  it('never reports both a whole entry and its appended text in one list of changes', () => {
    fc.assert(
      fc.property(eventSequences, list => {
        const state = createSessionState()
        for (const item of list) {
          const changes = happen(state, item)
          const entries = new Set(changes.flatMap(change => (change.type === 'entry' ? [change.id] : [])))
          for (const change of changes) assert(change.type !== 'text' || !entries.has(change.id))
        }
      }),
    )
  })

  it('leads to the same changes in a change set, whenever it is taken', () => {
    fc.assert(
      fc.property(eventSequences, fc.array(fc.boolean(), { maxLength: 60, size: 'max' }), (list, frames) => {
        const state = createSessionState()
        const follower = snapshotOf(state)
        const changes = new ChangeSet()
        const frame = () => {
          const taken = changes.take()
          follower.apply(state, [
            ...taken.entries.map((id): Change => ({ type: 'entry', id })),
            ...taken.texts.map((text): Change => ({ type: 'text', ...text })),
            ...taken.terminals.map((terminalId): Change => ({ type: 'terminal', terminalId })),
            ...taken.outputs.map((output): Change => ({ type: 'terminal_output', ...output })),
            ...taken.head.map((key): Change => ({ type: 'head', key })),
          ])
          assert(changes.isEmpty)
        }
        list.forEach((item, at) => {
          changes.add(happen(state, item, 5))
          if (frames[at]) frame()
        })
        frame()
        assert.deepEqual(follower, snapshotOf(state))
      }),
    )
  })

  it('has the same result for the same replay', () => {
    fc.assert(
      fc.property(fc.array(update, { maxLength: 60, size: 'max' }), list => {
        const [one, two] = [createSessionState(), createSessionState()]
        for (const item of list) reduce(one, item)
        for (const item of list) reduce(two, item)
        assert.deepEqual(one, two)
      }),
    )
  })

  it('has the same result however text is split into chunks', () => {
    const cut = fc.tuple(update, fc.array(fc.nat(11), { maxLength: 3 }))
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 40, size: 'max' }), list => {
        const [one, two] = [createSessionState(), createSessionState()]
        for (const [item, cuts] of list) {
          reduce(one, item)
          for (const piece of cutText(item, cuts)) reduce(two, piece)
        }
        assert.deepEqual(one, two)
      }),
    )
  })

  it('keeps all text of a message', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), block), { maxLength: 60, size: 'max' }),
        list => {
          const state = createSessionState()
          const reported = new Map<string, string>()
          for (const [messageId, content] of list) {
            reduce(state, { type: 'message_chunk', role: 'agent', messageId, content })
            if (content.type === 'text')
              reported.set(messageId, (reported.get(messageId) ?? '') + content.text)
          }
          // what may begin a tag is shown when no more text follows
          reduce(state, { type: 'message_end' })
          for (const entry of state.entries) {
            assert(entry.kind === 'message')
            const text = entry.blocks.map(shown => (shown.type === 'text' ? shown.text : '')).join('')
            assert.equal(text, reported.get(entry.messageId ?? '') ?? '')
          }
        },
      ),
    )
  })
})

function cutText(item: SessionUpdate, cuts: number[]): SessionUpdate[] {
  if (item.type === 'terminal_output') return pieces(item.text, cuts).map(text => ({ ...item, text }))
  const isChunk =
    item.type === 'message_chunk' || item.type === 'compaction_chunk' || item.type === 'session_message_chunk'
  if (!isChunk || item.content.type !== 'text') return [item]
  // the one exception, whose parts stay separate
  if (item.type === 'message_chunk' && item.role === 'user' && item.messageId === undefined) return [item]
  return pieces(item.content.text, cuts).map(text => ({ ...item, content: { type: 'text', text } }))
}

function pieces(text: string, cuts: number[]): string[] {
  const at = [0, ...cuts.map(cut => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
  return at.slice(1).map((end, index) => text.slice(at[index], end))
}

function assertConsistent(state: ReducingState): void {
  const { entries, index } = state
  assert.equal(index.size, entries.length)
  entries.forEach((entry, position) => {
    assert.equal(index.get(entry.id), position)
    const owner = entry.within === undefined ? state : state.memory.subagentStates.get(entry.within)
    assert(owner)
    const { memory } = owner
    if (entry.within !== undefined) assert(entry.kind !== 'message' || entry.role !== 'user')
    if (entry.kind === 'tool_call') {
      // the last one of that id, which starts anew only if the one before it has finished
      assert(positionsOf(memory, TOOL_CALL).get(entry.toolCallId)! >= position)
      if (positionsOf(memory, TOOL_CALL).get(entry.toolCallId) !== position)
        assert(isFinalStatus(entry.status))
      assert.equal(memory.openTools.has(position), !isFinalStatus(entry.status))
    }
    if (entry.kind === 'permission') {
      assert.equal(memory.openRequests.get(entry.requestId) === position, entry.outcome === undefined)
      if (entry.toolCallId !== undefined) assert(positionsOf(memory, TOOL_CALL).has(entry.toolCallId))
    }
    if (entry.kind === 'elicitation') {
      assert.equal(memory.openRequests.get(entry.requestId) === position, entry.outcome === undefined)
    }
    if (entry.kind === 'subagent') assert.equal(positionsOf(memory, SUBAGENT).get(entry.sessionId), position)
    if (entry.kind === 'session_message') {
      assert.equal(positionsOf(memory, SESSION_MESSAGE).get(entry.messageId), position)
    }
    if (entry.kind === 'turn_end') assert.notEqual(entry.stopReason, 'end_turn')
    if (entry.endedAt !== undefined) assert(entry.startedAt !== undefined && entry.startedAt <= entry.endedAt)
    assert(entry.turn <= state.turn)
  })
  for (const { memory } of [state, ...state.memory.subagentStates.values()]) {
    for (const position of memory.toolsWithoutStatus) assert(memory.openTools.has(position))
    assert.equal(memory.openRequests, state.memory.openRequests)
    if (memory.openRequests.size > 0) assert.equal(state.activity, 'requires_action')
  }
  if (!state.memory.running) assert.notEqual(state.activity, 'running')
  if (!state.memory.running) assert.equal(state.unconfirmed, undefined)
  assert.notEqual(state.background, 0)
}
