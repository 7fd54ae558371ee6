import assert from 'node:assert/strict'
import fc from 'fast-check'
import { findLines, linesAfter, linesOf, moveLines } from '../../../src/editor/comment-lines.ts'

const edit = (from: number, fromCharacter: number, to: number, toCharacter: number, text: string) => ({
  start: { line: from, character: fromCharacter },
  end: { line: to, character: toCharacter },
  text,
})

describe('the lines of a comment', () => {
  const lines = { startLine: 3, endLine: 5 }

  it('move with lines that are added or removed before them', () => {
    assert.deepEqual(moveLines(lines, [edit(0, 0, 0, 0, 'one\ntwo\n')]), { startLine: 5, endLine: 7 })
    assert.deepEqual(moveLines(lines, [edit(0, 0, 2, 0, '')]), { startLine: 1, endLine: 3 })
    assert.deepEqual(moveLines(lines, [edit(2, 0, 2, 0, 'above\n')]), { startLine: 4, endLine: 6 })
  })

  it('stay where text after them changes, and grow and shrink with text in them', () => {
    assert.deepEqual(moveLines(lines, [edit(5, 0, 5, 0, 'below\n')]), lines)
    assert.deepEqual(moveLines(lines, [edit(3, 2, 3, 2, 'a\nb')]), { startLine: 3, endLine: 6 })
    assert.deepEqual(moveLines(lines, [edit(2, 1, 4, 0, '')]), { startLine: 3, endLine: 3 })
  })

  it('take the place of what replaces all of them', () => {
    assert.deepEqual(moveLines(lines, [edit(1, 0, 8, 0, 'a\nb\n')]), { startLine: 2, endLine: 4 })
    assert.deepEqual(moveLines(lines, [edit(0, 0, 8, 0, '')]), { startLine: 1, endLine: 1 })
  })

  it('are the same text after any edits of whole lines elsewhere', () => {
    const line = fc.constantFrom('a', 'b', '', 'c')
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 5 }),
        fc.array(line, { maxLength: 5 }),
        fc.array(line, { maxLength: 5 }),
        fc.array(line, { maxLength: 5 }),
        (before, after, nowBefore, nowAfter) => {
          const quote = ['the first', 'the second']
          const at = { startLine: before.length + 1, endLine: before.length + 2 }
          const edits = [
            edit(
              before.length + 2,
              0,
              before.length + 2 + after.length,
              0,
              nowAfter.map(l => `${l}\n`).join(''),
            ),
            edit(0, 0, before.length, 0, nowBefore.map(l => `${l}\n`).join('')),
          ]
          const text = [...nowBefore, ...quote, ...nowAfter, ''].join('\n')
          assert.equal(linesOf(text, moveLines(at, edits)), quote.join('\n'))
        },
      ),
    )
  })

  it('are found by their text, the nearest first', () => {
    const text = 'x\na\nb\ny\na\nb\n'
    assert.equal(findLines(text, 'a\nb', 1), 2)
    assert.equal(findLines(text, 'a\nb', 4), 5)
    assert.equal(findLines(text.replaceAll('\n', '\r\n'), 'a\nb', 9), 5)
    assert.equal(findLines(text, 'b\na', 1), undefined)
    assert.equal(findLines(text, ' \n', 1), undefined)
  })

  it('stay while the user types in them, although another line now has the old text', () => {
    const before = ['a', '  return', 'b', 'c', 'd', '  return', 'e']
    const comment = { startLine: 6, endLine: 6, quote: '  return' }
    const at = { startLine: 6, endLine: 6 }
    const now = (line: string) => before.with(5, line).join('\n')
    assert.deepEqual(linesAfter(comment, [edit(5, 8, 5, 8, ' ')], now('  return ')), at)
    assert.deepEqual(linesAfter(comment, [edit(5, 0, 5, 0, 'x')], now('x  return')), at)
    assert.deepEqual(linesAfter(comment, [edit(5, 0, 5, 8, 'x')], now('x')), at)
    assert.deepEqual(linesAfter(comment, [edit(5, 2, 5, 8, 'x')], now('  x')), at)
  })

  it('are where an edit that replaces all of them puts them', () => {
    const comment = { startLine: 1, endLine: 1, quote: 'b' }
    assert.deepEqual(linesAfter(comment, [edit(0, 0, 2, 1, 'a\nb\nc')], 'a\nb\nc\n'), {
      startLine: 2,
      endLine: 2,
    })
    assert.deepEqual(linesAfter(comment, [edit(0, 0, 2, 1, 'a')], 'a'), { startLine: 1, endLine: 1 })
  })
})
