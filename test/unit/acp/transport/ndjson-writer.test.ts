import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { NdjsonWriter, WriterClosedError } from '../../../../src/acp/transport/ndjson-writer.ts'

const message = (n: number) => ({ jsonrpc: '2.0', method: 'note', params: { n } })

describe('NdjsonWriter', () => {
  it('writes one line per message, in the order of the calls', async () => {
    const stream = new PassThrough()
    const writer = new NdjsonWriter(stream)
    await Promise.all([1, 2, 3].map(n => writer.write(message(n))))
    writer.end()
    const lines = (await stream.toArray()).join('').split('\n')
    assert.deepEqual(lines, [...[1, 2, 3].map(n => JSON.stringify(message(n))), ''])
  })

  it('waits while the pipe is full', async () => {
    const stream = new PassThrough({ highWaterMark: 100 })
    const writer = new NdjsonWriter(stream)
    let done = 0
    const writes = Array.from({ length: 10 }, (_, n) => writer.write(message(n)).then(() => done++))
    await new Promise(resolve => setImmediate(resolve))
    assert.ok(done < 10, 'the stream is full')
    stream.resume()
    await Promise.all(writes)
    assert.equal(done, 10)
  })

  it('rejects writes after the end, and pending ones when the stream closes', async () => {
    const ended = new NdjsonWriter(new PassThrough())
    ended.end()
    await assert.rejects(ended.write(message(1)), WriterClosedError)

    const stream = new PassThrough({ highWaterMark: 10 })
    const writer = new NdjsonWriter(stream)
    const waiting = writer.write(message(1))
    stream.destroy()
    await assert.rejects(waiting, WriterClosedError)
    await assert.rejects(writer.write(message(2)), WriterClosedError)
  })

  it("reports a broken pipe with the stream's error, and rejects later writes", async () => {
    const stream = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
      },
    })
    const writer = new NdjsonWriter(stream)
    const errors: Error[] = []
    const reported = new Promise<void>(resolve =>
      writer.onError(([error]) => {
        errors.push(error)
        resolve()
      }),
    )
    await writer.write(message(1)).catch(() => {})
    await reported
    assert.match(errors[0]?.message ?? '', /EPIPE/)
    await assert.rejects(writer.write(message(2)), WriterClosedError)
  })

  it("rejects values that can't be serialized and continues", async () => {
    const stream = new PassThrough()
    const writer = new NdjsonWriter(stream)
    await assert.rejects(writer.write({ jsonrpc: '2.0', params: 1n } as never), TypeError)
    await writer.write(message(1))
    assert.equal(String(stream.read()), `${JSON.stringify(message(1))}\n`)
  })
})
