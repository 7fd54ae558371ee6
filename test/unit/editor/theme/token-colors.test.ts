import assert from 'node:assert/strict'
import { posix } from 'node:path'
import fc from 'fast-check'
import { customRules, themeRules, tokenColors } from '../../../../src/editor/theme/token-colors.ts'

const rule = (scope: unknown, foreground: unknown) => ({ scope, settings: { foreground } })

describe('the colors for code', () => {
  it('come from the most specific rule, or the later of two', () => {
    const {
      comment,
      keyword,
      string,
      function: called,
    } = tokenColors([
      rule('comment', '#111111'),
      rule(['keyword', 'string, variable'], '#222222'),
      rule('keyword.control', '#333'),
      rule('keyword', '#444444'),
      rule('string', '#55555580'),
      rule('entity.name.function', '#666666'),
    ])
    assert.deepEqual([comment, keyword, string, called], ['#111111', '#333333', '#55555580', '#666666'])
  })

  it("don't come from language-specific rules or invalid colors", () => {
    assert.deepEqual(
      tokenColors([
        rule('markup.heading string', '#111111'),
        rule('str', '#222222'),
        rule('comment', 'red'),
        rule('comment', 7),
        rule(undefined, '#333333'),
        { scope: 'keyword' },
        { scope: 'keyword', settings: null },
      ]),
      {},
    )
  })

  it("use the user's settings for all themes, then for the current one", () => {
    const setting = {
      comments: '#010101',
      strings: { foreground: '#020202' },
      textMateRules: [rule('variable', '#030303')],
      '[Other]': { comments: '#ff0000' },
      '[Night*][Dusk]': { comments: '#040404' },
    }
    const colors = tokenColors([rule('comment', '#999999'), ...customRules(setting, 'Night Owl')])
    assert.deepEqual([colors.comment, colors.string, colors.variable], ['#040404', '#020202', '#030303'])
    assert.deepEqual(customRules('nonsense', 'x'), [])
  })

  it('use rules for themes whose names match a pattern with asterisks', () => {
    const applies = (pattern: string, theme: string) =>
      customRules({ [`[${pattern}]`]: { comments: '#010101' } }, theme).length > 0
    for (const pattern of ['Night Owl', '*', '*Owl', 'Night*', '*ight*', 'N*t*l', 'Night Owl*'])
      assert.ok(applies(pattern, 'Night Owl'), pattern)
    for (const pattern of ['Night', 'Owl', 'night*', '*Night', 'Night Owl*l', 'N*w*t*l'])
      assert.ok(!applies(pattern, 'Night Owl'), pattern)
    assert.ok(!applies(`${'a*'.repeat(40)}b`, 'a'.repeat(200)))
  })

  it('never fail for an invalid theme', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ scope: fc.anything(), settings: fc.anything() })), rules => {
        tokenColors(rules)
      }),
    )
  })
})

describe('a theme file', () => {
  const files: Record<string, string> = {
    '/t/themes/dark.json':
      '{ // with comments\n "include": "./base/plus.json", "tokenColors": [{"scope": "a"},] }',
    '/t/themes/base/plus.json': '{"include": "../../base.json", "tokenColors": "rules.json"}',
    '/t/themes/base/rules.json': '[{"scope": "b"}, 3]',
    '/t/base.json': '{"tokenColors": [{"scope": "c"}]}',
    '/t/circle.json': '{"include": "circle.json", "tokenColors": [{"scope": "d"}]}',
    '/t/old.json': '{"tokenColors": "old.tmTheme"}',
    '/t/broken.json': '<html>',
    '/t/Old.tmTheme': `<?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
        <key>name</key><string>Old &amp; good</string>
        <!-- <key>settings</key><string>not this</string> -->
        <key>settings</key><array>
          <dict><key>settings</key><dict><key>background</key><string>#272822</string></dict></dict>
          <dict>
            <key>name</key><string/>
            <key>scope</key><string>comment, string.quoted</string>
            <key>settings</key><dict><key>fontStyle</key><string></string><key>foreground</key><string>#75715E</string></dict>
          </dict>
        </array>
      </dict></plist>`,
  }
  const read = (file: string) =>
    files[file] === undefined ? Promise.reject(new Error('missing')) : Promise.resolve(files[file])
  const rules = (file: string) =>
    themeRules(file, read, (from, relative) => posix.join(posix.dirname(from), relative))

  it('is read after the files it includes', async () => {
    assert.deepEqual(await rules('/t/themes/dark.json'), [{ scope: 'c' }, { scope: 'b' }, { scope: 'a' }])
  })
  it('can be of the older format, or include such a file', async () => {
    files['/t/old.tmTheme'] = files['/t/Old.tmTheme']!
    for (const file of ['/t/Old.tmTheme', '/t/old.json']) {
      const { comment, string, keyword } = tokenColors(await rules(file))
      assert.deepEqual([comment, string, keyword], ['#75715e', '#75715e', undefined], file)
      assert.equal((await rules(file)).length, 2)
    }
  })
  it('may include itself, or contain no theme', async () => {
    assert.ok((await rules('/t/circle.json')).length < 20)
    assert.deepEqual(await rules('/t/broken.json'), [])
    await assert.rejects(rules('/t/missing.json'))
  })
})

describe('a theme file in the older format', () => {
  const rules = (xml: string) =>
    themeRules(
      '/t/a.tmTheme',
      async () => xml,
      (_, relative) => relative,
    )
  const theme = (settings: string, before = '') =>
    `${before}<plist version="1.0"><dict><key>settings</key><array>${settings}</array></dict></plist>`
  const one = '<dict><key>scope</key><string>comment</string></dict>'

  it('is read with every kind of element', async () => {
    const list =
      '<dict><key>a</key><array><integer>7</integer><real>0.5</real><true/><false/><array/><dict/></array>' +
      '<key>&lt;&#233;&#x41;&unknown;</key><string/><key>b</key><date>2001-01-01T00:00:00Z</date></dict>'
    assert.deepEqual(await rules(`\uFEFF${theme(`<string>none</string>${list}`)}`), [
      { a: [7, 0.5, true, false, [], {}], '<éA&unknown;': '', b: new Date('2001-01-01T00:00:00Z') },
    ])
  })

  it("has no colors if it's damaged", async () => {
    assert.deepEqual(await rules(theme(one)), [{ scope: 'comment' }])
    const broken = [
      '',
      'text',
      '<html></html>',
      '<plist/>',
      theme(one).slice(0, -40),
      theme('<key>x</key>'),
      theme('</dict>'),
      theme('<dict><string>no key</string></dict>'),
      theme('<dict><key>a</key><key>b</key></dict>'),
      theme('<string>&#999999999;</string>'),
      theme('<integer>many</integer>'),
      '</array></dict></plist>',
    ]
    for (const xml of broken) assert.deepEqual(await rules(xml), [], xml)
  })

  it("can't define entities, include other files, or change a prototype", async () => {
    const laughs = Array.from(
      { length: 20 },
      (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
    )
    const declared = `<!DOCTYPE plist [<!ENTITY l0 "ha">${laughs.join('')}<!ENTITY file SYSTEM "file:///etc/passwd">]>`
    assert.deepEqual(await rules(theme('<string>&l20;&file;</string>', declared)), [])
    const undeclared = '<dict><key>scope</key><string>&l20;&file;</string></dict>'
    assert.deepEqual(await rules(theme(undeclared)), [{ scope: '&l20;&file;' }])
    const polluting =
      '<dict><key>__proto__</key><dict><key>scope</key><string>x</string></dict>' +
      '<key>constructor</key><dict><key>prototype</key><dict><key>scope</key><string>x</string></dict></dict></dict>'
    await rules(theme(polluting))
    assert.equal('scope' in {}, false)
  })

  it('never fails, and is read in linear time', async () => {
    const piece = fc.constantFrom(
      '<dict>',
      '</dict>',
      '<key>',
      '</key>',
      '<array>',
      '<!--',
      '<string>x',
      '</string>',
      '<![CDATA[',
      '<',
      '&#999999999;',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string())), async parts => {
        tokenColors(await rules(theme(parts.join(''))))
      }),
    )
    const before = process.cpuUsage()
    for (const part of ['<!--', '<array>', '<dict><key>', '<string>&#', '<string>&#x', '<', '</', '<!'])
      await rules(theme(part.repeat(200_000)))
    assert.equal((await rules(theme(one.repeat(20_000)))).length, 20_000)
    const { user, system } = process.cpuUsage(before)
    assert.ok((user + system) / 1000 < 4000)
  })
})
