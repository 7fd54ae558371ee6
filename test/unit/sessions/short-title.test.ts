import assert from 'node:assert/strict'
import fc from 'fast-check'
import { shortTitle } from '../../../src/sessions/short-title.ts'

describe('a title made from a prompt', () => {
  const titles: Record<string, string> = {
    'Fix the login. It fails after a redirect.': 'Fix the login',
    'Why does it fail? It worked before': 'Why does it fail?',
    'Use v1.2, e.g. in a.ts. Then test': 'Use v1.2, e.g. in a.ts',
    'Compare e.g. both files': 'Compare e.g. both files',
    '修复登录。然后测试。': '修复登录',
    'Do this:\n- one\n- two': 'Do this',
    '\n\n# **Rename** `user` to [account](https://example.com/a)\ntext': 'Rename user to account',
    '```ts\nconst a = 1\n```': 'const a = 1',
    'Look at src/app/server/main.ts:12 and ./lib/b.ts': 'Look at main.ts:12 and b.ts',
    'Look at /home/me/project/src': 'Look at src',
    'Look at C:\\work\\a.ts': 'Look at a.ts',
    'Look at src/app/server/ and @src/app/server/ as well': 'Look at server and @server as well',
    'Why 2024/01/02, TCP/IP/UDP and sed s/foo/bar/g?': 'Why 2024/01/02, TCP/IP/UDP and sed s/foo/bar/g?',
    'Call __init__ in src/a/__init__.py': 'Call __init__ in __init__.py',
    '<!-- from a template --> Fix it': 'Fix it',
    'Look at @src/app/main.ts': 'Look at @main.ts',
    'Read https://example.com/a/b?c#d and go on': 'Read example.com and go on',
    'Is it client/server and/or I/O, 24/7?': 'Is it client/server and/or I/O, 24/7?',
    '/compact': '/compact',
    '/edit planets.js': '/edit planets.js',
    'a*b*c and snake_case_name stay': 'a*b*c and snake_case_name stay',
    'Please have a look at the failing tests in the continuous integration, and mend them':
      'Please have a look at the failing tests in the…',
    'Hi. Fix the login, please. Thanks': 'Hi. Fix the login, please',
    '...': '...',
  }
  for (const [prompt, title] of Object.entries(titles))
    it(`of ${JSON.stringify(prompt)} is ${JSON.stringify(title)}`, () =>
      assert.equal(shortTitle(prompt), title))

  it('is one line of at most 50 characters, and there is one if there are letters', () => {
    const piece = fc.constantFrom(
      'a',
      'word ',
      '. ',
      '`',
      '**',
      '](',
      '[',
      '/',
      '\\',
      '\n',
      '😀',
      '\ud800',
      '。',
      '- ',
      '@file:///x/y',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece).map(all => all.join('')),
        ),
        prompt => {
          const title = shortTitle(prompt)
          assert.ok(Array.from(title ?? '').length <= 51)
          assert.ok(title === undefined || (title.trim() === title && title !== '' && !title.includes('\n')))
          if (/\p{L}/u.test(prompt) && !/[`~<=-]/.test(prompt)) assert.ok(title, prompt)
        },
      ),
    )
  })

  it('takes no longer for hostile prompts', () => {
    for (const part of ['[', '](', '`', '**', '/', '@file://', '. ', '1. ', '> '])
      assert.ok((shortTitle(part.repeat(4000)) ?? '').length <= 60)
  })
})
