import assert from 'node:assert/strict'
import fc from 'fast-check'
import { LineTooLongError } from '../../../../src/acp/transport/line-splitter.ts'
import { boundedEvents, Turnstile } from '../../../../src/acp/transport/remote/bounded-body.ts'

const MAX = 1 << 20

async function eventsIn(text: string | Buffer, sizes: readonly number[] = [7], max = MAX): Promise<string[]> {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const size = sizes[i % sizes.length]!
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  const turnstile = new Turnstile()
  turnstile.open()
  const found: string[] = []
  for await (const event of boundedEvents(pieces(), turnstile, max, () => {})) found.push(event.toString())
  return found
}

describe('the events of an agent on a server', () => {
  it('are the same however they are split and whatever their lines end with', async () => {
    const line = fc.constantFrom('\n', '\r\n', '\r')
    const between = fc.constantFrom(
      '',
      ': nothing',
      'event: message',
      'id: 7',
      'retry: 1',
      'database: x',
      'data',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), between, line, line)),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (messages, sizes, hasMark) => {
          const texts = messages.map(([message]) => JSON.stringify(message))
          const stream = messages.map(([, field, end, other], i) => {
            const more = field === '' ? '' : `${field}${other}`
            return `${more}data:${i % 2 ? ' ' : ''}${texts[i]}${end}${end}`
          })
          assert.deepEqual(
            await eventsIn(`${hasMark ? '\uFEFF' : ''}${stream.join('')}`, sizes),
            texts.map(text => `data: ${text}\n\n`),
          )
        },
      ),
    )
  })

  it('are one message, also in several lines', async () => {
    assert.deepEqual(await eventsIn('data: {"a":\ndata: 1}\n\n'), ['data: {"a": 1}\n\n'])
  })

  it('are dropped if the stream ends within them', async () => {
    assert.deepEqual(await eventsIn('data: {"a":1}\n\ndata: {"b":'), ['data: {"a":1}\n\n'])
  })

  it('have no more members than messages from a process, also in many lines', async () => {
    const lines = Array.from({ length: 1000 }, () => `data: ${'1,'.repeat(100)}\n`).join('')
    const [event = ''] = await eventsIn(
      `data: {"method":"x","params":{"list":[\n${lines}data: 1]}}\n\n`,
      [999],
    )
    const { params } = JSON.parse(event.slice('data: '.length)) as { params: { list: number[] } }
    assert.ok(params.list.length <= 5001, String(params.list.length))
  })

  it('are refused beyond a size, however small their pieces are', async () => {
    const long = `data: "${'x'.repeat(1000)}\n`.repeat(2000)
    await assert.rejects(eventsIn(`${long}\n`, [997]), LineTooLongError)
    assert.deepEqual(
      await eventsIn(`${'x'.repeat(2 * MAX)}\n: ${'y'.repeat(2 * MAX)}\ndata: {}\n\n`, [4096]),
      ['data: {}\n\n'],
    )
  })
})
