import assert from 'node:assert/strict'
import { composerHeight, setComposerHeight } from '../../../src/app/storage/stores.ts'
import { memoryStore } from '../sessions/sessions-fixture.ts'

describe('the height of the composer', () => {
  it("is stored until it's automatic again", () => {
    const views = memoryStore()
    assert.equal(composerHeight(views), undefined)
    setComposerHeight(views, 200)
    assert.equal(composerHeight(views), 200)
    setComposerHeight(views, undefined)
    assert.equal(composerHeight(views), undefined)
  })

  it('is automatic if what is stored is none', () => {
    for (const stored of [0, -1, '200', null, [200], {}, true, Number.POSITIVE_INFINITY]) {
      const views = { get: <T>() => stored as T, set() {} }
      assert.equal(composerHeight(views), undefined, String(stored))
    }
  })
})
