import assert from 'node:assert/strict'
import fc from 'fast-check'
import hljs from 'highlight.js'
import { changedRanges, markRanges } from '../../../../src/webview/tools/diff-colors.ts'
import { type Token, tokenLines } from '../../../../src/webview/tools/highlighted-lines.ts'
import { languageOfPath } from '../../../../src/webview/tools/languages.ts'

const text = (tokens: readonly Token[]) => tokens.map(token => token.text).join('')

describe('the language of a file', () => {
  it('depends on its extension or its name', () => {
    assert.equal(languageOfPath('/w/src/a.test.TS'), 'ts')
    assert.equal(languageOfPath('C:\\w\\Dockerfile'), 'dockerfile')
    for (const path of ['/w/LICENSE', '/w/constructor', '/w/__proto__', ''])
      assert.equal(languageOfPath(path), '')
  })
})

describe('the tokens of a line', () => {
  it('keep their colors across lines', () => {
    const lines = tokenLines(hljs.highlight('/* a\nb */\nconst x = 1', { language: 'javascript' }).value)
    assert.deepEqual(
      lines.map(tokens => tokens[0]),
      [
        { text: '/* a', class: 'hljs-comment' },
        { text: 'b */', class: 'hljs-comment' },
        { text: 'const', class: 'hljs-keyword' },
      ],
    )
  })

  it('cover all of the code', () => {
    const code = fc.array(
      fc.constantFrom('a', '<', '&', '"', "'", '\n', '/*', '*/', '`', '${', '}', '// x', ' '),
    )
    fc.assert(
      fc.property(code, pieces => {
        const source = pieces.join('')
        const lines = tokenLines(hljs.highlight(source, { language: 'typescript' }).value)
        assert.equal(lines.map(text).join('\n'), source)
      }),
    )
  })

  it('mark what differs from the other side', () => {
    const ranges = changedRanges('const total = sum(a, b)', 'const total = add(a, b)')
    assert.deepEqual(ranges, [[14, 17]])
    assert.deepEqual(markRanges([{ text: 'const total = ', class: 'k' }, { text: 'sum(a, b)' }], ranges), [
      { text: 'const total = ', class: 'k' },
      { text: 'sum', changed: true },
      { text: '(a, b)' },
    ])
  })

  it('mark nothing if the lines have little in common or are very long', () => {
    assert.deepEqual(changedRanges('completely different words', 'x = 1'), [])
    assert.deepEqual(changedRanges('a '.repeat(400), 'b '.repeat(400)), [])
  })

  it('have the same text with any marks', () => {
    const pieces = fc.array(fc.string({ minLength: 1, maxLength: 6 }), { maxLength: 8 })
    const cuts = fc.array(fc.nat(50), { maxLength: 6 }).map(list => [...new Set(list)].sort((a, b) => a - b))
    fc.assert(
      fc.property(pieces, cuts, (words, at) => {
        const ranges: Array<[number, number]> = []
        for (let i = 0; i + 1 < at.length; i += 2) ranges.push([at[i]!, at[i + 1]!])
        const marked = markRanges(
          words.map(word => ({ text: word })),
          ranges,
        )
        assert.equal(text(marked), words.join(''))
        let position = 0
        for (const token of marked) {
          const inside = ranges.some(([from, to]) => position >= from && position < to)
          assert.equal(token.changed ?? false, inside)
          position += token.text.length
        }
      }),
    )
  })
})
