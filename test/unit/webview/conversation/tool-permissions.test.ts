import assert from 'node:assert/strict'
import { signal } from '@preact/signals'
import type { Entry } from '../../../../src/conversation/state.ts'
import { EntrySlot } from '../../../../src/webview/conversation/slot.ts'
import { ToolPermissions } from '../../../../src/webview/conversation/tool-permissions.ts'
import { permission, toolCall } from './entries.ts'

describe('the permissions of tool calls', () => {
  const all = new ToolPermissions()
  const slotOf = (index: number, entry: Entry) => new EntrySlot(index, entry, signal(false))
  const changed = () => {
    const ids = [...all.changed].map(({ id }) => id)
    all.changed.clear()
    return ids.sort()
  }

  it('belong to the last call above them with the id, also once that is replaced or gone', () => {
    const first = slotOf(0, toolCall('a', { toolCallId: 't' }))
    const second = slotOf(2, toolCall('b', { toolCallId: 't' }))
    const asked = slotOf(3, { ...permission('p'), toolCallId: 't' } as Entry)
    for (const slot of [asked, second, first]) all.add(slot, undefined)
    assert.equal(asked.call, second)
    assert.deepEqual(changed(), ['b', 'p'])

    const before = second.entry.peek()
    all.remove(second)
    second.replace(toolCall('b', { toolCallId: 'other' }))
    all.add(second, before)
    assert.equal(asked.call, first)
    assert.deepEqual(
      [first, second].map(({ permissions }) => permissions.peek().length),
      [1, 0],
    )
    changed()

    all.drop(asked)
    assert.deepEqual([first.permissions.peek(), changed()], [[], ['a']])
  })
})
