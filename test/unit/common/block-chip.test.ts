import assert from 'node:assert/strict'
import { chipOf, nameOfUri } from '../../../src/common/block-chip.ts'

describe('the name of a URI', () => {
  for (const [uri, name] of [
    ['file:///w/bad.js#L3-L3', 'bad.js:3'],
    ['file:///w/bad.js#L3', 'bad.js:3'],
    ['file:///w/a%20b.js#L3-L5', 'a b.js:3-5'],
    ['file:///w/a.js', 'a.js'],
    ['parley:problems/a.js', 'a.js'],
  ] as const)
    it(`of ${uri} is ${name}`, () => assert.equal(nameOfUri(uri), name))

  it('is on the chip, whose tooltip has the same lines', () => {
    const { label, detail } = chipOf({ type: 'resource', uri: 'file:///w/bad.js#L3-L3' })
    assert.deepEqual([label, detail], ['bad.js:3', 'file:///w/bad.js:3'])
  })
})
