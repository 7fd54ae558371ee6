import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { commitChanges } from '../../../src/editor/commit-changes.ts'
import { gitChanges, runGit, runUserGit } from '../../../src/editor/git.ts'
import { listFiles } from '../../../src/editor/list-files.ts'
import { PathRules } from '../../../src/editor/path-rules.ts'
import { ProtectedFiles } from '../../../src/editor/protected-files.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import { until } from '../../support/until.ts'

/** Runs Git like a user. */
function git(cwd: string, ...args: string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always']
  execFileSync('git', [...identity, ...args], {
    cwd,
    stdio: 'ignore',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const posix = process.platform === 'win32' ? describe.skip : describe

posix('Git in a repository that wants to run programs', () => {
  let directory = ''
  let top = ''
  let trap = ''
  let log = ''

  /** A program that records that it ran, and works as a filter. */
  const program = (name: string) => `'${trap}' ${name}`

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
    top = join(directory, 'repository')
    log = join(directory, 'ran')
    trap = join(directory, 'trap')
    writeFileSync(trap, `#!/bin/sh\necho "$@" >> '${log}'\ncat\n`)
    chmodSync(trap, 0o755)
    mkdirSync(join(directory, 'inner'))
    git(join(directory, 'inner'), 'init', '-q')
    writeFileSync(join(directory, 'inner/file'), 'one\n')
    git(join(directory, 'inner'), 'add', '.')
    git(join(directory, 'inner'), 'commit', '-qm', 'x')
    mkdirSync(top)
    git(top, 'init', '-q')
    writeFileSync(
      join(top, '.gitattributes'),
      '*.txt filter=trap diff=trap merge=trap\n*.dat filter=trap2\n*.odd filter=tr.ap\n',
    )
    for (const name of ['a.txt', 'b.dat', 'c.odd', 'plain']) writeFileSync(join(top, name), 'one\n')
    git(top, 'submodule', 'add', '-q', join(directory, 'inner'), 'sub')
    git(top, 'add', '.')
    git(top, 'commit', '-qm', 'x')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const ran = () => (existsSync(log) ? readFileSync(log, 'utf8') : '')

  /** Configures everything that Git can run, in the repository's own configuration or in an included file. */
  const arm = () => {
    const settings: Array<[string, string]> = [
      ['filter.trap.clean', program('clean')],
      ['filter.trap.smudge', program('smudge')],
      ['filter.trap.required', 'true'],
      ['filter.trap2.process', program('process')],
      ['filter.tr.ap.clean', program('odd')],
      ['core.fsmonitor', program('fsmonitor')],
      ['core.pager', program('pager')],
      ['core.editor', program('editor')],
      ['core.sshCommand', program('ssh')],
      ['core.askPass', trap],
      ['core.alternateRefsCommand', program('alternates')],
      ['credential.helper', `!${program('credential')}`],
      ['diff.external', program('external')],
      ['diff.trap.command', program('command')],
      ['diff.trap.textconv', program('textconv')],
      ['diff.submodule', 'log'],
      ['pager.diff', program('pager')],
      ['pager.status', program('pager')],
      ['alias.status', `!${program('alias')}`],
      ['alias.diff', `!${program('alias')}`],
      ['alias.ls-files', `!${program('alias')}`],
      ['interactive.diffFilter', program('interactive')],
      ['uploadpack.packObjectsHook', program('pack')],
      ['status.submoduleSummary', 'true'],
      ['submodule.recurse', 'true'],
      ['gpg.program', trap],
      ['log.showSignature', 'true'],
      ['include.path', join(directory, 'included')],
    ]
    const hooks = join(directory, 'hooks')
    mkdirSync(hooks, { recursive: true })
    for (const repository of [top, join(top, 'sub')]) {
      for (const [key, value] of settings) git(repository, 'config', key, value)
      git(repository, 'config', 'core.hooksPath', hooks)
    }
    for (const name of [
      'post-index-change',
      'fsmonitor-watchman',
      'reference-transaction',
      'post-checkout',
    ]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\nexec '${trap}' ${name}\n`)
      chmodSync(join(hooks, name), 0o755)
    }
    execFileSync('git', [
      'config',
      '--file',
      join(directory, 'included'),
      'filter.late.clean',
      program('included'),
    ])
    writeFileSync(join(top, 'd.late'), 'one\n')
    writeFileSync(
      join(top, '.git/info/attributes'),
      '*.late filter=late\nplain filter=late\nsub/* filter=trap\n',
    )
    writeFileSync(join(top, 'sub/.gitattributes'), '* filter=trap diff=trap\n')
    // touched files, for which Git has to compare the content
    const later = new Date(Date.now() + 5000)
    for (const name of ['a.txt', 'b.dat', 'c.odd', 'plain', 'sub/file']) {
      writeFileSync(join(top, name), 'two\n')
      utimesSync(join(top, name), later, later)
    }
    rmSync(log, { force: true })
  }

  it('keeps only the wanted entries of a long list, or hands them over as they come', async () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `100644 ${'1'.repeat(40)} 0\tdir/${at}\0`)
    await runUserGit(top, ['update-index', '-z', '--index-info'], { input: lines.join('') })
    const text = await runUserGit(top, ['ls-files', '-z'], { only: entry => /^dir\/\d*99$/.test(entry) })
    assert.equal(text.split('\0').length - 1, 50)
    const some = { timeoutMs: 10_000, most: 500, only: (entry: string) => /^dir\/\d*99$/.test(entry) }
    assert.equal((await runGit(top, ['ls-files', '-z'], some))?.cut, false)
    assert.equal((await runGit(top, ['ls-files', '-z'], { ...some, most: 300 }))?.cut, true)
    const names: string[] = []
    const options = { timeoutMs: 10_000, most: 100, each: (name: string) => void names.push(name) }
    assert.deepEqual(await runGit(top, ['ls-files', '-z', 'dir'], options), { text: '', cut: false })
    assert.deepEqual([names.length, names[0], names.at(-1)], [5000, 'dir/0', 'dir/999'])
    assert.equal(await runGit(top, ['ls-files', 'dir'], { ...options, most: 1_000_000 }), undefined)
  })

  it('runs them when a user runs Git', () => {
    arm()
    execFileSync('git', ['status'], { cwd: top, stdio: 'ignore' })
    execFileSync('git', ['diff'], { cwd: top, stdio: 'ignore' })
    assert.match(ran(), /clean/)
    assert.match(ran(), /fsmonitor/)
  })

  it('stops Git with all its child processes when it prints too much', async () => {
    const started = join(directory, 'started')
    const printed = "head -c 5000 /dev/zero | tr '\\0' x"
    git(top, 'config', 'alias.hang', `!trap '' TERM; sleep 600 & echo $! > '${started}'; ${printed}; wait`)
    const output = await runGit(top, ['hang'], { timeoutMs: 60_000, most: 1000 })
    assert.equal(output?.cut, true)
    const pid = Number(readFileSync(started, 'utf8'))
    await until(() => !isRunning(pid))
  })

  it('runs none of them to list files', async () => {
    arm()
    assert.deepEqual((await listFiles(top)).includes('a.txt'), true)
    assert.equal(ran(), '')
  })

  it('runs none of them for the diff of a mention', async () => {
    arm()
    const diff = await gitChanges([top], false)
    assert.match(diff, /^-one$/m)
    assert.match(diff, /^\+two$/m)
    git(top, '-c', 'core.fsmonitor=false', 'update-index', '--assume-unchanged', 'b.dat')
    rmSync(log, { force: true })
    await gitChanges([top], true)
    assert.equal(ran(), '')
  })

  it('runs none of them for the changes of a commit message', async () => {
    arm()
    git(top, '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', 'add', 'a.txt')
    rmSync(log, { force: true })
    const changes = await commitChanges(top)
    assert.match(changes?.diff ?? '', /^\+two$/m)
    assert.deepEqual(changes?.subjects, ['x'])
    assert.equal(ran(), '')
  })

  it('runs none of them to find the changes of a turn', async () => {
    const tree = new WorkTree(
      new SessionChanges(memoryTracker(), 'test/session', { cwd: top, additionalDirectories: [] }),
    )
    const before = await tree.snapshot([top])
    arm()
    const changed = (await tree.changed(before)).changes.map(({ path }) => path)
    assert.ok(changed.includes(join(top, 'a.txt')), changed.join())
    await tree.changed(await tree.snapshot([top]))
    assert.equal(ran(), '')
  })

  it('runs none of them to find the line endings and encodings of a checkout', async () => {
    writeFileSync(join(top, 'wide.txt'), 'one\n')
    git(top, 'add', 'wide.txt')
    git(top, 'commit', '-qm', 'wide')
    const tree = new WorkTree(
      new SessionChanges(memoryTracker(), 'test/session', { cwd: top, additionalDirectories: [] }),
    )
    const before = await tree.snapshot([top])
    arm()
    for (const name of ['text', 'eol', 'working-tree-encoding'])
      git(top, 'config', `filter.${name}.process`, program(name))
    git(top, 'config', 'core.attributesFile', join(directory, 'attributes'))
    writeFileSync(join(directory, 'attributes'), '*.txt text eol=crlf working-tree-encoding=UTF-16LE-BOM\n')
    rmSync(join(top, 'a.txt'))
    writeFileSync(join(top, 'wide.txt'), Buffer.from('\ufefftwo\n', 'utf16le'))
    const { changes } = await tree.changed(before)
    const was = (name: string) => changes.find(({ path }) => path === join(top, name))?.before
    // both the line endings and the encodings were requested
    assert.equal(was('a.txt')?.text, 'one\r\n')
    const wide = was('wide.txt')?.attributes
    assert.equal(wide?.type === 'text' && wide.encoding, 'utf16le')
    assert.equal(ran(), '')
  })

  it('runs none of them to find the hooks folder', async () => {
    arm()
    const files = new ProtectedFiles(new PathRules())
    const realPath = join(directory, 'hooks/pre-commit')
    assert.equal(await files.includes({ realPath, relative: [] }, [top]), true)
    assert.equal(ran(), '')
  })

  it('fetches no missing objects', async () => {
    arm()
    git(top, 'config', 'extensions.partialClone', 'origin')
    git(top, 'config', 'remote.origin.url', `ext::${trap} fetch`)
    git(top, 'config', 'remote.origin.promisor', 'true')
    git(top, 'config', 'protocol.ext.allow', 'always')
    rmSync(log, { force: true })
    await runGit(top, ['cat-file', 'blob', '0123456789012345678901234567890123456789'], {
      timeoutMs: 60_000,
      most: 1000,
    })
    assert.equal(ran(), '')
  })

  it("does nothing if a filter can't be disabled", async () => {
    git(top, 'config', 'filter.a=b.clean', program('equals'))
    writeFileSync(join(top, '.git/info/attributes'), '*.txt filter=a=b\n')
    writeFileSync(join(top, 'a.txt'), 'two\n')
    assert.equal(await runGit(top, ['status', '--porcelain'], { timeoutMs: 60_000, most: 1000 }), undefined)
    assert.equal(ran(), '')
  })

  it("doesn't run a Git in the folder", async () => {
    const path = process.env.PATH
    writeFileSync(join(top, 'git'), `#!/bin/sh\nexec '${trap}' own\n`)
    chmodSync(join(top, 'git'), 0o755)
    try {
      process.env.PATH = `.:${path}`
      assert.ok(await runGit(top, ['rev-parse', 'HEAD'], { timeoutMs: 60_000, most: 1000 }))
      assert.equal(ran(), '')
    } finally {
      process.env.PATH = path
    }
  })
})

describe('a Git command of the user', () => {
  const waitsForLock = async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-lock-')))
    try {
      git(folder, 'init', '-q')
      writeFileSync(join(folder, 'a.txt'), 'a')
      const lock = join(folder, '.git', 'index.lock')
      writeFileSync(lock, '')
      assert.throws(() => git(folder, 'add', 'a.txt'))
      const adding = runUserGit(folder, ['add', 'a.txt'])
      setTimeout(() => rmSync(lock), 300)
      await adding
      assert.equal(await runUserGit(folder, ['ls-files']), 'a.txt\n')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it('waits while another program has the lock of the index', () => waitsForLock())

  it('waits for it as long, also if the clock is set ahead meanwhile', async () => {
    const now = Date.now
    let looks = 0
    mock.method(Date, 'now', () => now() + 3_600_000 * looks++)
    try {
      await waitsForLock()
    } finally {
      mock.restoreAll()
    }
  })
})
