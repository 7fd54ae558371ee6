import assert from 'node:assert/strict'
import fc from 'fast-check'
import { REDACTED, redact } from '../../../src/acp/redact.ts'

const SECRET = 'hunter2-s3cr3t-value'

describe('redact', () => {
  const hidden: Array<[string, unknown]> = [
    ['environment lists', { env: [{ name: 'KEY', value: SECRET }] }],
    ['environment objects', { env: { ANY_NAME: SECRET } }],
    ['headers', { headers: [{ name: 'X-Custom', value: SECRET }] }],
    ['keys that name a secret', { apiKey: SECRET }],
    ['keys with dashes', { 'x-api-key': SECRET }],
    ['keys with underscores', { OPENAI_API_KEY: SECRET }],
    ['camel case', { clientSecret: SECRET, accessToken: SECRET }],
    ['passwords in lists', { passwords: [SECRET, SECRET] }],
    ['objects under such a key', { credentials: { password: SECRET } }],
    ['authorization strings', { text: `curl -H "Authorization: Bearer ${SECRET}" x` }],
    ['authorization without a scheme', { text: `Authorization: ${SECRET}` }],
    ['basic authorization', `Basic ${SECRET}`],
    ['flags', { args: ['--port', '1', '--token', SECRET] }],
    ['flags with an equals sign', { args: [`--api-key=${SECRET}`] }],
    ['query parameters', { url: `https://x.test/mcp?user=a&access_token=${SECRET}#top` }],
    ['assignments', { command: `DB_PASSWORD=${SECRET} deploy && export MY_SECRET_2="${SECRET}"` }],
    ['assignments to keys', { text: `apiKey=${SECRET} ENCRYPTION_KEY=${SECRET} tokenFile=${SECRET}` }],
    ['headers in arguments', { args: ['-H', `X-Custom: ${SECRET}`, '--header', `Any: ${SECRET}`] }],
    ['users in arguments', { args: ['-u', `me:${SECRET}`] }],
    ['keys in the path of an address', { url: `https://hooks.x.test/services/T0/${SECRET}-abc/sse?a=1` }],
    ['parameters with such a word in the name', { url: `wss://x.test/?my_token_v2=${SECRET}` }],
    ['user information in an address', { url: `https://user:${SECRET}@x.test/` }],
    ['keys known by their look', { text: `my key is sk-ant-${SECRET}` }],
    ['tokens known by their look', { text: `ghp_${SECRET.replaceAll('-', '')}` }],
  ]
  for (const [what, value] of hidden) {
    it(`hides ${what}`, () => {
      const text = JSON.stringify(redact({ jsonrpc: '2.0', params: value }))
      assert.ok(!text.includes('s3cr3t'), text)
      assert.ok(text.includes(REDACTED), text)
    })
  }

  it('keeps the names of secrets and everything else', () => {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'session/new',
      params: {
        cwd: '/work',
        mcpServers: [
          { name: 'a', command: '/bin/a', args: ['--verbose'], env: [{ name: 'KEY', value: SECRET }] },
          {
            type: 'http',
            name: 'b',
            url: 'https://b.test/mcp',
            headers: [{ name: 'Authorization', value: SECRET }],
          },
        ],
        usage: { totalTokens: 1234, tokens: 5 },
        text: 'The token count is 12 and the key point is clear. https://x.test/a?page=2 max_tokens=4096 monkey=tree',
        command:
          'FOO=bar npm run a-very-long-script-name-2 && open https://x.test/some-long-path-of-words/index.html',
        keyboard: 'Enter',
        sessionId: 'abc',
      },
    }
    const before = structuredClone(message)
    assert.deepEqual(redact(message), {
      ...before,
      params: {
        ...before.params,
        mcpServers: [
          { ...before.params.mcpServers[0], env: [{ name: 'KEY', value: REDACTED }] },
          { ...before.params.mcpServers[1], headers: [{ name: 'Authorization', value: REDACTED }] },
        ],
      },
    })
    assert.deepEqual(message, before)
  })

  it('returns the same frame if there is nothing to hide', () => {
    const message = {
      jsonrpc: '2.0',
      method: 'session/update',
      params: { list: [1, { a: 'b' }, null, true] },
    }
    assert.equal(redact(message), message)
  })

  it('never throws and never changes its input', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const before = structuredClone(value)
        JSON.stringify(redact(value))
        assert.deepEqual(value, before)
      }),
    )
    let deep: unknown = SECRET
    for (let i = 0; i < 100_000; i++) deep = [deep]
    assert.ok(!JSON.stringify(redact(deep)).includes(SECRET))
  })

  it('hides all values of an environment', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string({ minLength: 1 })), env => {
        const { params } = redact({ params: { env } }) as { params: { env: Record<string, string> } }
        assert.deepEqual(Object.keys(params.env), Object.keys(env))
        assert.ok(Object.values(params.env).every(value => value === REDACTED))
      }),
    )
  })
})
