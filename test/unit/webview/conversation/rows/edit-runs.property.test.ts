import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Entry } from '../../../../../src/conversation/state.ts'
import type { Row } from '../../../../../src/webview/conversation/row.ts'
import { RowModel } from '../../../../../src/webview/conversation/rows/rows.ts'
import { ConversationStore } from '../../../../../src/webview/conversation/store.ts'
import { scaledRuns } from '../../../../support/property-tests.ts'
import { head, message, permission, toolCall } from '../entries.ts'

/** Mostly completed, so that there are runs. */
const status = fc.oneof(
  { weight: 6, arbitrary: fc.constant('completed') },
  { weight: 3, arbitrary: fc.constantFrom('pending', 'in_progress', 'failed', 'cancelled') },
)
const at = fc.nat(60)
const step = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.record({ do: fc.constant('edit' as const), status, turn: fc.constant(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'text' as const, 'end' as const) }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('ask' as const), at }) },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      at,
      optionId: fc.constantFrom('yes', 'yes', 'yes', 'no'),
    }),
  },
  { weight: 50, arbitrary: fc.record({ do: fc.constant('status' as const), at, status }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('open' as const, 'toggle' as const), at }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' as const },
  { optionId: 'no', name: 'No', kind: 'reject_once' as const },
]

/** A conversation in a page, to which updates come in any order. */
class Conversation {
  readonly store = new ConversationStore(async () => [])
  readonly entries: Entry[] = []
  #revision = 0

  constructor() {
    this.store.applySnapshot({
      revision: 0,
      head: head(),
      entries: [],
      first: 0,
      total: 0,
      terminals: [],
      draft: { text: '', chips: [], items: [] },
    })
  }

  run(one: Step): void {
    const { entries } = this
    const id = String(entries.length)
    if (one.do === 'edit')
      this.#put(entries.length, { ...toolCall(id, { toolKind: 'edit', status: one.status }), turn: one.turn })
    else if (one.do === 'read') this.#put(entries.length, toolCall(id, { toolKind: 'read' }))
    else if (one.do === 'text') this.#put(entries.length, message(id, 'agent', 'Text'))
    else if (one.do === 'end') {
      const last = entries.at(-1)
      if (last) this.#put(entries.length - 1, { ...last, turnSummary: { tools: 9, failed: 0, took: 60_000 } })
    } else if (one.do === 'ask') {
      const call = this.#nth('tool_call', one.at)
      if (call) this.#put(entries.length, permission(id, { toolCallId: call.toolCallId, options }))
    } else if (one.do === 'answer') {
      const asked = this.#nth('permission', one.at)
      if (asked)
        this.#put(entries.indexOf(asked), { ...asked, outcome: { type: 'selected', optionId: one.optionId } })
    } else if (one.do === 'status') {
      const call = this.#nth('tool_call', one.at)
      if (call) this.#put(entries.indexOf(call), { ...call, status: one.status })
    } else if (one.do === 'open' || one.do === 'toggle') {
      const row = this.rows.filter(({ kind }) => kind === (one.do === 'open' ? 'tool' : 'run'))[one.at % 5]
      if (row?.kind === 'run') {
        const first = row.slots[0]!
        const open = this.store.expansion.run(first.id)
        open.value = !open.peek()
        if (!open.peek()) for (const slot of row.slots) slot.open.value = false
        this.store.rows.changed(first.index, first.index + row.slots.length)
      } else if (row?.kind === 'tool') {
        row.slot.open.value = !row.slot.open.peek()
        this.store.rows.changed(row.slot.index, row.slot.index + 1)
      }
    }
  }

  get rows(): readonly Row[] {
    return this.store.rows.window.items
  }

  #put(index: number, entry: Entry): void {
    this.entries[index] = entry
    const ops = [{ op: 'entry' as const, index, entry }]
    assert.ok(this.store.applyPatch({ revision: ++this.#revision, ops }))
  }

  #nth<K extends Entry['kind']>(kind: K, n: number): Extract<Entry, { kind: K }> | undefined {
    const all = this.entries.filter(entry => entry.kind === kind)
    return all[n % all.length] as Extract<Entry, { kind: K }> | undefined
  }
}

/** The tool calls and messages that the rows show or fold, in order. */
function shown(rows: readonly Row[]): string[] {
  const ids: string[] = []
  for (const row of rows) {
    if (row.kind === 'turn' || row.kind === 'missing' || row.kind === 'aside') continue
    const slots = row.kind === 'run' ? row.slots : 'nested' in row && row.nested ? [] : [row.slot]
    for (const { id, entry } of slots)
      if (row.kind !== 'run' || entry.peek().kind === 'tool_call') ids.push(id)
  }
  return ids
}

/** A row for each key, and all that the rows say about where they are. */
const signature = (rows: readonly Row[]) =>
  rows.map(row => [row.key, row.kind === 'run' ? row.slots.map(({ id }) => id) : '', row.gap, row.index])

describe('edits in a row', () => {
  it('become one row with all edits in order, except those that need attention', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
        const conversation = new Conversation()
        const { store, entries } = conversation
        for (const one of steps) {
          conversation.run(one)
          const { rows } = conversation
          const all = entries.filter(entry => entry.kind !== 'permission' || !entry.outcome)
          assert.deepEqual(
            shown(rows),
            all.map(({ id }) => id),
          )
          for (const row of rows) {
            if (row.kind !== 'run') continue
            const calls = row.slots.map(slot => slot.entry.peek()).filter(entry => entry.kind === 'tool_call')
            assert.ok(calls.length >= (row.of === 'edit' ? 4 : 2))
            if (row.of === 'edit')
              for (const call of calls) assert.deepEqual([call.toolKind, call.status], ['edit', 'completed'])
            for (const slot of row.slots) {
              const entry = slot.entry.peek()
              assert.ok(entry.kind === 'tool_call' || (entry.kind === 'permission' && entry.outcome))
            }
            const isOpen = store.expansion.run(row.slots[0]!.id).peek()
            if (!isOpen) for (const slot of row.slots) assert.ok(!slot.open.peek())
            assert.deepEqual(row.tally.counts, { [calls[0]!.toolKind]: calls.length })
            assert.equal(row.tally.files, row.of === 'edit' ? calls.length : 0)
          }
          // as if made at once
          const fresh = new RowModel(store.expansion)
          fresh.reset(store.rows.slots)
          assert.deepEqual(signature(rows), signature(fresh.window.items))
          const heights = rows.reduce((sum, { height }) => sum + height, 0)
          assert.equal(store.rows.window.height, heights)
        }
      }),
      { numRuns: scaledRuns(60) },
    )
  })

  it('become one row although the request that was just answered has the focus', () => {
    const conversation = new Conversation()
    const { rows } = conversation.store
    for (let i = 0; i < 4; i++)
      conversation.run({ do: 'edit', status: i < 3 ? 'completed' : 'pending', turn: 1 })
    conversation.run({ do: 'ask', at: 3 })
    const asked = conversation.rows.find(({ kind }) => kind === 'permission')
    assert.ok(asked)
    rows.focusedRow = () => asked
    conversation.run({ do: 'answer', at: 0, optionId: 'yes' })
    conversation.run({ do: 'status', at: 3, status: 'completed' })
    assert.deepEqual(
      conversation.rows.map(({ key }) => key),
      ['run/0'],
    )
  })

  it('are not read again when one more is completed', () => {
    const conversation = new Conversation()
    const slots = conversation.store.rows
    for (let i = 0; i < 1000; i++) conversation.run({ do: 'edit', status: 'completed', turn: 1 })
    const looked = new Set<string>()
    for (const slot of slots.slots) {
      const { entry } = slot!
      Object.defineProperty(slot, 'entry', {
        get() {
          looked.add(slot!.id)
          return entry
        },
      })
    }
    conversation.run({ do: 'edit', status: 'in_progress', turn: 1 })
    assert.deepEqual(
      conversation.rows.map(({ key }) => key),
      ['run/0', '1000'],
    )
    conversation.run({ do: 'status', at: 1000, status: 'completed' })
    assert.deepEqual(
      conversation.rows.map(({ key }) => key),
      ['run/0'],
    )
    assert.ok(looked.size <= 3, [...looked].join(' '))
  })
})
