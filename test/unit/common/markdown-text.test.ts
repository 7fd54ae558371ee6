import assert from 'node:assert/strict'
import fc from 'fast-check'
import { markdownText } from '../../../src/common/markdown-text.ts'
import { cpuTime } from '../../support/cpu-time.ts'

describe('the text of Markdown', () => {
  const cases: Array<[string, string]> = [
    ['plain words', 'plain words'],
    ['# Title', 'Title'],
    ['**bold** and *soft* and ~~gone~~', 'bold and soft and gone'],
    ['fo**o**bar', 'foobar'],
    ['snake_case_name stays, _soft_ goes', 'snake_case_name stays, soft goes'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['see [the file](src/a.ts) and <https://x.y/z>', 'see the file and https://x.y/z'],
    ['![alt](a.png)after', 'after'],
    ['`a*b*c` and ``x`y``', 'a*b*c and x`y'],
    ['- one\n- [x] two\n3. three', 'one\ntwo\nthree'],
    ['> said\n> so', 'said\nso'],
    ['```ts\nconst a = **b**\n```\nafter', 'const a = **b**\nafter'],
    ['~~~\n```\n~~~', '```'],
    ['| a | b |\n| --- | :-: |\n| c | d |', 'a\nb\nc\nd'],
    ['\\*not\\* &lt;tag&gt;', '*not* <tag>'],
    ['Heading\n=======', 'Heading'],
  ]
  for (const [source, text] of cases) {
    it(`is extracted from ${JSON.stringify(source)}`, () => assert.equal(markdownText(source), text))
  }

  it('contains every word, whatever the markup around it', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const mark = fc.constantFrom(
      '*',
      '**',
      '`',
      '_',
      '~~',
      '# ',
      '> ',
      '- ',
      '| ',
      '\n',
      ' ',
      '[',
      ']',
      '<',
      '&',
      '\\',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(word, mark)), parts => {
        const source = parts.join('')
        // words after an opening fence are its language, which is markup
        fc.pre(!/^ {0,3}(?:`{3}|~{3})/m.test(source))
        const letters = (text: string) => text.replace(/[^a-z]/g, '')
        assert.equal(letters(markdownText(source)), letters(source))
      }),
    )
  })

  it('is extracted in linear time', () => {
    for (const piece of ['`', '*', '[', '_a', '](', '| ', '> ', '<', '~~~\n', '``` '])
      assert.ok(cpuTime(() => markdownText(piece.repeat(20_000))) < 1500, piece)
  })
})
