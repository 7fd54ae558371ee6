import assert from 'node:assert/strict'
import {
  followingChange,
  hunkPositions,
  hunksAt,
  hunksOfChange,
  nextChange,
} from '../../../src/changes/review/hunk-navigation.ts'

const hunk = (start: number, lines: number) => ({ start, after: Array.from({ length: lines }, () => 'x\n') })

describe("finding agents' changes by line", () => {
  const hunks = [hunk(0, 1), hunk(3, 2), hunk(8, 0)]

  it('returns those at a cursor or in a selection', () => {
    const at = (start: number, end: number) => hunksAt(hunks, { start, end }).map(({ start }) => start)
    assert.deepEqual(at(0, 0), [0])
    assert.deepEqual(at(1, 1), [])
    assert.deepEqual(at(4, 4), [3])
    assert.deepEqual(at(8, 8), [8])
    assert.deepEqual(at(0, 4), [0, 3])
    assert.deepEqual(at(2, 3), [])
  })

  it("returns those that the editor's quick diff shows", () => {
    const of = (modifiedStartLineNumber: number, modifiedEndLineNumber: number) =>
      hunksOfChange(hunks, { modifiedStartLineNumber, modifiedEndLineNumber }).map(({ start }) => start)
    assert.deepEqual(of(1, 1), [0])
    assert.deepEqual(of(4, 5), [3])
    assert.deepEqual(of(8, 0), [8])
    assert.deepEqual(of(4, 0), [])
  })

  describe('in the order of review', () => {
    const files: Record<string, Array<ReturnType<typeof hunk>>> = {
      '/b': [hunk(0, 0)],
      '/a': [hunk(1, 1), hunk(5, 1)],
      '/gone': [],
    }
    const positions = hunkPositions({
      list: () => Object.keys(files).map(path => ({ path })),
      hunks: path => files[path] ?? [],
    })

    it('lists them by path and line, and a file without changed lines once', () => {
      assert.deepEqual(positions, [
        { path: '/a', line: 1 },
        { path: '/a', line: 5 },
        { path: '/b', line: 0 },
        { path: '/gone', line: 0 },
      ])
    })

    it('returns the next and previous one across files, and wraps around', () => {
      const from = (path: string, line: number, step: 1 | -1) => nextChange(positions, { path, line }, step)
      assert.deepEqual(nextChange(positions, undefined, 1), { path: '/a', line: 1 })
      assert.deepEqual(nextChange(positions, undefined, -1), { path: '/gone', line: 0 })
      assert.deepEqual(from('/a', 1, 1), { path: '/a', line: 5 })
      assert.deepEqual(from('/a', 5, 1), { path: '/b', line: 0 })
      assert.deepEqual(from('/gone', 0, 1), { path: '/a', line: 1 })
      assert.deepEqual(from('/a', 1, -1), { path: '/gone', line: 0 })
      assert.deepEqual(from('/aa', 9, 1), { path: '/b', line: 0 })
      assert.deepEqual(from('/a', 3, -1), { path: '/a', line: 1 })
      assert.equal(nextChange([], undefined, 1), undefined)
    })

    it('returns the one that follows a decision, which may have moved to the same line', () => {
      const afterDecision = (path: string, line: number) => followingChange(positions, { path, line })
      assert.deepEqual(afterDecision('/a', 1), { path: '/a', line: 1 })
      assert.deepEqual(afterDecision('/a', 2), { path: '/a', line: 5 })
      assert.deepEqual(afterDecision('/a', 6), { path: '/b', line: 0 })
      assert.deepEqual(afterDecision('/z', 0), { path: '/a', line: 1 })
      assert.equal(followingChange([], { path: '/a', line: 0 }), undefined)
    })
  })
})
