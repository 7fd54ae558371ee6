import assert from 'node:assert/strict'
import fc from 'fast-check'
import { linkedParts, readings } from '../../../../src/common/file-links.ts'
import { candidates, parseLink } from '../../../../src/editor/links.ts'
import { PathRules } from '../../../../src/editor/path-rules.ts'
import { markdown } from '../../../../src/webview/markdown/parser.ts'
import { cpuTime } from '../../../support/cpu-time.ts'

const linux = new PathRules('linux')
const windows = new PathRules('win32')

/** The links that the page shows for a text, by where the text is. */
const shown = {
  prose: (text: string) => linksOf(markdown.render(`See ${text}, and more`)),
  code: (text: string) => linksOf(markdown.render(`See \`${text}\``)),
  output: (text: string) =>
    linkedParts(`error in ${text}: failed`).flatMap(({ file }) => (file === undefined ? [] : [file])),
  link: (text: string) => linksOf(markdown.render(`[x](<${text.replaceAll('\\', '\\\\')}>)`)),
}

function linksOf(html: string): string[] {
  const unescaped = (text: string) =>
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  return [...html.matchAll(/<a (?:class="file-link" href="#" data-path|href)="([^"]*)"/g)].map(([, target]) =>
    unescaped(target!),
  )
}

/** What a link opens in `/w` (`C:\w` on Windows) if only these files exist: `path|line|column`. */
function opened(href: string, files: readonly string[], rules = linux): string | undefined {
  const target = parseLink(href, rules)
  if (target.type !== 'file') return undefined
  for (const { path, line = '', column = '' } of target.readings) {
    const places = candidates(path, [rules === windows ? 'C:\\w' : '/w'], '/home', rules)
    const found = places.find(place => files.includes(place))
    if (found !== undefined) return `${found}|${line}|${column}`
  }
}

describe('links to files', () => {
  for (const [text, file] of [
    ['app/[slug]/page.tsx:3:5', '/w/app/[slug]/page.tsx|3|5'],
    ['app/[[...slug]]/page.tsx:3', '/w/app/[[...slug]]/page.tsx|3|'],
    ['app/(group)/page.tsx:3', '/w/app/(group)/page.tsx|3|'],
    ['(group)/page.tsx:3', '/w/(group)/page.tsx|3|'],
    ['src/café/a.ts:3', '/w/src/café/a.ts|3|'],
    ['src/数据/文件.ts:12', '/w/src/数据/文件.ts|12|'],
    ['数据v2/文件.ts:12', '/w/数据v2/文件.ts|12|'],
    ['src/$route.tsx:4', '/w/src/$route.tsx|4|'],
    ['/w/my dir/a.ts:3', '/w/my dir/a.ts|3|'],
    ['src/a.ts#L12,5', '/w/src/a.ts|12|5'],
    ['docs/issue#12.md', '/w/docs/issue#12.md||'],
    ['docs/README.md#install', '/w/docs/README.md||'],
    ['src/a.ts(4,7)', '/w/src/a.ts|4|7'],
    ['src/a(1).ts:3', '/w/src/a(1).ts|3|'],
    ['Makefile:3', '/w/Makefile|3|'],
    ['file:///w/a%20b.ts:3', '/w/a b.ts|3|'],
    ['/w/100%.ts:3', '/w/100%.ts|3|'],
  ] as const) {
    it(`reads ${text} in prose, code, output and links`, () => {
      for (const [where, find] of Object.entries(shown)) {
        const [link, more] = find(text)
        assert.equal(more, undefined, where)
        assert.equal(opened(link ?? '', [file.split('|')[0]!]), file, where)
      }
    })
  }

  it('read Windows paths', () => {
    for (const text of ['/c:/w/a.ts#L3', 'C:\\w\\a.ts:3', 'c:/w/a.ts:3', 'file:///c:/w/a.ts#L3'])
      for (const [where, find] of Object.entries(shown))
        assert.equal(
          opened(find(text)[0] ?? '', ['C:\\w\\a.ts'], windows),
          'C:\\w\\a.ts|3|',
          `${text} in ${where}`,
        )
    assert.equal(
      opened('C:\\Program Files (x86)\\a.ts:3', ['C:\\Program Files (x86)\\a.ts'], windows),
      'C:\\Program Files (x86)\\a.ts|3|',
    )
  })

  it('mean what exists', () => {
    assert.equal(opened('issue#12.md', ['/w/issue#12.md', '/w/issue']), '/w/issue#12.md||')
    assert.equal(opened('issue#12.md', ['/w/issue']), '/w/issue||')
    assert.equal(opened('issue#12:3', ['/w/issue#12']), '/w/issue#12|3|')
    assert.equal(opened('issue#12:3', ['/w/issue']), '/w/issue|12|3')
    assert.equal(opened('a%20b.ts:1', ['/w/a%20b.ts', '/w/a b.ts']), '/w/a%20b.ts|1|')
    assert.equal(opened('a%20b.ts:1', ['/w/a b.ts']), '/w/a b.ts|1|')
    assert.equal(opened('/api/users src/a.ts:3', ['/w/src/a.ts']), '/w/src/a.ts|3|')
    assert.equal(opened('[INFO]src/a.ts:3', ['/w/src/a.ts']), '/w/src/a.ts|3|')
    assert.equal(opened('src/数据.ts', ['/w/.ts']), undefined)
  })

  it('are separate from words before them in languages without spaces', () => {
    assert.deepEqual(linkedParts('我修改了src/a.ts:12。'), [
      { text: '我修改了' },
      { text: 'src/a.ts:12', file: '我修改了src/a.ts:12' },
      { text: '。' },
    ])
    assert.equal(opened('我修改了src/a.ts:12', ['/w/src/a.ts']), '/w/src/a.ts|12|')
    assert.deepEqual(shown.prose('src/a.ts中的函数'), ['src/a.ts'])
  })

  it("don't include the sentence or the brackets around them", () => {
    const links = (text: string) => linkedParts(text).flatMap(({ file }) => file ?? [])
    assert.deepEqual(links('(see src/a.ts:3) [lib/b.ts:4] f(src/c.ts)'), [
      'src/a.ts:3',
      'lib/b.ts:4',
      'src/c.ts',
    ])
    assert.deepEqual(links('The route /api/users is handled in src/a.ts:3.'), ['src/a.ts:3'])
    assert.deepEqual(links('diff /w/lib/a.ts src/b.ts:3'), ['/w/lib/a.ts', 'src/b.ts:3'])
    assert.deepEqual(links('src/a.ts(changed), src/b.ts[1]'), ['src/a.ts', 'src/b.ts'])
  })

  it('open the file that they name, whatever its path', () => {
    const character = fc.constantFrom(...'abzAZ019_-.$@+é数据ñ한')
    const word = fc
      .array(character, { minLength: 1, maxLength: 6 })
      .map(all => all.join(''))
      .filter(one => !one.endsWith('.'))
    const name = fc.oneof(
      { weight: 4, arbitrary: word },
      word.map(one => `[${one}]`),
      word.map(one => `(${one})`),
    )
    const spaced = fc
      .tuple(
        fc.constantFrom('my', '数据', 'x1'),
        word.map(one => `a${one}`.replace(/\..*/, '')),
      )
      .map(all => all.join(' '))
    const extension = fc.constantFrom('.ts', '.tsx', '.c', '.md', '.h264')
    const relative = fc
      .tuple(fc.array(name, { minLength: 1, maxLength: 4 }), name, extension)
      .map(([folders, file, end]) => `${[...folders, file].join('/')}${end}`)
    const absolute = fc
      .tuple(fc.array(fc.oneof(name, spaced), { maxLength: 3 }), fc.oneof(name, spaced), extension)
      .map(([folders, file, end]) => `/w/${[...folders, file].join('/')}${end}`)
    const position = fc.constantFrom(
      ...([
        [':3', '3|'],
        [':3:5', '3|5'],
        [':3-7', '3|'],
        ['#L3', '3|'],
        ['#L3,5', '3|5'],
        ['#L3C5-L7C1', '3|5'],
        ['(3,5)', '3|5'],
      ] as const),
    )
    fc.assert(
      fc.property(fc.oneof(relative, absolute), position, (path, [suffix, place]) => {
        const file = linux.resolve('/w', path)
        for (const where of ['code', 'output', 'link'] as const) {
          const [link, more] = shown[where](`${path}${suffix}`)
          assert.equal(more, undefined, where)
          assert.equal(opened(link ?? '', [file]), `${file}|${place}`, where)
        }
      }),
    )
  })

  it('are found in linear time', () => {
    const pieces = [
      'a',
      '/',
      '(',
      '[',
      '(a',
      '[a/',
      'a)',
      '(a)',
      '/a b',
      '/a/b ',
      '~/a ',
      'C:\\a ',
      '/a/b c/',
      'a:1',
      'a.b',
      '.a',
      '#1',
      '数',
      '(1',
      '/w/a.ts:1 ',
    ]
    for (const piece of pieces) {
      const line = piece.repeat(Math.ceil(1_000_000 / piece.length))
      assert.ok(cpuTime(() => linkedParts(line)) < 50, `a line of ${piece}`)
      assert.ok(cpuTime(() => readings(line.slice(0, 32_768))) < 50, `a link of ${piece}`)
    }
    const lines = pieces.map(piece => piece.repeat(4000 / piece.length))
    const search = () => {
      for (let i = 0; i < 10; i++) for (const line of lines) linkedParts(line)
    }
    assert.ok(cpuTime(search) < 1000)
  })
})
