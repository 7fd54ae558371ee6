import assert from 'node:assert/strict'
import fc from 'fast-check'
import { messageText, wholeMessage } from '../../../src/conversation/entries/message.ts'
import { reduce } from '../../../src/conversation/reducer/reduce.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'
import { restoreEnd, restoreState } from '../../../src/conversation/replay/restore-state.ts'
import type { SessionState } from '../../../src/conversation/state.ts'
import { update } from './arbitrary-updates.ts'

const kept = (state: SessionState) =>
  structuredClone({
    entries: state.entries,
    terminals: [...state.terminals.values()],
    head: { title: state.title, plans: state.plans, usage: state.usage },
  })

describe('a saved conversation', () => {
  it('shows the same entries, all of them closed', () => {
    fc.assert(
      fc.property(fc.array(update, { maxLength: 60 }), updates => {
        const before = createSessionState()
        for (const update of updates) reduce(before, update, 1)
        const after = restoreState(kept(before))
        assert.equal(after.entries.length, before.entries.length)
        assert.equal(after.activity, 'idle')
        for (const [position, entry] of after.entries.entries()) {
          assert.equal(after.index.get(entry.id), position)
          if (entry.kind === 'message') assert.deepEqual(entry, before.entries[position])
          if (entry.kind === 'tool_call') assert.ok(!['pending', 'in_progress'].includes(entry.status))
        }
        assert.deepEqual([...after.terminals.keys()], [...before.terminals.keys()])
      }),
    )
  })

  it('has the same end if only that was read', () => {
    fc.assert(
      fc.property(
        fc.array(update, { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        (updates, count, working) => {
          const before = createSessionState()
          for (const update of updates) reduce(before, update, 1)
          const saved = () => ({ ...kept(before), head: { ...kept(before).head, working } })
          const whole = restoreState(saved())
          const first = Math.max(0, before.entries.length - count)
          const end = restoreEnd({ ...saved(), entries: saved().entries.slice(first) }, first)
          assert.deepEqual(end.entries, whole.entries.slice(first))
          assert.equal(end.title, whole.title)
          assert.deepEqual(end.plans, whole.plans)
          assert.deepEqual(end.usage, whole.usage)
          assert.deepEqual(end.terminals, whole.terminals)
        },
      ),
    )
  })

  it('says that the turn was interrupted if it was running', () => {
    const before = createSessionState()
    reduce(before, { type: 'state', state: 'running' }, 1)
    reduce(before, { type: 'tool_call', toolCall: { toolCallId: 't', title: 'Read', status: 'pending' } }, 1)
    const { entries, terminals, head } = kept(before)
    const ends = (working?: boolean) =>
      restoreState(structuredClone({ entries, terminals, head: { ...head, working } })).entries.flatMap(
        entry => (entry.kind === 'turn_end' ? [entry.stopReason] : []),
      )
    assert.deepEqual(ends(true), ['interrupted'])
    assert.deepEqual(ends(false), [])
    assert.deepEqual(ends(), [])
    const after = restoreState({ entries, terminals, head: { ...head, working: true } })
    assert.equal(after.activity, 'idle')
    assert.deepEqual(
      restoreState({ ...kept(after), head: { working: true } }).entries.length,
      after.entries.length,
      'once',
    )
  })

  it('can be continued by later updates', () => {
    const before = createSessionState()
    reduce(before, { type: 'tool_call', toolCall: { toolCallId: 't', title: 'Read', status: 'pending' } })
    const message = (text: string) =>
      ({
        type: 'message_chunk',
        role: 'agent',
        messageId: 'm',
        content: { type: 'text', text },
      }) as const
    reduce(before, message('one'))
    const after = restoreState(kept(before))
    reduce(after, { type: 'tool_call', toolCall: { toolCallId: 't', status: 'completed' } })
    reduce(after, message(' two'))
    assert.equal(after.entries.length, 2)
    const [tool, said] = after.entries
    assert.ok(tool?.kind === 'tool_call' && tool.status === 'completed')
    assert.ok(said?.kind === 'message')
    assert.equal(said.blocks.map(block => (block.type === 'text' ? block.text : '')).join(''), 'one two')
    reduce(after, { type: 'tool_call', toolCall: { toolCallId: 'u' } })
    reduce(after, message(' three'))
    const again = restoreState(kept(after))
    reduce(again, message(' and four'))
    assert.deepEqual(
      again.entries.map(entry => entry.kind === 'message' && entry.blocks.map(({ type }) => type)),
      [false, ['text'], false, ['text']],
    )
    const whole = wholeMessage(again.entries, 1)
    assert.equal(whole && messageText(whole), 'one two three and four')
  })
})
