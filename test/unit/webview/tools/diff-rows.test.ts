import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { FileChange } from '../../../../src/acp/model.ts'
import { diffOf } from '../../../../src/webview/tools/diff.ts'
import { type DiffRow, splitRows, unifiedRows } from '../../../../src/webview/tools/diff-rows.ts'

const change = (oldText: string, newText: string): FileChange => ({
  operation: 'modify',
  path: '/p/a.ts',
  oldText,
  newText,
})
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`)
const shown = (rows: readonly DiffRow[]) =>
  rows.map(row =>
    row.kind === 'fold'
      ? `… ${row.count}`
      : `${row.old ?? ''}/${row.new ?? ''} ${{ same: ' ', added: '+', removed: '-' }[row.kind]}${row.text}`,
  )

describe('the rows of a diff', () => {
  const before = numbered(30)
  const after = before.toSpliced(14, 1, 'changed', 'and more')
  const diff = diffOf(change(before.join('\n'), after.join('\n')))!

  it('number the lines of both sides and fold unchanged lines', () => {
    assert.deepEqual(shown(unifiedRows(diff, new Set())), [
      '… 11',
      '12/12  line 12',
      '13/13  line 13',
      '14/14  line 14',
      '15/ -line 15',
      '/15 +changed',
      '/16 +and more',
      '16/17  line 16',
      '17/18  line 17',
      '18/19  line 18',
      '… 12',
    ])
  })

  it('show the lines of an expanded fold with the numbers of both sides', () => {
    const rows = unifiedRows(diff, new Set([0, 1]))
    assert.equal(rows.filter(row => row.kind === 'fold').length, 0)
    assert.deepEqual(shown(rows).at(0), '1/1  line 1')
    assert.deepEqual(shown(rows).at(-1), '30/31  line 30')
  })

  it('have higher numbers if the texts are only a part of the file', () => {
    assert.equal(shown(unifiedRows(diff, new Set(), 100))[4], '115/ -line 15')
  })

  it("show the size of what a patch omits, which can't be expanded", () => {
    const patch = '--- a/a.ts\n+++ b/a.ts\n@@ -4 +4 @@\n-x\n+y\n@@ -20,0 +21 @@\n+z\n'
    const rows = unifiedRows(diffOf({ operation: 'modify', path: 'a.ts' }, patch)!, new Set([0, 1]))
    assert.deepEqual(
      rows.flatMap(row => (row.kind === 'fold' ? [[row.count, row.canOpen]] : [])),
      [
        [3, false],
        [16, false],
      ],
    )
  })

  it('are paired with the line that they replace', () => {
    const row = unifiedRows(diff, new Set()).find(one => one.kind === 'added')
    assert.equal(row?.kind === 'added' && row.mate, 'line 15')
  })

  it('contain both texts, inline and side by side', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', ' d'), { minLength: 1, maxLength: 40 })
      .map(lines => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const found = diffOf(change(one, other))!
        fc.pre(found.hunks.length > 0)
        const all = new Set(Array.from({ length: found.hunks.length + 1 }, (_, i) => i))
        const rows = unifiedRows(found, all)
        const lines = (side: 'old' | 'new') =>
          rows.flatMap(row => (row.kind !== 'fold' && row[side] !== undefined ? [row.text] : [])).join('\n')
        assert.equal(lines('old'), one.replace(/\n$/, ''))
        assert.equal(lines('new'), other.replace(/\n$/, ''))
        const numbers = rows.flatMap(row => (row.kind !== 'fold' && row.new !== undefined ? [row.new] : []))
        assert.deepEqual(
          numbers,
          numbers.map((_, i) => i + 1),
        )
        const pairs = splitRows(rows)
        const side = (which: 'left' | 'right') =>
          pairs.flatMap(row => (row.kind === 'pair' && row[which] ? [row[which].text] : [])).join('\n')
        assert.equal(side('left'), lines('old'))
        assert.equal(side('right'), lines('new'))
      }),
    )
  })
})

describe('Git patches', () => {
  const patch = [
    'diff --git a/x.ts b/y.ts\nsimilarity index 100%\nrename from x.ts\nrename to y.ts\n',
    'diff --git a/bin.png b/bin.png\nindex 123..456 100644\nBinary files a/bin.png and b/bin.png differ\n',
    'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n',
    'diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    'diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n',
  ].join('')
  const of = (operation: string, path: string) => diffOf({ operation, path: `/p/${path}` }, patch)

  it('show new, deleted, renamed and binary files, and modes', () => {
    assert.deepEqual([of('add', 'new')?.added, of('delete', 'gone')?.removed], [2, 1])
    assert.deepEqual(shown(unifiedRows(of('delete', 'gone')!, new Set())), ['1/ -x'])
    assert.deepEqual(shown(unifiedRows(of('add', 'new')!, new Set())), ['/1 +a', '/2 +b'])
    assert.equal(of('modify', 'bin.png')?.note, 'binary')
    assert.deepEqual(of('modify', 'run.sh')?.note, { oldMode: '100644', newMode: '100755' })
    assert.deepEqual(of('move', 'y.ts')?.hunks, [])
  })
})
