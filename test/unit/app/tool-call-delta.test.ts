import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ToolCallContent } from '../../../src/acp/model.ts'
import { sentToolCall, toolCallDelta } from '../../../src/app/conversation/tool-call-delta.ts'
import type { ToolCallEntry } from '../../../src/conversation/state.ts'
import { ConversationStore } from '../../../src/webview/conversation/store.ts'
import { head, toolCall } from '../webview/conversation/entries.ts'

const text = (value: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text: value } })
const diff = (path: string, newText: string): ToolCallContent => ({
  type: 'diff',
  changes: [{ operation: 'add', path, newText }],
})

describe('the changes of a tool call', () => {
  it('are empty if the agent repeats itself', () => {
    const before = toolCall('t', { content: [text('output'), diff('/a', 'new')], rawInput: { a: [1] } })
    assert.equal(toolCallDelta(sentToolCall(before), structuredClone(before)), undefined)
  })

  it('are the end of a growing text, without an unchanged diff', () => {
    const before = toolCall('t', { content: [diff('/a', 'x'.repeat(1_000_000)), text('one\n')] })
    const now = { ...structuredClone(before), content: [before.content[0]!, text('one\ntwo\n')] }
    assert.deepEqual(toolCallDelta(before, now), {
      op: 'tool',
      id: 't',
      set: {},
      content: { keep: 1, append: 'two\n', add: [] },
    })
  })

  it('can be only a status', () => {
    const before = toolCall('t', { status: 'in_progress', content: [text('all')], rawOutput: 'big' })
    assert.deepEqual(toolCallDelta(before, { ...before, status: 'completed' }), {
      op: 'tool',
      id: 't',
      set: { status: 'completed' },
    })
    const { rawOutput: _, ...without } = before
    assert.deepEqual(toolCallDelta(before, without)?.cleared, ['rawOutput'])
  })

  it('result in the same tool call in a view, whatever changed', () => {
    const content = fc.array(
      fc.oneof(
        fc.constantFrom('', 'a', 'ab', 'abc', 'b').map(text),
        fc.constantFrom('ab', 'abc').map(
          (value): ToolCallContent => ({
            type: 'content',
            content: { type: 'text', text: value, agentOnly: true },
          }),
        ),
        fc.constantFrom('x', 'y').map(path => diff(path, 'new')),
        fc.constant<ToolCallContent>({ type: 'terminal', terminalId: 't1' }),
      ),
      { maxLength: 4 },
    )
    const entry = fc
      .record(
        {
          title: fc.constantFrom('One', 'Two'),
          status: fc.constantFrom('in_progress' as const, 'completed' as const),
          content,
          rawOutput: fc.constantFrom('1', { a: 1 }),
          toolName: fc.constant('tool'),
        },
        { requiredKeys: ['title', 'status', 'content'] },
      )
      .map((fields): ToolCallEntry => toolCall('t', fields))
    fc.assert(
      fc.property(fc.array(entry, { minLength: 2, maxLength: 5 }), states => {
        const store = new ConversationStore(() => Promise.reject(new Error('nothing is fetched')))
        const [first, ...more] = states
        store.applySnapshot({
          revision: 1,
          head: head(),
          entries: [structuredClone(first!)],
          first: 0,
          total: 1,
          terminals: [],
          draft: { text: '', chips: [], items: [] },
        })
        let sent = first!
        let revision = 1
        for (const next of more) {
          const op = toolCallDelta(sent, next)
          if (op) store.applyPatch({ revision: ++revision, ops: [structuredClone(op)] })
          sent = sentToolCall(next)
          assert.deepEqual(store.slot('t')!.entry.peek(), next)
        }
      }),
    )
  })

  it("keep a view's diffs, so that they aren't compared again", () => {
    const store = new ConversationStore(() => Promise.reject(new Error('nothing is fetched')))
    const entry = toolCall('t', { content: [diff('/a', 'new'), diff('/b', 'new')] })
    const snapshot = (revision: number, entries: ToolCallEntry[]) =>
      store.applySnapshot({
        revision,
        head: head(),
        entries: structuredClone(entries),
        first: 0,
        total: 1,
        terminals: [],
        draft: { text: '', chips: [], items: [] },
      })
    const changes = () =>
      (store.slot('t')!.entry.peek() as ToolCallEntry).content.flatMap(part =>
        part.type === 'diff' ? part.changes : [],
      )
    snapshot(1, [entry])
    const [a, b] = changes()
    snapshot(2, [{ ...entry, content: [diff('/a', 'new'), diff('/b', 'other')] }])
    assert.equal(changes()[0], a)
    assert.notEqual(changes()[1], b)
  })
})
