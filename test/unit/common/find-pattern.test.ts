import assert from 'node:assert/strict'
import fc from 'fast-check'
import { countMatches, type FindQuery, findPattern, matchesIn } from '../../../src/common/find-pattern.ts'

function query(text: string, more: Partial<FindQuery> = {}): FindQuery {
  return { text, matchCase: false, wholeWord: false, regex: false, ...more }
}
function found(text: string, wanted: FindQuery): string[] {
  return matchesIn(findPattern(wanted), text, 1000).map(([start, end]) => text.slice(start, end))
}

describe('a find pattern', () => {
  it('matches text literally', () => {
    assert.deepEqual(found('a.b a+b A.B', query('a.b')), ['a.b', 'A.B'])
    assert.deepEqual(found('a.b A.B', query('a.b', { matchCase: true })), ['a.b'])
    assert.deepEqual(found('x[0-9] x5', query('x[0-9]', { wholeWord: true })), ['x[0-9]'])
  })

  it('matches its own text, whatever that is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.boolean(), (text, matchCase) => {
        assert.equal(found(`${text}`, query(text, { matchCase }))[0], text)
      }),
    )
  })

  it('matches whole words in every script', () => {
    const whole = { wholeWord: true }
    assert.equal(found('test tests Test', query('test', whole)).length, 2)
    assert.equal(found('größe größer', query('größe', whole)).length, 1)
    assert.equal(found('f(x) (x)', query('(x)', whole)).length, 2)
  })

  it('matches regular expressions and rejects invalid ones', () => {
    assert.deepEqual(found('item 1, item 22', query('item \\d+', { regex: true })), ['item 1', 'item 22'])
    assert.deepEqual(found('a\nb', query('^b$', { regex: true })), ['b'])
    assert.throws(() => findPattern(query('(', { regex: true })), SyntaxError)
  })

  it('skips empty matches and always ends', () => {
    assert.equal(countMatches(findPattern(query('x*', { regex: true })), '😀xx😀x', 1000), 2)
    assert.equal(countMatches(findPattern(query('^', { regex: true })), 'a\nb', 1000), 0)
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('a*', '\\b', '(?:)', '.?', '[^a]*'), (text, source) => {
        const pattern = findPattern(query(source, { regex: true }))
        assert.equal(countMatches(pattern, text, 1000), matchesIn(pattern, text, 1000).length)
      }),
    )
  })

  it('stops at the maximum number of matches', () => {
    assert.equal(matchesIn(findPattern(query('a')), 'a'.repeat(50), 7).length, 7)
    assert.equal(countMatches(findPattern(query('a')), 'a'.repeat(50), 7), 7)
  })
})
