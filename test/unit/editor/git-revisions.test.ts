import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { listRevisions, revisionText } from '../../../src/editor/git-revisions.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

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

  beforeEach(() => {
    folder = temporary()
    git('init', '-q', '-b', 'main')
    commit('a.txt', 'First step')
    git('checkout', '-q', '-b', 'feature/moons')
    commit('b.txt', 'Count moons')
    git('checkout', '-q', 'main')
    commit('c.txt', 'Second step')
  })

  it('lists the commits of what is checked out and the branches, each with what it is compared with', async () => {
    const list = await listRevisions([folder])
    assert.deepEqual(
      list.map(({ name, base }) => [name, base]),
      [
        ['feature/moons', 'HEAD'],
        ['Second step', undefined],
        ['First step', undefined],
      ],
    )
    git('checkout', '-q', 'feature/moons')
    const [current] = (await listRevisions([folder])).filter(({ name }) => name === 'feature/moons')
    assert.deepEqual(current, { type: 'revision', ref: 'feature/moons', base: 'main', name: 'feature/moons' })
  })

  it('shows what a commit and what a branch changed, and only that', async () => {
    const [first] = (await listRevisions([folder])).filter(({ name }) => name === 'First step')
    const text = await revisionText([folder], first!)
    assert.match(text ?? '', /First step[\s\S]*\+First step/)
    const branch = await revisionText([folder], { type: 'revision', ref: 'feature/moons', base: 'HEAD' })
    assert.match(branch ?? '', /b\.txt[\s\S]*\+Count moons/)
    assert.doesNotMatch(branch ?? '', /c\.txt|a\.txt/)
  })

  it('knows nothing of what is gone, of options and ranges, and outside of a repository', async () => {
    for (const ref of ['gone', '--output=x', 'main..feature/moons', '0000000'])
      assert.equal(await revisionText([folder], { type: 'revision', ref }), undefined, ref)
    assert.equal(
      await revisionText([temporary()], { type: 'revision', ref: 'main', base: 'gone' }),
      undefined,
    )
  })

  it('runs no program that the repository names', async () => {
    git('config', 'diff.external', `touch ${path.join(folder, 'ran')};`)
    writeFileSync(path.join(folder, '.gitattributes'), '*.txt diff=x\n')
    git('config', 'diff.x.textconv', `touch ${path.join(folder, 'ran')};`)
    await revisionText([folder], { type: 'revision', ref: 'main' })
    assert.equal(git('status', '--short', 'ran'), '')
  })
})
