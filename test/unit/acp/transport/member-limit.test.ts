import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { LineSplitter } from '../../../../src/acp/transport/line-splitter.ts'
import { NdjsonReader } from '../../../../src/acp/transport/ndjson-reader.ts'
import { isRecord } from '../../../../src/common/is-record.ts'
import { MAX_ANSWER_MEMBERS, MAX_MEMBERS } from '../../../../src/common/limits.ts'
import { MemberLimit } from '../../../../src/common/member-limit.ts'
import { until } from '../../../support/until.ts'

const CUT = '…'
/** the most bytes that a pipe delivers at a time */
const PIECE_BYTES = 64 * 1024

function piecesOf(bytes: Buffer, size = PIECE_BYTES): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** The messages that are read from this one. `onCut` is called for each that was cut. */
async function read(message: unknown, { prefix = '', onCut = () => {} } = {}): Promise<unknown[]> {
  const stream = new PassThrough()
  const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 30, onCut })
  const messages: unknown[] = []
  const closed = new Promise<void>(resolve => reader.onClose(resolve))
  reader.listen(one => messages.push(one))
  for (const piece of piecesOf(Buffer.from(`${prefix}${JSON.stringify(message)}\n`))) stream.write(piece)
  stream.end()
  await closed
  return messages
}

function membersOf(value: unknown): number {
  let members = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const values = Object.values(next)
    members += values.length
    for (const one of values) open.push(one)
  }
  return members
}

const keys = (count: number, value: (i: number) => unknown = i => i) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`"k\\,{${i}`, value(i)]))
const toolCall = (rawInput: unknown, more = {}) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: {
    ...more,
    update: { sessionUpdate: 'tool_call', rawInput, toolCallId: 't', title: 'after "it", {too}' },
    sessionId: 's',
  },
})

describe('a message with too many members', () => {
  const inputs: Record<string, unknown> = {
    'a million keys': keys(1_000_000),
    'a million elements': Array(1_000_000).fill(1),
    'many objects with many keys': keys(300, () => keys(300)),
    'many small objects': Array.from({ length: 100_000 }, (_, i) => ({ [`k${i}`]: [] })),
  }
  for (const [name, input] of Object.entries(inputs)) {
    it(`keeps what the protocol needs, and says that it was cut: ${name}`, async () => {
      const [message, ...others] = await read(toolCall({ first: 1, input, last: 2 }))
      assert.deepEqual(others, [])
      const { params } = message as ReturnType<typeof toolCall>
      const { rawInput, ...update } = params.update
      const { update: known } = toolCall(0).params
      assert.deepEqual({ ...update, rawInput: 0, sessionId: params.sessionId }, { ...known, sessionId: 's' })
      assert.ok(isRecord(rawInput))
      assert.equal(rawInput.first, 1)
      assert.equal(rawInput[CUT], CUT)
      // the first member of each object isn't counted
      assert.ok(membersOf(message) < 2 * MAX_MEMBERS + 100, `${membersOf(message)} members`)
    })
  }

  it('is cut also where the protocol has few members', async () => {
    const [message] = await read(toolCall(1, keys(100_000)))
    assert.ok(membersOf(message) < 1100)
    const [other] = await read({ jsonrpc: '2.0', method: 'x', ...keys(100_000) })
    assert.ok(membersOf(other) < 1100)
  })

  const sessions = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ sessionId: `s${i}`, title: 't', cwd: '/w', archived: false }))
  const answerOf = (result: unknown, id = 1) => ({ jsonrpc: '2.0', id, result })

  it('stays whole if it is an answer with a long list, also after terminal escape codes', async () => {
    const answer = answerOf({ sessions: sessions(10_000), nextCursor: 'c' })
    assert.deepEqual(await read(answer), [answer])
    assert.deepEqual(await read(answer, { prefix: '\u001b[2J\u001b[0m' }), [answer])
  })

  it('is cut also if it is an answer, and what follows a list stays', async () => {
    const [message] = await read(answerOf({ sessions: sessions(40_000), nextCursor: 'c' }))
    const { result } = message as { result: { sessions: unknown[]; nextCursor: string } }
    assert.ok(membersOf(message) < 2 * MAX_ANSWER_MEMBERS, `${membersOf(message)} members`)
    assert.equal(result.nextCursor, 'c')
    assert.deepEqual(result.sessions.slice(0, 10_000), sessions(10_000))
    for (const result of [keys(120_000), [keys(120_000)], { rawOutput: Array(120_000).fill(1) }]) {
      const [other] = await read(answerOf(result))
      assert.ok(membersOf(other) < 2 * MAX_ANSWER_MEMBERS, `${membersOf(other)} members`)
    }
  })

  it('is reported once, whatever was cut from it', async () => {
    let cuts = 0
    const onCut = () => cuts++
    await read(toolCall({ one: keys(100_000), two: Array(100_000).fill(1) }), { onCut })
    assert.equal(cuts, 1)
    await read(toolCall(1), { onCut })
    assert.equal(cuts, 1)
  })

  it('is one of a batch, from which each is cut by itself and handed on as soon as it has arrived', async () => {
    const small = Array.from({ length: 3000 }, () => toolCall(1))
    assert.deepEqual(await read(small), small)
    const long = answerOf({ sessions: sessions(4000) }, 7)
    const [first, second, third, ...others] = await read([toolCall(keys(200_000)), long, toolCall(2)])
    assert.deepEqual(others, [])
    assert.ok(membersOf(first) < 2 * MAX_MEMBERS + 100, `${membersOf(first)} members`)
    assert.deepEqual(second, long)
    assert.deepEqual(third, toolCall(2))

    const stream = new PassThrough()
    const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 30 })
    const messages: unknown[] = []
    reader.listen(one => messages.push(one))
    stream.write(` [ ${JSON.stringify(toolCall('[{"'))} , ${JSON.stringify(toolCall(2))},{"jsonrpc"`)
    await until(() => messages.length === 2, 'two messages of an unfinished batch')
    assert.deepEqual(messages, [toolCall('[{"'), toolCall(2)])
    reader.dispose()
  })

  it('has no more members if it arrives as one piece', async () => {
    const stream = new PassThrough()
    const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 30 })
    const messages: unknown[] = []
    reader.listen(one => messages.push(one))
    stream.write(Buffer.from(`${JSON.stringify(toolCall(Array(500_000).fill(1)))}\n`))
    // shorter than what a pipe delivers at a time
    stream.write(Buffer.from(`${JSON.stringify(toolCall(Array(30_000).fill(1)))}\n`))
    await until(() => messages.length === 2, 'both messages')
    for (const message of messages) assert.ok(membersOf(message) < MAX_MEMBERS + 100)
    reader.dispose()
  })

  it('of a batch is the same as by itself, however the batch arrives', () => {
    const value = fc.jsonValue({ maxDepth: 4 })
    const message = fc.record({ id: fc.nat(9), result: value, params: value })
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 1),
        (batch, size, space) => {
          const bytes = Buffer.from(`${JSON.stringify(batch, undefined, space).replaceAll('\n', ' ')}\n`)
          const splitter = new LineSplitter(1 << 20)
          const lines: string[] = []
          for (const piece of piecesOf(bytes, size)) {
            splitter.push(piece)
            for (let line = splitter.next(); line !== undefined; line = splitter.next()) lines.push(line)
          }
          const read = lines.filter(line => line.trim() !== '').flatMap(line => JSON.parse(line) as unknown)
          assert.deepEqual(read, JSON.parse(JSON.stringify(batch)))
        },
      ),
    )
  })

  it('is the same as before without members, however it arrives', () => {
    const value = fc.jsonValue({ maxDepth: 8 })
    fc.assert(
      fc.property(
        value,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        (raw, max, size) => {
          const whole = JSON.parse(JSON.stringify(toolCall([raw, { raw }]))) as unknown
          const limit = new MemberLimit(max)
          const bytes = Buffer.from(JSON.stringify(whole))
          const kept = piecesOf(bytes, size).flatMap(piece => limit.keep(piece))
          const cut: unknown = JSON.parse(Buffer.concat(kept as Buffer[]).toString())
          if (JSON.stringify(cut) !== JSON.stringify(whole)) assert.ok(membersOf(whole) >= max)
          assertPart(cut, whole)
        },
      ),
    )
  })
})

/** Everything that was kept is as it was, and in its place. */
function assertPart(part: unknown, whole: unknown): void {
  if (part === CUT && typeof whole !== 'string') return
  if (typeof part !== 'object' || part === null) {
    assert.deepEqual(part, whole)
    return
  }
  assert.equal(Array.isArray(part), Array.isArray(whole))
  for (const [key, value] of Object.entries(part))
    if (key !== CUT && value !== CUT) assertPart(value, (whole as Record<string, unknown>)[key])
}
