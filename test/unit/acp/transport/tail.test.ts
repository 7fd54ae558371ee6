import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LineDecoder, Tail } from '../../../../src/acp/transport/tail.ts'

describe('Tail', () => {
  it('keeps the end of a text, in whole lines where it can', () => {
    const tail = new Tail(20)
    for (let i = 0; i < 1000; i++) tail.append(`line ${i}\n`)
    assert.equal(tail.text, 'line 998\nline 999')
  })

  it('keeps the end of one long line, never half a character', () => {
    const tail = new Tail(5)
    tail.append('👩'.repeat(50))
    assert.equal(tail.text, '👩👩')
  })

  it('never holds much more than it keeps', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), parts => {
        const tail = new Tail(30)
        for (const part of parts) tail.append(part)
        const whole = parts.join('')
        assert.ok(tail.text.length <= 30)
        assert.ok(whole.trimEnd().endsWith(tail.text))
      }),
    )
  })
})

describe('LineDecoder', () => {
  it('tells whole lines however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map(text => text.replaceAll(/[\r\n]/g, ' '))),
        fc.array(fc.nat(300), { maxLength: 10 }),
        (expected, cuts) => {
          const bytes = Buffer.from(expected.map(line => `${line}\r\n`).join(''))
          const places = [
            0,
            ...cuts.map(cut => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ]
          const lines: string[] = []
          const decoder = new LineDecoder(line => lines.push(line))
          let text = ''
          for (const [i, to] of places.slice(1).entries()) text += decoder.push(bytes.subarray(places[i], to))
          text += decoder.end()
          assert.deepEqual(lines, expected)
          assert.equal(text, bytes.toString())
        },
      ),
    )
  })

  it('tells a line without an end in pieces, and what is left at the end', () => {
    const lines: string[] = []
    const decoder = new LineDecoder(line => lines.push(line))
    decoder.push(Buffer.from('x'.repeat(40_000)))
    decoder.end()
    assert.deepEqual(
      lines.map(line => line.length),
      [16_384, 16_384, 7232],
    )
  })
})
