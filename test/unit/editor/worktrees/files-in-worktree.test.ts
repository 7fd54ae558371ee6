import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesInWorktree } from '../../../../src/editor/worktrees/files-in-worktree.ts'

describe("the workspace's files in a session's worktree", () => {
  let top = ''
  beforeEach(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), 'worktree-files-')))
    for (const [id, tree] of [
      ['one', 'repo.worktrees/one'],
      ['inner', 'repo/trees/inner'],
    ] as const) {
      mkdirSync(join(top, tree, 'packages/api'), { recursive: true })
      const git = join(top, 'repo/.git/worktrees', id)
      mkdirSync(git, { recursive: true })
      writeFileSync(join(git, 'gitdir'), `${join(top, tree, '.git')}\n`)
      writeFileSync(join(git, 'HEAD'), 'ref: refs/heads/x\n')
      writeFileSync(join(top, tree, '.git'), `gitdir: ${git}\n`)
    }
    mkdirSync(join(top, 'repo/packages/api'), { recursive: true })
    mkdirSync(join(top, 'other'))
    symlinkSync(join(top, 'repo'), join(top, 'link'))
  })
  afterEach(() => rmSync(top, { recursive: true }))

  it('are in the same place of it', async () => {
    for (const [cwd, folder, file, moved] of [
      ['repo.worktrees/one', 'repo', 'repo/src/a.ts', 'repo.worktrees/one/src/a.ts'],
      [
        'repo.worktrees/one/packages/api',
        'repo/packages/api',
        'repo/packages/api/b',
        'repo.worktrees/one/packages/api/b',
      ],
      ['repo.worktrees/one', 'link', 'link/a', 'repo.worktrees/one/a'],
      ['repo/trees/inner', 'repo', 'repo/a', 'repo/trees/inner/a'],
      ['repo/trees/inner', 'repo', 'repo/trees/inner/a', 'repo/trees/inner/a'],
      ['repo', 'repo.worktrees/one', 'repo.worktrees/one/a', 'repo/a'],
      ['repo', 'repo', 'repo/a', 'repo/a'],
      ['repo/packages', 'repo', 'repo/a', 'repo/a'],
      ['other', 'repo', 'repo/a', 'repo/a'],
      ['repo.worktrees/one', 'other', 'other/a', 'other/a'],
      ['repo.worktrees/one', 'repo', 'other/a', 'other/a'],
    ] as const) {
      const find = await filesInWorktree(join(top, cwd), [join(top, folder)])
      assert.equal(find(join(top, file)), join(top, moved), `${file} for ${cwd}`)
    }
  })
})
