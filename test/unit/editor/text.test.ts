import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  decodeText,
  encodeText,
  lineEnd,
  sliceLines,
  smallestEdit,
  withLineEnd,
} from '../../../src/editor/text.ts'

/** Texts with many line endings, surrogate pairs and repetitions, which cause most errors. */
const text = fc
  .array(
    fc.oneof(fc.constantFrom('\n', '\r\n', '\r', 'a', 'b', '𝄞', '𝄢', 'é', ''), fc.string({ unit: 'binary' })),
    {
      maxLength: 12,
    },
  )
  .map(parts => parts.join(''))

describe('encoded text', () => {
  it('is unchanged after encoding and decoding, in every encoding', () => {
    fc.assert(
      fc.property(
        text.filter(value => !value.startsWith('\ufeff') && !value.includes('\0')),
        fc.constantFrom('utf8' as const, 'utf16le' as const, 'utf16be' as const),
        (value, encoding) => {
          assert.deepEqual(decodeText(encodeText(value, encoding, true)), {
            text: value,
            encoding,
            bom: true,
          })
          if (encoding === 'utf8') {
            assert.deepEqual(decodeText(encodeText(value, encoding, false)), {
              text: value,
              encoding,
              bom: false,
            })
          }
        },
      ),
    )
  })

  it('is never decoded from invalid bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
        const decoded = decodeText(bytes)
        if (typeof decoded === 'string' || decoded.encoding !== 'utf8') return
        assert.deepEqual(encodeText(decoded.text, 'utf8', decoded.bom), Buffer.from(bytes))
      }),
    )
  })

  it('is split into lines that join to the same text', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 6 }), (value, step) => {
        let whole = ''
        const lines = value.split('\n').length
        for (let line = 1; line <= lines; line += step) whole += sliceLines(value, line, step)
        assert.equal(whole, value)
        assert.equal(sliceLines(value, lines + 1), '')
      }),
    )
  })

  it('has its line ending detected', () => {
    assert.equal(lineEnd('a\nb\n'), '\n')
    assert.equal(lineEnd('a\r\nb'), '\r\n')
    assert.equal(lineEnd('a\r\nb\n'), undefined)
    assert.equal(lineEnd('\n'), '\n')
    assert.equal(lineEnd('a\rb'), undefined)
    assert.equal(withLineEnd('a\r\nb\nc', '\r\n'), 'a\r\nb\r\nc')
    assert.equal(withLineEnd('a\r\nb\nc', '\n'), 'a\nb\nc')
  })

  it('is changed with the smallest edit that splits no character', () => {
    fc.assert(
      fc.property(text, text, text, text, (head, tail, before, after) => {
        const from = head + before + tail
        const to = head + after + tail
        const edit = smallestEdit(from, to)
        if (!edit) return assert.equal(from, to)
        assert.equal(from.slice(0, edit.start) + edit.text + from.slice(edit.end), to)
        // at most two more on each side, so that no character is split
        assert.ok(edit.end - edit.start <= before.length + 2)
        for (const at of [edit.start, edit.end]) {
          assert.notEqual(from.slice(at - 1, at + 1), '\r\n')
          assert.equal(/^[\ud800-\udbff][\udc00-\udfff]$/.test(from.slice(at - 1, at + 1)), false)
        }
        assert.equal(Buffer.from(edit.text).toString(), edit.text)
      }),
    )
  })
})
