import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findTypedPaths } from '../../../../src/editor/mentions/typed-path.ts'
import { useTemporaryFolder } from '../temporary-folder.ts'

describe('finding what a typed path names', () => {
  const temporary = useTemporaryFolder()
  let root: string
  let home: string
  const put = (file: string) => {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, '')
  }
  const find = async (typed: string) => {
    const found = await findTypedPaths(typed, { roots: [root], home })
    return found.map(one => `${one.typed}${one.isFolder ? '/' : ''}${one.isOutside ? ' outside' : ''}`)
  }

  beforeEach(() => {
    const all = temporary()
    root = path.join(all, 'work')
    home = path.join(all, 'home')
    for (const name of ['dist/app.js', 'dist/api/x.js', 'dist/.cache', '.env']) put(path.join(root, name))
    put(path.join(home, 'notes/plan.md'))
    symlinkSync(path.join(home, 'notes'), path.join(root, 'linked'), 'junction')
  })

  it('finds an exact name, and the start of one in a folder, hidden names after a dot', async () => {
    assert.deepEqual(await find('.env'), ['.env'])
    assert.deepEqual(await find('.en'), [])
    assert.deepEqual(await find('dist/ap'), ['dist/api/', 'dist/app.js'])
    assert.deepEqual(await find('dist/AP'), ['dist/api/', 'dist/app.js'])
    assert.deepEqual(await find('dist/app.js'), ['dist/app.js'])
    assert.deepEqual(await find('dist/'), ['dist/api/', 'dist/app.js'])
    assert.deepEqual(await find('dist/.'), ['dist/.cache'])
  })

  it('completes from the home folder, above the root and from the top, and says what is outside', async () => {
    assert.deepEqual(await find('~/no'), ['~/notes/ outside'])
    assert.deepEqual(await find('~/notes/'), ['~/notes/plan.md outside'])
    assert.deepEqual(await find('../home/notes/plan.md'), ['../home/notes/plan.md outside'])
    assert.deepEqual(await find('../work/.env'), ['../work/.env'])
    assert.deepEqual(await find(`${root}/.env`), [`${root}/.env`])
  })

  it('says that what a link in a root leads to is outside', async () => {
    assert.deepEqual(await find('linked/plan.md'), ['linked/plan.md outside'])
  })

  it('finds nothing where nothing is, and in what is no folder', async () => {
    for (const typed of ['', '~', '.', '..', 'no/such', 'dist/app.js/', 'a\0b', `${'x/'.repeat(500)}x`])
      assert.deepEqual(await find(typed), [], typed)
  })
})
