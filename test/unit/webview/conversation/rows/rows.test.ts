import assert from 'node:assert/strict'
import { signal } from '@preact/signals'
import type { Entry } from '../../../../../src/conversation/state.ts'
import { RowModel } from '../../../../../src/webview/conversation/rows/rows.ts'
import { EntrySlot } from '../../../../../src/webview/conversation/slot.ts'
import { message, permission, toolCall } from '../entries.ts'

function model(...entries: Entry[]) {
  const runs = signal(false)
  const rows = new RowModel({
    run: () => runs,
    hides: () => false,
    asideAt: () => undefined,
    hiddenAsideAt: () => undefined,
  })
  const slots = entries.map((entry, i) => new EntrySlot(i, entry, signal(false)))
  rows.reset(slots)
  return { rows, slots, runs }
}
const keys = (rows: RowModel) => rows.window.items.map(row => row.key)

describe('conversation rows', () => {
  it('fold consecutive reads and searches into one line that expands', () => {
    const { rows, slots, runs } = model(
      toolCall('s', { toolKind: 'search' }),
      toolCall('r', { toolKind: 'read' }),
      toolCall('e', { toolKind: 'edit' }),
      toolCall('alone', { toolKind: 'read' }),
    )
    assert.deepEqual(keys(rows), ['run/s', 'e', 'alone'])
    runs.value = true
    rows.changed(0, 2)
    assert.deepEqual(keys(rows), ['run/s', 's', 'r', 'e', 'alone'])
    assert.equal(rows.rowsOf(1)[0]?.key, 'run/s')
    rows.slots.push(new EntrySlot(4, toolCall('more', { toolKind: 'fetch' }), signal(false)))
    rows.changed(4, 5)
    assert.deepEqual(keys(rows), ['run/s', 's', 'r', 'e', 'run/alone', 'alone', 'more'])
    slots[1]!.replace(toolCall('r', { toolKind: 'read', content: [{ type: 'terminal', terminalId: 't' }] }))
    rows.changed(1, 2)
    assert.deepEqual(keys(rows), ['s', 'r', 'e', 'run/alone', 'alone', 'more'])
  })

  for (const isOpen of [false, true]) {
    it(`don't read the other tool calls of ${isOpen ? 'an expanded' : 'a folded'} run when one changes or is added`, () => {
      const { rows, slots, runs } = model(
        ...Array.from({ length: 1000 }, (_, i) =>
          toolCall(`t${i}`, { toolKind: 'read', status: 'completed' }),
        ),
      )
      runs.value = isOpen
      rows.changed(0, 1000)
      const lines = [...rows.window.items]
      const looked = new Set<string>()
      const watch = (slot: EntrySlot) => {
        const { entry } = slot
        Object.defineProperty(slot, 'entry', {
          get() {
            looked.add(slot.id)
            return entry
          },
        })
      }
      for (const slot of slots) watch(slot)
      const [run] = rows.window.items
      assert.ok(run?.kind === 'run')
      slots[500]!.replace(toolCall('t500', { toolKind: 'read', status: 'failed' }))
      rows.changed(500, 501)
      assert.equal(run.tally.failed, 1)
      const more = new EntrySlot(
        1000,
        toolCall('more', { toolKind: 'search', status: 'in_progress' }),
        signal(false),
      )
      rows.slots.push(more)
      rows.changed(1000, 1001)
      assert.deepEqual(run.tally.counts, { read: 1000, search: 1 })
      assert.equal(run.tally.active, more.entry.peek())
      // the label of a row depends on the row above
      assert.deepEqual(looked, new Set(['t500', 't999']))
      assert.deepEqual(keys(rows), [...lines.map(({ key }) => key), ...(isOpen ? ['more'] : [])])
      more.replace(toolCall('more', { toolKind: 'search', status: 'completed' }))
      rows.changed(1000, 1001)
      assert.equal(run.tally.active, undefined)
      // a change that affects all of them reads all of them
      more.replace(toolCall('more', { toolKind: 'edit' }))
      rows.changed(1000, 1001)
      assert.deepEqual(keys(rows), [...lines.map(({ key }) => key), 'more'])
      const [last] = rows.window.items
      assert.ok(last?.kind === 'run')
      assert.deepEqual([last.tally.counts, last.tally.failed], [{ read: 1000 }, 1])
    })
  }

  it('keep their height and element when rows around them change', () => {
    const { rows, slots } = model(
      message('a', 'agent', 'One.\n\nTwo.'),
      message('t', 'thought', 'Hm'),
      toolCall('x'),
    )
    const [one, two] = rows.window.items
    rows.window.setHeight(one!, 77)
    slots[1]!.open.value = true
    rows.changed(1, 2)
    assert.deepEqual(keys(rows), ['a/0/0', 'a/0/1', 't', 't/0/0', 'x'])
    rows.changed(0, 1)
    assert.equal(rows.window.items[0], one)
    assert.equal(rows.window.items[1], two)
    assert.equal(one!.height, 77)
    assert.ok(one!.measured)
  })

  it('are added only for new blocks when a text grows', () => {
    const { rows, slots } = model(message('a', 'agent', 'One'))
    const before = rows.window.items[0]
    slots[0]!.appendText(0, '.\n\nTwo.\n\nThree')
    slots[0]!.flush()
    rows.grown(slots[0]!)
    assert.deepEqual(keys(rows), ['a/0/0', 'a/0/1', 'a/0/2'])
    assert.equal(rows.window.items[0], before)
  })

  it("aren't shown for a message without content", () => {
    const { rows, slots } = model(
      message('t', 'thought', ''),
      message('a', 'agent', '  \n'),
      message('b', 'agent', 'x'),
    )
    assert.deepEqual(keys(rows), ['b/0/0'])
    slots[0]!.appendText(0, 'Now')
    slots[0]!.flush()
    rows.grown(slots[0]!)
    assert.deepEqual(keys(rows), ['t', 'b/0/0'])
  })

  it('have 24 px between turns, 16 between messages, 8 between blocks, and less between tool calls', () => {
    const { rows } = model(
      message('u', 'user', 'Go'),
      message('a', 'agent', 'One.\n\nTwo.'),
      message('b', 'agent', 'Three.'),
      toolCall('x'),
      toolCall('y'),
      permission('p'),
      message('v', 'user', 'On'),
    )
    assert.deepEqual(
      rows.window.items.map(row => row.gap),
      [12, 16, 8, 16, 8, 0, 8, 24],
    )
  })

  it('update the name of a subagent above a row when the previous row changes', () => {
    const { rows, slots } = model(
      message('a', 'agent', 'One'),
      { ...message('b', 'agent', 'Two'), within: 'child' },
      { ...message('c', 'agent', 'Three'), within: 'child' },
    )
    const named = () => rows.window.items.map(row => row.named)
    assert.deepEqual(named(), [false, true, false])
    const { height } = rows.window.items[2]!
    slots[1]!.replace({ ...message('b', 'agent', ''), within: 'child' })
    rows.changed(1, 2)
    assert.deepEqual(named(), [false, true])
    assert.ok(rows.window.items[1]!.height > height)
  })

  it('update the space above the next row when the previous one is removed', () => {
    const { rows, slots } = model(message('a', 'agent', 'One'), message('b', 'agent', 'Two'))
    assert.equal(rows.window.items[1]!.gap, 16)
    const height = rows.window.items[1]!.height
    slots[0]!.replace(message('a', 'agent', ''))
    rows.changed(0, 1)
    assert.deepEqual(keys(rows), ['b/0/0'])
    assert.equal(rows.window.items[0]!.gap, 12)
    assert.equal(rows.window.items[0]!.height, height - 4)
  })
})
