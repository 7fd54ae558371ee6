import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { FileChange } from '../../../../src/acp/model.ts'
import { diffOf } from '../../../../src/webview/tools/diff.ts'
import { cpuTime } from '../../../support/cpu-time.ts'
import { scaledRuns } from '../../../support/property-tests.ts'

const change = (oldText?: string, newText?: string): FileChange => ({
  operation: 'modify',
  path: '/p/src/a.ts',
  oldText,
  newText,
})

describe('diffs', () => {
  it('count and group changed lines', () => {
    const diff = diffOf(change('a\nb\nc\nd\ne\nf\n', 'a\nb\nX\nY\nd\ne\nf\n'))!
    assert.deepEqual([diff.added, diff.removed], [2, 1])
    assert.deepEqual(
      diff.hunks[0]!.groups.map(group => [group.kind, group.lines]),
      [
        ['same', ['a', 'b']],
        ['removed', ['c']],
        ['added', ['X', 'Y']],
        ['same', ['d', 'e', 'f']],
      ],
    )
    assert.equal(diff.hunks[0]!.start, 1)
  })

  it('treat a new file as added lines, and a deleted one as removed lines', () => {
    assert.deepEqual(countsOf(change(undefined, 'a\nb\n')), [2, 0])
    assert.deepEqual(countsOf(change('', 'a\nb')), [2, 0])
    assert.deepEqual(countsOf(change('a\nb\n', undefined)), [0, 2])
    assert.deepEqual(countsOf(change('a', 'a')), [0, 0])
  })

  it('ignore changes of only line endings', () => {
    assert.deepEqual(countsOf(change('a\r\nb\r\n', 'a\nb\n')), [0, 0])
  })

  it('read the right file of a patch if there are no texts', () => {
    const patch = [
      'diff --git a/src/b.ts b/src/b.ts\n--- a/src/b.ts\n+++ b/src/b.ts\n@@ -1 +1 @@\n-x\n+y\n',
      'diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -4,2 +4,3 @@\n same\n+one\n+two\n-gone\n',
    ].join('')
    const diff = diffOf(change(), patch)!
    assert.deepEqual([diff.added, diff.removed, diff.hunks[0]!.start], [2, 1, 4])
    const part = (name: string, to: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-x\n+${to}\n`
    const named = diffOf(change(), part('a.ts', 'top') + part('src/a.ts', 'deep'))
    assert.deepEqual(named?.hunks[0]?.groups.at(-1)?.lines, ['deep'])
    assert.equal(diffOf(change(), 'not a patch\n@@ nonsense'), undefined)
    assert.equal(diffOf(change()), undefined)
  })

  it('finish in time even if every line differs, and report that', () => {
    const lines = (seed: number) =>
      Array.from({ length: 30_000 }, (_, i) => `${(i * seed) % 99_991}`).join('\n')
    const one = change(lines(7), lines(11))
    assert.ok(cpuTime(() => diffOf(one)) < 2000)
    const diff = diffOf(one)!
    assert.deepEqual([diff.coarse, diff.added, diff.removed], [true, 29_999, 29_999])
  })

  it('has only the changed lines of too many changes to compare all of them with each other', () => {
    const text = (changed: string) =>
      Array.from({ length: 16_000 }, (_, at) => (at % 5 === 0 ? `${changed} ${at}` : `same ${at}`)).join('\n')
    const diff = diffOf(change(text('a'), text('b')))!
    assert.deepEqual([diff.coarse, diff.added, diff.removed], [false, 3200, 3200])
  })

  it('contain everything that is new, and nothing else', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', '  d'), { maxLength: 12 })
      .map(lines => lines.map(line => `${line}\n`).join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = diffOf(change(before, after))!
        const lines = (value: string) => (value === '' ? 0 : value.split('\n').length - 1)
        assert.equal(lines(after) - lines(before), diff.added - diff.removed)
        for (const { groups } of diff.hunks) {
          const added = groups.flatMap(group => (group.kind === 'removed' ? [] : group.lines))
          assert.ok(`\n${after}`.includes(added.map(line => `\n${line}`).join('')))
        }
      }),
    )
  })

  it('compare long texts in sections, with the same result', () => {
    const line = fc.nat({ max: 400 }).map(n => `line ${n}`)
    const change = fc.record({ at: fc.nat(9999), remove: fc.nat(4), add: fc.array(line, { maxLength: 4 }) })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), changes => {
        const before = Array.from({ length: 10_000 }, (_, i) => `${'x'.repeat(20)} ${i}`)
        const after = [...before]
        for (const { at, remove, add } of changes) after.splice(at, remove, ...add)
        const diff = diffOf({
          operation: 'modify',
          path: '/a',
          oldText: before.join('\n'),
          newText: after.join('\n'),
        })!
        // applied to the old text, its hunks produce the new one
        const made: string[] = []
        let at = 0
        for (const hunk of diff.hunks) {
          made.push(...before.slice(at, hunk.oldStart - 1))
          assert.equal(made.length, hunk.start - 1)
          at = hunk.oldStart - 1
          for (const { kind, lines } of hunk.groups) {
            if (kind !== 'added') assert.deepEqual(before.slice(at, at + lines.length), lines)
            if (kind !== 'added') at += lines.length
            if (kind !== 'removed') made.push(...lines)
          }
        }
        made.push(...before.slice(at))
        assert.deepEqual(made, after)
        assert.ok(diff.removed <= changes.reduce((sum, { remove }) => sum + remove, 0) + 40)
        assert.equal(diff.added - diff.removed, after.length - before.length)
      }),
      { numRuns: scaledRuns(60) },
    )
  })
})

function countsOf(one: FileChange): [number, number] {
  const diff = diffOf(one)!
  return [diff.added, diff.removed]
}
