import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { LineTooLongError } from '../../../../src/acp/transport/line-splitter.ts'
import { NdjsonReader, NOISE_LENGTH } from '../../../../src/acp/transport/ndjson-reader.ts'
import { scaledRuns } from '../../../support/property-tests.ts'

interface Read {
  messages: unknown[]
  noise: string[]
  errors: Error[]
}

/** Reads a stream that arrives in the given pieces. */
async function read(pieces: Array<string | Uint8Array>, maxFrameBytes = 1 << 20): Promise<Read> {
  const stream = new PassThrough()
  const result: Read = { messages: [], noise: [], errors: [] }
  const reader = new NdjsonReader(stream, { maxFrameBytes, onNoise: line => result.noise.push(line) })
  const closed = new Promise<void>(resolve => reader.onClose(resolve))
  reader.onError(error => result.errors.push(error))
  reader.listen(message => result.messages.push(message))
  for (const piece of pieces) stream.write(piece)
  stream.end()
  await closed
  return result
}

const note = (n: number) => ({ jsonrpc: '2.0', method: 'note', params: { n } })

describe('NdjsonReader', () => {
  it('reads one message per line, including a last one without a newline', async () => {
    const { messages, noise } = await read([`${JSON.stringify(note(1))}\n${JSON.stringify(note(2))}`])
    assert.deepEqual(messages, [note(1), note(2)])
    assert.deepEqual(noise, [])
  })

  it('accepts CRLF, blank lines, indentation and a byte order mark', async () => {
    const { messages, noise } = await read([
      `\ufeff${JSON.stringify(note(1))}\r\n\r\n\n   \n \t${JSON.stringify(note(2))}  \r\n`,
    ])
    assert.deepEqual(messages, [note(1), note(2)])
    assert.deepEqual(noise, [])
  })

  it("reports lines that aren't JSON and continues (quirk 18)", async () => {
    const lines = [
      'Please visit https://example.com/auth?x=1',
      '\u001b[?25l\u001b[2J',
      '{"jsonrpc":"2.0","method":',
      '{not json}',
      '42',
      '"text"',
      'null',
      'Enter the code: {"jsonrpc":"2.0","id":1,"method":"initialize"}',
    ]
    const { messages, noise } = await read([`${lines.join('\n')}\n${JSON.stringify(note(1))}\n`])
    assert.deepEqual(messages, [note(1)])
    assert.deepEqual(noise, lines)
  })

  it('reads noise of many thousand numbers and commas as it is, in one piece or in many', async () => {
    const numbers = Array.from({ length: 20_000 }, (_, i) => i).join(',')
    const lines = [`[INFO] ids: ${numbers}`, `{"level":30} ${numbers}`, `ids ${numbers}`]
    const text = `${lines.join('\n')}\n${JSON.stringify(note(1))}\n`
    const pieces = Array.from({ length: Math.ceil(text.length / 30_000) }, (_, i) =>
      text.slice(i * 30_000, (i + 1) * 30_000),
    )
    for (const arrival of [[text], pieces]) {
      const { messages, noise, errors } = await read(arrival)
      assert.deepEqual([messages, errors], [[note(1)], []])
      assert.deepEqual(
        noise,
        lines.map(line => line.slice(0, NOISE_LENGTH)),
      )
    }
  })

  it("reports JSON that isn't a message", async () => {
    const lines = ['{"level":30,"msg":"started"}', '{"id":{"a":1},"result":1}', '{"method":5}', '{}']
    const { messages, noise } = await read([`${lines.join('\n')}\n`])
    assert.deepEqual(messages, [])
    assert.deepEqual(noise, lines)
  })

  it('finds a message after terminal escape sequences', async () => {
    const { messages } = await read([
      `\u001b[?1049h\u001b]0;agent\u0007${JSON.stringify(note(1))}\u001b[0m\n`,
    ])
    assert.deepEqual(messages, [note(1)])
  })

  it('shortens very long noise', async () => {
    const { noise } = await read([`${'x'.repeat(100_000)}\n`])
    assert.deepEqual(noise, ['x'.repeat(NOISE_LENGTH)])
  })

  it("unpacks a batch in order and reports items that aren't messages", async () => {
    const { messages, noise } = await read([`${JSON.stringify([note(1), 7, [note(9)], note(2)])}\n`, '[]\n'])
    assert.deepEqual(messages, [note(1), note(9), note(2)])
    assert.deepEqual(noise, ['7'])
  })

  it('normalizes responses of all shapes', async () => {
    const { messages } = await read([
      '{"id":1,"result":null}\n',
      '{"id":2}\n',
      '{"jsonrpc":"2.0","id":3,"error":{"code":"401","message":"no"},"result":null}\n',
      '{"id":4,"error":"broken"}\n',
      '{"error":{"code":-32700,"message":"Parse error"}}\n',
      '{"id":null,"error":{"code":-32700,"message":"Parse error"}}\n',
      '{"id":5,"error":null,"result":{"ok":true}}\n',
      '{"id":null,"method":"asked/nothing"}\n',
    ])
    assert.deepEqual(messages, [
      { id: 1, result: null },
      { id: 2, result: null },
      { jsonrpc: '2.0', id: 3, error: { code: 401, message: 'no' }, result: null },
      { id: 4, error: { code: -32603, message: 'broken' } },
      { id: null, error: { code: -32700, message: 'Parse error' } },
      { id: null, error: { code: -32700, message: 'Parse error' } },
      { id: 5, result: { ok: true } },
      { method: 'asked/nothing' },
    ])
  })

  it('reads a null method like none: as a response if it has a result or an error', async () => {
    const noise = ['{"id":5,"method":null}', '{"method":null,"params":{}}', '{"method":null}']
    const found = await read([
      '{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":{"ok":true},"error":null}\n',
      '{"id":2,"method":null,"result":null}\n',
      '{"id":3,"method":null,"error":{"code":-32603,"message":"no"},"result":null}\n',
      '{"id":null,"method":null,"error":"broken"}\n',
      `${noise.join('\n')}\n`,
      '{"id":4,"method":"asked","result":null}\n',
    ])
    assert.deepEqual(found.messages, [
      { jsonrpc: '2.0', id: 1, params: null, result: { ok: true } },
      { id: 2, result: null },
      { id: 3, error: { code: -32603, message: 'no' }, result: null },
      { id: null, error: { code: -32603, message: 'broken' } },
      { id: 4, method: 'asked', result: null },
    ])
    assert.deepEqual(found.noise, noise)
  })

  it('ends with an error at a frame above the limit, after the messages before it', async () => {
    const { messages, errors } = await read(
      [`${JSON.stringify(note(1))}\n`, 'x'.repeat(2000), 'x'.repeat(2000)],
      3000,
    )
    assert.deepEqual(messages, [note(1)])
    assert.equal(errors.length, 1)
    assert.ok(errors[0] instanceof LineTooLongError)
  })

  it('yields the same messages and noise however the stream is split (quirk 18)', async () => {
    const line = fc.oneof(
      fc.nat(1000).map(n => JSON.stringify({ ...note(n), text: 'żółć 日本 👩‍💻' })),
      fc.string({ unit: 'grapheme' }),
      fc.json(),
      fc.constant(''),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(400), { maxLength: 12 }),
        async (lines, end, cuts) => {
          const bytes = Buffer.from(lines.map(text => text + end).join(''))
          const places = [
            0,
            ...cuts.map(cut => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ]
          const pieces = places.slice(1).map((to, i) => bytes.subarray(places[i], to))
          assert.deepEqual(await read(pieces), await read([bytes]))
        },
      ),
    )
  })

  it('accepts any JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json({ maxDepth: 5 })), async values => {
        const { errors } = await read([values.map(value => `${value}\n`).join('')])
        assert.deepEqual(errors, [])
      }),
    )
  })

  it('delivers nothing while paused, and everything in order afterward', async () => {
    const stream = new PassThrough()
    const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 20 })
    const seen: unknown[] = []
    const closed = new Promise<void>(resolve => reader.onClose(resolve))
    reader.listen(message => {
      seen.push((message as unknown as { params: { n: number } }).params.n)
      reader.pause()
      // the rest of the chunk and of the batch must wait too
      const before = seen.length
      setImmediate(() => {
        assert.equal(seen.length, before)
        reader.resume()
      })
    })
    stream.write(
      `${JSON.stringify(note(1))}\n${JSON.stringify([note(2), note(3)])}\n${JSON.stringify(note(4))}\n`,
    )
    stream.end(JSON.stringify(note(5)))
    await closed
    assert.deepEqual(seen, [1, 2, 3, 4, 5])
  })

  it('leaves incoming data in the pipe while paused', async () => {
    const stream = new PassThrough({ highWaterMark: 1024 })
    const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 20 })
    let seen = 0
    reader.listen(() => {
      seen++
      reader.pause()
    })
    const line = `${JSON.stringify(note(1))}\n`
    // write piece by piece until the pipe is full
    let written = 0
    while (stream.write(line)) written++
    await new Promise(resolve => setImmediate(resolve))
    while (stream.write(line) && written < 100_000) written++
    assert.ok(written < 1000, `${written} lines were taken`)
    assert.equal(seen, 1)
  })

  describe('counts the lines of the stream', () => {
    /** A line, and the numbers of its notes. Long batches are divided before they are parsed. */
    const line = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ notes: 1, padding: 0, isBatch: false }) },
      { weight: 1, arbitrary: fc.constant({ notes: 0, padding: 0, isBatch: false }) },
      {
        weight: 3,
        arbitrary: fc.record({
          notes: fc.nat(4),
          padding: fc.constantFrom(0, 5_000, 20_000),
          isBatch: fc.constant(true),
        }),
      },
    )

    it('property: a line is handled once all of its messages were passed on, however it arrives', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(line, { maxLength: 8 }),
          fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 20 }),
          async (lines, sizes) => {
            const stream = new PassThrough()
            const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 20 })
            const seen: Array<{ n: unknown; line: number; handled: number }> = []
            const closed = new Promise<void>(resolve => reader.onClose(resolve))
            reader.listen(message => {
              const { n } = (message as unknown as ReturnType<typeof note>).params
              seen.push({ n, line: reader.line, handled: reader.handled })
            })
            const expected: typeof seen = []
            const text = lines
              .map(({ notes, padding, isBatch }, at) => {
                const all = Array.from({ length: notes }, (_, n) => ({
                  ...note(n),
                  pad: 'x'.repeat(padding),
                }))
                for (const { params } of all)
                  expected.push({ n: params.n, line: at + 1, handled: isBatch ? at : at + 1 })
                return `${isBatch ? JSON.stringify(all) : all[0] ? JSON.stringify(all[0]) : 'noise'}\n`
              })
              .join('')
            let from = 0
            for (const size of sizes) {
              stream.write(text.slice(from, from + size))
              from += size
            }
            stream.end(text.slice(from))
            await closed
            assert.deepEqual(seen, expected)
            assert.deepEqual([reader.line, reader.handled], [lines.length, lines.length])
          },
        ),
        { numRuns: scaledRuns(60) },
      )
    })

    it('passes on open requests after the lines that another window may have answered', async () => {
      const request = (id: number, size = 0) => ({
        jsonrpc: '2.0',
        id,
        method: 'ask',
        params: { pad: 'x'.repeat(size) },
      })
      const stream = new PassThrough()
      const seen: unknown[] = []
      const reader = new NdjsonReader(stream, {
        maxFrameBytes: 1 << 20,
        resumed: {
          before: 5,
          last: 7,
          open: [request(2)],
          onCaughtUp: () => seen.push('caught up'),
        },
      })
      const closed = new Promise<void>(resolve => reader.onClose(resolve))
      reader.listen(message => {
        const { id, params } = message as unknown as { id?: number; params: { n?: number } }
        seen.push(id === undefined ? `note ${params.n}` : `request ${id}`)
      })
      const batch = [request(1, 20_000), note(1), request(2, 20_000), note(2)]
      const lines = [note(0), batch, note(3), request(3)]
      stream.end(lines.map(one => `${JSON.stringify(one)}\n`).join(''))
      await closed
      assert.deepEqual(seen, ['note 0', 'note 1', 'note 2', 'request 2', 'caught up', 'note 3', 'request 3'])
      assert.equal(reader.handled, 9)
    })
  })
})
