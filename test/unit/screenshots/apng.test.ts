import assert from 'node:assert/strict'
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { encodeAnimation } from '../../screenshots/apng.ts'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

function u32(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [at, number] of numbers.entries()) bytes.writeUInt32BE(number, at * 4)
  return bytes
}

function chunk(type: string, body: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body])
  return Buffer.concat([u32(body.length), typed, u32(crc32(typed))])
}

/** A picture of 2 × rows pixels. Each row is a filter type and its bytes. */
function png(...rows: number[][]): Buffer {
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([u32(2, rows.length), Buffer.from([8, 2, 0, 0, 0])])),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunksOf(file: Buffer): Array<{ type: string; body: Buffer }> {
  assert.ok(file.subarray(0, 8).equals(SIGNATURE))
  const chunks: Array<{ type: string; body: Buffer }> = []
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at)
    const typed = file.subarray(at + 4, at + 8 + length)
    assert.equal(file.readUInt32BE(at + 8 + length), crc32(typed))
    chunks.push({ type: typed.toString('latin1', 0, 4), body: typed.subarray(4) })
    at += length + 12
  }
  return chunks
}

describe('an animation of screenshots', () => {
  it('has a palette and contains only what changed in each frame, whatever the filters of its source', () => {
    const red = [200, 10, 10]
    // in the first picture, all pixels are red: as such, by the left pixel, and by the row above
    const first = png([1, ...red, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0])
    const second = png([0, ...red, ...red], [4, 0, 0, 0, 66, 190, 0])
    const chunks = chunksOf(
      encodeAnimation([
        { png: first, ms: 500 },
        { png: second, ms: 900 },
        { png: second, ms: 100 },
      ]),
    )
    assert.deepEqual(
      chunks.map(({ type }) => type),
      ['IHDR', 'acTL', 'PLTE', 'tRNS', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'fcTL', 'fdAT', 'IEND'],
    )
    const bodies = (type: string) => chunks.flatMap(one => (one.type === type ? one.body : []))
    const [palette] = bodies('PLTE')
    assert.deepEqual([...palette!], [0, 0, 0, ...red, 10, 200, 10])
    assert.deepEqual([...inflateSync(bodies('IDAT')[0]!)], [0, 1, 1, 0, 1, 1])
    const boxes = bodies('fcTL').map(body => [4, 8, 12, 16].map(at => body.readUInt32BE(at)))
    assert.deepEqual(boxes, [
      [2, 2, 0, 0],
      [1, 1, 1, 1],
      [1, 1, 0, 0],
    ])
    const frames = bodies('fdAT').map(body => [...inflateSync(body.subarray(4))])
    assert.deepEqual(frames, [
      [0, 2],
      [0, 0],
    ])
    const sequence = chunks.flatMap(({ type, body }) => (/^f[cd]/.test(type) ? body.readUInt32BE(0) : []))
    assert.deepEqual(sequence, [0, 1, 2, 3, 4])
    assert.deepEqual(
      bodies('fcTL').map(body => body.readUInt16BE(20)),
      [500, 900, 100],
    )
  })

  it('has at most 256 colors, of which each pixel gets the most similar one', () => {
    const rows = Array.from({ length: 300 }, (_, at) => [0, at % 256, at >> 8, 0, at % 256, at >> 8, 0])
    const chunks = chunksOf(encodeAnimation([{ png: png(...rows), ms: 100 }]))
    const palette = chunks.find(({ type }) => type === 'PLTE')!.body
    assert.equal(palette.length, 256 * 3)
    const data = inflateSync(chunks.find(({ type }) => type === 'IDAT')!.body)
    for (let row = 0; row < rows.length; row++)
      assert.ok(Math.abs(palette[data[row * 3 + 1]! * 3]! - (row % 256)) <= 2, `row ${row}`)
  })
})
