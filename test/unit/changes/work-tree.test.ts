import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, parse, relative, sep } from 'node:path'
import { mock } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { FolderScan, type NoticedState } from '../../../src/changes/detect/folder-scan.ts'
import { SlowFolders } from '../../../src/changes/detect/slow-folders.ts'
import { WorkTree } from '../../../src/changes/detect/work-tree.ts'
import type { FileState } from '../../../src/changes/model/file-state.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { deferred } from '../../../src/common/async.ts'
import { FOLDER_SCAN_MS } from '../../../src/common/limits.ts'
import { FRESH_MS, isWrittenSince } from '../../../src/editor/files/file-system.ts'
import { waitFor } from '../../host/wait-for.ts'
import { MemoryStore, memoryTracker } from '../../support/memory-tracker.ts'
import { scaledRuns } from '../../support/property-tests.ts'

describe('a change in a work tree', () => {
  let root: string
  let omitted = 0
  let found: NoticedState[] = []
  let tree: WorkTree
  let tracker: ChangeTracker
  let files: SessionChanges
  const put = (name: string, text: string | Buffer) => writeFileSync(join(root, name), text)
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=t', '-c', 'user.email=t@t.example', '-c', 'core.safecrlf=false', ...args],
      { cwd: root },
    )

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-tree-')))
    git('init', '-q', '-b', 'main')
    mkdirSync(join(root, 'sub'))
    put('.gitignore', 'ignored*\n')
    for (const name of ['clean.txt', 'dirty.txt', 'still.txt', 'gone.txt', 'sub/in.txt'])
      put(name, `${name}\n`)
    git('add', '.')
    git('commit', '-q', '-m', 'first')
    put('dirty.txt', 'written by the person\n')
    put('still.txt', 'also by the person\n')
    put('new-before.txt', 'new\n')
    tracker = memoryTracker()
    files = new SessionChanges(tracker, 's', { cwd: root, additionalDirectories: [] })
    tree = new WorkTree(files)
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  async function changedBy(work: () => void, folders = [root]): Promise<Record<string, string | null>> {
    const before = await tree.snapshot(folders)
    work()
    const { changes, omitted: left } = await tree.changed(before)
    omitted = left
    found = changes
    const textOf = ({ attributes, text }: FileState) =>
      attributes.type === 'absent' ? null : attributes.type === 'text' ? text : attributes.type
    return Object.fromEntries(changes.map(({ path, before }) => [relative(root, path), textOf(before)]))
  }

  for (const isRepository of [true, false]) {
    it(`isn't a write's temporary file, which is removed if the write was killed${isRepository ? '' : ', without a repository'}`, async () => {
      if (!isRepository) rmSync(join(root, '.git'), { recursive: true })
      const names = ['.parley-0123456789ab.tmp', 'sub/.parley-abcdef012345.tmp']
      const changed = await changedBy(() => {
        for (const name of names) put(name, 'half of a text')
        put('.parley-mine.tmp', 'x')
        put('clean.txt', 'x')
      })
      assert.deepEqual(Object.keys(changed).sort(), ['.parley-mine.tmp', 'clean.txt'])
      // it may still be written
      for (const name of names) assert.ok(existsSync(join(root, name)))
      const now = Date.now
      mock.method(Date, 'now', () => now() + 120_000)
      try {
        await tree.snapshot([root])
      } finally {
        mock.restoreAll()
      }
      for (const name of names) assert.ok(!existsSync(join(root, name)), name)
      assert.ok(existsSync(join(root, '.parley-mine.tmp')))
    })
  }

  it('is reported with the previous text, without unchanged files', async () => {
    const changes = await changedBy(() => {
      put('clean.txt', 'by a command\n')
      put('dirty.txt', 'by a command, too\n')
      put('new-before.txt', 'more\n')
      put('new.txt', 'new\n')
      put('ignored.log', 'a build\n')
      rmSync(join(root, 'gone.txt'))
    })
    assert.deepEqual(changes, {
      'dirty.txt': 'written by the person\n',
      'new-before.txt': 'new\n',
      'clean.txt': 'clean.txt\n',
      'gone.txt': 'gone.txt\n',
      'new.txt': null,
    })
    await files.noticed(found)
    assert.deepEqual(
      files.list().map(({ path, status, uncertain }) => [relative(root, path), status, uncertain]),
      [
        ['dirty.txt', 'modified', 'all'],
        ['new-before.txt', 'modified', 'all'],
        ['clean.txt', 'modified', 'all'],
        ['gone.txt', 'deleted', 'all'],
        ['new.txt', 'added', 'all'],
      ],
    )
    assert.deepEqual((await files.undo({ paths: [join(root, 'gone.txt')] })).unchanged, [])
    assert.equal(await files.textOf(join(root, 'gone.txt')), 'gone.txt\n')
  })

  it('is reported even if it was committed or reverted meanwhile', async () => {
    const changes = await changedBy(() => {
      put('clean.txt', 'committed\n')
      git('add', 'clean.txt')
      git('commit', '-q', '-m', 'second')
      git('checkout', '-q', '--', 'dirty.txt')
    })
    assert.deepEqual(changes, { 'dirty.txt': 'written by the person\n', 'clean.txt': 'clean.txt\n' })
  })

  it('is reported and reverted in files whose names contain any character', async function () {
    if (process.platform === 'win32') this.skip()
    const names = ['line\nbreak.txt', 'tab\t"quote.txt', 'ünï[c]*?.txt', ':(top)x.txt', '-n.txt']
    for (const name of names) put(name, `in ${name}`)
    git('add', '-A', '--', '.')
    git('commit', '-q', '-m', 'names')
    const changes = await changedBy(() => {
      for (const name of names) put(name, 'by a command\n')
    })
    assert.equal(omitted, 0)
    assert.deepEqual(changes, Object.fromEntries(names.map(name => [name, `in ${name}`])))
    await files.noticed(found)
    assert.deepEqual((await files.undo()).unchanged, [])
    for (const name of names) assert.equal(readFileSync(join(root, name), 'utf8'), `in ${name}`)
  })

  it("is reported only in the session's folders", async () => {
    const work = () => {
      put('clean.txt', 'outside\n')
      put('sub/in.txt', 'inside\n')
    }
    assert.deepEqual(await changedBy(work, [join(root, 'sub')]), { 'sub/in.txt': 'sub/in.txt\n' })
  })

  it("isn't reported for line endings that a checkout converts", async () => {
    put('crlf.txt', 'one\ntwo\n')
    git('add', '.')
    git('commit', '-q', '-m', 'more')
    assert.deepEqual(await changedBy(() => put('crlf.txt', 'one\r\ntwo\r\n')), {})
  })

  it('is reverted with the line endings of a checkout', async () => {
    const crlf = Buffer.from('one\r\ntwo\r\n')
    const brought = async (...settings: string[][]) => {
      for (const setting of settings) git('config', ...setting)
      put('ends.txt', crlf)
      git('add', '.')
      git('commit', '-q', '--allow-empty', '-m', 'ends')
      await changedBy(() => rmSync(join(root, 'ends.txt')))
      await files.noticed(found)
      assert.deepEqual((await files.undo()).unchanged, [])
      assert.deepEqual(readFileSync(join(root, 'ends.txt')), crlf)
    }
    await brought(['core.autocrlf', 'true'])
    put('.gitattributes', '*.txt text\n')
    await brought(['core.autocrlf', 'false'], ['core.eol', 'crlf'])
    put('.gitattributes', '*.txt text eol=crlf\n')
    await brought(['--unset', 'core.eol'])
    put('.gitattributes', '*.txt -text\n')
    rmSync(join(root, 'ends.txt'))
    git('rm', '-q', '--cached', 'ends.txt')
    await brought(['core.autocrlf', 'true'])
  })

  it('is reverted byte for byte: binary files, byte order marks, encodings, links and modes', async function () {
    if (process.platform === 'win32') this.skip()
    const png = Buffer.from([0x89, 0x50, 0, 1, 0xff])
    const marked = Buffer.from('\ufeffmarked\r\n')
    const latin = Buffer.from('caf\xe9\n', 'latin1')
    const utf16 = Buffer.from('\ufeffwide\n', 'utf16le')
    const content = { 'p.png': png, 'marked.txt': marked, 'latin.txt': latin, 'utf16.txt': utf16 }
    for (const [name, bytes] of Object.entries(content)) put(name, bytes)
    symlinkSync('clean.txt', join(root, 'link'))
    put('run.sh', 'x\n')
    chmodSync(join(root, 'run.sh'), 0o750)
    git('add', '.')
    git('commit', '-q', '-m', 'more')
    const all = [...Object.keys(content), 'link', 'run.sh']
    for (const how of ['changed', 'deleted'] as const) {
      await changedBy(() => {
        for (const name of Object.keys(content)) {
          if (how === 'changed') put(name, 'plain\n')
          else rmSync(join(root, name))
        }
        rmSync(join(root, 'link'))
        if (how === 'changed') symlinkSync('sub', join(root, 'link'))
        if (how === 'changed') chmodSync(join(root, 'run.sh'), 0o640)
        else rmSync(join(root, 'run.sh'))
      })
      assert.equal(omitted, 0)
      assert.deepEqual(found.map(({ path }) => relative(root, path)).sort(), [...all].sort())
      await files.noticed(found)
      assert.deepEqual((await files.undo()).unchanged, [])
      for (const [name, bytes] of Object.entries(content))
        assert.deepEqual(readFileSync(join(root, name)), bytes, `${name} was ${how}`)
      assert.equal(readlinkSync(join(root, 'link')), 'clean.txt')
      // of a mode, a commit stores only whether the file is executable
      const mode = statSync(join(root, 'run.sh')).mode & 0o777
      assert.equal(mode & 0o100, 0o100)
      if (how === 'changed') assert.equal(mode, 0o750)
    }
  })

  it('refers to the content in the commit until it is noticed', async () => {
    const committed = Buffer.alloc(1000)
    put('a.bin', committed)
    git('add', '.')
    git('commit', '-q', '-m', 'binary')
    const hash = createHash('sha256').update(committed).digest('hex')
    const isUsed = (isQuiet: boolean) => {
      const used = new Set<string>()
      tracker.holders.addTo(used, isQuiet)
      return used.has(hash)
    }
    tree = new WorkTree({
      stateOf: (...file) => files.stateOf(...file),
      stateWith: async (bytes, path, mode) => {
        // while other files are still being compared
        if (basename(path) === 'clean.txt') await waitFor('the content to be in use', () => isUsed(true))
        return files.stateWith(bytes, path, mode)
      },
      isKnown: path => files.isKnown(path),
      holders: tracker.holders,
      scan: tracker.scan,
    })
    await changedBy(() => {
      put('a.bin', Buffer.alloc(2000))
      put('clean.txt', 'by a command\n')
    })
    assert.ok(isUsed(false))
    assert.equal(found.length, 2)
  })

  it('refers to what was read before any turn, also while other files are still being read', async () => {
    const bytes = Buffer.alloc(1000)
    put('a.bin', bytes)
    const hash = createHash('sha256').update(bytes).digest('hex')
    const isUsed = () => {
      const used = new Set<string>()
      tracker.holders.addTo(used, true)
      return used.has(hash)
    }
    tree = new WorkTree({
      stateOf: async (path, ...more) => {
        if (basename(path) === 'dirty.txt') await waitFor('the content to be in use', isUsed)
        return files.stateOf(path, ...more)
      },
      stateWith: (...file) => files.stateWith(...file),
      isKnown: path => files.isKnown(path),
      holders: tracker.holders,
      scan: tracker.scan,
    })
    await tree.prepare([root])
    assert.ok(isUsed())
  })

  it('has the encoding of the work tree if the commit has another one', async () => {
    put('.gitattributes', 'wide.txt working-tree-encoding=UTF-16LE-BOM\n')
    const wide = Buffer.from('\ufeffone\n', 'utf16le')
    put('wide.txt', wide)
    git('add', '.')
    git('commit', '-q', '-m', 'wide')
    await changedBy(() => put('wide.txt', Buffer.from('\ufefftwo\n', 'utf16le')))
    await files.noticed(found)
    await files.undo()
    assert.deepEqual(readFileSync(join(root, 'wide.txt')), wide)
  })

  it('is found without touching the index, stash, references, hooks or configuration', async () => {
    const list = () =>
      ['index', 'config', 'hooks', 'HEAD', 'refs', 'logs', 'packed-refs', 'ORIG_HEAD', 'FETCH_HEAD'].flatMap(
        name => {
          const path = join(root, '.git', name)
          if (!existsSync(path)) return [`${name}: none`]
          const below = statSync(path).isDirectory()
            ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map(one => join(path, one))
            : [path]
          return below
            .filter(one => statSync(one).isFile())
            .map(one => `${one} ${statSync(one).mtimeMs} ${readFileSync(one, 'base64')}`)
        },
      )
    git('stash', '-q')
    git('stash', 'apply', '-q')
    const before = list()
    await changedBy(() => put('clean.txt', 'by a command\n'))
    await files.noticed(found)
    const { undone } = await files.undo()
    await tracker.review.restore(undone!.id)
    assert.deepEqual(list(), before)
  })

  it('is counted but not listed if too many files changed', async () => {
    const changes = await changedBy(() => {
      for (let i = 0; i < 1001; i++) put(`new-${i}.txt`, 'x')
      put('dirty.txt', 'changed\n')
    })
    assert.deepEqual(changes, { 'dirty.txt': 'written by the person\n' })
    assert.equal(omitted, 1001)
    files.omitted = { files: omitted, folders: [] }
    assert.deepEqual(files.omitted, { files: 1001, folders: [] })
  })

  it('is either listed or counted if a look comes while many are written', async () => {
    const before = await tree.snapshot([root])
    for (const name of ['clean.txt', 'new-0.txt']) put(name, 'by a command\n')
    await files.noticed((await tree.changed(before)).changes)
    for (let i = 1; i <= 1001; i++) put(`new-${i}.txt`, 'x')
    const last = await tree.changed(before)
    await files.noticed(last.changes)
    assert.deepEqual([files.list().length, last.omitted], [2, 1001])
  })

  it('is reported with the previous mode', async function () {
    if (process.platform === 'win32') this.skip()
    put('run.sh', 'x\n')
    chmodSync(join(root, 'run.sh'), 0o755)
    git('add', '.')
    git('commit', '-q', '-m', 'executable')
    const before = await tree.snapshot([root])
    rmSync(join(root, 'run.sh'))
    await files.noticed((await tree.changed(before)).changes)
    await files.undo()
    assert.equal(statSync(join(root, 'run.sh')).mode & 0o777, 0o755)
  })

  /** A moment after which a file system's clock knows that a file is written later. Milliseconds since the epoch. */
  const now = async () => {
    await new Promise(resolve => setTimeout(resolve, FRESH_MS + 10))
    const began = Date.now()
    await new Promise(resolve => setTimeout(resolve, FRESH_MS))
    return began
  }
  /** Tests a file that an agent writes during the snapshot, so that only the tool call has its previous text. */
  const trustsTheToolCall = async (meanwhile: string) => {
    const path = join(root, 'dirty.txt')
    const oldText = readFileSync(path, 'utf8')
    const newText = oldText.replace('written', 'changed')
    files.beginTurn(1, () => true)
    const began = await now()
    put('dirty.txt', meanwhile)
    const before = await tree.snapshot([root], began)
    put('dirty.txt', newText)
    const change = { operation: 'modify', path, oldText, newText } as const
    await files.tool({ toolCallId: 't', begun: true, done: true }, [{ changes: [change] }], [path])
    const { changes, omitted } = await tree.changed(before)
    await files.noticed(changes, 1)
    await files.endTurn()
    assert.equal(omitted, 0)
    assert.deepEqual(
      files.list().map(({ path, status, uncertain }) => [relative(root, path), status, uncertain]),
      [['dirty.txt', 'modified', undefined]],
    )
    assert.deepEqual((await files.undo()).unchanged, [])
    assert.equal(readFileSync(path, 'utf8'), oldText)
  }
  const keepsTheTextThatIsOverwritten = () => {
    it("isn't based on a file that the agent had truncated to write it", () => trustsTheToolCall(''))
    it("isn't based on a file that the agent had partly written", () => trustsTheToolCall('changed by'))
    it('is counted but not listed in an unknown file that a command had truncated to write it', async () => {
      put('new.txt', 'new\n')
      const began = await now()
      put('new.txt', '')
      const before = await tree.snapshot([root], began)
      put('new.txt', 'by a command\n')
      const { changes, omitted } = await tree.changed(before)
      assert.deepEqual([changes, omitted], [[], 1])
    })
    it('is based on what the user saves at that moment', async () => {
      const began = await now()
      put('clean.txt', 'by the person\n')
      const before = await tree.snapshot([root], began)
      await tree.accept(before, join(root, 'clean.txt'))
      put('clean.txt', 'by a command\n')
      const { changes } = await tree.changed(before)
      assert.deepEqual(
        changes.map(({ before, unsure }) => [before.text, unsure]),
        [['by the person\n', undefined]],
      )
    })
    it('is based on what the user wrote in the millisecond in which the snapshot was asked for', async () => {
      await tree.prepare([root])
      put('clean.txt', 'by the person\n')
      const began = Math.floor(statSync(join(root, 'clean.txt')).ctimeMs)
      const before = await tree.snapshot([root], began)
      put('clean.txt', 'by a command\n')
      const { changes } = await tree.changed(before)
      assert.deepEqual(
        changes.map(({ path, before: { text } }) => [relative(root, path), text]),
        [['clean.txt', 'by the person\n']],
      )
    })
    it('is reported with what was there, however early it was made', async () => {
      await tree.prepare([root])
      put('clean.txt', 'by the person before the turn\n')
      const began = await now()
      for (const name of ['clean.txt', 'dirty.txt', 'new-before.txt', 'new.txt', 'sub/in.txt']) put(name, 'x')
      for (const name of ['gone.txt', 'still.txt']) rmSync(join(root, name))
      const before = await tree.snapshot([root], began)
      put('dirty.txt', 'more')
      const { changes, omitted } = await tree.changed(before)
      assert.equal(omitted, 0)
      const isText = ({ attributes }: FileState) => attributes.type === 'text'
      assert.deepEqual(
        Object.fromEntries(
          changes
            .map((one): [string, string | null] => [
              relative(root, one.path),
              isText(one.before) ? one.before.text : null,
            ])
            .sort(),
        ),
        {
          'clean.txt': 'clean.txt\n',
          'dirty.txt': 'written by the person\n',
          'gone.txt': 'gone.txt\n',
          'new-before.txt': 'new\n',
          'new.txt': null,
          'still.txt': 'also by the person\n',
          'sub/in.txt': 'sub/in.txt\n',
        },
      )
      // they may be the user's after all
      assert.deepEqual(
        changes.filter(({ unsure }) => !unsure),
        [],
      )
    })
    it('is based on the last turn if it is made at the start of the next one', async () => {
      await tree.prepare([root])
      const first = await tree.snapshot([root], await now())
      put('clean.txt', 'by the first turn\n')
      await tree.changed(first)
      const began = await now()
      put('clean.txt', 'by the second turn\n')
      const { changes, omitted } = await tree.changed(await tree.snapshot([root], began))
      // without a repository, what a turn leaves isn't read
      const known = existsSync(join(root, '.git')) ? 'by the first turn\n' : undefined
      assert.deepEqual([changes.map(({ before }) => before.text)[0], omitted], [known, 0])
    })
  }
  describe('while the snapshot is taken', keepsTheTextThatIsOverwritten)

  it('shows that a file existed before, even if a tool call reports it as new', async () => {
    for (const [name, oldText] of [
      ['clean.txt', 'clean.txt\n'],
      ['empty.txt', ''],
    ] as const) {
      put(name, oldText)
      git('add', name)
      git('commit', '-q', '--allow-empty', '-m', 'as it was')
      const path = join(root, name)
      files.beginTurn(1, () => true)
      const before = await tree.snapshot([root])
      put(name, 'new\n')
      const change = { operation: 'add', path, newText: 'new\n' } as const
      await files.tool({ toolCallId: name, begun: true, done: true }, [{ changes: [change] }], [path])
      await files.noticed((await tree.changed(before)).changes, 1)
      await files.endTurn()
      assert.equal(files.file(path)?.status, 'modified')
      assert.deepEqual((await files.undo()).unchanged, [])
      assert.equal(readFileSync(path, 'utf8'), oldText)
    }
  })

  it('is found if it is made right after the look at what the user saved, however long that takes', async () => {
    const before = await tree.snapshot([root])
    put('clean.txt', 'by the person\n')
    const { stateOf } = SessionChanges.prototype
    mock.method(files, 'stateOf', async (...args: Parameters<typeof stateOf>) => {
      const state = await stateOf.apply(files, args)
      put('clean.txt', 'by a command\n')
      const { ctimeMs } = statSync(join(root, 'clean.txt'))
      await waitFor('an old file', () => !isWrittenSince(ctimeMs, Date.now()))
      return state
    })
    await tree.accept(before, join(root, 'clean.txt'))
    mock.restoreAll()
    const { changes } = await tree.changed(before)
    assert.deepEqual(
      changes.map(({ path, before: { text } }) => [relative(root, path), text]),
      [['clean.txt', 'by the person\n']],
    )
  })

  it("isn't what the user saved twice, whichever look takes longer", async () => {
    const path = join(root, 'clean.txt')
    const slow = deferred()
    let looks = 1
    const { stateOf } = SessionChanges.prototype
    mock.method(files, 'stateOf', async (...args: Parameters<typeof stateOf>) => {
      const state = await stateOf.apply(files, args)
      if (args[0] === path && looks++ === 0) await slow.promise
      return state
    })
    put('clean.txt', 'before\n')
    const before = await tree.snapshot([root])
    looks = 0
    put('clean.txt', 'saved once\n')
    const first = tree.accept(before, path)
    await waitFor('the first look', () => looks > 0)
    put('clean.txt', 'saved twice\n')
    await tree.accept(before, path)
    slow.resolve()
    await first
    mock.restoreAll()
    assert.deepEqual((await tree.changed(before)).changes, [])
  })

  it('is looked for again if Git has written the work tree meanwhile', async () => {
    git('stash', '-q', '--include-untracked')
    git('checkout', '-q', '-b', 'other')
    for (const name of ['clean.txt', 'gone.txt']) put(name, 'other\n')
    git('commit', '-q', '-a', '-m', 'other')
    git('checkout', '-q', 'main')
    const before = await tree.snapshot([root])
    // a checkout has written one of its files
    writeFileSync(join(root, '.git', 'index.lock'), '')
    put('clean.txt', 'other\n')
    const order: string[] = []
    const looking = tree.changed(before).finally(() => order.push('found'))
    // a search takes less
    for (let i = 0; i < 20; i++) await promisify(execFile)('git', ['status', '--short'], { cwd: root })
    order.push('checked out')
    rmSync(join(root, '.git', 'index.lock'))
    git('checkout', '-q', '-f', 'other')
    assert.deepEqual((await looking).changes, [])
    assert.deepEqual(order, ['checked out', 'found'])
    put('clean.txt', 'by a command\n')
    const { changes } = await tree.changed(before)
    assert.deepEqual(
      changes.map(({ path, before: { text } }) => [relative(root, path), text]),
      [['clean.txt', 'other\n']],
    )
  })

  it('is reported as unknown if Git fails', async () => {
    const before = await tree.snapshot([root])
    rmSync(join(root, '.git'), { recursive: true })
    const { changes, unseen } = await tree.changed(before)
    assert.deepEqual([changes, unseen], [[], [root]])
  })

  describe('in repositories within another one', () => {
    const inner = (name: string) => join(root, name)
    const gitIn = (name: string, ...args: string[]) =>
      execFileSync('git', ['-C', inner(name), '-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args])
    const create = (name: string) => {
      mkdirSync(inner(name), { recursive: true })
      gitIn(name, 'init', '-q', '-b', 'main')
      put(`${name}/clean.txt`, 'clean\n')
      put(`${name}/dirty.txt`, 'committed\n')
      gitIn(name, 'add', '.')
      gitIn(name, 'commit', '-q', '-m', 'first')
      put(`${name}/dirty.txt`, 'written by the person\n')
    }
    const change = (name: string) => {
      for (const file of ['clean.txt', 'dirty.txt', 'new.txt']) put(`${name}/${file}`, 'by a command\n')
    }
    const changesIn = (name: string) => ({
      [join(name, 'clean.txt')]: 'clean\n',
      [join(name, 'dirty.txt')]: 'written by the person\n',
      [join(name, 'new.txt')]: null,
    })

    it('is reported and reverted, whether the outer one has added them or not, and in those within them', async () => {
      for (const name of ['nested', 'module', 'module/deep']) create(name)
      git('add', 'module')
      git('commit', '-q', '-m', 'module')
      const names = ['nested', 'module', 'module/deep']
      const changes = await changedBy(() => names.forEach(change))
      assert.deepEqual(changes, Object.assign({}, ...names.map(changesIn)))
      assert.equal(omitted, 0)
      await files.noticed(found)
      assert.deepEqual((await files.undo()).unchanged, [])
      for (const name of names) {
        assert.equal(readFileSync(join(root, name, 'dirty.txt'), 'utf8'), 'written by the person\n')
        assert.equal(existsSync(join(root, name, 'new.txt')), false)
      }
    })

    it('is reported as unknown in one that was created or deleted meanwhile', async () => {
      create('deleted')
      const before = await tree.snapshot([root])
      create('created')
      rmSync(inner('deleted'), { recursive: true })
      const { changes, omitted, unseen } = await tree.changed(before)
      assert.deepEqual([changes, omitted], [[], 0])
      assert.deepEqual(unseen.sort(), [inner('created'), inner('deleted')])
    })
  })

  it('is reported in a folder that the outer repository ignores', async () => {
    mkdirSync(join(root, 'ignored'))
    put('ignored/a.txt', 'a\n')
    const changes = await changedBy(() => {
      put('ignored/a.txt', 'by a command\n')
      put('ignored/b.txt', 'by a command\n')
    }, [join(root, 'ignored')])
    assert.deepEqual(changes, { 'ignored/a.txt': 'a\n', 'ignored/b.txt': null })
  })

  it('is reported and reverted in files whose changes Git was told to ignore', async () => {
    git('update-index', '--skip-worktree', 'clean.txt', 'dirty.txt')
    git('update-index', '--assume-unchanged', 'still.txt', 'sub/in.txt')
    const changes = await changedBy(() => {
      for (const name of ['clean.txt', 'dirty.txt', 'sub/in.txt']) put(name, 'by a command\n')
      git('update-index', '--skip-worktree', 'gone.txt')
      put('gone.txt', 'hidden by a command\n')
      rmSync(join(root, 'still.txt'))
    })
    const was = {
      'clean.txt': 'clean.txt\n',
      'dirty.txt': 'written by the person\n',
      'sub/in.txt': 'sub/in.txt\n',
      'gone.txt': 'gone.txt\n',
      'still.txt': 'also by the person\n',
    }
    assert.deepEqual(changes, was)
    assert.equal(omitted, 0)
    await files.noticed(found)
    assert.deepEqual((await files.undo()).unchanged, [])
    for (const [name, text] of Object.entries(was)) assert.equal(readFileSync(join(root, name), 'utf8'), text)
  })

  const replaced = async () => {
    const changes = await changedBy(() => {
      rmSync(join(root, 'clean.txt'))
      mkdirSync(join(root, 'clean.txt', 'deep'), { recursive: true })
      put('clean.txt/deep/a.txt', 'by a command\n')
      rmSync(join(root, 'sub'), { recursive: true })
      put('sub', 'a file\n')
    })
    const was = {
      'clean.txt': 'clean.txt\n',
      'clean.txt/deep/a.txt': null,
      sub: null,
      'sub/in.txt': 'sub/in.txt\n',
    }
    assert.deepEqual(changes, was)
    assert.equal(omitted, 0)
    await files.noticed(found)
    const { unchanged, undone } = await files.undo()
    assert.deepEqual(unchanged, [])
    assert.equal(readFileSync(join(root, 'clean.txt'), 'utf8'), 'clean.txt\n')
    assert.equal(readFileSync(join(root, 'sub/in.txt'), 'utf8'), 'sub/in.txt\n')
    assert.deepEqual(await tracker.review.restore(undone!.id), [])
    assert.equal(readFileSync(join(root, 'clean.txt/deep/a.txt'), 'utf8'), 'by a command\n')
    assert.equal(readFileSync(join(root, 'sub'), 'utf8'), 'a file\n')
    put('clean.txt/mine.txt', 'by the person\n')
    const again = await files.undo()
    assert.deepEqual(
      again.unchanged.map(({ path, why }) => [relative(root, path), why instanceof Error && why.message]),
      [['clean.txt', 'A folder that contains other files is in its place.']],
    )
    assert.equal(readFileSync(join(root, 'clean.txt/mine.txt'), 'utf8'), 'by the person\n')
  }

  it('is reported and reverted where a folder replaced a file, or a file a folder', replaced)

  it('is everything that differs, in whichever repository and with whichever mark (property)', async () => {
    const repositories = ['.', 'nested', 'module', 'module/deep']
    const names = [...repositories.flatMap(name => [join(name, 'a.txt'), join(name, 'b.txt')]), 'sub/in.txt']
    const write = (name: string, text: string) => {
      rmSync(join(root, name), { recursive: true, force: true })
      put(name, text)
    }
    const commit = (name: string) => {
      const author = [
        '-c',
        'user.name=t',
        '-c',
        'user.email=t@t.example',
        '-c',
        'advice.addEmbeddedRepo=false',
      ]
      const run = (...args: string[]) =>
        execFileSync('git', ['-C', join(root, name), ...author, ...args], { stdio: 'ignore' })
      // the submodule is added, the nested repository isn't
      run('add', '-A', ...(name === '.' ? ['--', '.', ':!nested'] : []))
      run('commit', '-q', '--allow-empty', '-m', 'all')
    }
    for (const name of repositories) {
      mkdirSync(join(root, name), { recursive: true })
      execFileSync('git', ['-C', join(root, name), 'init', '-q', '-b', 'main'])
    }
    for (const name of names) write(name, `${name}\n`)
    for (const name of repositories.toReversed()) commit(name)
    const marks = ['skip-worktree', 'no-skip-worktree', 'assume-unchanged', 'no-assume-unchanged']
    const texts = () =>
      new Map(
        readdirSync(root, { recursive: true, withFileTypes: true }).flatMap(entry => {
          const path = join(entry.parentPath, entry.name)
          const isFile = entry.isFile() && !relative(root, path).split(sep).includes('.git')
          return isFile ? [[relative(root, path), readFileSync(path, 'utf8')] as const] : []
        }),
      )
    let count = 0
    const change = (name: string, what: string) => {
      if (what === 'write') write(name, `text ${++count}\n`)
      else if (what === 'commit') commit(dirname(name) === 'sub' ? '.' : dirname(name))
      else if (what === 'mark') {
        const mark = `--${marks[count++ % marks.length]}`
        // fails for a file that isn't in the index
        spawnSync('git', ['-C', join(root, dirname(name)), 'update-index', mark, basename(name)])
      } else {
        rmSync(join(root, name), { recursive: true, force: true })
        if (what === 'replace by a folder') {
          mkdirSync(join(root, name))
          put(join(name, 'in.txt'), `text ${++count}\n`)
        }
      }
    }
    const step = fc.tuple(
      fc.constantFrom(...names),
      fc.constantFrom('write', 'write', 'delete', 'replace by a folder', 'commit', 'mark'),
    )
    const steps = fc.array(step, { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(steps, steps, async (byUser, byCommands) => {
        for (const one of byUser) change(...one)
        const before = texts()
        const changes = await changedBy(() => {
          for (const one of byCommands) change(...one)
        })
        const after = texts()
        const differ = [...new Set([...before.keys(), ...after.keys()])].filter(
          name => before.get(name) !== after.get(name),
        )
        assert.deepEqual(changes, Object.fromEntries(differ.map(name => [name, before.get(name) ?? null])))
        assert.equal(omitted, 0)
      }),
      { numRuns: scaledRuns(15) },
    )
  })

  it('is reported where a file replaced a folder in which the user had changed everything', async () => {
    put('sub/in.txt', 'by the person\n')
    const changes = await changedBy(() => {
      rmSync(join(root, 'sub'), { recursive: true })
      put('sub', 'a file\n')
    })
    assert.deepEqual([changes, omitted], [{ sub: null, 'sub/in.txt': 'by the person\n' }, 0])
  })

  const acceptsWhatTheUserDid = async () => {
    const before = await tree.snapshot([root])
    put('clean.txt', 'saved by the person\n')
    put('new.txt', 'made by the person\n')
    rmSync(join(root, 'gone.txt'))
    renameSync(join(root, 'sub'), join(root, 'renamed'))
    for (const name of ['clean.txt', 'new.txt', 'gone.txt', 'sub', 'renamed'])
      await tree.accept(before, join(root, name))
    assert.deepEqual((await tree.changed(before)).changes, [])
    put('clean.txt', 'by a command\n')
    rmSync(join(root, 'new.txt'))
    put('gone.txt', 'by a command\n')
    const { changes, omitted } = await tree.changed(before)
    assert.deepEqual(
      Object.fromEntries(changes.map(({ path, before }) => [relative(root, path), before.text])),
      { 'clean.txt': 'saved by the person\n', 'new.txt': 'made by the person\n', 'gone.txt': '' },
    )
    assert.equal(omitted, 0)
  }

  it('is based on what the user saved, created, renamed or deleted meanwhile', acceptsWhatTheUserDid)

  it('is found again after a slow look, but a folder that is always slow is skipped for a while', async () => {
    let now = 0
    tree = new WorkTree(files, new SlowFolders(-1, () => now))
    const isFound = async (text: string) =>
      'clean.txt' in (await changedBy(() => put('clean.txt', text), [root]))
    for (const text of ['1', '2', '3']) assert.ok(await isFound(text))
    assert.ok(!(await isFound('4')))
    now = 600_000
    assert.ok(await isFound('5'))
    assert.ok(!(await isFound('6')))
  })

  describe('without a repository', () => {
    let scan: FolderScan
    let store: MemoryStore
    let reads: number
    const create = (limits = {}, excluded: string[] = [], slow = new SlowFolders(FOLDER_SCAN_MS)) => {
      scan = new FolderScan({
        store: {
          put: bytes => {
            reads++
            return store.put(bytes)
          },
          get: hash => store.get(hash),
        },
        stateOf: (bytes, path, mode) => files.stateWith(bytes, path, mode),
        excluded: () => excluded,
        limits,
        slow,
      })
      tree = new WorkTree({
        stateOf: path => files.stateOf(path),
        stateWith: (bytes, path, mode) => files.stateWith(bytes, path, mode),
        isKnown: path => files.isKnown(path),
        scan,
      })
    }
    beforeEach(() => {
      rmSync(join(root, '.git'), { recursive: true })
      store = new MemoryStore()
      reads = 0
      tracker = memoryTracker(undefined, store)
      files = new SessionChanges(tracker, 's', { cwd: root, additionalDirectories: [] })
      create()
    })

    describe('while the snapshot is taken', keepsTheTextThatIsOverwritten)

    it('is reported and reverted where a folder replaced a file, or a file a folder', replaced)

    it('is found again after a slow scan', async () => {
      create({}, [], new SlowFolders(-1))
      for (const text of ['1', '2', '3'])
        assert.deepEqual(Object.keys(await changedBy(() => put('clean.txt', text))), ['clean.txt'])
      assert.deepEqual(await changedBy(() => put('clean.txt', '4')), {})
    })

    it('is found by a scan of all files, marked as uncertain, and reverted byte for byte', async function () {
      if (process.platform === 'win32') this.skip()
      const png = Buffer.from([0x89, 0x50, 0, 1, 0xff])
      const latin = Buffer.from('caf\xe9\n', 'latin1')
      const utf16 = Buffer.from('\ufeffwide\r\n', 'utf16le')
      const content = { 'p.png': png, 'latin.txt': latin, 'utf16.txt': utf16 }
      for (const [name, bytes] of Object.entries(content)) put(name, bytes)
      chmodSync(join(root, 'clean.txt'), 0o751)
      symlinkSync('clean.txt', join(root, 'link'))
      await changedBy(() => {
        for (const name of Object.keys(content)) put(name, 'plain\n')
        rmSync(join(root, 'clean.txt'))
        rmSync(join(root, 'link'))
        chmodSync(join(root, 'still.txt'), 0o700)
        renameSync(join(root, 'dirty.txt'), join(root, 'sub/moved.txt'))
        put('new.txt', 'new\n')
        put('ignored.log', 'a build\n')
        mkdirSync(join(root, 'node_modules/x'), { recursive: true })
        put('node_modules/x/index.js', 'installed\n')
      })
      assert.equal(omitted, 0)
      await files.noticed(found)
      assert.deepEqual(
        files.list().map(({ path, status, uncertain }) => [relative(root, path), status, uncertain]),
        [
          ['clean.txt', 'deleted', 'all'],
          ['latin.txt', 'modified', 'all'],
          ['link', 'deleted', 'all'],
          ['new.txt', 'added', 'all'],
          ['p.png', 'modified', 'all'],
          ['still.txt', 'modified', 'all'],
          ['sub/moved.txt', 'renamed', 'all'],
          ['utf16.txt', 'modified', 'all'],
        ],
      )
      assert.deepEqual((await files.undo()).unchanged, [])
      for (const [name, bytes] of Object.entries(content))
        assert.deepEqual(readFileSync(join(root, name)), bytes, name)
      assert.equal(statSync(join(root, 'clean.txt')).mode & 0o777, 0o751)
      assert.notEqual(statSync(join(root, 'still.txt')).mode & 0o777, 0o700)
      assert.equal(readlinkSync(join(root, 'link')), 'clean.txt')
      assert.equal(readFileSync(join(root, 'dirty.txt'), 'utf8'), 'written by the person\n')
      assert.deepEqual(
        [existsSync(join(root, 'new.txt')), existsSync(join(root, 'sub/moved.txt'))],
        [false, false],
      )
    })

    it('is found by reading only files that were written', async () => {
      // recently written files are read again, since two writes can have the same time
      const newest = Math.max(...readdirSync(root).map(name => statSync(join(root, name)).ctimeMs))
      await waitFor('files to be older than the clock can be off', () => Date.now() - newest > FRESH_MS)
      await tree.prepare([root])
      const first = reads
      assert.ok(first > 0)
      await tree.snapshot([root])
      assert.equal(reads, first)
      put('clean.txt', 'by the person\n')
      assert.deepEqual(await changedBy(() => put('clean.txt', 'by a command\n')), {
        'clean.txt': 'by the person\n',
      })
      assert.equal(reads, first + 1)
    })

    it('is found without reading what links lead to, which may have no end', async function () {
      if (process.platform === 'win32') this.skip()
      const outside = realpathSync(mkdtempSync(join(tmpdir(), 'parley-outside-')))
      try {
        writeFileSync(join(outside, 'secret.txt'), 'secret')
        for (const to of [join(outside, 'secret.txt'), '/dev/zero']) symlinkSync(to, join(root, basename(to)))
        assert.deepEqual(await changedBy(() => rmSync(join(root, 'zero'))), { zero: 'link' })
        assert.ok(![...store.blobs.values()].some(bytes => Buffer.from(bytes).includes('secret')))
      } finally {
        rmSync(outside, { recursive: true })
      }
    })

    it('is based on what the user saved, created, renamed or deleted meanwhile', acceptsWhatTheUserDid)

    it("isn't reported for files that were only touched", async () => {
      assert.deepEqual(await changedBy(() => put('clean.txt', 'clean.txt\n')), {})
    })

    it('is counted but not listed for files that are too large or too many', async () => {
      create({ fileBytes: 30 })
      put('large.txt', 'x'.repeat(31))
      assert.deepEqual(await changedBy(() => put('large.txt', 'y')), {})
      assert.equal(omitted, 1)
      const known = join(root, 'large.txt')
      writeFileSync(known, 'x'.repeat(33))
      const before = await tree.snapshot([root])
      await files.writing(known, 'y'.repeat(33), async () => writeFileSync(known, 'y'.repeat(33)))
      assert.equal((await tree.changed(before)).omitted, 0, 'what is listed is not counted')
      const isDecided = files.watchDecisions()
      await files.undo()
      assert.equal((await tree.changed(before, { isDecided })).omitted, 0, 'nor is what was and is undone')
      rmSync(known)
      create({ bytes: 30 })
      const names = ['clean.txt', 'gone.txt', 'sub/in.txt']
      const changes = await changedBy(() => {
        for (const name of names) put(name, 'changed\n')
      })
      assert.equal(Object.keys(changes).length + omitted, 3)
      assert.ok(omitted > 0)
      for (let round = 0; round < 9; round++) {
        for (const name of names) put(name, `${round}`.repeat(8))
        await changedBy(() => put('sub/in.txt', 'changed'))
      }
      assert.equal(omitted, 1, 'the store is full')
      create({ changed: 2 })
      const none = await changedBy(() => {
        for (const name of names) put(name, 'again\n')
      })
      assert.deepEqual([none, omitted], [{}, 3])
      // a file that was written the moment before a look counts as written again
      await waitFor(
        'an old file',
        () => !isWrittenSince(statSync(join(root, 'clean.txt')).ctimeMs, Date.now()),
      )
      const taken = await tree.snapshot([root])
      put('clean.txt', 'listed\n')
      await files.noticed((await tree.changed(taken)).changes)
      for (const name of names) put(name, 'once more\n')
      assert.deepEqual([files.list().length, (await tree.changed(taken)).omitted], [1, 2])
    })

    it('is reported as unknown in a folder with too many files', async () => {
      create({ files: 3 })
      const before = await tree.snapshot([root, join(root, 'missing')])
      put('clean.txt', 'x')
      assert.deepEqual(await tree.changed(before), { changes: [], omitted: 0, unseen: [root] })
      create()
      const known = await tree.snapshot([root])
      mkdirSync(join(root, 'made'))
      create({ files: 8 })
      for (let i = 0; i < 9; i++) put(`made/${i}.txt`, 'x')
      assert.deepEqual((await tree.changed(known)).unseen, [root])
    })

    it("isn't searched for in the home folder or on a whole disk", async () => {
      const folders = [homedir(), parse(root).root]
      assert.deepEqual(new Set((await tree.snapshot(folders)).unseen), new Set(folders))
    })

    it("isn't reported in files that the user hides", async () => {
      create({}, ['**/*.{map,tmp}', 'sub'])
      const changes = await changedBy(() => {
        put('a.map', 'x')
        put('b.tmp', 'x')
        put('c.txt', 'x')
        put('sub/in.txt', 'x')
      })
      assert.deepEqual(changes, { 'c.txt': null })
    })

    it('is reported in a repository without a commit', async () => {
      git('init', '-q')
      assert.deepEqual(await changedBy(() => put('clean.txt', 'x')), { 'clean.txt': 'clean.txt\n' })
    })
  })
})
