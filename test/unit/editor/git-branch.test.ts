import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { branchOf } from '../../../src/editor/git-branch.ts'

describe('the branch of a folder', () => {
  let root: string
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: join(root, 'one') })

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-branch-'))
    mkdirSync(join(root, 'one', 'src'), { recursive: true })
    git('init', '-q', '-b', 'feature/one')
    git('commit', '-q', '--allow-empty', '-m', 'first')
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it('is found from any folder of the repository and of its worktrees', async () => {
    assert.equal(await branchOf(join(root, 'one', 'src')), 'feature/one')
    git('worktree', 'add', '-q', '-b', 'two', join(root, 'two'))
    assert.equal(await branchOf(join(root, 'two')), 'two')
  })

  it('is the commit if none is checked out, and nothing outside of a repository or in a damaged one', async () => {
    const commit = String(git('rev-parse', 'HEAD')).trim()
    git('checkout', '-q', '--detach')
    assert.equal(await branchOf(join(root, 'one')), commit.slice(0, 7))
    assert.equal(await branchOf(root), undefined)
    writeFileSync(join(root, 'one', '.git', 'HEAD'), 'x'.repeat(10_000))
    assert.equal(await branchOf(join(root, 'one')), undefined)
    writeFileSync(join(root, 'one', '.git', 'HEAD'), 'nonsense')
    assert.equal(await branchOf(join(root, 'one')), undefined)
  })

  it("isn't read from what never ends or never answers", async function () {
    if (process.platform === 'win32') this.skip()
    const head = join(root, 'one', '.git', 'HEAD')
    rmSync(head)
    symlinkSync('/dev/zero', head)
    assert.equal(await branchOf(join(root, 'one')), undefined)
    rmSync(head)
    execFileSync('mkfifo', [head])
    assert.equal(await branchOf(join(root, 'one')), undefined)
  })
})
