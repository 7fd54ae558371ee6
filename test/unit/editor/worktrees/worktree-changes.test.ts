import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { GitError } from '../../../../src/editor/git.ts'
import { createWorktree } from '../../../../src/editor/worktrees/create-worktree.ts'
import { openRepository, type Worktree } from '../../../../src/editor/worktrees/repository.ts'
import { applyWorktree } from '../../../../src/editor/worktrees/use-worktree.ts'
import {
  type ChangedPath,
  changesBetween,
  changesOf,
  readTexts,
} from '../../../../src/editor/worktrees/worktree-changes.ts'

describe('the changes in a worktree', () => {
  let directory = ''
  let top = ''
  let worktree: Worktree
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd }).toString()
  const write = (name: string, content: string | Buffer, at = worktree) => {
    const file = path.join(at.path, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  const make = async (name: string) =>
    (await createWorktree(await openRepository(top), { name, folder: '' })).worktree
  const shown = (files: readonly ChangedPath[]) =>
    files.map(({ path: name, kind, added, removed }) => [name, kind, added, removed])

  beforeEach(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-changes-')))
    // Git separates paths with these
    top = path.join(directory, process.platform === 'win32' ? 'project;é' : 'project;:é')
    mkdirSync(top)
    git(top, 'init', '-q')
    writeFileSync(path.join(top, 'a.txt'), 'one\ntwo\nthree\n')
    writeFileSync(path.join(top, 'gone.txt'), 'gone\n')
    writeFileSync(path.join(top, 'bytes'), Buffer.from([0, 1, 2]))
    writeFileSync(path.join(top, '.gitignore'), 'ignored\n')
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
    worktree = await make('task')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('are those since it was made, committed or not, and its index stays as it is', async () => {
    assert.deepEqual((await changesOf(worktree)).files, [])
    write('a.txt', 'one\n2\nthree\nfour\n')
    git(worktree.path, 'commit', '-q', '-a', '-m', 'own')
    rmSync(path.join(worktree.path, 'gone.txt'))
    write('new folder/ä\tb.txt', 'new\n')
    write('bytes', Buffer.from([0, 3]))
    write('ignored', 'ignored')
    const before = git(worktree.path, 'status', '--porcelain')
    const { files, applied } = await changesOf(worktree)
    assert.deepEqual(shown(files), [
      ['a.txt', 'modified', 2, 1],
      ['bytes', 'modified', undefined, undefined],
      ['gone.txt', 'deleted', 0, 1],
      ['new folder/ä\tb.txt', 'added', 1, 0],
    ])
    assert.equal(applied, undefined)
    assert.equal(git(worktree.path, 'status', '--porcelain'), before)
    const ids = files.flatMap(({ before: id }) => id ?? [])
    const texts = await readTexts(worktree.path, [...ids, '1'.repeat(40)])
    assert.deepEqual([...texts.values()], ['one\ntwo\nthree\n', 'gone\n'])
  })

  it('are known to be applied, until there are others', async () => {
    write('a.txt', 'one\n')
    await applyWorktree(worktree, top, async () => true)
    assert.equal((await changesOf(worktree)).applied, 'all')
    write('a.txt', 'two\n')
    assert.equal((await changesOf(worktree)).applied, 'outdated')
  })

  it('are compared with those of another worktree', async () => {
    const other = await make('other')
    write('a.txt', 'mine\n')
    write('same.txt', 'same\n')
    write('a.txt', 'theirs\n', other)
    write('same.txt', 'same\n', other)
    write('theirs.txt', 'theirs\n', other)
    assert.deepEqual(shown(await changesBetween(worktree.path, other.path)), [
      ['a.txt', 'modified', 1, 1],
      ['theirs.txt', 'added', 1, 0],
    ])
  })

  it('name submodules and other repositories whose contents Git does not know, which are never applied silently', async () => {
    const lib = path.join(directory, 'lib')
    const init = (folder: string, name: string) => {
      mkdirSync(folder)
      git(folder, 'init', '-q')
      writeFileSync(path.join(folder, name), `${name}\n`)
    }
    const submodule = (at: string, ...args: string[]) =>
      git(at, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', ...args)
    init(lib, 'l.txt')
    git(lib, 'add', '.')
    git(lib, 'commit', '-q', '-m', 'lib')
    submodule(top, 'add', lib, 'lib')
    git(top, 'commit', '-q', '-m', 'with a submodule')
    const [one, other] = [await make('one'), await make('other')]
    const refuses = (name: string) =>
      assert.rejects(
        applyWorktree(one, top, async () => true),
        error => error instanceof GitError && error.message.includes(`: ${name}`),
      )
    const modified = [{ path: 'lib', kind: 'modified', isRepository: true }]
    submodule(one.path, 'update', '--init')
    assert.deepEqual((await changesOf(one)).files, [])
    write('lib/l.txt', 'changed\n', one)
    assert.deepEqual((await changesOf(one)).files, modified)
    await refuses('lib')
    git(path.join(one.path, 'lib'), 'commit', '-q', '-a', '-m', 'changed')
    assert.deepEqual((await changesOf(one)).files, modified)
    assert.deepEqual(await changesBetween(one.path, other.path), modified)
    await refuses('lib')
    git(one.path, 'commit', '-q', '-a', '-m', 'changed')
    assert.deepEqual((await changesOf(one)).files, modified)
    await refuses('lib')
    git(one.path, 'reset', '-q', '--hard', 'HEAD~1')
    submodule(one.path, 'update')
    // one without a commit, too
    init(path.join(one.path, 'nested'), 'n.txt')
    write('a.txt', 'changed\n', one)
    const nested = { path: 'nested', kind: 'added', isRepository: true }
    assert.deepEqual(
      (await changesOf(one)).files.map(({ before: _, ...file }) => file),
      [{ path: 'a.txt', kind: 'modified', added: 1, removed: 3 }, nested],
    )
    assert.deepEqual((await changesBetween(one.path, other.path)).at(-1), { ...nested, kind: 'deleted' })
    assert.deepEqual((await changesBetween(other.path, one.path)).at(-1), nested)
    await refuses('nested')
  })

  // the filter of Git LFS
  const onPosix = process.platform === 'win32' ? it.skip : it
  onPosix('are read through filters, which store what they add elsewhere', async () => {
    const filter = path.join(directory, 'lfs')
    writeFileSync(
      filter,
      '#!/bin/sh\nstorage=$(git config lfs.storage || echo "$(git rev-parse --git-common-dir)/lfs")\nmkdir -p "$storage"\ncat > "$storage/$$"\nwc -c < "$storage/$$"\n',
      { mode: 0o755 },
    )
    git(top, 'config', 'filter.lfs.clean', `'${filter}'`)
    git(top, 'config', 'filter.lfs.smudge', 'head -c "$(cat)" /dev/zero | tr "\\0" x')
    git(top, 'config', 'filter.lfs.required', 'true')
    writeFileSync(path.join(top, '.gitattributes'), '*.large filter=lfs\n')
    writeFileSync(path.join(top, 'same.large'), 'xxxx')
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'large')
    rmSync(path.join(top, '.git', 'lfs'), { recursive: true })
    const [one, other] = [await make('one'), await make('other')]
    write('same.large', 'xxxx', one)
    write('new.large', 'xx', one)
    write('new.large', 'xxx', other)
    assert.deepEqual(shown((await changesOf(one)).files), [['new.large', 'added', 1, 0]])
    assert.deepEqual(shown(await changesBetween(one.path, other.path)), [['new.large', 'modified', 1, 1]])
    assert.ok(!existsSync(path.join(top, '.git', 'lfs')))
    // what is applied has to stay
    await applyWorktree(one, top, async () => true)
    assert.equal(readFileSync(path.join(top, 'new.large'), 'utf8'), 'xx')
    assert.ok(existsSync(path.join(top, '.git', 'lfs')))
  })

  it('are read without writing to the repository', async () => {
    const other = await make('other')
    const list = (folder: string) => readdirSync(folder, { recursive: true }).sort()
    const objects = path.join(top, '.git', 'objects')
    write('a.txt', 'mine\n')
    write('new.txt', 'new\n')
    const before = list(objects)
    const { TMPDIR } = process.env
    process.env.TMPDIR = directory
    try {
      await changesOf(worktree)
      await changesBetween(worktree.path, other.path)
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    }
    assert.deepEqual(list(objects), before)
    assert.deepEqual(
      readdirSync(directory).filter(name => name.includes('objects')),
      [],
    )
  })
})
