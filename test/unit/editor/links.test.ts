import assert from 'node:assert/strict'
import fc from 'fast-check'
import { candidates, linkHere, parseLink } from '../../../src/editor/links.ts'
import { PathRules } from '../../../src/editor/path-rules.ts'

const linux = new PathRules('linux')
const windows = new PathRules('win32')
const file = (path: string, line?: number, column?: number) => ({
  path,
  ...(line !== undefined && { line }),
  ...(column !== undefined && { column }),
})
/** What a link means if that file exists. */
const read = (href: string, path: string, rules = linux) => {
  const target = parseLink(href, rules)
  return target.type === 'file' ? target.readings.find(reading => reading.path === path) : target
}

describe('links', () => {
  for (const [href, target] of [
    ['src/a.ts', file('src/a.ts')],
    ['src/a.ts:12', file('src/a.ts', 12)],
    ['src/a.ts:12:3', file('src/a.ts', 12, 3)],
    ['src/a.ts:12-20', file('src/a.ts', 12)],
    ['src/a.ts#L12', file('src/a.ts', 12)],
    ['src/a.ts#L12-L20', file('src/a.ts', 12)],
    ['src/a.ts#L12C4-L20C1', file('src/a.ts', 12, 4)],
    ['README.md#install', file('README.md')],
    ['/w/my%20file.ts:1', file('/w/my file.ts', 1)],
    ['/w/100%.ts', file('/w/100%.ts')],
    ['a.ts:0', file('a.ts', 1)],
    ['Makefile:3', file('Makefile', 3)],
    ['file:///w/a%20b.ts', file('/w/a b.ts')],
    ['file:///w/a.ts#L7', file('/w/a.ts', 7)],
    ['file:///w/a.ts:7:2', file('/w/a.ts', 7, 2)],
    ['~/notes.md', file('~/notes.md')],
    ['C#/x.cs', file('C#/x.cs')],
  ] as const) {
    it(`reads ${href}`, () => assert.deepEqual(read(href, target.path), target))
  }

  it('in the text of an agent on another machine lead only to files of folders that both machines have', () => {
    const mappings = [
      { localRoot: '/w', remoteRoot: '/srv/my app' },
      { localRoot: '/d', remoteRoot: 'C:\\data' },
    ]
    const here = (href: string, roots = ['/w']) => linkHere(href, mappings, roots)
    for (const [href, target] of [
      ['/srv/my app/src/a.ts:12', '/w/src/a.ts:12'],
      ['/srv/my%20app/src/a.ts', '/w/src/a.ts'],
      ['file:///srv/my%20app/a%20b.ts#L7', 'file:///w/a%20b.ts#L7'],
      ['src/a.ts:3', 'src/a.ts:3'],
      ['C:\\data\\x.csv:2', '/d/x.csv:2'],
      ['见/srv/my app/a.ts', '/w/a.ts'],
    ] as const)
      assert.equal(here(href), target, href)
    for (const href of [
      '/w/src/a.ts',
      'file:///w/a.ts',
      '/srv/my app2/a.ts',
      '/srv/my app/../b.ts',
      '/srv/my%20app/%2e%2e/%2e%2e/etc/passwd',
      'src/%2e%2e/%2e%2e/etc/passwd',
      'see /w/a.ts',
      'see /etc/passwd',
      '~/notes.md',
      '../x.ts',
      'D:\\data\\x.csv',
    ])
      assert.equal(here(href), undefined, href)
    // a relative path would be looked for in all folders of the session
    assert.equal(here('src/a.ts', ['/w', '/elsewhere']), undefined)
    assert.equal(linkHere('src/a.ts', [], ['/w']), undefined)
  })

  it('handle Windows drives', () => {
    assert.deepEqual(read('C:\\w\\a.ts:12', 'C:\\w\\a.ts', windows), file('C:\\w\\a.ts', 12))
    assert.deepEqual(read('c:/w/a.ts', 'c:/w/a.ts', windows), file('c:/w/a.ts'))
    assert.deepEqual(candidates('c:/w/a.ts', ['C:\\w'], 'C:\\home', windows), ['C:\\w\\a.ts'])
    assert.deepEqual(read('file:///c:/w/a.ts#L2', '/c:/w/a.ts', windows), file('/c:/w/a.ts', 2))
    assert.deepEqual(candidates('/c:/w/a.ts', [], 'C:\\home', windows), ['C:\\w\\a.ts'])
    assert.deepEqual(
      candidates('/c/w/a.ts', ['D:\\w'], 'C:\\home', windows),
      ['C:\\w\\a.ts', 'D:\\c\\w\\a.ts'],
      'as in the bash of Git',
    )
    assert.deepEqual(candidates('/c/w/a.ts', ['/w'], '/home', linux), ['/c/w/a.ts'])
    assert.deepEqual(candidates('NUL', ['C:\\w'], 'C:\\home', windows), [], 'a device')
  })

  it('open websites externally with the URL unchanged', () => {
    const href = 'https://example.org/a?b=c%26d&e=f#g'
    assert.deepEqual(parseLink(href, linux), { type: 'external', href })
    assert.equal(parseLink('HTTP://example.org', linux).type, 'external')
  })

  for (const href of [
    '',
    ' ',
    'command:workbench.action.quit',
    'vscode://x/y',
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'data:text/html,x',
    'mailto:me@example.org',
    'vscode-command:x',
    'ssh://host',
    'http://',
    'file://elsewhere/share/x',
    'a%00b',
  ]) {
    it(`reject ${JSON.stringify(href)}`, () => assert.equal(parseLink(href, linux).type, 'refused'))
  }

  it('never open externally unless they are http or https', () => {
    const scheme = fc.constantFrom('http', 'https', 'command', 'file', 'javascript', 'vscode', 'x')
    const any = fc.oneof(
      fc.string(),
      fc.tuple(scheme, fc.string()).map(([name, rest]) => `${name}:${rest}`),
    )
    fc.assert(
      fc.property(any, href => {
        const target = parseLink(href, linux)
        if (target.type === 'external') assert.match(target.href, /^https?:\/\//)
        if (target.type === 'file') for (const { path } of target.readings) assert.notEqual(path, '')
      }),
    )
  })

  it('are resolved against each root in turn', () => {
    const roots = ['/w/app', '/w/lib']
    assert.deepEqual(candidates('src/a.ts', roots, '/home/me', linux), ['/w/app/src/a.ts', '/w/lib/src/a.ts'])
    assert.deepEqual(candidates('/x/../a', roots, '/home/me', linux), ['/a'])
    assert.equal(candidates('~/a', roots, '/home/me', linux)[0], '/home/me/a')
  })
})
