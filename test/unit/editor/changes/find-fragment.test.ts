import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { MAX_FRAGMENT_FILE_BYTES } from '../../../../src/common/limits.ts'
import { findFragment } from '../../../../src/editor/changes/find-fragment.ts'

describe('the place of a fragment', () => {
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

  it('is its line in a file of the session, by whichever folder', async () => {
    assert.equal(await find(path.join(folder, 'root', 'a.ts')), 3)
    assert.equal(await find('a.ts'), 3)
    assert.equal(await find(path.join(folder, 'second', 'a.ts')), 3)
    assert.equal(await find('a.ts', { oldText: 'gone', newText: 'two' }), 2)
  })

  it("isn't looked for outside of the session's folders, nor where a link leads there", async () => {
    symlinkSync(path.join(folder, 'elsewhere'), path.join(folder, 'root', 'link'))
    for (const file of ['../elsewhere/a.ts', path.join(folder, 'elsewhere', 'a.ts'), 'link/a.ts'])
      assert.equal(await find(file), undefined, file)
  })

  it("isn't told of what is no file, is too large or isn't there", async function () {
    writeFileSync(path.join(folder, 'root', 'large.ts'), `${' '.repeat(MAX_FRAGMENT_FILE_BYTES)}three`)
    for (const file of ['large.ts', 'missing.ts', '.', 'a\0b'])
      assert.equal(await find(file), undefined, file)
    if (process.platform === 'win32') return this.skip()
    execFileSync('mkfifo', [path.join(folder, 'root', 'pipe')])
    assert.equal(await find('pipe'), undefined)
  })
})
