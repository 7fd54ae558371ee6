import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LineSplitter, LineTooLongError } from '../../../../src/acp/transport/line-splitter.ts'

const MAX = 1 << 20

function split(chunks: Uint8Array[], max = MAX): string[] {
  const splitter = new LineSplitter(max)
  const lines: string[] = []
  for (const chunk of chunks) {
    splitter.push(Buffer.from(chunk))
    for (let line = splitter.next(); line !== undefined; line = splitter.next()) lines.push(line)
  }
  const rest = splitter.flush()
  return rest === undefined ? lines : [...lines, rest]
}

/** Bytes with many newlines and multi-byte characters, valid UTF-8 or not. */
const anyBytes = fc
  .array(
    fc.oneof(
      fc.constant(Buffer.from('\n')),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map(text => Buffer.from(text)),
      fc.uint8Array({ maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map(parts => Buffer.concat(parts))

describe('LineSplitter', () => {
  it('yields the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(anyBytes, fc.array(fc.nat(200), { maxLength: 20 }), (bytes, cuts) => {
        const places = [
          0,
          ...cuts.map(cut => Math.min(cut, bytes.length)).sort((a, b) => a - b),
          bytes.length,
        ]
        const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end))
        assert.deepEqual(split(chunks), split([bytes]))
      }),
    )
  })

  it('yields the same as splitting the decoded text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map(text => text.replaceAll('\n', ' '))),
        lines => {
          const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''))
          assert.deepEqual(split([bytes]), lines)
        },
      ),
    )
  })

  it('decodes a character that arrives byte by byte', () => {
    const bytes = Buffer.from('{"text":"żółć 日本 👩‍💻"}\n')
    assert.deepEqual(split([...bytes].map(byte => Uint8Array.of(byte))), ['{"text":"żółć 日本 👩‍💻"}'])
  })

  it('accepts a line at the limit and rejects one that is a byte longer', () => {
    assert.deepEqual(split([Buffer.from('12345678\n1\n')], 8), ['12345678', '1'])
    assert.throws(() => split([Buffer.from('123456789\n')], 8), LineTooLongError)
    assert.throws(() => split([Buffer.from('1\n123456789\n')], 8), LineTooLongError)
    assert.throws(() => split([Buffer.from('12345'), Buffer.from('6789')], 8), LineTooLongError)
    assert.throws(() => split([Buffer.from('12345'), Buffer.from('6789\n')], 8), LineTooLongError)
  })

  it('yields all lines before one that is too long, however they arrive', () => {
    const bytes = Buffer.from('one\ntwo\nmuch too long\nthree\n')
    for (let cut = 0; cut <= bytes.length; cut++) {
      const splitter = new LineSplitter(8)
      const lines: string[] = []
      assert.throws(() => {
        for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
          splitter.push(piece)
          for (let line = splitter.next(); line !== undefined; line = splitter.next()) lines.push(line)
        }
      }, LineTooLongError)
      assert.deepEqual(lines, ['one', 'two'])
    }
  })

  it('names the limit in the error', () => {
    assert.throws(() => split([Buffer.alloc(3 << 20, 97)], 2 << 20), /more than 2 MB/)
  })

  it('copies each byte of a line of 64 MB only twice on average', () => {
    const piece = Buffer.alloc(64 * 1024, 97)
    const { copy } = Buffer.prototype
    let copied = 0
    Buffer.prototype.copy = function (...args: Parameters<typeof copy>) {
      const bytes = copy.apply(this, args)
      copied += bytes
      return bytes
    }
    try {
      const splitter = new LineSplitter(128 << 20)
      for (let i = 0; i < 1024; i++) splitter.push(piece)
      splitter.push(Buffer.from('\n'))
      assert.equal(splitter.next()?.length, 64 << 20)
    } finally {
      Buffer.prototype.copy = copy
    }
    // once into the buffer and once when the buffer grows; growing it by one piece at a time would copy 32 GB
    assert.ok(copied >= 64 << 20 && copied <= 128 << 20, `${copied} bytes`)
  })

  it('uses at most twice the memory of the line, even with tiny pieces', () => {
    const splitter = new LineSplitter(64 << 20)
    const before = process.memoryUsage()
    for (let i = 0; i < 200_000; i++) splitter.push(Buffer.from('abcdefgh'))
    const after = process.memoryUsage()
    assert.ok(after.external - before.external < 8 << 20)
    assert.equal(splitter.flush()?.length, 1_600_000)
  })
})
