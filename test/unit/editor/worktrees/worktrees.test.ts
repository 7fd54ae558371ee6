import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLogger } from '../../../../src/common/logger.ts'
import {
  createWorktree,
  freeName,
  listBranches,
  nameFrom,
  nameProblem,
} from '../../../../src/editor/worktrees/create-worktree.ts'
import {
  DISCARDED_WORKTREE_DAYS,
  discardWorktree,
  listDiscarded,
  restoreDiscarded,
  tidyDiscarded,
} from '../../../../src/editor/worktrees/discarded-worktrees.ts'
import { linkedWorktrees, worktreesFolder } from '../../../../src/editor/worktrees/linked-worktrees.ts'
import {
  findWorktree,
  isEmpty,
  listWorktrees,
  openRepository,
  readWorktreeState,
  removeWorktree,
  type Worktree,
} from '../../../../src/editor/worktrees/repository.ts'
import {
  applyWorktree,
  commitAll,
  createBranch,
  mergeWorktree,
} from '../../../../src/editor/worktrees/use-worktree.ts'
import { changesOf } from '../../../../src/editor/worktrees/worktree-changes.ts'
import { until } from '../../../support/until.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe('worktrees', () => {
  let directory = ''
  let top = ''
  const variables = { ...process.env }

  /** Runs Git like a user. */
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
      .toString()
      .trimEnd()
  const write = (folder: string, files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
      writeFileSync(path.join(folder, name), text)
    }
  }
  const read = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8')
  const status = (folder: string) => git(folder, 'status', '--porcelain')
  const make = async (name = 'task', from?: string) => {
    const repository = await openRepository(top)
    return createWorktree(repository, { name, folder: '', ...(from !== undefined && { from }) })
  }
  const has = (name: string) =>
    git(top, 'for-each-ref', '--format=%(refname:short)').split('\n').includes(name)

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'parley-worktrees-')))
    writeFileSync(
      path.join(directory, 'gitconfig'),
      '[user]\nname = a\nemail = a@example.com\n[init]\ndefaultBranch = main\n',
    )
    process.env.HOME = directory
    process.env.XDG_CONFIG_HOME = directory
    writeFileSync(path.join(directory, '.gitconfig'), read(directory, 'gitconfig'))
    top = path.join(directory, 'project')
    mkdirSync(top)
    git(top, 'init', '-q')
    write(top, {
      'a.txt': 'one\ntwo\nthree\nfour\nfive\n',
      'b/c.txt': 'c\n',
      '.gitignore': '.env\nbuild/\nsecrets/\n',
    })
    git(top, 'add', '.')
    git(top, 'commit', '-q', '-m', 'first')
  })
  afterEach(() => {
    process.env.HOME = variables.HOME
    if (variables.XDG_CONFIG_HOME === undefined) delete process.env.XDG_CONFIG_HOME
    else process.env.XDG_CONFIG_HOME = variables.XDG_CONFIG_HOME
    rmSync(directory, { recursive: true, force: true })
  })

  describe('are made', () => {
    it('beside the repository, with a branch at the current commit', async () => {
      write(top, { 'a.txt': 'uncommitted\n' })
      const { worktree, notes } = await make()
      assert.equal(worktree.path, path.join(directory, 'project.worktrees', 'task'))
      assert.equal(worktree.current, 'parley/task')
      assert.equal(worktree.head, git(top, 'rev-parse', 'HEAD'))
      assert.equal(read(worktree.path, 'a.txt'), 'one\ntwo\nthree\nfour\nfive\n')
      assert.deepEqual(notes, [])
      assert.equal(status(worktree.path), '')
      assert.equal(status(top), ' M a.txt')
      assert.deepEqual(await listWorktrees(await openRepository(top)), [worktree])
      assert.deepEqual(await findWorktree(path.join(worktree.path, 'b')), worktree)
      assert.equal(await findWorktree(top), undefined)
      const linked = {
        common: path.join(top, '.git'),
        main: top,
        worktrees: [{ path: worktree.path, branch: 'parley/task' }],
      }
      for (const folder of [path.join(top, 'b'), worktree.path]) {
        assert.deepEqual(await linkedWorktrees(folder), linked)
      }
      assert.ok(isEmpty(await readWorktreeState(worktree)))
    })

    it('from another branch, a detached head, a worktree and a folder of the repository', async () => {
      git(top, 'branch', 'old')
      write(top, { 'd.txt': 'd' })
      git(top, 'add', '.')
      git(top, 'commit', '-q', '-m', 'second')
      const { worktree: old } = await make('from-old', 'old')
      assert.ok(!existsSync(path.join(old.path, 'd.txt')))
      assert.deepEqual((await listBranches(await openRepository(top))).map(({ name }) => name).sort(), [
        'main',
        'old',
        'parley/from-old',
      ])
      git(top, 'checkout', '-q', '--detach')
      const repository = await openRepository(path.join(top, 'b'))
      assert.equal(repository.top, top)
      assert.equal(repository.branch, undefined)
      await createWorktree(repository, { name: 'detached', folder: '' })
      const inner = await openRepository(old.path)
      const { worktree } = await createWorktree(inner, { name: 'again', folder: '' })
      assert.equal(worktree.path, path.join(directory, 'project.worktrees', 'again'))
      assert.equal(worktree.base, old.head)
    })

    it('in the folder of the setting', async () => {
      const repository = await openRepository(top)
      assert.equal(worktreesFolder(repository, '../other'), path.join(directory, 'other'))
      assert.ok(worktreesFolder(repository, '~/trees').endsWith(`${path.sep}trees`))
      await assert.rejects(
        createWorktree(repository, { name: 'in', folder: 'trees' }),
        /Git doesn't ignore it/,
      )
      assert.deepEqual(readdirSync(top).sort(), ['.git', '.gitignore', 'a.txt', 'b'])
      const { worktree } = await createWorktree(repository, { name: 'in', folder: 'build' })
      assert.equal(worktree.path, path.join(top, 'build', 'in'))
      assert.equal(status(top), '')
    })

    it('without hooks', async () => {
      write(top, { '.git/hooks/post-checkout': `#!/bin/sh\ntouch '${directory}/ran'\n` })
      execFileSync('chmod', ['+x', path.join(top, '.git/hooks/post-checkout')])
      await make()
      assert.ok(!existsSync(path.join(directory, 'ran')))
    })

    it('or not, without leaving anything', async () => {
      const repository = await openRepository(top)
      git(top, 'branch', 'parley')
      await assert.rejects(createWorktree(repository, { name: 'task', folder: '' }), /refs\/heads\/parley/)
      assert.equal(git(top, 'worktree', 'list').split('\n').length, 1)
      git(top, 'branch', '-D', 'parley')
      await assert.rejects(createWorktree(repository, { name: 'task', from: '--all', folder: '' }))
      await assert.rejects(createWorktree(repository, { name: '../x', folder: '' }), /letters/)
      write(directory, { 'project.worktrees/task/mine.txt': 'mine' })
      await assert.rejects(createWorktree(repository, { name: 'task', folder: '' }), /already exists/)
      assert.equal(read(directory, 'project.worktrees/task/mine.txt'), 'mine')
      assert.equal(await freeName(repository, '', 'task'), 'task-2')
      git(top, 'branch', 'parley/taken')
      await assert.rejects(
        createWorktree(repository, { name: 'taken', folder: '' }),
        /already a branch parley\/taken/,
      )
      assert.ok(has('parley/taken'))
      // a filter that fails, as Git LFS does without its server
      git(top, 'config', 'filter.lfs.smudge', 'false')
      git(top, 'config', 'filter.lfs.clean', 'cat')
      git(top, 'config', 'filter.lfs.required', 'true')
      write(top, { '.gitattributes': 'b/* filter=lfs\n' })
      git(top, 'add', '.gitattributes')
      git(top, 'commit', '-q', '-m', 'lfs')
      await assert.rejects(createWorktree(await openRepository(top), { name: 'lfs', folder: '' }), /lfs/)
      assert.ok(!existsSync(path.join(directory, 'project.worktrees', 'lfs')))
      assert.ok(!has('parley/lfs'))
    })

    it('or not, without touching worktrees whose folders are missing', async () => {
      const repository = await openRepository(top)
      // its own branch is gone, so that only Git's list has its name
      const { worktree } = await make('away')
      const { path: at } = await createBranch(repository, worktree, 'feature')
      git(at, 'checkout', '-q', '--detach')
      git(at, 'commit', '-q', '--allow-empty', '-m', 'only here')
      const head = git(at, 'rev-parse', 'HEAD')
      git(top, 'branch', '-D', 'feature')
      const other = path.join(directory, 'other')
      git(top, 'worktree', 'add', '-q', '--detach', other)
      for (const folder of [at, other]) renameSync(folder, `${folder}-moved`)
      assert.equal(await freeName(repository, '', 'away'), 'away-2')
      await assert.rejects(createWorktree(repository, { name: 'away', folder: '' }), /already a worktree/)
      git(top, 'config', 'filter.lfs.smudge', 'false')
      git(top, 'config', 'filter.lfs.required', 'true')
      write(top, { '.git/info/attributes': 'b/* filter=lfs\n' })
      await assert.rejects(createWorktree(repository, { name: 'lfs', folder: '' }), /lfs/)
      git(top, 'config', '--unset', 'filter.lfs.required')
      for (const folder of [at, other]) renameSync(`${folder}-moved`, folder)
      assert.equal(git(at, 'rev-parse', 'HEAD'), head)
      assert.equal(git(other, 'diff', '--cached', '--name-only'), '')
      assert.equal((await findWorktree(at))?.base, worktree.base)
    })

    it('from the branch, not from a tag of the same name', async () => {
      git(top, 'branch', 'release')
      git(top, 'commit', '-q', '--allow-empty', '-m', 'second')
      git(top, 'tag', 'release')
      const branch = (await listBranches(await openRepository(top))).find(({ name }) => name === 'release')
      assert.equal(branch?.commit, git(top, 'rev-parse', 'refs/heads/release'))
    })

    it('with the filters of the user, such as Git LFS', async () => {
      git(top, 'config', 'filter.lfs.smudge', 'sed s/pointer/content/')
      git(top, 'config', 'filter.lfs.clean', 'sed s/content/pointer/')
      write(top, { '.gitattributes': '*.bin filter=lfs\n', 'x.bin': 'content\n' })
      git(top, 'add', '.')
      git(top, 'commit', '-q', '-m', 'lfs')
      const { worktree } = await make()
      assert.equal(read(worktree.path, 'x.bin'), 'content\n')
      write(worktree.path, { 'x.bin': 'content 2\n' })
      assert.deepEqual((await applyWorktree(worktree, top, async () => true))?.files, ['x.bin'])
      assert.equal(read(top, 'x.bin'), 'content 2\n')
    })

    it('with the ignored files of .worktreeinclude', async () => {
      write(directory, { 'outside/key': 'outside' })
      write(top, {
        '.worktreeinclude': '.env\nsecrets/*\n!secrets/not\na.txt\nnew.txt\nlink\n',
        '.env': 'env',
        'secrets/deep/key': 'key',
        'secrets/not': 'not',
        'build/out': 'out',
        'new.txt': 'new, but not ignored',
        '.git/info/exclude': 'link\nlinked\n',
      })
      symlinkSync(path.join(directory, 'outside', 'key'), path.join(top, 'secrets', 'key-link'))
      symlinkSync(path.join(directory, 'outside'), path.join(top, 'link'))
      const { worktree, notes } = await make()
      assert.deepEqual(readdirSync(worktree.path).sort(), [
        '.env',
        '.git',
        '.gitignore',
        'a.txt',
        'b',
        'secrets',
      ])
      assert.deepEqual(readdirSync(path.join(worktree.path, 'secrets')), ['deep'])
      assert.equal(read(worktree.path, 'secrets/deep/key'), 'key')
      assert.deepEqual(worktree.copied.map(({ file }) => file).sort(), ['.env', 'secrets/deep/key'])
      assert.match(notes.join(), /2 files of \.worktreeinclude weren't copied/)
      assert.ok(isEmpty(await readWorktreeState(worktree)))
      assert.ok(!(await readWorktreeState(worktree)).ignored.includes('.env'))
      write(worktree.path, { '.env': 'edited' })
      assert.ok((await readWorktreeState((await findWorktree(worktree.path))!)).ignored.includes('.env'))
    })

    it('without following a link that the commit has where there is a folder now', async () => {
      mkdirSync(path.join(directory, 'outside'))
      symlinkSync(path.join(directory, 'outside'), path.join(top, 'secret'))
      git(top, 'add', '.')
      git(top, 'commit', '-q', '-m', 'link')
      rmSync(path.join(top, 'secret'))
      write(top, { '.worktreeinclude': 'secret/\n', 'secret/key': 'key', '.gitignore': 'secret/\n' })
      const { notes } = await make()
      assert.deepEqual(readdirSync(path.join(directory, 'outside')), [])
      assert.match(notes.join(), /secret\/key/)
    })

    it('of repositories with submodules and sparse checkouts', async () => {
      const inner = path.join(directory, 'inner')
      mkdirSync(inner)
      git(inner, 'init', '-q')
      git(inner, 'commit', '-q', '--allow-empty', '-m', 'inner')
      git(top, 'submodule', '--quiet', 'add', inner, 'sub')
      git(top, 'commit', '-q', '-m', 'sub')
      await assert.rejects(openRepository(path.join(top, 'sub')), /is a submodule/)
      const { worktree, notes } = await make()
      assert.match(notes.join(), /Submodules/)
      assert.ok(isEmpty(await readWorktreeState(worktree)))
      git(worktree.path, 'submodule', '--quiet', 'update', '--init')
      const { nested } = await readWorktreeState(worktree)
      assert.deepEqual(nested, ['sub'])
      const repository = await openRepository(top)
      await assert.rejects(removeWorktree(repository, worktree), /exist only there/)
      await assert.rejects(discardWorktree(repository, worktree), /history of their own.*sub/)
      assert.ok(existsSync(worktree.path))

      git(top, 'sparse-checkout', 'set', 'b')
      const { worktree: sparse } = await make('sparse')
      write(sparse.path, { 'b/new.txt': 'new', 'a.txt': 'changed' })
      const kept = await discardWorktree(repository, sparse)
      assert.equal(git(top, 'diff', '--name-only', `${kept}^`, kept), 'a.txt\nb/new.txt')
    })

    it('only in a repository with files and commits', async () => {
      await assert.rejects(openRepository(directory), /isn't in a Git repository/)
      const empty = path.join(directory, 'empty')
      mkdirSync(empty)
      git(empty, 'init', '-q')
      await assert.rejects(openRepository(empty), /no commits yet/)
      git(directory, 'clone', '-q', '--bare', top, 'bare.git')
      await assert.rejects(openRepository(path.join(directory, 'bare.git')), /is bare/)
      git(path.join(directory, 'bare.git'), 'worktree', 'add', '-q', '../checked-out')
      const repository = await openRepository(path.join(directory, 'checked-out'))
      const { worktree } = await createWorktree(repository, { name: 'task', folder: '' })
      assert.equal(worktree.path, path.join(directory, 'bare.worktrees', 'task'))
    })

    it('of repositories whose folder has lines in its name, or that have a branch named HEAD', async () => {
      // Windows has no such names
      const odd = path.join(directory, process.platform === 'win32' ? 'lines' : 'two\nlines')
      renameSync(top, odd)
      const expected = {
        top: odd,
        main: odd,
        common: path.join(odd, '.git'),
        head: git(odd, 'rev-parse', 'HEAD'),
      }
      assert.deepEqual(await openRepository(path.join(odd, 'b')), { ...expected, branch: 'main' })
      git(odd, 'update-ref', 'refs/heads/HEAD', expected.head)
      assert.deepEqual(await openRepository(odd), { ...expected, branch: 'main' })
      git(odd, 'update-ref', '-d', 'refs/heads/HEAD')
      git(odd, 'checkout', '-q', '--detach')
      assert.deepEqual(await openRepository(odd), expected)
    })
  })

  it('have names that are valid everywhere', () => {
    assert.equal(
      nameFrom('Fix the “login” page, please!\nIt fails with ../../etc'),
      'fix-the-login-page-please-it-fails-with',
    )
    assert.equal(nameFrom('修复 登录'), '修复-登录')
    assert.equal(nameFrom('  ...  '), 'session')
    assert.equal(nameFrom('NUL'), 'session')
    assert.equal(nameFrom('x'.repeat(200)), 'x'.repeat(20))
    for (const name of [
      '',
      '-x',
      '.x',
      'a..b',
      'a.lock',
      'a.',
      'a/b',
      'a\\b',
      'a b',
      'con',
      'x'.repeat(61),
      'a@{b',
    ]) {
      assert.ok(nameProblem(name), name)
    }
    assert.equal(nameProblem('fix-1.2_b'), undefined)
    assert.match(nameProblem('.x') ?? '', /^Start with a letter/)
    assert.equal(nameProblem('a.lock'), "“a.lock” isn't a valid name.")
  })

  describe('are removed', () => {
    it('with their branch if nothing is in them', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      write(worktree.path, { 'new.txt': 'new' })
      assert.deepEqual((await readWorktreeState(worktree)).changed, ['new.txt'])
      await assert.rejects(removeWorktree(repository, worktree), /exist only there/)
      const committed = await commitAll(worktree, 'work')
      assert.equal((await readWorktreeState(committed)).commits, 1)
      await assert.rejects(removeWorktree(repository, committed), /exist only there/)
      git(top, 'branch', 'elsewhere', committed.head)
      await removeWorktree(repository, committed)
      assert.ok(!existsSync(worktree.path))
      assert.ok(!has('parley/task'))
      assert.ok(has('elsewhere'))
    })

    it('but not if only their branch has a commit, also with a detached head', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'new.txt': 'new' })
      const committed = await commitAll(worktree, 'work')
      git(worktree.path, 'checkout', '-q', '--detach')
      assert.equal((await readWorktreeState(committed)).commits, 1)
      await assert.rejects(removeWorktree(await openRepository(top), committed), /exist only there/)
      assert.equal(git(top, 'rev-parse', 'parley/task'), committed.head)
    })

    it('but not in the middle of a rebase, or if they are locked', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      writeFileSync(
        path.join(git(worktree.path, 'rev-parse', '--absolute-git-dir'), 'MERGE_HEAD'),
        `${worktree.head}\n`,
      )
      await assert.rejects(removeWorktree(repository, worktree), /exist only there/)
      git(top, 'worktree', 'lock', worktree.path)
      await assert.rejects(discardWorktree(repository, worktree), /lock/)
      assert.ok(existsSync(path.join(worktree.path, 'a.txt')))
    })

    for (const isTidied of [false, true])
      it(`with a copy that can be restored${isTidied ? ', also days later' : ''}`, async () => {
        let { worktree } = await make()
        const repository = await openRepository(top)
        write(worktree.path, { 'committed.txt': 'committed' })
        worktree = await commitAll(worktree, 'work')
        write(worktree.path, { 'a.txt': 'staged\n', 'b/new.txt': 'new', 'build/out': 'ignored' })
        git(worktree.path, 'add', 'a.txt')
        write(worktree.path, { 'a.txt': 'changed\n' })
        rmSync(path.join(worktree.path, 'b', 'c.txt'))
        assert.deepEqual((await readWorktreeState(worktree)).ignored, ['build/'])
        const at = Date.now()
        const ref = await discardWorktree(repository, worktree, { now: at })
        assert.ok(!existsSync(worktree.path))
        assert.ok(!has('parley/task'))
        git(top, 'gc', '-q', '--prune=now')
        assert.deepEqual(await listDiscarded(repository, () => 0), [{ ref, name: 'task', at }])
        // later, only the copy is left
        if (isTidied) await tidyDiscarded(repository.common, silentLogger, at + DAY_MS)
        assert.equal(existsSync(path.join(directory, 'project.worktrees', '.discarded')), !isTidied)
        const restored = await restoreDiscarded(repository, { ref, name: 'task' }, { folder: '' })
        assert.equal(restored.head, worktree.head)
        assert.equal(read(restored.path, 'committed.txt'), 'committed')
        assert.equal(status(restored.path), 'MM a.txt\n D b/c.txt\n?? b/new.txt')
        assert.equal(git(restored.path, 'show', ':a.txt'), 'staged')
        assert.equal(read(restored.path, 'a.txt'), 'changed\n')
        assert.deepEqual(await listDiscarded(repository, () => DISCARDED_WORKTREE_DAYS * DAY_MS - 1), [
          { ref, name: 'task', at },
        ])
        assert.deepEqual(await listDiscarded(repository, () => DISCARDED_WORKTREE_DAYS * DAY_MS), [])
        assert.deepEqual(await listDiscarded(repository, () => 0), [])
        assert.ok(!existsSync(path.join(restored.path, 'build')))
        assert.deepEqual(
          git(top, 'worktree', 'list')
            .split('\n')
            .map(line => line.split(' ')[0]),
          [top, restored.path],
        )
      })

    it('with what programs write meanwhile and later', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      write(worktree.path, { 'a.txt': 'changed\n' })
      // one keeps its file open, and it makes new files by their relative path
      const loop =
        'exec 3>>log; i=0; while :; do i=$((i+1)); echo $i >&3; echo $i >new-$i; echo $i; sleep 0.01; done'
      const writer = spawn('sh', ['-c', loop], { cwd: worktree.path, stdio: ['ignore', 'pipe', 'ignore'] })
      let written = 0
      writer.stdout.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) written = Math.max(written, Number(line))
      })
      const more = async () => {
        const enough = written + 5
        await until(() => written >= enough)
      }
      try {
        await more()
        const ref = await discardWorktree(repository, worktree)
        assert.ok(!existsSync(worktree.path))
        await more()
        const { path: at } = await restoreDiscarded(repository, { ref, name: 'task' }, { folder: '' })
        assert.equal(at, worktree.path)
        await more()
        writer.kill()
        await once(writer, 'close')
        const lines = read(at, 'log').trim().split('\n').map(Number)
        for (let number = 1; number <= written; number++) {
          assert.equal(lines[number - 1], number)
          assert.equal(read(at, `new-${number}`), `${number}\n`)
        }
        assert.equal(read(at, 'a.txt'), 'changed\n')
        assert.ok(has('parley/task'))
      } finally {
        writer.kill('SIGKILL')
      }
    })

    it('with what was written on their last day, and ignored files only as they were agreed to', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      write(worktree.path, { 'new.txt': 'one', 'build/out': 'ignored' })
      const at = Date.now()
      const ref = await discardWorktree(repository, worktree, { now: at, ignored: ['build/'] })
      const folder = path.join(directory, 'project.worktrees', '.discarded', path.basename(ref))
      assert.deepEqual(readdirSync(folder).sort(), ['.git', '.gitignore', 'a.txt', 'b', 'new.txt'])
      write(folder, { 'new.txt': 'two' })
      await tidyDiscarded(repository.common, silentLogger, at + DAY_MS - 1)
      assert.ok(existsSync(folder))
      await tidyDiscarded(repository.common, silentLogger, at + DAY_MS)
      assert.ok(!existsSync(folder))
      assert.deepEqual(readdirSync(path.join(top, '.git', 'parley-discarded')), [])
      assert.equal(git(top, 'show', `${ref}:new.txt`), 'two')
    })

    it('and restored next to a new worktree with the same name', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      write(worktree.path, { 'new.txt': 'first' })
      const ref = await discardWorktree(repository, worktree)
      const { worktree: other } = await make()
      write(other.path, { 'new.txt': 'second' })
      const committed = await commitAll(other, 'second')
      const restored = await restoreDiscarded(repository, { ref, name: 'task' }, { folder: '' })
      assert.equal(restored.name, 'task-2')
      assert.equal(restored.branch, 'parley/task-2')
      assert.equal(restored.current, 'parley/task-2')
      assert.equal(restored.head, worktree.head)
      assert.equal(status(restored.path), '?? new.txt')
      assert.equal(read(restored.path, 'new.txt'), 'first')
      assert.deepEqual(await findWorktree(other.path), committed)
    })

    it('or not, if that was interrupted', async () => {
      const { worktree } = await make()
      const { common } = await openRepository(top)
      const own = git(worktree.path, 'rev-parse', '--absolute-git-dir')
      const away = path.join(directory, 'project.worktrees', '.discarded', 'task-1')
      mkdirSync(path.dirname(away))
      writeFileSync(path.join(own, 'parley-moved'), away)
      renameSync(worktree.path, away)
      await tidyDiscarded(common, silentLogger)
      assert.ok(!existsSync(worktree.path))
      await tidyDiscarded(common, silentLogger, Date.now() + 601_000)
      assert.deepEqual(await findWorktree(worktree.path), worktree)
      assert.ok(!existsSync(path.dirname(away)))
      assert.ok(!existsSync(path.join(own, 'parley-moved')))
    })

    it('with a copy of what is only staged', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      write(worktree.path, { 'new.txt': 'staged' })
      git(worktree.path, 'add', 'new.txt')
      rmSync(path.join(worktree.path, 'new.txt'))
      const ref = await discardWorktree(repository, worktree)
      const restored = await restoreDiscarded(repository, { ref, name: 'task' }, { folder: '' })
      assert.equal(status(restored.path), 'AD new.txt')
      assert.equal(git(restored.path, 'show', ':new.txt'), 'staged')
    })

    it('with changes that Git was told to ignore', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      git(worktree.path, 'update-index', '--skip-worktree', 'a.txt')
      git(worktree.path, 'update-index', '--assume-unchanged', 'b/c.txt')
      assert.ok(isEmpty(await readWorktreeState(worktree)))
      write(worktree.path, { 'a.txt': 'skipped', 'b/c.txt': 'assumed' })
      assert.equal(status(worktree.path), '')
      assert.deepEqual((await readWorktreeState(worktree)).changed, ['a.txt', 'b/c.txt'])
      await assert.rejects(removeWorktree(repository, worktree), /only there/)
      const ref = await discardWorktree(repository, worktree)
      const restored = await restoreDiscarded(repository, { ref, name: 'task' }, { folder: '' })
      assert.equal(read(restored.path, 'a.txt'), 'skipped')
      assert.equal(read(restored.path, 'b/c.txt'), 'assumed')
    })

    it('with a copy also in the middle of a merge with conflicts', async () => {
      const { worktree } = await make()
      write(top, { 'a.txt': 'mine\n' })
      git(top, 'commit', '-q', '-a', '-m', 'mine')
      write(worktree.path, { 'a.txt': 'theirs\n' })
      const { path: at } = await commitAll(worktree, 'theirs')
      assert.throws(() => git(at, 'merge', '-q', 'main'))
      const repository = await openRepository(top)
      const ref = await discardWorktree(repository, worktree)
      const restored = await restoreDiscarded(repository, { ref, name: 'task' }, { folder: '' })
      assert.match(read(restored.path, 'a.txt'), /<<<</)
    })

    it('but not with ignored files that appeared after the user had agreed', async () => {
      const { worktree } = await make()
      const repository = await openRepository(top)
      write(top, { '.git/info/exclude': '*.log\n' })
      write(worktree.path, { 'a.txt': 'changed', 'known.log': 'known', 'late.log': 'late' })
      await assert.rejects(discardWorktree(repository, worktree, { ignored: ['known.log'] }), /late\.log/)
      assert.equal(read(worktree.path, 'late.log'), 'late')
      assert.deepEqual(await listDiscarded(repository, () => 0), [])
      const { ignored } = await readWorktreeState(worktree)
      await discardWorktree(repository, worktree, { ignored })
      assert.equal(existsSync(worktree.path), false)
    })

    it('but not if the agent made a repository in them', async () => {
      const { worktree } = await make()
      mkdirSync(path.join(worktree.path, 'own'))
      git(path.join(worktree.path, 'own'), 'init', '-q')
      git(path.join(worktree.path, 'own'), 'commit', '-q', '--allow-empty', '-m', 'own')
      assert.deepEqual((await readWorktreeState(worktree)).nested, ['own'])
      await assert.rejects(discardWorktree(await openRepository(top), worktree), /history of their own.*own/)
      await assert.rejects(commitAll(worktree, 'work'), /history of their own: own/)
      await assert.rejects(
        applyWorktree(worktree, top, async () => true),
        /history of their own: own/,
      )
      assert.equal(status(worktree.path), '?? own/')
      write(top, { '.git/info/exclude': 'own\n', 'a.txt': 'mine' })
      write(worktree.path, { 'new.txt': 'new' })
      await commitAll(worktree, 'work')
      assert.equal(git(worktree.path, 'ls-tree', '-r', '--name-only', 'HEAD').includes('own'), false)
    })
  })

  describe('are applied to the workspace', () => {
    const apply = (worktree: Worktree, to = top) => applyWorktree(worktree, to, async () => true)

    it('as uncommitted changes, committed or not', async () => {
      let { worktree } = await make()
      write(worktree.path, { 'a.txt': 'ONE\ntwo\nthree\nfour\nfive\n' })
      worktree = await commitAll(worktree, 'work')
      write(worktree.path, { 'new.txt': 'new' })
      rmSync(path.join(worktree.path, 'b', 'c.txt'))
      // the user goes on meanwhile
      write(top, { 'a.txt': 'one\ntwo\nthree\nfour\nFIVE\n', 'mine.txt': 'mine' })
      git(top, 'add', 'mine.txt')
      git(top, 'commit', '-q', '-m', 'mine')
      assert.deepEqual(await apply(worktree), { files: ['a.txt', 'b/c.txt', 'new.txt'], conflicts: [] })
      assert.equal(read(top, 'a.txt'), 'ONE\ntwo\nthree\nfour\nFIVE\n')
      assert.equal(status(top), ' M a.txt\n D b/c.txt\n?? new.txt')
      assert.deepEqual(await apply(worktree), { files: [], conflicts: [] })
      assert.deepEqual(
        readdirSync(path.join(top, '.git')).filter(name => name.startsWith('parley-index')),
        [],
      )
      // what the agent does next
      write(worktree.path, { 'new.txt': 'newer' })
      assert.deepEqual(await apply(worktree), { files: ['new.txt'], conflicts: [] })
      assert.equal(read(top, 'new.txt'), 'newer')
      assert.equal(status(worktree.path), ' D b/c.txt\n?? new.txt')
    })

    it('with conflicts as Git shows them, of texts, deleted and new files', async () => {
      const { worktree } = await make()
      write(worktree.path, {
        'a.txt': 'theirs\ntwo\nthree\nfour\nfive\n',
        'b/c.txt': 'theirs\n',
        'new.txt': 'theirs\n',
      })
      write(top, { 'a.txt': 'mine\ntwo\nthree\nfour\nFIVE\n', 'new.txt': 'mine\n' })
      rmSync(path.join(top, 'b', 'c.txt'))
      assert.deepEqual((await apply(worktree))?.conflicts, ['a.txt', 'b/c.txt', 'new.txt'])
      assert.match(
        read(top, 'a.txt'),
        /^<<<<<<< Workspace\nmine\n=======\ntheirs\n>>>>>>> Worktree\ntwo\nthree\nfour\nFIVE\n$/,
      )
      assert.equal(read(top, 'b/c.txt'), 'theirs\n')
      assert.equal(status(top), 'UU a.txt\nDU b/c.txt\nAA new.txt')
      assert.equal(git(top, 'show', ':2:a.txt'), 'mine\ntwo\nthree\nfour\nFIVE')
      await assert.rejects(apply(worktree), /Resolve them first/)
    })

    it('with the names of the sides, where both have something else at a path', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'd/x': 'theirs' })
      write(top, { d: 'mine' })
      const applied = await apply(worktree)
      assert.deepEqual(applied, { files: ['d', 'd/x', 'd~Workspace'], conflicts: ['d~Workspace'] })
      assert.equal(read(top, 'd/x'), 'theirs')
      assert.equal(read(top, 'd~Workspace'), 'mine')
    })

    it('with folders in place of files, and files in place of folders', async () => {
      const { worktree } = await make()
      rmSync(path.join(worktree.path, 'b'), { recursive: true })
      rmSync(path.join(worktree.path, 'a.txt'))
      write(worktree.path, { b: 'file', 'a.txt/x/y': 'folder' })
      symlinkSync('x', path.join(worktree.path, 'link'))
      writeFileSync(path.join(worktree.path, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
      const files = ['a.txt', 'a.txt/x/y', 'b', 'b/c.txt', 'link', 'run.sh']
      assert.deepEqual((await apply(worktree))?.files, files)
      for (const folder of [top, worktree.path]) git(folder, 'add', '--all')
      assert.equal(git(top, 'write-tree'), git(worktree.path, 'write-tree'))
    })

    it('but none if one can not be written, or Git is at work', async () => {
      const { worktree } = await make()
      const theirs = { 'a.txt': 'theirs\n', 'b/c.txt': 'theirs\n', 'c/d/new.txt': 'new' }
      write(worktree.path, theirs)
      rmSync(path.join(worktree.path, '.gitignore'))
      write(top, { 'a.txt': 'mine\n' })
      const state = () => [status(top), ...['a.txt', 'b/c.txt', '.gitignore'].map(name => read(top, name))]
      const before = state()
      const fails = async (reason: RegExp) => {
        await assert.rejects(apply(worktree), reason)
        assert.deepEqual(state(), before)
        const left = readdirSync(path.join(top, '.git')).filter(name => /parley-(apply|index)/.test(name))
        assert.deepEqual(left, [])
      }
      write(top, { '.git/index.lock': '' })
      await fails(/Another Git command is running in the workspace.*index\.lock/)
      rmSync(path.join(top, '.git', 'index.lock'))
      // Git ignores it
      write(top, { '.git/info/exclude': 'c\n' })
      git(worktree.path, 'add', '--force', 'c')
      symlinkSync(directory, path.join(top, 'c'))
      await fails(/c\/d\/new\.txt can't be created/)
      assert.ok(!existsSync(path.join(directory, 'd')))
      rmSync(path.join(top, 'c'))
      assert.deepEqual((await apply(worktree))?.conflicts, ['a.txt'])
      assert.equal(status(top), ' D .gitignore\nUU a.txt\n M b/c.txt')
    })

    it('but none on a full disk', async function () {
      if (process.platform !== 'linux' || process.getuid?.() !== 0) return this.skip()
      const disk = path.join(directory, 'disk')
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk])
      try {
        renameSync(path.join(top, '.git'), path.join(directory, 'moved.git'))
        execFileSync('cp', ['-a', `${top}/.`, disk])
        execFileSync('cp', ['-a', path.join(directory, 'moved.git'), path.join(disk, '.git')])
        const repository = await openRepository(disk)
        const { worktree } = await createWorktree(repository, {
          name: 'task',
          folder: path.join(directory, 'w'),
        })
        const large = 'x'.repeat(100_000)
        for (const name of ['a.txt', 'b/c.txt', 'n1', 'n2', 'n3']) write(worktree.path, { [name]: large })
        write(disk, { 'a.txt': 'mine\n' })
        const state = () => [status(disk), read(disk, 'a.txt'), read(disk, 'b/c.txt')]
        const before = state()
        const filler = path.join(disk, '.git', 'filler')
        // as full as possible, and with some room for parts of it
        for (const room of [0, 4, 40, 150, 250, 350, 450]) {
          execFileSync('sh', [
            '-c',
            `cat /dev/zero >'${filler}' 2>/dev/null || truncate -s -${room}K '${filler}'`,
          ])
          const applied = await apply(worktree, disk).catch(error => assert.ok(error instanceof Error))
          rmSync(filler)
          if (applied) break
          assert.deepEqual(state(), before)
        }
        if (!existsSync(path.join(disk, 'n3'))) await apply(worktree, disk)
        assert.equal(status(disk), 'UU a.txt\n M b/c.txt\n?? n1\n?? n2\n?? n3')
      } finally {
        execFileSync('umount', ['-l', disk])
      }
    })

    it('but none if a file changes while they are moved, or one is on another disk', async function () {
      if (process.platform !== 'linux' || process.getuid?.() !== 0) return this.skip()
      const { worktree } = await make()
      write(worktree.path, { 'a.txt': 'theirs\n', 'b/c.txt': 'theirs\n', 'e/new.txt': 'theirs\n' })
      const mounted = path.join(top, 'b')
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', mounted])
      try {
        write(top, { 'b/c.txt': 'c\n' })
        await assert.rejects(apply(worktree), /EXDEV/)
        assert.equal(status(top), '')
        assert.deepEqual(readdirSync(top).sort(), ['.git', '.gitignore', 'a.txt', 'b'])
        assert.equal((await changesOf(worktree)).applied, undefined)
      } finally {
        execFileSync('umount', ['-l', mounted])
      }
      assert.deepEqual((await apply(worktree))?.files, ['a.txt', 'b/c.txt', 'e/new.txt'])
      assert.equal((await changesOf(worktree)).applied, 'all')
    })

    it('with all conflicts after another Git command, or none if the index can not be replaced', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'a.txt': 'theirs\n', 'b/c.txt': 'theirs\n', 'new.txt': 'theirs\n' })
      write(top, { 'a.txt': 'mine\n' })
      const state = () => [
        ...[git(top, 'ls-files', '--stage'), status(top), existsSync(path.join(top, 'new.txt'))],
        ...['a.txt', 'b/c.txt'].map(name => read(top, name)),
      ]
      const before = state()
      const isMaking = () =>
        readdirSync(path.join(top, '.git')).some(name => name.startsWith('.parley-apply'))
      const index = path.join(top, '.git', 'index')
      if (process.platform === 'linux' && process.getuid?.() === 0) {
        // like a program that has it open on Windows
        execFileSync('mount', ['--bind', index, index])
        try {
          await assert.rejects(apply(worktree), /EBUSY/)
        } finally {
          execFileSync('umount', ['-l', index])
        }
        assert.deepEqual(state(), before)
        assert.equal((await changesOf(worktree)).applied, undefined)
        assert.ok(!isMaking())
      }
      const lock = `${index}.lock`
      const applying = applyWorktree(worktree, top, async () => {
        write(top, { '.git/index.lock': '' })
        return true
      })
      await until(isMaking)
      assert.deepEqual(state(), before)
      rmSync(lock)
      assert.deepEqual((await applying)?.conflicts, ['a.txt'])
      assert.equal(read(top, 'a.txt'), '<<<<<<< Workspace\nmine\n=======\ntheirs\n>>>>>>> Worktree\n')
      assert.equal(status(top), 'UU a.txt\n M b/c.txt\n?? new.txt')
      assert.ok(!existsSync(lock))
    })

    it('but not in the middle of a rebase that stopped without conflicts', async () => {
      let { worktree } = await make()
      for (const name of ['one', 'two']) {
        write(worktree.path, { [`${name}.txt`]: name })
        worktree = await commitAll(worktree, name)
      }
      const edit = ['-c', 'sequence.editor=sed -i s/^pick/edit/', 'rebase', '-q', '-i']
      git(worktree.path, ...edit, 'HEAD~2')
      worktree = (await findWorktree(worktree.path))!
      await assert.rejects(apply(worktree), /in progress in the worktree/)
      git(worktree.path, 'rebase', '--abort')
      worktree = (await findWorktree(worktree.path))!
      write(top, { 'mine.txt': 'mine' })
      git(top, 'add', '.')
      git(top, 'commit', '-q', '-m', 'mine')
      git(top, ...edit, 'HEAD~1')
      await assert.rejects(apply(worktree), /in progress in the workspace/)
      await assert.rejects(mergeWorktree(worktree, top), /in progress in the workspace/)
      assert.equal(status(top), '')
      git(top, 'rebase', '--abort')
      assert.deepEqual((await apply(worktree))?.files, ['one.txt', 'two.txt'])
    })

    it('without storing the other untracked files of the workspace', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'new.txt': 'theirs', d: 'file', 'e/f.txt': 'theirs' })
      write(top, { 'big.bin': 'big', 'new.txt': 'theirs', 'd/x': 'in the way', e: 'in the way' })
      mkdirSync(path.join(top, 'own'))
      git(path.join(top, 'own'), 'init', '-q')
      const applied = await applyWorktree(worktree, top, async () => false)
      assert.equal(applied, undefined)
      const big = git(top, 'hash-object', 'big.bin')
      assert.throws(() => git(top, 'cat-file', '-e', big))
      let conflicts: string[] = []
      await applyWorktree(worktree, top, async applied => {
        conflicts = applied.conflicts
        return false
      })
      assert.equal(conflicts.length, 2)
      for (const name of ['d', 'e']) rmSync(path.join(top, name), { recursive: true })
      assert.deepEqual((await apply(worktree))?.files, ['d', 'e/f.txt'])
      assert.equal(status(top), '?? big.bin\n?? d\n?? e/\n?? new.txt\n?? own/')
    })

    it('but not over a staged version that is nowhere else', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'a.txt': 'theirs\n' })
      write(top, { 'a.txt': 'staged\n' })
      git(top, 'add', 'a.txt')
      write(top, { 'a.txt': 'on disk\n' })
      await assert.rejects(apply(worktree), /staged and were changed since: a\.txt/)
      assert.equal(git(top, 'show', ':a.txt'), 'staged')
      git(top, 'add', 'a.txt')
      assert.deepEqual((await apply(worktree))?.conflicts, ['a.txt'])
    })

    it('with the changes of the workspace that Git was told to ignore', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'a.txt': 'ONE\ntwo\nthree\nfour\nfive\n' })
      write(top, { 'a.txt': 'one\ntwo\nthree\nfour\nFIVE\n' })
      git(top, 'update-index', '--skip-worktree', 'a.txt')
      await apply(worktree)
      assert.equal(read(top, 'a.txt'), 'ONE\ntwo\nthree\nfour\nFIVE\n')
    })

    it('only if the user agrees, and nothing changed since', async () => {
      const { worktree } = await make()
      write(worktree.path, { 'a.txt': 'theirs\n', 'new.txt': 'theirs' })
      assert.equal(await applyWorktree(worktree, top, async () => false), undefined)
      assert.equal(status(top), '')
      const late = applyWorktree(worktree, top, async () => {
        write(top, { 'a.txt': 'typed meanwhile\n' })
        return true
      })
      await assert.rejects(late, /a\.txt/)
      assert.equal(status(top), ' M a.txt')
      // an ignored file isn't overwritten
      git(top, 'checkout', '-q', 'a.txt')
      writeFileSync(path.join(top, '.git', 'info', 'exclude'), 'new.txt\n')
      rmSync(path.join(worktree.path, 'new.txt'))
      write(worktree.path, { 'new.txt': 'theirs' })
      git(worktree.path, 'add', '--force', 'new.txt')
      write(top, { 'new.txt': 'mine' })
      await assert.rejects(apply(worktree), /new\.txt/)
      assert.equal(read(top, 'new.txt'), 'mine')
      write(top, { '.git/info/exclude': 'new\n', new: 'mine' })
      rmSync(path.join(top, 'new.txt'))
      git(worktree.path, 'rm', '-q', '--cached', 'new.txt')
      rmSync(path.join(worktree.path, 'new.txt'))
      write(worktree.path, { 'new/x': 'theirs' })
      git(worktree.path, 'add', '--force', 'new/x')
      await assert.rejects(apply(worktree), /new\/x/)
      assert.equal(read(top, 'new'), 'mine')
      assert.equal(read(top, 'a.txt'), 'one\ntwo\nthree\nfour\nfive\n')
    })
  })

  it('are merged, or leave conflicts to resolve', async () => {
    let { worktree } = await make()
    assert.equal(await mergeWorktree(worktree, top), 'up-to-date')
    write(worktree.path, { 'a.txt': 'theirs\n' })
    worktree = await commitAll(worktree, '-x # "work"\n\n# no comment')
    assert.equal(git(worktree.path, 'log', '-1', '--format=%B').trimEnd(), '-x # "work"\n\n# no comment')
    write(top, { 'a.txt': 'uncommitted\n' })
    await assert.rejects(mergeWorktree(worktree, top), /overwritten/)
    assert.equal(read(top, 'a.txt'), 'uncommitted\n')
    git(top, 'checkout', '-q', 'a.txt')
    assert.equal(await mergeWorktree(worktree, top), 'merged')
    assert.ok(isEmpty(await readWorktreeState(worktree)))
    write(worktree.path, { 'a.txt': 'theirs again\n' })
    worktree = await commitAll(worktree, 'more')
    write(top, { 'a.txt': 'mine\n' })
    git(top, 'commit', '-q', '-a', '-m', 'mine')
    assert.equal(await mergeWorktree(worktree, top), 'conflicts')
    assert.equal(status(top), 'UU a.txt')
    await assert.rejects(mergeWorktree(worktree, top), /Resolve them first/)
    git(top, 'merge', '--abort')
    git(top, 'checkout', '-q', '--detach')
    await assert.rejects(mergeWorktree(worktree, top), /No branch is checked out/)
  })

  it('are merged from their branch, not from a tag of the same name', async () => {
    let { worktree } = await make()
    git(top, 'tag', 'parley/task')
    write(worktree.path, { 'new.txt': 'new' })
    worktree = await commitAll(worktree, 'work')
    git(top, 'commit', '-q', '--allow-empty', '-m', 'mine')
    assert.equal(await mergeWorktree(worktree, top), 'merged')
    assert.equal(read(top, 'new.txt'), 'new')
    assert.equal(git(top, 'log', '-1', '--format=%s'), "Merge branch 'parley/task'")
  })

  describe('of an agent that writes where Git looks for the repository', () => {
    let evil = ''
    const ran = path.join(tmpdir(), `parley-ran-${process.pid}`)

    beforeEach(() => {
      // a repository of the agent whose settings run programs
      evil = path.join(directory, 'evil')
      mkdirSync(evil)
      git(evil, 'init', '-q')
      write(evil, { 'a.txt': 'evil\n', '.gitattributes': '* filter=evil diff=evil\n' })
      git(evil, 'add', '.')
      git(evil, 'commit', '-q', '-m', 'evil')
      git(evil, 'worktree', 'add', '-q', '-b', 'parley/evil', path.join(directory, 'evil-tree'))
      write(directory, { 'trap.sh': `#!/bin/sh\necho "$@" >>'${ran}'\ncat\n` })
      const trap = `sh '${path.join(directory, 'trap.sh')}'`
      for (const key of [
        ...[
          'filter.evil.clean',
          'filter.evil.smudge',
          'core.fsmonitor',
          'diff.external',
          'diff.evil.textconv',
        ],
        ...['core.editor', 'core.pager', 'core.sshCommand', 'gpg.program', 'core.askPass'],
      ]) {
        git(evil, 'config', key, trap)
      }
      const record = JSON.stringify({ base: git(evil, 'rev-parse', 'HEAD'), branch: 'parley/evil' })
      write(evil, { '.git/worktrees/evil-tree/parley.json': record })
      rmSync(ran, { force: true })
    })
    afterEach(() => {
      assert.equal(existsSync(ran) ? readFileSync(ran, 'utf8') : '', '')
    })

    it('are those that they were made as', async () => {
      let { worktree } = await make()
      const own = git(worktree.path, 'rev-parse', '--absolute-git-dir')
      const to = path.join(evil, '.git', 'worktrees', 'evil-tree')
      writeFileSync(path.join(to, 'gitdir'), `${path.join(worktree.path, '.git')}\n`)
      const redirect = () => {
        rmSync(path.join(worktree.path, '.git'), { recursive: true, force: true })
        write(worktree.path, { '.git': `gitdir: ${to}\n` })
      }
      redirect()
      write(worktree.path, { '.gitattributes': '* filter=evil diff=evil\n', 'a.txt': 'changed\n' })
      assert.deepEqual(await findWorktree(path.join(worktree.path, 'b')), worktree)
      assert.deepEqual((await readWorktreeState(worktree)).changed.sort(), ['.gitattributes', 'a.txt'])
      const { files } = await changesOf(worktree)
      assert.deepEqual(files.map(file => file.path).sort(), ['.gitattributes', 'a.txt'])
      assert.deepEqual((await openRepository(worktree.path)).common, path.join(top, '.git'))
      assert.deepEqual((await applyWorktree(worktree, top, async () => true))?.files, [
        '.gitattributes',
        'a.txt',
      ])
      worktree = await commitAll(worktree, 'work')
      assert.equal(git(top, 'log', '-1', '--format=%s', 'parley/task'), 'work')
      write(worktree.path, { 'new.txt': 'new' })
      const ref = await discardWorktree(await openRepository(top), worktree)
      const restored = await restoreDiscarded(
        await openRepository(top),
        { ref, name: 'task' },
        { folder: '' },
      )
      assert.equal(restored.path, worktree.path)
      assert.equal(git(restored.path, 'rev-parse', '--absolute-git-dir'), own)
      assert.equal(read(restored.path, 'new.txt'), 'new')
      // a whole repository, and a link
      rmSync(path.join(worktree.path, '.git'))
      renameSync(path.join(evil, '.git'), path.join(worktree.path, '.git'))
      assert.deepEqual((await readWorktreeState(worktree)).changed, ['new.txt'])
      renameSync(path.join(worktree.path, '.git'), path.join(evil, '.git'))
      symlinkSync(path.join(directory, 'mine.txt'), path.join(worktree.path, '.git'))
      write(directory, { 'mine.txt': 'mine' })
      await discardWorktree(await openRepository(top), restored)
      assert.equal(read(directory, 'mine.txt'), 'mine')
      assert.ok(!existsSync(worktree.path))
    })

    it('are none that Parley knows, in folders of other repositories', async () => {
      await make()
      const at = path.join(top, 'b')
      const to = path.join(evil, '.git', 'worktrees', 'evil-tree')
      write(to, { gitdir: `${path.join(at, '.git')}\n` })
      write(at, { '.git': `gitdir: ${to}\n` })
      assert.equal(await findWorktree(at), undefined)
      // nor does one of the user's own become another's
      const { worktree } = await make('other')
      const own = git(worktree.path, 'rev-parse', '--absolute-git-dir')
      write(at, { '.git': `gitdir: ${own}\n` })
      assert.equal(await findWorktree(at), undefined)
      // but one that the user moved is
      const moved = path.join(directory, 'moved')
      git(top, 'worktree', 'move', worktree.path, moved)
      assert.equal((await findWorktree(moved))?.branch, 'parley/other')
    })

    it('run nothing in their submodules', async () => {
      git(top, 'submodule', '--quiet', 'add', evil, 'sub')
      git(top, 'commit', '-q', '-m', 'sub')
      const { worktree } = await make()
      git(worktree.path, 'submodule', '--quiet', 'update', '--init')
      const sub = path.join(worktree.path, 'sub')
      rmSync(path.join(sub, '.git'))
      write(sub, { '.git': `gitdir: ${path.join(evil, '.git')}\n`, 'a.txt': 'changed\n' })
      assert.deepEqual((await readWorktreeState(worktree)).nested, ['sub'])
      assert.deepEqual(
        (await changesOf(worktree)).files.map(file => file.path),
        ['sub'],
      )
      await assert.rejects(
        applyWorktree(worktree, top, async () => true),
        /submodules can't be applied: sub/,
      )
      await assert.rejects(discardWorktree(await openRepository(top), worktree), /history of their own/)
      write(worktree.path, { 'a.txt': 'changed\n' })
      await commitAll(worktree, 'work')
    })
  })

  it('become branches that stay', async () => {
    const repository = await openRepository(top)
    let { worktree } = await make()
    write(worktree.path, { 'new.txt': 'new' })
    await assert.rejects(createBranch(repository, worktree, '-x'), /valid branch name/)
    await assert.rejects(createBranch(repository, worktree, 'main'), /already exists/)
    worktree = await createBranch(repository, worktree, 'feature/new')
    assert.equal(worktree.current, 'feature/new')
    assert.ok(!has('parley/task'))
    assert.equal(status(worktree.path), '?? new.txt')
    worktree = await commitAll(worktree, 'work')
    await discardWorktree(repository, worktree)
    assert.equal(git(top, 'rev-parse', 'feature/new'), worktree.head)
  })
})
