import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SecretRegistry } from '../../../src/common/secrets.ts'

function registryOf(...values: string[]): SecretRegistry {
  const registry = new SecretRegistry()
  for (const value of values) registry.add(value)
  return registry
}

/** The formats in which agents and libraries write secrets. */
const written: Array<(secret: string) => string> = [
  secret => secret,
  secret => JSON.stringify({ secret }),
  secret => JSON.stringify(JSON.stringify({ secret })),
  secret => `https://host.test/path?q=${encodeURIComponent(secret)}&b=1`,
  secret => `https://host.test/?${new URLSearchParams({ secret })}`,
  secret => encodeURIComponent(secret).replace(/%../g, code => code.toLowerCase()),
  secret => Buffer.from(secret).toString('base64'),
  secret => Buffer.from(secret).toString('base64url'),
  secret => Buffer.from(`user:${secret}`).toString('base64'),
  secret => Buffer.from(`me:${secret}@host`).toString('base64'),
  secret => Buffer.from(`me2:${secret}@host`).toString('base64url'),
]

/** Checks that no part of a secret is readable, in plain text or any encoding that is easily decoded. */
function assertHidden(text: string, secret: string): void {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  for (const form of forms) assert.ok(!text.includes(form), text)
  for (const run of text.match(/[\w+/-]{6,}={0,2}/g) ?? []) {
    assert.ok(!Buffer.from(run, 'base64').toString().includes(secret), text)
  }
}

const secrets = fc
  .string({ minLength: 8, maxLength: 60, unit: fc.constantFrom(...'abcXYZ019-_.~!*\'"\\/+=%& <>é漢') })
  .map(text => text.trim())
  .filter(text => text.length >= 8 && !/\s/.test(text))

describe('SecretRegistry', () => {
  it('hides every registered value in any encoding and any structure', () => {
    fc.assert(
      fc.property(
        fc.array(secrets, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.constantFrom(...written),
        fc.string(),
        fc.string(),
        (values, which, write, before, after) => {
          const registry = registryOf(...values)
          const secret = values[which % values.length]!
          assertHidden(registry.redact(`${before} ${write(secret)} ${after}`), secret)
        },
      ),
    )
  })

  it('hides values that are split between chunks of text, and loses nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(secrets, { minLength: 1, maxLength: 3 }),
        fc.array(fc.oneof(fc.string(), fc.nat(2)), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 10 }),
        (values, parts, sizes) => {
          const registry = registryOf(...values)
          const text = parts
            .map(part => (typeof part === 'number' ? values[part % values.length]! : part))
            .join(' ')
          const stream = registry.stream()
          let redacted = ''
          for (let at = 0, i = 0; at < text.length; i++) {
            const size = sizes[i % sizes.length]!
            redacted += stream.push(text.slice(at, at + size))
            at += size
          }
          redacted += stream.end()
          assert.equal(redacted, registry.redact(text))
          for (const value of values) assert.ok(!redacted.includes(value))
        },
      ),
    )
  })

  it("passes on text immediately if it can't be the start of a secret", () => {
    const stream = registryOf('hunter2-hunter2').stream()
    assert.equal(stream.push('a line\n'), 'a line\n')
    assert.equal(stream.push('it is hunter'), 'it is ')
    assert.equal(stream.push('s'), 'hunters')
  })

  it('hides the token of a header even without its scheme', () => {
    const registry = registryOf('Bearer abcdef123456')
    assert.equal(registry.redact('token abcdef123456.'), 'token •••.')
    assert.equal(registryOf('my cat is Schrödinger').redact('my cat is big'), 'my cat is big')
  })

  const shortSecrets = fc.string({
    minLength: 1,
    maxLength: 5,
    unit: fc.constantFrom(...'abXY09-_."\\/+é漢'),
  })

  it('hides a short value where it stands alone, and only there', () => {
    const registry = registryOf('ab1', '1')
    assert.equal(registry.redact('ab1, "ab1" x=ab1\nab1'), '•••, "•••" x=•••\n•••')
    assert.equal(registry.redact('cab1 ab12 _ab1 éab1 21 1st'), 'cab1 ab12 _ab1 éab1 21 1st')
    fc.assert(
      fc.property(shortSecrets, secret => {
        for (const text of [secret, `is ${secret}\n`, `(${secret})`, `a ${secret} b ${secret}`]) {
          assert.ok(
            !registryOf(secret)
              .redact(text)
              .split(/[\s()]/)
              .includes(secret),
            text,
          )
        }
      }),
    )
  })

  it('hides a short value in chunks just as in the whole text', () => {
    const piece = fc.constantFrom('ab', 'a', 'b', ' ', '-', '1', 'é', 'ab1', 'hunter2-hunter2', 'hunter')
    fc.assert(
      fc.property(fc.array(shortSecrets, { maxLength: 2 }), fc.array(piece), (values, chunks) => {
        const registry = registryOf('ab', 'ab1', '1', 'hunter2-hunter2', ...values)
        const stream = registry.stream()
        const redacted = chunks.map(chunk => stream.push(chunk)).join('') + stream.end()
        assert.equal(redacted, registry.redact(chunks.join('')))
      }),
    )
  })

  it('keeps JSON valid, with its keys, numbers and words of the protocol', () => {
    const registry = registryOf('text', '1', 'read', 'true', 'hunter2-hunter2')
    const json = JSON.stringify({
      kind: 'read',
      toolCallId: '1',
      text: 'read',
      turn: 1,
      list: [true, { type: 'text', text: '\n1 hunter2-hunter2' }],
    })
    assert.deepEqual(JSON.parse(registry.redactJson(json)), {
      kind: 'read',
      toolCallId: '1',
      text: '•••',
      turn: 1,
      list: [true, { type: 'text', text: '\n••• •••' }],
    })
    fc.assert(
      fc.property(fc.array(shortSecrets, { minLength: 1, maxLength: 3 }), fc.jsonValue(), (values, value) => {
        const registry = registryOf(...values)
        const redacted: unknown = JSON.parse(registry.redactJson(JSON.stringify({ value, text: values[0] })))
        assert.equal((redacted as { text: string }).text, '•••')
      }),
    )
  })

  it('returns the same object if it contains no secret', () => {
    const registry = registryOf('yes', 'hunter2-hunter2')
    const part = { deep: ['text'] }
    const value = { part, secret: 'is hunter2-hunter2' }
    const redacted = registry.redactAll(value)
    assert.deepEqual(redacted, { part, secret: 'is •••' })
    assert.equal(redacted.part, part)
  })
})
