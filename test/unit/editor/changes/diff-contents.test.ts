import assert from 'node:assert/strict'
import { DiffContents } from '../../../../src/editor/changes/diff-contents.ts'

describe('the texts held for diff editors', () => {
  it('are there until no tab shows them', () => {
    const contents = new DiffContents()
    const one = contents.hold({ oldText: 'a', newText: 'b' })
    const two = contents.hold({ oldText: 'c', newText: 'd' })
    assert.notEqual(one, two)
    assert.deepEqual([contents.text(one, 'old'), contents.text(one, 'new')], ['a', 'b'])
    assert.equal(contents.text(one, 'other'), undefined)
    contents.keepOnly(new Set([two, 'unknown']))
    assert.equal(contents.text(one, 'old'), undefined)
    assert.equal(contents.text(two, 'new'), 'd')
    assert.equal(contents.size, 1)
  })
})
