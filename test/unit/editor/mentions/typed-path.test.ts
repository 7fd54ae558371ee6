import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { deferred } from '../../../../src/common/async.ts'
import {
  findInRoots,
  findTypedPaths,
  placesOf,
  type TypedPath,
  TypedPathSearch,
} from '../../../../src/editor/mentions/typed-path.ts'
import { PathRules } from '../../../../src/editor/path-rules.ts'
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

  it('finds the start of a name among many others', async () => {
    mkdirSync(path.join(root, 'many'))
    for (let i = 0; i < 6000; i++)
      writeFileSync(path.join(root, 'many', i % 300 === 0 ? `aa-${i}` : `${i}`), '')
    assert.equal((await find('many/aa')).length, 20)
  }).timeout(30_000)

  it('finds a pasted path only if both its spelling and its real path are in a root', async () => {
    symlinkSync(root, path.join(home, 'root'), 'junction')
    const paste = async (typed: string) => (await findInRoots(typed, { roots: [root], home }))?.path
    assert.equal(await paste('dist/app.js'), path.join(root, 'dist/app.js'))
    assert.equal(await paste(path.join(root, 'dist')), path.join(root, 'dist'))
    assert.equal(await paste('~/../work/.env'), path.join(root, '.env'))
    for (const typed of ['dist/ap', 'dist/', '..', `${home}/root/.env`, '~/notes/plan.md', 'linked/plan.md'])
      assert.equal(await paste(typed), undefined, typed)
  })
})

describe('where a typed path is looked for on Windows', () => {
  const windows = new PathRules('win32')
  const local = { roots: ['C:\\work'], home: 'C:\\Users\\me' }
  const folders = (typed: string, places = local) =>
    placesOf(typed, places, windows).map(({ folder, name }) => `${folder} ${name}`)

  it('is a folder on a drive', () => {
    assert.deepEqual(folders('src\\a'), ['C:\\work\\src a'])
    assert.deepEqual(folders('../out/a'), ['C:\\out a'])
    assert.deepEqual(folders('~/notes/a'), ['C:\\Users\\me\\notes a'])
    assert.deepEqual(folders('D:\\out\\a'), ['D:\\out a'])
    assert.deepEqual(folders('/out/a'), ['C:\\out a'])
  })

  it('is never a device, nor a share on which no root is', () => {
    for (const typed of [
      '\\\\evil.example\\x\\y',
      '//evil.example/x/',
      '//evil/x/y',
      '//./pipe/docker_engine',
      '\\\\?\\UNC\\evil\\x\\y',
      'nul/a',
      'C:x/a',
    ])
      assert.deepEqual(folders(typed), [], typed)
    assert.deepEqual(folders('// foo bar/baz'), ['C:\\ foo bar baz'])
    assert.deepEqual(folders('~///evil/x/y'), ['C:\\Users\\me\\evil\\x y'])
  })

  it('may be on the share of a root', () => {
    const shared = { ...local, roots: ['\\\\nas\\code\\app'] }
    assert.deepEqual(folders('\\\\NAS\\code\\lib\\a', shared), ['\\\\NAS\\code\\lib a'])
    assert.deepEqual(folders('../../a', shared), ['\\\\nas\\code\\ a'])
    assert.deepEqual(folders('\\\\nas\\other\\a\\b', shared), [])
  })
})

describe('looking typed paths up', () => {
  it('looks up one path at a time, and skips paths that newer ones replace', async () => {
    const started: string[] = []
    const answers: Array<(found: TypedPath[]) => void> = []
    const search = new TypedPathSearch(async typed => {
      started.push(typed)
      const answer = deferred<TypedPath[]>()
      answers.push(answer.resolve)
      return answer.promise
    })
    const places = { roots: ['/work'], home: '/home' }
    const first = search.find('/dead/', places)
    while (started.length === 0) await Promise.resolve()
    const replaced = search.find('/dead/a', places)
    const plan = { path: '/dead/abc', isFolder: false, typed: '/dead/abc', isExact: false, isOutside: true }
    const last = search.find('/dead/abc', places)
    answers[0]!([])
    while (started.length === 1) await Promise.resolve()
    answers[1]!([plan])
    assert.deepEqual(await Promise.all([first, replaced, last]), [[], [], [plan]])
    assert.deepEqual(started, ['/dead/', '/dead/abc'])
  })
})
