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
      { numRuns: 500 },
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
      { numRuns: 500 },
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
  })

  it('ignores short values, and returns the same object if it contains no secret', () => {
    const registry = registryOf('yes', 'hunter2-hunter2')
    assert.equal(registry.redact('yes, yes'), 'yes, yes')
    const part = { deep: ['text'] }
    const value = { part, secret: 'is hunter2-hunter2' }
    const redacted = registry.redactAll(value)
    assert.deepEqual(redacted, { part, secret: 'is •••' })
    assert.equal(redacted.part, part)
  })
})
