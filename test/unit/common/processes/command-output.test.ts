import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import fc from 'fast-check'
import { OutputBuffer, OutputPump } from '../../../../src/common/processes/command-output.ts'

describe('the kept output of a command', () => {
  it('is the longest end within the limit, cut between characters', () => {
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
    )
  })

  it('stays small with much output and large chunks', () => {
    const buffer = new OutputBuffer(10_000)
    for (let index = 0; index < 5000; index += 1) buffer.append('é'.repeat((index * 37) % 9000))
    assert.equal(Buffer.byteLength(buffer.text()), 10_000)
    buffer.append('x'.repeat(50_000))
    assert.equal(buffer.text(), 'x'.repeat(10_000))
  })

  it('is empty with a limit of 0', () => {
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

describe('reading the output of a command', () => {
  it('decodes each stream separately, even with split characters', async () => {
    const [one, two] = [new PassThrough(), new PassThrough()]
    const texts: string[] = []
    new OutputPump([one, two], text => texts.push(text))
    const sign = Buffer.from('é')
    one.write(sign.subarray(0, 1))
    const twoEnded = once(two, 'end')
    two.end('x')
    await twoEnded
    const oneEnded = once(one, 'end')
    one.end(sign.subarray(1))
    await oneEnded
    assert.equal(texts.join(''), 'xé')
  })

  it('pauses when there is too much unread output, then continues', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    let left = 40
    const flood = new Readable({
      read() {
        left -= 1
        this.push(left >= 0 ? piece : null)
      },
    })
    let bytes = 0
    let atFirstPause = 0
    new OutputPump([flood], text => {
      bytes += text.length
    })
    flood.once('pause', () => {
      atFirstPause = bytes
    })
    await once(flood, 'end')
    assert.equal(bytes, 40 * piece.length)
    assert.equal(atFirstPause, 16 * piece.length)
  })

  it('reports nothing without output, even after a pause', async () => {
    const stream = new PassThrough({ highWaterMark: 8 * 1024 * 1024 })
    let bytes = 0
    const pump = new OutputPump([stream], text => {
      bytes += text.length
    })
    for (let count = 0; count < 48; count += 1) stream.write(Buffer.alloc(64 * 1024, 'x'))
    await pump.quiet()
    assert.equal(bytes, 48 * 64 * 1024)
    pump.close()
    assert.equal(stream.destroyed, true)
  })

  it('reports nothing after it was closed', async () => {
    const stream = new PassThrough()
    const pump = new OutputPump([stream], () => assert.fail('closed'))
    pump.close()
    stream.emit('data', Buffer.from('late'))
    pump.close()
  })
})
