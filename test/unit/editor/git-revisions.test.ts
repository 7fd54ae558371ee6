import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readGit } from '../../../src/editor/git.ts'
import { listRevisions, revisionText } from '../../../src/editor/git-revisions.ts'
import { RevisionIndex } from '../../../src/editor/mentions/revision-index.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

const HASH = /^[0-9a-f]{40}$/

describe('commits and branches', () => {
  const temporary = useTemporaryFolder()
  let folder: string
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: folder,
      stdio: 'pipe',
      encoding: 'utf8',
    }).trim()
  const commit = (name: string, subject: string) => {
    writeFileSync(path.join(folder, name), `${subject}\n`)
    git('add', '.')
    git('commit', '-q', '-m', subject)
  }
  const begin = (at: string) => {
    mkdirSync(at, { recursive: true })
    folder = at
    git('init', '-q', '-b', 'main')
    commit('a.txt', 'First step')
    git('checkout', '-q', '-b', 'feature/moons')
    commit('b.txt', 'Count moons')
    git('checkout', '-q', 'main')
    commit('c.txt', 'Second step')
  }
  const listed = async (wanted: string, folders = [folder]) =>
    (await listRevisions(folders)).find(({ name }) => name === wanted)!
  const found = async (query: string) =>
    (await new RevisionIndex().search([folder], query, 5)).map(({ revision }) => revision.name)

  beforeEach(() => begin(temporary()))

  it('lists the commits of HEAD and the branches, each with its base', async () => {
    const list = await listRevisions([folder])
    assert.deepEqual(
      list.map(({ name, short, base }) => [name, base === undefined ? 'commit' : short]),
      [
        ['feature/moons', 'main'],
        ['Second step', 'commit'],
        ['First step', 'commit'],
      ],
    )
    const main = git('rev-parse', 'main')
    const ref = git('rev-parse', 'feature/moons')
    git('checkout', '-q', 'feature/moons')
    const current = await listed('feature/moons')
    assert.deepEqual(current, { type: 'revision', ref, base: main, name: 'feature/moons', short: 'main' })
    git('update-ref', 'refs/remotes/origin/trunk', 'main~1')
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk')
    const { short, base } = await listed('feature/moons')
    assert.deepEqual([short, base], ['origin/trunk', git('rev-parse', 'main~1')])
    git('checkout', '-q', '--detach')
    assert.equal((await listed('main')).short, 'HEAD')
  })

  it('means the same when something else is checked out, and no branch that is named like a commit', async () => {
    const branch = await listed('feature/moons')
    const first = await listed('First step')
    git('branch', first.short, 'feature/moons')
    git('checkout', '-q', 'feature/moons')
    assert.match((await revisionText([folder], branch)) ?? '', /b\.txt[\s\S]*\+Count moons/)
    assert.match((await revisionText([folder], first)) ?? '', /\+First step/)
  })

  it('tells repositories apart', async () => {
    const places = ['one/app', 'two/app', 'two/lib'].map(name => path.join(temporary(), name))
    for (const [i, place] of places.entries()) {
      begin(place)
      git('checkout', '-q', 'feature/moons')
      commit(`only-${i}.txt`, `Only ${i}`)
      git('checkout', '-q', 'main')
    }
    const branches = (await listRevisions(places)).filter(({ name }) => name === 'feature/moons')
    assert.deepEqual(
      branches.map(({ repository }) => path.basename(repository ?? '')),
      ['app', 'app', 'lib'],
    )
    assert.equal(new Set(branches.map(({ repository }) => repository)).size, 3)
    assert.equal(branches[2]?.repository, 'lib')
    for (const [i, branch] of branches.entries())
      assert.match((await revisionText(places, branch)) ?? '', new RegExp(`only-${i}\\.txt`))
  })

  it('refers to any branch and any subject by hashes, and shortens names', async () => {
    git('branch', '全角　空格', 'feature/moons')
    git('commit', '-q', '--allow-empty', '-m', 'long '.repeat(8000))
    const list = await listRevisions([folder])
    assert.ok(list.some(({ name }) => name === '全角　空格'))
    for (const { ref, base, name } of list) {
      assert.match(ref, HASH)
      if (base !== undefined) assert.match(base, HASH)
      assert.ok(name.length <= 601, name)
    }
    assert.match(list.find(({ name }) => name.startsWith('long'))?.name ?? '', /long…$/)
  })

  it('finds a commit by more letters of its hash than are shown, also one that is not in the list', async () => {
    const { ref, short } = await listed('First step')
    for (const query of [ref.slice(0, 4), `${short}${ref[short.length]}`, ref, ref.toUpperCase()])
      assert.ok((await found(query)).includes('First step'), query)
    const moons = git('rev-parse', 'feature/moons')
    assert.ok((await found(moons.slice(0, 4))).includes('Count moons'))
    assert.deepEqual(await found(moons), ['Count moons'])
    assert.deepEqual(await found('0'.repeat(40)), [])
    assert.deepEqual(await found(git('rev-parse', 'main^{tree}')), [])
    assert.deepEqual(await found('moons'), ['feature/moons'])
    assert.deepEqual(await found('ms'), [])
  })

  it('shows the changes of a commit or of a branch, and only those', async () => {
    const text = await revisionText([folder], await listed('First step'))
    assert.match(text ?? '', /First step[\s\S]*\+First step/)
    const branch = await revisionText([folder], await listed('feature/moons'))
    assert.match(branch ?? '', /b\.txt[\s\S]*\+Count moons/)
    assert.doesNotMatch(branch ?? '', /c\.txt|a\.txt/)
  })

  it('shows what a merge brought', async () => {
    git('merge', '-q', '--no-ff', '-m', 'Bring moons', 'feature/moons')
    const text = (await revisionText([folder], await listed('Bring moons'))) ?? ''
    assert.match(text, /Bring moons[\s\S]*\+Count moons/)
    assert.doesNotMatch(text, /c\.txt/)
  })

  it('knows nothing of what is gone, and outside of a repository', async () => {
    const ref = git('rev-parse', 'main')
    const gone = '0'.repeat(40)
    assert.equal(await revisionText([folder], { type: 'revision', ref: gone }), undefined)
    assert.equal(await revisionText([folder], { type: 'revision', ref, base: gone }), undefined)
    const tree = git('rev-parse', 'main^{tree}')
    assert.equal(await revisionText([folder], { type: 'revision', ref: tree }), undefined)
    rmSync(path.join(folder, '.git'), { recursive: true })
    assert.equal(await revisionText([folder], { type: 'revision', ref }), undefined)
  })

  it('says why Git fails, unless another repository has the commit', async () => {
    const first = await listed('First step')
    const copy = path.join(temporary(), 'copy')
    git('clone', '-q', folder, copy)
    const file = git('rev-parse', `${first.ref}:a.txt`)
    rmSync(path.join(folder, '.git/objects', file.slice(0, 2), file.slice(2)))
    await assert.rejects(revisionText([folder], first), { name: 'GitError', message: new RegExp(file) })
    assert.match((await revisionText([folder, copy], first)) ?? '', /\+First step/)

    folder = copy
    git('config', 'filter.a=b.clean', 'cat')
    await assert.rejects(revisionText([copy], first), { name: 'GitError', message: /filter “a=b”/ })
  })

  it('says that Git takes too long', async function () {
    if (process.platform === 'win32') this.skip()
    const never = path.join(folder, 'never')
    execFileSync('mkfifo', [never])
    git('config', 'include.path', never)
    const reading = readGit(folder, ['cat-file', '--batch-check'], { timeoutMs: 200, most: 1000 })
    await assert.rejects(reading, { name: 'GitError', message: 'Git took too long.' })
  })

  it('runs no program that the repository names', async () => {
    git('config', 'diff.external', `touch ${path.join(folder, 'ran')};`)
    writeFileSync(path.join(folder, '.gitattributes'), '*.txt diff=x\n')
    git('config', 'diff.x.textconv', `touch ${path.join(folder, 'ran')};`)
    assert.ok(await revisionText([folder], await listed('Second step')))
    assert.equal(git('status', '--short', 'ran'), '')
  })
})
