import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  isWebAddress,
  leadsToLocalHost,
  RedirectError,
  secureFetch,
} from '../../../../src/agents/registry/secure-fetch.ts'

/** Servers that redirect as in the list; the last address answers. */
function web(...hops: string[]): { fetch: typeof fetch; asked: string[] } {
  const asked: string[] = []
  const answer: typeof fetch = async (input, init) => {
    assert.equal(init?.redirect, 'manual')
    asked.push(String(input))
    const location = hops[asked.length]
    return location === undefined
      ? new Response('content')
      : new Response('moved', { status: 302, headers: { location } })
  }
  return { fetch: answer, asked }
}

describe('secureFetch', () => {
  it('follows redirects to encrypted addresses', async () => {
    const { fetch, asked } = web('https://one.example/a', '/b', 'https://two.example/c')
    assert.equal(await (await secureFetch(fetch, 'https://one.example/a')).text(), 'content')
    assert.deepEqual(asked, ['https://one.example/a', 'https://one.example/b', 'https://two.example/c'])
  })

  for (const bad of [
    'http://one.example/b',
    'http://127.0.0.1/b',
    'https://127.0.0.1/b',
    'https://10.1.2.3/b',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/b',
    'https://[::ffff:127.0.0.1]/b',
    'https://2130706433/b',
    'https://localhost/b',
    'https://printer.local/b',
    'https://router/b',
    'https://localhost.localdomain/b',
    'https://0x7f.1/b',
    'https://127.0.0.1./b',
    'https://user:secret@two.example/b',
    'file:///etc/passwd',
    'data:text/plain,x',
    'http://[',
  ])
    it(`doesn't request ${bad} at any hop`, async () => {
      for (const before of [[], ['https://two.example/x']]) {
        const hops = ['https://one.example/a', ...before, bad, 'https://three.example/c']
        const { fetch, asked } = web(...hops)
        await assert.rejects(secureFetch(fetch, hops[0]!), RedirectError)
        assert.equal(asked.length, 1 + before.length)
      }
    })

  it('stops after some redirects', async () => {
    const { fetch, asked } = web(...Array.from({ length: 50 }, (_, at) => `https://one.example/${at}`))
    await assert.rejects(secureFetch(fetch, 'https://one.example/0'), RedirectError)
    assert.ok(asked.length < 20)
  })

  it('may redirect on this machine if it was asked there', async () => {
    const { fetch } = web('http://127.0.0.1:1/a', '/b', 'http://localhost:2/c')
    assert.equal((await secureFetch(fetch, 'http://127.0.0.1:1/a')).status, 200)
    const away = web('http://127.0.0.1:1/a', 'http://one.example/b')
    await assert.rejects(secureFetch(away.fetch, 'http://127.0.0.1:1/a'), RedirectError)
  })

  it('knows the addresses of this machine and of private networks', async () => {
    for (const host of [
      'localhost',
      '[fe80::1]',
      '[fd00::1]',
      '192.168.1.1',
      '172.31.0.1',
      '0.0.0.0',
      '100.64.0.1',
    ])
      assert.equal(await leadsToLocalHost(host), true, host)
    for (const host of ['8.8.8.8', '172.32.0.1', '[2606:4700::1]', '198.18.0.1', 'nothing.invalid'])
      assert.equal(await leadsToLocalHost(host), false, host)
  })

  it('never takes an unencrypted address of another machine', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['http'] }), url => {
        assert.equal(isWebAddress(url), false)
      }),
    )
  })
})
