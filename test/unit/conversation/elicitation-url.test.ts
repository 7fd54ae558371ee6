import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { describeUrl } from '../../../src/conversation/elicitation-url.ts'

describe('an address that an agent asks to open', () => {
  it('is told in parts, the host apart', () => {
    assert.deepEqual(describeUrl('https://Example.com:8443/a?b#c'), {
      before: 'https://',
      host: 'example.com:8443',
      after: '/a?b#c',
      warnings: [],
      canOpen: true,
    })
  })

  it('is warned about when it is not what it seems', () => {
    const warnings = (url: string) => describeUrl(url)?.warnings
    assert.deepEqual(warnings('http://example.com'), ['http'])
    assert.deepEqual(warnings('http://localhost:1234/cb'), [])
    assert.deepEqual(warnings('http://127.0.0.1/'), [])
    assert.deepEqual(warnings('https://аррӏе.com'), ['punycode'])
    assert.deepEqual(warnings('https://xn--80ak6aa92e.com'), ['punycode'])
    assert.deepEqual(warnings('https://github.com@evil.example/login'), ['credentials'])
    assert.equal(describeUrl('https://github.com@evil.example/login')?.host, 'evil.example')
    assert.equal(describeUrl('https://evil.example@evil.example/')?.before, 'https://evil.example@')
  })

  it('is opened only on the web', () => {
    for (const url of [
      'file:///etc/passwd',
      'command:parley.x',
      'vscode://x/y',
      'javascript:alert(1)',
      'mailto:a@b',
    ])
      assert.equal(describeUrl(url)?.canOpen, false, url)
    assert.equal(describeUrl('no address'), undefined)
  })

  it('loses nothing of the address', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), url => {
        const told = describeUrl(url)
        assert(told)
        assert.equal(told.before + told.host + told.after, new URL(url).href)
        assert.equal(told.host, new URL(url).host)
      }),
    )
  })
})
