import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FrameSplitter } from '../../../src/agent-host/frame-splitter.ts'

describe("the frames of an agent's output", () => {
  it('are its lines, however the bytes are cut, and every byte is in one', () => {
    const byte = fc.constantFrom(10, 13, 97, 0xc5)
    fc.assert(
      fc.property(fc.array(fc.array(byte, { minLength: 1, maxLength: 20 }), { maxLength: 12 }), chunks => {
        const splitter = new FrameSplitter(1000)
        const frames = chunks.flatMap(chunk => splitter.push(Buffer.from(chunk)))
        for (const frame of frames) assert.equal(frame.indexOf(10), frame.length - 1)
        const rest = splitter.flush()
        if (rest) assert.equal(rest.indexOf(10), -1)
        const whole = Buffer.concat(rest ? [...frames, rest] : frames)
        assert.deepEqual([...whole], chunks.flat())
      }),
    )
  })

  it("don't grow without an end", () => {
    const splitter = new FrameSplitter(10)
    assert.deepEqual(splitter.push(Buffer.from('123456')), [])
    assert.deepEqual(splitter.push(Buffer.from('7890ab')).map(String), ['1234567890ab'])
    assert.deepEqual(splitter.push(Buffer.from('c\n')).map(String), ['c\n'])
    assert.equal(splitter.flush(), undefined)
  })
})
