import assert from 'node:assert/strict'
import { posix } from 'node:path'
import fc from 'fast-check'
import {
  customRules,
  parsePlist,
  themeRules,
  tokenColors,
} from '../../../../src/editor/theme/token-colors.ts'
import { cpuTime } from '../../../support/cpu-time.ts'

const rule = (scope: unknown, foreground: unknown) => ({ scope, settings: { foreground } })

describe('the colors of code', () => {
  it('are those of the most precise rule, the later of two', () => {
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

  it('do not come from rules about something in particular, nor from what is no color', () => {
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

  it('take what the person set for all themes, then for this one', () => {
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

  it('take rules for themes whose names match a pattern, however many asterisks it has', () => {
    const applies = (pattern: string, theme: string) =>
      customRules({ [`[${pattern}]`]: { comments: '#010101' } }, theme).length > 0
    for (const pattern of ['Night Owl', '*', '*Owl', 'Night*', '*ight*', 'N*t*l', 'Night Owl*'])
      assert.ok(applies(pattern, 'Night Owl'), pattern)
    for (const pattern of ['Night', 'Owl', 'night*', '*Night', 'Night Owl*l', 'N*w*t*l'])
      assert.ok(!applies(pattern, 'Night Owl'), pattern)
    assert.ok(!applies(`${'a*'.repeat(40)}b`, 'a'.repeat(200)))
  })

  it('never fail on a theme that is no theme', () => {
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
    '/t/half.tmTheme': '<plist><dict><key>settings</key><array><dict><key>scope</key><string>comment',
  }
  const read = (file: string) =>
    files[file] === undefined ? Promise.reject(new Error('missing')) : Promise.resolve(files[file])
  const rules = (file: string) =>
    themeRules(file, read, (from, relative) => posix.join(posix.dirname(from), relative))

  it('is read with the files it builds upon, those first', async () => {
    assert.deepEqual(await rules('/t/themes/dark.json'), [{ scope: 'c' }, { scope: 'b' }, { scope: 'a' }])
  })
  it('may be of the older form, by itself or within another', async () => {
    files['/t/old.tmTheme'] = files['/t/Old.tmTheme']!
    for (const file of ['/t/Old.tmTheme', '/t/old.json']) {
      const { comment, string, keyword } = tokenColors(await rules(file))
      assert.deepEqual([comment, string, keyword], ['#75715e', '#75715e', undefined], file)
      assert.equal((await rules(file)).length, 2)
    }
    assert.deepEqual(await rules('/t/half.tmTheme'), [{ scope: 'comment' }])
  })
  it('may include itself, or be none', async () => {
    assert.ok((await rules('/t/circle.json')).length < 20)
    assert.deepEqual(await rules('/t/broken.json'), [])
    await assert.rejects(rules('/t/missing.json'))
  })
})

describe('a property list', () => {
  it('is read with all that it may hold', () => {
    const list =
      '<plist><dict><key>a</key><array><integer>7</integer><real>0.5</real><true/><false/><array/><dict/></array>' +
      '<key>&lt;&#233;&#x41;&unknown;</key><string><![CDATA[<b>&amp;]]></string></dict></plist>'
    assert.deepEqual(parsePlist(list), { a: [7, 0.5, true, false, [], {}], '<éA&unknown;': '<b>&amp;' })
    assert.equal(parsePlist('<html></html>'), undefined)
  })

  it('never fails, and takes no longer than it is long', () => {
    const piece = fc.constantFrom(
      '<dict>',
      '</dict>',
      '<key>',
      '</key>',
      '<array>',
      '<!--',
      '<string>x',
      '<![CDATA[',
      '<',
      '&#999999999;',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string())),
        parts => void parsePlist(`<plist>${parts.join('')}`),
      ),
    )
    const long = () => {
      parsePlist(`<plist>${'<!--'.repeat(200_000)}`)
      parsePlist(`<plist>${'<array>'.repeat(200_000)}`)
    }
    assert.ok(cpuTime(long) < 2000)
  })
})
