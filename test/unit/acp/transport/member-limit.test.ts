import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { MemberLimit } from '../../../../src/acp/transport/member-limit.ts'
import { NdjsonReader } from '../../../../src/acp/transport/ndjson-reader.ts'
import { isRecord } from '../../../../src/common/is-record.ts'
import { MAX_MEMBERS } from '../../../../src/common/limits.ts'

const CUT = '…'
/** the most bytes that a pipe delivers at a time */
const PIECE_BYTES = 64 * 1024

function piecesOf(bytes: Buffer, size = PIECE_BYTES): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** The messages that are read from this one. */
async function read(message: unknown): Promise<unknown[]> {
  const stream = new PassThrough()
  const reader = new NdjsonReader(stream, { maxFrameBytes: 1 << 30 })
  const messages: unknown[] = []
  const closed = new Promise<void>(resolve => reader.onClose(resolve))
  reader.listen(one => messages.push(one))
  for (const piece of piecesOf(Buffer.from(`${JSON.stringify(message)}\n`))) stream.write(piece)
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

  it('stays whole if it is an answer, or a batch of small ones', async () => {
    const sessions = Array.from({ length: 5000 }, (_, i) => ({ sessionId: `s${i}`, title: 't', cwd: '/w' }))
    const answer = { jsonrpc: '2.0', id: 1, result: { sessions } }
    assert.deepEqual(await read(answer), [answer])
    const small = Array.from({ length: 3000 }, () => toolCall(1))
    assert.equal((await read(small)).length, 3000)
  })

  it('is the same as before without members, however it arrives', () => {
    const value = fc.jsonValue({ maxDepth: 8 })
    fc.assert(
      fc.property(
        value,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        (raw, max, size) => {
          const whole = toolCall([raw, { raw }])
          const limit = new MemberLimit(max)
          const bytes = Buffer.from(JSON.stringify(whole))
          const cut: unknown = JSON.parse(
            Buffer.concat(piecesOf(bytes, size).flatMap(piece => limit.keep(piece))).toString(),
          )
          if (JSON.stringify(cut) !== JSON.stringify(whole)) assert.ok(membersOf(whole) >= max)
          assertPart(cut, whole)
        },
      ),
      { numRuns: 2000 },
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
