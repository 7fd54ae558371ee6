import assert from 'node:assert/strict'
import fc from 'fast-check'
import { countChanges, lineEdits } from '../../../src/editor/line-edits.ts'

/** Few different lines, so that many occur more than once. */
const lines = (most: number) =>
  fc.array(
    fc.nat(12).map(i => `${i}\n`),
    { maxLength: most },
  )

describe('counts of changed lines', () => {
  const countsOf = (before: string[], after: string[]) => {
    const edits = lineEdits(before, after)
    return {
      added: edits.reduce((sum, edit) => sum + edit.lines.length, 0),
      removed: edits.reduce((sum, { start, end }) => sum + end - start, 0),
    }
  }

  it('are those of the edits', () => {
    fc.assert(
      fc.property(lines(30), lines(30), (before, after) => {
        assert.deepEqual(countChanges(before, after), countsOf(before, after))
      }),
    )
  })

  it('are those of the edits if only some lines were replaced', () => {
    fc.assert(
      fc.property(lines(60), fc.array(fc.tuple(fc.nat(59), fc.nat(40))), (before, replaced) => {
        const after = [...before]
        for (const [at, line] of replaced) if (at < after.length) after[at] = `${line}\n`
        assert.deepEqual(countChanges(before, after), countsOf(before, after))
      }),
    )
  })
})

describe('the edits of few lines', () => {
  const now = Date.now
  afterEach(() => {
    Date.now = now
  })

  it('are the same on a machine that is too busy to compare them in time', () => {
    let time = now()
    Date.now = () => {
      time += 1000
      return time
    }
    const before = ['a\n', 'b\n', 'c\n', 'd\n']
    const after = ['x\n', 'b\n', 'y\n', 'z\n', 'd\n', 'e\n']
    assert.deepEqual(lineEdits(before, after), [
      { start: 0, end: 1, lines: ['x\n'] },
      { start: 2, end: 3, lines: ['y\n', 'z\n'] },
      { start: 4, end: 4, lines: ['e\n'] },
    ])
    assert.deepEqual(countChanges(before, after), { added: 4, removed: 2 })
  })
})
