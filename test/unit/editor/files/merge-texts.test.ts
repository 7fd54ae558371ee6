import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mergeTexts } from '../../../../src/editor/files/merge-texts.ts'

const lines = (text: string) => text.split(' ').map(word => `${word}\n`)
const merge = (base: string, mine: string, theirs: string) =>
  mergeTexts(lines(base).join(''), lines(mine).join(''), lines(theirs).join(''))

describe('merging texts', () => {
  it('takes changes of different lines from both, also of neighbors', () => {
    assert.deepEqual(merge('a b c', 'A b c', 'a B c'), {
      mine: 'A\nB\nc\n',
      theirs: 'A\nB\nc\n',
      withoutConflicts: 'a\nB\nc\n',
      conflicts: [],
    })
    assert.equal(merge('a b', 'a', 'a b c').mine, 'a\nc\n')
  })

  it('keeps lines that both sides insert at the same place, equal lines only once', () => {
    assert.equal(merge('a', 'a x', 'a y').theirs, 'a\nx\ny\n')
    assert.equal(merge('a', 'a x', 'a x y').theirs, 'a\nx\ny\n')
    assert.equal(mergeTexts('a\n', 'a\nx', 'a\ny\n').mine, 'a\nx\ny\n')
    assert.equal(mergeTexts('a\r\n', 'a\r\nx', 'a\r\ny\r\n').mine, 'a\r\nx\r\ny\r\n')
  })

  it('reports lines that both changed', () => {
    const { mine, theirs, withoutConflicts, conflicts } = merge('a b c', 'a X c d', 'a Y c')
    assert.deepEqual([mine, theirs], ['a\nX\nc\nd\n', 'a\nY\nc\nd\n'])
    assert.equal(withoutConflicts, 'a\nb\nc\n')
    assert.deepEqual(conflicts, [{ line: 2, mine: 'X\n', theirs: 'Y\n' }])
    assert.equal(merge('a b', 'a', 'a B').conflicts.length, 1)
  })

  it('reports two texts of a file that had none', () => {
    assert.deepEqual(mergeTexts('', 'x\n', 'y\n').conflicts, [{ line: 1, mine: 'x\n', theirs: 'y\n' }])
  })

  it('never loses a line that was added, nor brings back or takes one that nobody wanted to', () => {
    const base = Array.from({ length: 8 }, (_, i) => `base${i}\n`)
    const edit = fc.array(fc.record({ at: fc.nat(8), count: fc.nat(2), add: fc.nat(2) }), { maxLength: 3 })
    const edited = (who: string, edits: Array<{ at: number; count: number; add: number }>) => {
      const text = [...base]
      edits.forEach(({ at, count, add }, i) => {
        text.splice(at, count, ...Array.from({ length: add }, (_, n) => `${who}${i}.${n}\n`))
      })
      return text
    }
    fc.assert(
      fc.property(edit, edit, (own, other) => {
        const [mine, theirs] = [edited('user', own), edited('agent', other)]
        const merged = mergeTexts(base.join(''), mine.join(''), theirs.join(''))
        const takes = { mine: merged.mine, theirs: merged.theirs }
        const given = { mine, theirs }
        for (const side of ['mine', 'theirs'] as const) {
          const found = takes[side].split(/(?<=\n)/)
          assert.equal(new Set(found).size, found.length, 'a line is there twice')
          // all that this side added, wherever the other did what
          const added = given[side].filter(line => !base.includes(line))
          for (const line of added) assert.ok(found.includes(line), `${line.trim()} is lost`)
          const conflicting = merged.conflicts.map(one => one.mine + one.theirs).join('')
          for (const line of [...mine, ...theirs])
            if (!base.includes(line) && !conflicting.includes(line))
              assert.ok(found.includes(line), `${line.trim()} is lost without a conflict`)
          for (const line of base)
            if (!conflicting.includes(line) && mine.includes(line) && theirs.includes(line))
              assert.ok(found.includes(line), `${line.trim()}, which nobody removed, is gone`)
        }
      }),
    )
  })
})
