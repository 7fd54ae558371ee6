import assert from 'node:assert/strict'
import fc from 'fast-check'
import { StoredFrames } from '../../../src/agent-host/stored-frames.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'

describe("what is written of an agent's frames", () => {
  const SECRET = 'sk-aabbaabbaab'
  const create = (...values: string[]) => {
    const secrets = new SecretRegistry()
    for (const value of values) secrets.add(value)
    return new StoredFrames(secrets)
  }
  const chunk = (text: string, sessionId = 's') => ({
    bytes: Buffer.from(
      `${JSON.stringify({
        method: 'session/update',
        params: {
          sessionId,
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
        },
      })}\n`,
    ),
    isConversation: true,
  })
  const textIn = (frame: Buffer) => JSON.parse(frame.toString()).params.update.content.text

  it('is the same frame, or an empty line for one that belongs to no conversation', () => {
    const frames = [
      chunk('a'),
      { bytes: Buffer.from('{"id":1,"result":{}}\n'), isConversation: false },
      chunk('b'),
    ]
    const written = create().written(frames, false)
    assert.equal(written[0], frames[0]!.bytes)
    assert.equal(`${written[1]}`, '\n')
  })

  it('has no secret, in whichever part of a frame', () => {
    const call = {
      bytes: Buffer.from(`{"method":"session/update","params":{"x":["${SECRET}"]}}\n`),
      isConversation: true,
    }
    const [written] = create(SECRET).written([call], false)
    assert.equal(`${written}`, '{"method":"session/update","params":{"x":["•••"]}}\n')
  })

  it('waits for the rest of a secret, but not for ever', () => {
    const frames = create(SECRET)
    const texts = [chunk('The key: sk-aa'), chunk('other', 't'), chunk('bbaabbaab.')]
    assert.deepEqual(frames.written(texts.slice(0, 2), false), [])
    assert.deepEqual(frames.written(texts, false).map(textIn), ['The key: •••', 'other', '.'])
    assert.deepEqual(frames.written([chunk('sk-')], true).map(textIn), ['sk-'])
    assert.deepEqual(frames.written([chunk('aabbaabbaab!')], true).map(textIn), ['!'])
    assert.deepEqual(frames.written([chunk('sk-aabbaa')], true).map(textIn), ['•••'])
  })

  it('has no secret however a text is cut into frames and these are written, and all the rest of it', () => {
    const part = fc.oneof(fc.constant(SECRET), fc.constantFrom('sk-', 'aab', 'b', ' ', 'text', 'sk-aabb'))
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.array(fc.nat(9), { minLength: 1, maxLength: 30 }),
        fc.array(fc.nat(4), { minLength: 1, maxLength: 10 }),
        (parts, cuts, batches) => {
          const text = parts.join('')
          const chunks = []
          for (let at = 0, i = 0; at < text.length; i++) {
            const end = at + (cuts[i % cuts.length] ?? 0) + 1
            chunks.push(chunk(text.slice(at, end)))
            at = end
          }
          const frames = create(SECRET)
          const written: Buffer[] = []
          for (let end = 0, i = 0; written.length < chunks.length; i++) {
            end = Math.min(chunks.length, end + batches[i % batches.length]! + 1)
            const isLast = end === chunks.length
            written.push(...frames.written(chunks.slice(written.length, end), isLast))
          }
          const joined = written.map(textIn).join('')
          const secrets = new SecretRegistry()
          secrets.add(SECRET)
          assert.equal(written.length, chunks.length)
          assert.ok(!joined.includes(SECRET))
          // what may be the beginning of one is replaced at the very end
          const expected = secrets.redact(text)
          const last = joined.endsWith('•••') && !expected.endsWith('•••') ? joined.slice(0, -3) : joined
          assert.ok(
            expected.startsWith(last) && (last !== joined || last === expected),
            `${joined} for ${expected}`,
          )
        },
      ),
    )
  })
})
