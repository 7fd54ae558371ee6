import assert from 'node:assert/strict'
import { type GroupSeen, placeFor, RESTS_AFTER_MS } from '../../../src/editor/follow-place.ts'

const now = 100_000
const group = (viewColumn: number, more: Partial<GroupSeen> = {}): GroupSeen => ({
  viewColumn,
  isActive: false,
  shows: 'text',
  isDirty: false,
  ...more,
})

describe('the editor group that follows an agent', () => {
  it('is the active one, when nobody works in it', () => {
    assert.equal(placeFor([group(1), group(2, { isActive: true })], now), 2)
    assert.equal(placeFor([group(1, { isActive: true, shows: 'nothing' })], now), 1)
    assert.equal(placeFor([group(1, { usedAt: now - RESTS_AFTER_MS })], now), 1)
  })

  it('is never one that the person types in, or that holds unsaved text', () => {
    assert.equal(placeFor([group(1, { isActive: true, usedAt: now - 100 }), group(2)], now), 2)
    assert.equal(placeFor([group(1, { isActive: true, isDirty: true }), group(2)], now), 2)
    assert.equal(placeFor([group(1, { usedAt: now - 100 })], now), undefined)
  })

  it('never covers a conversation in a tab', () => {
    assert.equal(placeFor([group(1, { isActive: true, shows: 'other' })], now), 'beside')
    assert.equal(placeFor([group(1, { isActive: true, shows: 'other' }), group(2)], now), 2)
    assert.equal(placeFor([group(1, { shows: 'other' }), group(2, { isDirty: true })], now), undefined)
  })
})
