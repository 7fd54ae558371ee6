import assert from 'node:assert/strict'
import fc from 'fast-check'
import { OutputBuffer } from '../../../../src/editor/terminals/output-buffer.ts'

describe('the output kept of a command', () => {
  it('is the longest end of all output that fits, cut between characters', () => {
    const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 30 })
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 60 }), (texts, limit) => {
        const buffer = new OutputBuffer(limit)
        let all = ''
        for (const text of texts) {
          buffer.append(text)
          all += text
          const kept = buffer.text()
          assert.equal(kept, longestEnd(all, limit))
          assert.equal(buffer.bytes, Buffer.byteLength(kept))
          assert.equal(buffer.truncated, kept !== all)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('stays small however much comes, and large pieces are cut as well', () => {
    const buffer = new OutputBuffer(10_000)
    for (let index = 0; index < 5000; index += 1) buffer.append('é'.repeat((index * 37) % 9000))
    assert.equal(Buffer.byteLength(buffer.text()), 10_000)
    buffer.append('x'.repeat(50_000))
    assert.equal(buffer.text(), 'x'.repeat(10_000))
  })

  it('keeps nothing when nothing is to be kept', () => {
    for (const limit of [0, -1, 0.5]) {
      const buffer = new OutputBuffer(limit)
      buffer.append('x')
      assert.deepEqual([buffer.text(), buffer.truncated], ['', true])
    }
  })
})

function longestEnd(text: string, limit: number): string {
  const characters = [...text]
  let kept = ''
  while (characters.length > 0) {
    const longer = characters.pop() + kept
    if (Buffer.byteLength(longer) > limit) break
    kept = longer
  }
  return kept
}
