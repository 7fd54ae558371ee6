import assert from 'node:assert/strict'
import { linkTarget } from '../../../../src/webview/tools/links.ts'

describe('the target of a link', () => {
  it('is shown completely, host first', () => {
    assert.deepEqual(linkTarget('https://docs.example.com/a?b#c', 'the docs'), {
      title: 'docs.example.com\nhttps://docs.example.com/a?b#c',
    })
    assert.deepEqual(linkTarget('src/main.ts#L3', 'main'), { title: 'src/main.ts#L3' })
    assert.deepEqual(linkTarget('a\u202eb', 'main'), { title: 'a‹U+202E›b' })
  })

  it('is shown next to the link if its text could be confused with another URL', () => {
    const host = (href: string, text: string) => linkTarget(href, text).host
    assert.equal(host('https://evil.example/login', 'https://github.com/login'), 'evil.example')
    assert.equal(host('https://evil.example/', 'see www.github.com'), 'evil.example')
    assert.equal(host('https://evil.example/', 'github.com'), 'evil.example')
    assert.equal(host('https://github.com@evil.example/', 'sign in'), 'evil.example')
    assert.equal(host('https://аpple.com/', 'Apple'), 'xn--pple-43d.com')
    assert.equal(host('https://www.github.com/a', 'github.com/a'), undefined)
    assert.equal(host('https://localhost:8080/x', 'http://localhost:8080'), undefined)
    assert.equal(host('https://example.com', 'Example Domain, v1.2'), undefined)
  })

  it('has the same warnings as a URL that an agent wants to open', () => {
    assert.match(linkTarget('http://example.com/', 'x').title, /isn't encrypted/)
    assert.match(linkTarget('https://user@example.com/', 'x').title, /user name/)
  })
})
