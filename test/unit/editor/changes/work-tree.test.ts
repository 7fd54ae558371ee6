import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { SessionChanges } from '../../../../src/editor/changes/session-changes.ts'
import { WorkTree } from '../../../../src/editor/changes/work-tree.ts'
import { memoryTracker } from '../../../support/memory-tracker.ts'

describe('what changes in a work tree', () => {
  let root: string
  let omitted = 0
  let tree: WorkTree
  let files: SessionChanges
  const put = (name: string, text: string | Buffer) => writeFileSync(join(root, name), text)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], { cwd: root })

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
    files = new SessionChanges(memoryTracker(), 's', { cwd: root, additionalDirectories: [] })
    tree = new WorkTree(path => files.textOf(path))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  async function changedBy(work: () => void, folders = [root]): Promise<Record<string, string | null>> {
    const before = await tree.snapshot(folders)
    work()
    const { changes, omitted: left } = await tree.changed(before)
    omitted = left
    return Object.fromEntries(changes.map(({ path, before }) => [relative(root, path), before]))
  }

  it('is told with the texts from before, and nothing else', async () => {
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
    await files.noticed(Object.entries(changes).map(([name, before]) => ({ path: join(root, name), before })))
    assert.deepEqual(
      files.list().map(({ path, status, uncertain }) => [relative(root, path), status, uncertain]),
      [
        ['dirty.txt', 'modified', true],
        ['new-before.txt', 'modified', true],
        ['clean.txt', 'modified', true],
        ['gone.txt', 'deleted', true],
        ['new.txt', 'added', true],
      ],
    )
    assert.deepEqual((await files.undo({ paths: [join(root, 'gone.txt')] })).left, [])
    assert.equal(await files.textOf(join(root, 'gone.txt')), 'gone.txt\n')
  })

  it('is told also where it was committed meanwhile, or undone', async () => {
    const changes = await changedBy(() => {
      put('clean.txt', 'committed\n')
      git('add', 'clean.txt')
      git('commit', '-q', '-m', 'second')
      git('checkout', '-q', '--', 'dirty.txt')
    })
    assert.deepEqual(changes, { 'dirty.txt': 'written by the person\n', 'clean.txt': 'clean.txt\n' })
  })

  it('is told of the session’s folders alone', async () => {
    const work = () => {
      put('clean.txt', 'outside\n')
      put('sub/in.txt', 'inside\n')
    }
    assert.deepEqual(await changedBy(work, [join(root, 'sub')]), { 'sub/in.txt': 'sub/in.txt\n' })
  })

  it('is not told of what is no text, nor of line ends that a checkout makes', async () => {
    put('crlf.txt', 'one\ntwo\n')
    put('picture.png', Buffer.from([0x89, 0x50, 0, 1, 0xff]))
    git('add', '.')
    git('commit', '-q', '-m', 'more')
    const changes = await changedBy(() => {
      put('crlf.txt', 'one\r\ntwo\r\n')
      put('picture.png', Buffer.from([0x89, 0x50, 0, 2, 0xfe]))
    })
    assert.deepEqual(changes, {})
  })

  it('is counted where so much changed that it was no edit', async () => {
    const changes = await changedBy(() => {
      for (let i = 0; i < 1001; i++) put(`new-${i}.txt`, 'x')
      put('dirty.txt', 'changed\n')
    })
    assert.deepEqual(changes, { 'dirty.txt': 'written by the person\n' })
    assert.equal(omitted, 1001)
    files.omitted = omitted
    assert.equal(files.omitted, 1001)
  })

  it('is told with the mode from before', async function () {
    if (process.platform === 'win32') this.skip()
    put('run.sh', 'x\n')
    chmodSync(join(root, 'run.sh'), 0o755)
    git('add', '.')
    git('commit', '-q', '-m', 'executable')
    const before = await tree.snapshot([root])
    rmSync(join(root, 'run.sh'))
    const { changes } = await tree.changed(before)
    assert.deepEqual(changes, [{ path: join(root, 'run.sh'), before: 'x\n', mode: 0o755 }])
    await files.noticed(changes)
    await files.undo()
    assert.equal(statSync(join(root, 'run.sh')).mode & 0o777, 0o755)
  })

  it('is not told where there is no repository', async () => {
    rmSync(join(root, '.git'), { recursive: true })
    assert.deepEqual(await tree.snapshot([root, join(root, 'missing')]), [])
  })
})
