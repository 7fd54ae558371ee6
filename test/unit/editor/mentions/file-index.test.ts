import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gitChanges } from '../../../../src/editor/git.ts'
import { listFiles, listOnDisk, listWithGit } from '../../../../src/editor/list-files.ts'
import { FileIndex } from '../../../../src/editor/mentions/file-index.ts'
import { useTemporaryFolder } from '../temporary-folder.ts'

const root = { path: '/w', name: 'w' }

describe('listing files', () => {
  const temporary = useTemporaryFolder()
  let folder: string
  const put = (name: string, text = '') => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: folder,
      stdio: 'pipe',
    })

  beforeEach(() => {
    folder = temporary()
    put('src/a.ts')
    put('src/deep/b ü.ts')
    put('out/made.js')
    put('src/deep/kept.log')
    put('src/x.log')
    put('node_modules/left/pad.js')
    put('.gitignore', 'out/\n*.log\nnode_modules\n')
    put('src/deep/.gitignore', '!kept.log\n')
  })

  const expected = ['.gitignore', 'src/a.ts', 'src/deep/.gitignore', 'src/deep/b ü.ts', 'src/deep/kept.log']

  it('reads no .gitignore that never ends or never answers', async function () {
    if (process.platform === 'win32') this.skip()
    for (const name of ['.gitignore', 'src/deep/.gitignore']) rmSync(path.join(folder, name))
    symlinkSync('/dev/zero', path.join(folder, '.gitignore'))
    execFileSync('mkfifo', [path.join(folder, 'src/deep/.gitignore')])
    assert.deepEqual((await listOnDisk(folder)).sort(), [
      'out/made.js',
      'src/a.ts',
      'src/deep/b ü.ts',
      'src/deep/kept.log',
      'src/x.log',
    ])
  })

  it('respects every .gitignore, with and without Git', async () => {
    assert.equal(await listWithGit(folder), undefined)
    assert.deepEqual((await listFiles(folder)).sort(), expected)
    git('init', '-q')
    git('add', 'src/a.ts')
    assert.deepEqual((await listWithGit(folder))?.sort(), expected)
    assert.deepEqual((await listWithGit(path.join(folder, 'src')))?.sort(), [
      'a.ts',
      'deep/.gitignore',
      'deep/b ü.ts',
      'deep/kept.log',
    ])
  })

  it('lists a limited number of files', async () => {
    assert.equal((await listOnDisk(folder, 2)).length, 2)
    git('init', '-q')
    assert.equal((await listWithGit(folder, 2))?.length, 2)
  })

  it("fails for a folder that doesn't exist", async () => {
    await assert.rejects(listFiles(path.join(folder, 'nowhere')))
  })

  it('separates staged changes from others, and returns none without a repository', async () => {
    assert.equal(await gitChanges([folder], false), '')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    put('src/a.ts', 'staged\n')
    git('add', '.')
    put('src/a.ts', 'staged\nnot yet\n')
    assert.match(await gitChanges([folder, path.join(folder, 'src')], true), /^diff --git [\s\S]*\+staged\n/)
    const unstaged = await gitChanges([folder, path.join(folder, 'src')], false)
    assert.match(unstaged, /\+not yet\n/)
    assert.equal(unstaged.split('diff --git').length, 2, 'a repository is looked at once')
  })
})

describe('finding files', () => {
  const names = (found: Awaited<ReturnType<FileIndex['search']>>) => found.map(({ path }) => path)

  it('ranks matching names above matching paths, and highlights the letters', async () => {
    const index = new FileIndex(async () => ['parser/readme.md', 'src/parser.ts', 'src/other.ts'])
    const found = await index.search([root], 'parser', 10)
    assert.deepEqual(names(found).slice(0, 2).sort(), ['parser', 'src/parser.ts'])
    const file = found.find(({ path }) => path === 'src/parser.ts')
    assert.deepEqual(file?.matches, [4, 5, 6, 7, 8, 9])
    assert.deepEqual(await index.search([root], ' ', 10), [])
  })

  it('finds folders, and files by parts of their paths', async () => {
    const index = new FileIndex(async () => ['a/deep/one.ts', 'a/deep/two.ts'])
    const [folder] = await index.search([root], 'deep', 10)
    assert.deepEqual([folder?.path, folder?.isFolder], ['a/deep', true])
    assert.equal(names(await index.search([root], 'deep/two', 10))[0], 'a/deep/two.ts')
    assert.equal(names(await index.search([root], 'deep\\two', 10))[0], 'a/deep/two.ts')
  })

  it('lists files once, and again after a change', async () => {
    let lists = 0
    let now = 0
    const index = new FileIndex(
      async () => [`file${++lists}.ts`],
      () => now,
    )
    await index.search([root], 'file', 10)
    await index.search([root], 'file', 10)
    assert.equal(lists, 1)
    index.changed()
    await index.search([root], 'file', 10)
    assert.equal(lists, 1, 'not so soon')
    now = 10_000
    assert.deepEqual(names(await index.search([root], 'file', 10)), ['file2.ts'])
  })

  it('uses the old list while the new one is loading or if it fails', async () => {
    let now = 0
    let next: Promise<string[]> = Promise.resolve(['old.ts'])
    const index = new FileIndex(
      () => next,
      () => now,
    )
    await index.search([root], 'old', 10)
    next = new Promise(() => {})
    now = 10_000
    index.changed()
    assert.deepEqual(names(await index.search([root], 'old', 10)), ['old.ts'])
  })

  it('searches 60,000 files between two keystrokes', async () => {
    const files = Array.from({ length: 60_000 }, (_, i) => `lib/mod${i % 977}/file-${i}-parser.ts`)
    const index = new FileIndex(async () => [...files, 'src/parser.ts'])
    await index.search([root], 'p', 40)
    const times = []
    for (const query of ['pa', 'pars', 'parser', 'parser.ts', 'src/pars']) {
      const start = process.cpuUsage()
      const found = await index.search([root], query, 40)
      times.push(process.cpuUsage(start).user / 1000)
      assert.equal(found[0]?.path, 'src/parser.ts', query)
    }
    // in CPU milliseconds, and far more than needed
    assert.ok(times.sort((a, b) => a - b)[2]! < 500, times.join(' '))
  })
})
