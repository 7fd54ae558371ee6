import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import type { FileChange } from '../../../src/acp/model.ts'
import { MAX_FRAGMENT_FILE_BYTES } from '../../../src/common/limits.ts'
import {
  DiffContents,
  diffTexts,
  editedLines,
  findFragment,
  fragmentLine,
} from '../../../src/editor/diff-texts.ts'

const change = (more: Partial<FileChange>): FileChange => ({ operation: 'modify', path: '/w/a.ts', ...more })

describe('the texts of a diff', () => {
  it("are the agent's if it sent whole files", () => {
    const whole = change({ oldText: 'a\nb\n', newText: 'a\nc\n' })
    for (const current of ['a\nb\n', 'a\nc\n', 'something else\n', undefined]) {
      assert.deepEqual(diffTexts(whole, { current }), { oldText: 'a\nb\n', newText: 'a\nc\n' })
    }
  })

  it('are empty where there is no file (quirk 9)', () => {
    assert.deepEqual(diffTexts(change({ newText: 'new' })), { oldText: '', newText: 'new' })
    assert.deepEqual(diffTexts(change({ oldText: 'old' })), { oldText: 'old', newText: '' })
  })

  it('are completed from the file for a fragment, before and after the edit (quirk 9)', () => {
    const fragment = change({ oldText: 'two', newText: 'TWO' })
    const whole = { oldText: 'one\ntwo\nthree\n', newText: 'one\nTWO\nthree\n' }
    assert.deepEqual(diffTexts(fragment, { current: whole.oldText }), whole)
    assert.deepEqual(diffTexts(fragment, { current: whole.newText }), whole)
  })

  it('are located in the file by line number, before and after the edit (quirk 27)', () => {
    const fragment = change({ oldText: 'two\nx', newText: 'TWO\nx' })
    const line = (current: string) => fragmentLine(fragment, current)
    assert.equal(line('one\ntwo\nx\n'), 2)
    assert.equal(line('one\r\n\r\nTWO\r\nx\r\n'), 3)
    assert.equal(line('two\nx'), 1)
    assert.deepEqual([line('none'), line('two\nx\ntwo\nx\n'), line('')], [undefined, undefined, undefined])
    assert.equal(fragmentLine(change({}), 'one'), undefined)
  })

  it("are completed with the file's line endings", () => {
    const fragment = change({ oldText: 'one\ntwo\n', newText: 'one\nTWO\n' })
    assert.deepEqual(diffTexts(fragment, { current: 'zero\r\none\r\ntwo\r\n' }), {
      oldText: 'zero\r\none\r\ntwo\r\n',
      newText: 'zero\r\none\r\nTWO\r\n',
    })
  })

  it("aren't completed if the position is ambiguous", () => {
    const fragment = change({ oldText: 'x', newText: 'y' })
    assert.deepEqual(diffTexts(fragment, { current: 'x x\n' }), { oldText: 'x', newText: 'y' })
    assert.deepEqual(diffTexts(fragment, { current: 'none of it' }), { oldText: 'x', newText: 'y' })
  })

  it('keep characters that a replacement pattern would interpret', () => {
    const fragment = change({ oldText: 'two', newText: "$& $' $1" })
    assert.equal(diffTexts(fragment, { current: 'one two' })?.newText, "one $& $' $1")
  })

  it('come from a patch and the file, before and after the edit', () => {
    const lines = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 30 })
      .map(all => all.map((name, index) => `${name}${index % 7}\n`).join(''))
    fc.assert(
      fc.property(lines, lines, fc.boolean(), (oldText, newText, isDone) => {
        fc.pre(oldText !== newText)
        const patch = { format: 'git', text: createTwoFilesPatch('a/a.ts', 'b/a.ts', oldText, newText) }
        const texts = diffTexts(change({}), { patch, current: isDone ? newText : oldText })
        // undoing a patch always works after the edit; before the edit it may match elsewhere
        if (isDone) assert.deepEqual(texts, { oldText, newText })
        else assert.ok(texts?.oldText === oldText || texts?.newText === oldText)
      }),
    )
  })

  it('are only the parts in the patch if the file has other content', () => {
    const text = createTwoFilesPatch('a/a.ts', 'b/a.ts', 'one\ntwo\n', 'one\n2\n')
    assert.deepEqual(diffTexts(change({}), { patch: { format: 'git', text } }), {
      oldText: 'one\ntwo\n',
      newText: 'one\n2\n',
    })
  })

  it('are those of the right file in a patch with several files', () => {
    const text = `${createTwoFilesPatch('a/b.ts', 'b/b.ts', 'x\n', 'y\n')}${createTwoFilesPatch('a/a.ts', 'b/a.ts', 'one\n', 'two\n')}`
    assert.deepEqual(diffTexts(change({}), { patch: { format: 'git', text } }), {
      oldText: 'one\n',
      newText: 'two\n',
    })
  })

  it('are found in a patch with absolute paths as in v2, even quoted, renamed or deleted ones', () => {
    const text = [
      'diff --git "/w/caf\\303\\251 a.ts" "/w/caf\\303\\251 a.ts"',
      '--- "/w/caf\\303\\251 a.ts"',
      '+++ "/w/caf\\303\\251 a.ts"',
      '@@ -1 +1 @@',
      '-x',
      '+y',
      'diff --git /w/old.ts /w/new.ts',
      'similarity index 50%',
      'rename from /w/old.ts',
      'rename to /w/new.ts',
      '--- /w/old.ts',
      '+++ /w/new.ts',
      '@@ -1 +1 @@',
      '-one',
      '+two',
      'diff --git /w/gone.ts /w/gone.ts',
      'deleted file mode 100644',
      '--- /w/gone.ts',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-bye',
      '',
    ].join('\n')
    const patch = { format: 'git_patch', text }
    const of = (more: Partial<FileChange>) => diffTexts(change(more), { patch })
    assert.deepEqual(of({ path: '/w/café a.ts' }), { oldText: 'x\n', newText: 'y\n' })
    const moved = { operation: 'move', oldPath: '/w/old.ts', path: '/w/new.ts' } as const
    assert.deepEqual(of(moved), { oldText: 'one\n', newText: 'two\n' })
    assert.deepEqual(of({ operation: 'delete', path: '/w/gone.ts' }), { oldText: 'bye\n', newText: '' })
  })

  it("don't come from another file with the same name", () => {
    const part = (name: string, to: string) => createTwoFilesPatch(`a/${name}`, `b/${name}`, 'x\n', `${to}\n`)
    const text = `${part('a.ts', 'top')}${part('src/a.ts', 'deep')}`
    const texts = diffTexts(change({ path: '/w/src/a.ts' }), { patch: { format: 'git_patch', text } })
    assert.equal(texts?.newText, 'deep\n')
  })

  it('are missing if the agent sent nothing to show', () => {
    assert.equal(diffTexts(change({})), undefined)
    assert.equal(diffTexts(change({}), { patch: { format: 'git', text: '@@ nonsense' } }), undefined)
  })
})

describe('the location of a fragment', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'parley-fragment-'))
    for (const name of ['root', 'second', 'elsewhere']) {
      mkdirSync(path.join(folder, name))
      writeFileSync(path.join(folder, name, 'a.ts'), 'one\ntwo\nthree\n')
    }
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const find = (file: string, texts = { oldText: 'three', newText: 'THREE' }) =>
    findFragment(
      { operation: 'modify', path: file, ...texts },
      { cwd: path.join(folder, 'root'), additionalDirectories: [path.join(folder, 'second')] },
    )

  it('is its line in a file of the session, in any of its folders', async () => {
    assert.equal(await find(path.join(folder, 'root', 'a.ts')), 3)
    assert.equal(await find('a.ts'), 3)
    assert.equal(await find(path.join(folder, 'second', 'a.ts')), 3)
    assert.equal(await find('a.ts', { oldText: 'gone', newText: 'two' }), 2)
  })

  it("isn't searched for outside of the session's folders, not even through a link", async () => {
    symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, 'root', 'link'))
    for (const file of ['../elsewhere/a.ts', path.join(folder, 'elsewhere', 'a.ts'), 'link/a.ts'])
      assert.equal(await find(file), undefined, file)
  })

  it('is undefined for a missing or large file, or a folder', async function () {
    writeFileSync(path.join(folder, 'root', 'large.ts'), `${' '.repeat(MAX_FRAGMENT_FILE_BYTES)}three`)
    for (const file of ['large.ts', 'missing.ts', '.', 'a\0b'])
      assert.equal(await find(file), undefined, file)
    if (process.platform === 'win32') return this.skip()
    execFileSync('mkfifo', [path.join(folder, 'root', 'pipe')])
    assert.equal(await find('pipe'), undefined)
  })
})

describe('the texts for diff editors', () => {
  it('are kept until no tab shows them', () => {
    const contents = new DiffContents()
    const one = contents.hold({ oldText: 'a', newText: 'b' })
    const two = contents.hold({ oldText: 'c', newText: 'd' })
    assert.notEqual(one, two)
    assert.deepEqual([contents.text(one, 'old'), contents.text(one, 'new')], ['a', 'b'])
    assert.equal(contents.text(one, 'other'), undefined)
    contents.keepOnly(new Set([two, 'unknown']))
    assert.equal(contents.text(one, 'old'), undefined)
    assert.equal(contents.text(two, 'new'), 'd')
    assert.equal(contents.size, 1)
  })
})

describe('the lines that an edit wrote', () => {
  const lines = (oldText: string | undefined, newText: string | undefined, text: string) =>
    editedLines({ operation: 'modify', path: '/w/a', oldText, newText }, text).map(
      ({ start, end }) => `${start}-${end}`,
    )

  it('are those that differ, in a whole file or a fragment', () => {
    assert.deepEqual(lines('a\nb\nc\n', 'a\nB\nc\n', 'a\nB\nc\n'), ['1-2'])
    assert.deepEqual(lines('a\nb\nc\nd\n', 'A\nb\nc\nD\nE\n', 'A\nb\nc\nD\nE\n'), ['0-1', '3-5'])
    assert.deepEqual(lines('b\nc', 'b\nX\nY\nc', '1\n2\nb\nX\nY\nc\n3\n'), ['3-5'])
    assert.deepEqual(lines('b\nc\n', 'b\nX\nc\n', '1\r\nb\r\nX\r\nc\r\n'), ['2-3'])
  })

  it('are all lines of a new file, and the line after removed lines', () => {
    assert.deepEqual(lines(undefined, 'a\nb\n', 'a\nb\n'), ['0-2'])
    assert.deepEqual(lines('a\nb\nc\n', 'a\nc\n', 'a\nc\n'), ['1-2'])
  })

  it('are empty before the edit, after the user changed them, or if they are ambiguous', () => {
    assert.deepEqual(lines('a\n', 'b\n', 'a\n'), [])
    assert.deepEqual(lines('a\n', 'b\n', 'x\n'), [])
    assert.deepEqual(lines('a', 'b', 'b\nb\n'), [])
    assert.deepEqual(lines('a', undefined, 'b\n'), [])
  })
})
