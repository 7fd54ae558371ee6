import assert from 'node:assert/strict'
import fc from 'fast-check'
import { frame, type Received, WebSocketError, WebSocketReader } from '../../../src/common/websocket.ts'
import { maskedFrame } from '../../support/websocket-client.ts'

const MAX = 1_000_000

/** In pieces of these sizes, over and over. */
function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!
    found.push(bytes.subarray(at, at + size))
    at += size
  }
  return found
}

function read(chunks: readonly Buffer[], max = MAX): Received[] {
  const reader = new WebSocketReader(max)
  return chunks.flatMap(chunk => [...reader.read(chunk)])
}

function failure(bytes: Buffer, max = MAX): number | undefined {
  try {
    read([bytes], max)
    return undefined
  } catch (error) {
    assert.ok(error instanceof WebSocketError, String(error))
    return error.code
  }
}

const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 100, maxLength: 300 }))
const masks = fc.uint8Array({ minLength: 4, maxLength: 4 }).map(bytes => Buffer.from(bytes))

describe('the reader of a WebSocket', () => {
  it('reads texts however they are fragmented, masked and split, with pings between fragments', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ text: texts, cuts: fc.array(fc.nat(200), { maxLength: 4 }), mask: masks })),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
        (messages, sizes) => {
          const frames: Buffer[] = []
          for (const { text, cuts, mask } of messages) {
            const bytes = Buffer.from(text)
            const ends = [...cuts.filter(cut => cut < bytes.length).sort((a, b) => a - b), bytes.length]
            ends.forEach((end, i) => {
              const part = bytes.subarray(ends[i - 1] ?? 0, end)
              const isFinal = i === ends.length - 1
              frames.push(maskedFrame(i === 0 ? 1 : 0, part, { isFinal, mask }))
              frames.push(maskedFrame(9, Buffer.from([i]), { mask }))
            })
          }
          const received = read(pieces(Buffer.concat(frames), sizes))
          assert.deepEqual(
            received.flatMap(one => (one.type === 'text' ? one.text : [])),
            // a lone surrogate isn't a character
            messages.map(({ text }) => Buffer.from(text).toString()),
          )
          assert.equal(received.filter(({ type }) => type === 'ping').length, frames.length / 2)
        },
      ),
    )
  })

  it('reads sizes of all three forms', () => {
    for (const size of [0, 1, 125, 126, 127, 65_535, 65_536, 300_000]) {
      const text = 'x'.repeat(size)
      assert.deepEqual(read(pieces(maskedFrame(1, Buffer.from(text)), [1, 7, 65_536])), [
        { type: 'text', text },
      ])
    }
  })

  it('survives any bytes, and keeps no more than it may', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), chunks => {
        try {
          for (const received of read(
            chunks.map(chunk => Buffer.from(chunk)),
            1000,
          ))
            assert.ok(received.type !== 'text' || received.text.length <= 1000)
        } catch (error) {
          assert.ok(error instanceof WebSocketError, String(error))
        }
      }),
    )
  })

  it('refuses what a client must not send', () => {
    const data = Buffer.from('x')
    const withReserved = maskedFrame(1, data)
    withReserved[0]! |= 0x40
    for (const [bytes, code] of [
      [frame(1, data), 1002],
      [withReserved, 1002],
      [maskedFrame(3, data), 1002],
      [maskedFrame(11, data), 1002],
      [maskedFrame(2, data), 1003],
      [maskedFrame(0, data), 1002],
      [Buffer.concat([maskedFrame(1, data, { isFinal: false }), maskedFrame(1, data)]), 1002],
      [maskedFrame(9, data, { isFinal: false }), 1002],
      [maskedFrame(8, Buffer.alloc(126)), 1002],
      [maskedFrame(1, Buffer.from([0xff, 0xfe])), 1007],
      // half a character
      [maskedFrame(1, Buffer.from('é').subarray(0, 1)), 1007],
      [maskedFrame(1, Buffer.from([0xed, 0xa0, 0x80])), 1007],
    ] as const)
      assert.equal(failure(bytes), code, bytes.toString('hex'))
  })

  it('refuses a message that is too large before it arrives, also in fragments', () => {
    // nothing of its data has arrived
    const header = maskedFrame(1, Buffer.alloc(70_000)).subarray(0, 14)
    assert.equal(failure(header, 69_999), 1009)
    const huge = Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4])
    assert.equal(failure(huge), 1009)
    const half = maskedFrame(1, Buffer.alloc(60, 0x20), { isFinal: false })
    assert.equal(failure(Buffer.concat([half, maskedFrame(0, Buffer.alloc(41, 0x20))]), 100), 1009)
    const empty = maskedFrame(0, Buffer.from('x'), { isFinal: false })
    assert.equal(failure(Buffer.concat([half, ...Array.from({ length: 10_001 }, () => empty)])), 1009)
  })
})
