import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { ChangedFiles, type TouchedFile } from '../../../../src/editor/changes/changed-files.ts'
import { noDocuments } from '../../../../src/editor/files/documents.ts'
import { disk } from '../../../../src/editor/files/file-system.ts'
import { filesShared } from '../../../../src/editor/files/files.ts'
import { until } from '../../../support/until.ts'

describe('the files that a session changed', () => {
  let root = ''
  let kept: readonly TouchedFile[] = []
  const file = (name: string) => join(root, name)
  const text = (name: string) => readFileSync(file(name), 'utf8')
  let watching: ((path: string) => void) | undefined
  const watch = (changed: (path: string) => void) => {
    watching = changed
    return {
      dispose: () => {
        watching = undefined
      },
    }
  }
  const create = () =>
    new ChangedFiles(
      filesShared({ documents: noDocuments, fileSystem: disk, watch }),
      { cwd: root, additionalDirectories: [] },
      {
        read: () => [...kept],
        write: files => {
          kept = files
        },
      },
    )
  const remove = (path: string) => rm(path)
  let changes: ChangedFiles
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-changes-')))
    kept = []
    watching = undefined
    writeFileSync(file('a.txt'), 'one\ntwo\nthree\n')
    changes = create()
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const write = (name: string, content: string) =>
    changes.writing(file(name), () => writeFile(file(name), content))
  const told = async (name: string, oldText: string | undefined, newText: string, done: boolean) =>
    changes.told(
      [
        {
          operation: oldText === undefined ? 'add' : 'modify',
          path: file(name),
          newText,
          ...(oldText !== undefined && { oldText }),
        },
      ],
      undefined,
      done,
    )

  it('are those the agent wrote through the client', async () => {
    await write('a.txt', 'one\n2\nthree\nfour\n')
    await write('new.txt', 'x\n')
    assert.deepEqual(changes.list(), [
      { path: file('a.txt'), status: 'modified', added: 2, removed: 1 },
      { path: file('new.txt'), status: 'added', added: 1, removed: 0 },
    ])
    assert.equal(changes.before(file('a.txt')), 'one\ntwo\nthree\n')
  })

  it('are those its tool calls tell of, whenever it writes them', async () => {
    await told('a.txt', 'two', '2', false)
    assert.deepEqual(changes.list(), [])
    await writeFile(file('a.txt'), 'one\n2\nthree\n')
    await told('a.txt', 'two', '2', true)
    assert.deepEqual(changes.list(), [{ path: file('a.txt'), status: 'modified', added: 1, removed: 1 }])
    await writeFile(file('late.txt'), 'x\n')
    await told('late.txt', undefined, 'x\n', true)
    assert.equal(changes.before(file('late.txt')), null)
    // written before anybody could look, and told as a fragment
    writeFileSync(file('b.txt'), 'a\nB\nc\n')
    await told('b.txt', 'b', 'B', false)
    await told('b.txt', 'b', 'B', true)
    assert.equal(changes.before(file('b.txt')), 'a\nb\nc\n')
  })

  it('are none when an edit was told and not made', async () => {
    await told('a.txt', 'two', '2', false)
    await told('a.txt', 'two', '2', true)
    assert.deepEqual(changes.list(), [])
  })

  it('are told as deleted, and brought back', async () => {
    const gone = { operation: 'delete', path: file('a.txt') }
    await changes.told([gone], undefined, false)
    await rm(file('a.txt'))
    await changes.told([gone], undefined, true)
    assert.deepEqual(changes.list(), [{ path: file('a.txt'), status: 'deleted', added: 0, removed: 3 }])
    assert.equal(await changes.undo(file('a.txt'), remove), 'undone')
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  it('are undone as a whole: changed ones come back, added ones go', async () => {
    await write('a.txt', 'x')
    await write('a.txt', 'y')
    await write('new.txt', 'x')
    assert.equal(await changes.undo(file('a.txt'), remove), 'undone')
    assert.equal(await changes.undo(file('new.txt'), remove), 'undone')
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
    assert.throws(() => text('new.txt'), { code: 'ENOENT' })
    assert.deepEqual(changes.list(), [])
    await write('a.txt', 'again')
    assert.equal(changes.before(file('a.txt')), 'one\ntwo\nthree\n')
  })

  it('are left alone where the person changed them since, or in between', async () => {
    await write('a.txt', 'agent')
    writeFileSync(file('a.txt'), 'person')
    assert.equal(await changes.undo(file('a.txt'), remove), 'changed-since')
    assert.equal(text('a.txt'), 'person')
    await write('a.txt', 'person and agent')
    assert.equal(await changes.undo(file('a.txt'), remove), 'changed-since')
    assert.equal(text('a.txt'), 'person and agent')
  })

  it('are shown as they are, once the person has changed, renamed or deleted some', async () => {
    await write('a.txt', 'one\n2\nthree\nfour\n')
    await write('new.txt', 'x\n')
    writeFileSync(file('a.txt'), 'one\n2\nthree\n')
    watching?.(file('a.txt'))
    await until(() => changes.list()[0]?.added === 1)
    assert.equal(await changes.undo(file('a.txt'), remove), 'changed-since')
    renameSync(file('new.txt'), file('other.txt'))
    watching?.(file('new.txt'))
    await until(() => changes.list().length === 1)
    rmSync(file('a.txt'))
    await changes.refresh()
    assert.deepEqual(changes.list(), [{ path: file('a.txt'), status: 'deleted', added: 0, removed: 3 }])
  })

  it('are none where the person took all back, and can be undone when the agent begins again', async () => {
    await write('a.txt', 'agent')
    writeFileSync(file('a.txt'), 'one\ntwo\nthree\n')
    await changes.refresh()
    assert.deepEqual(changes.list(), [])
    await write('a.txt', 'agent again')
    assert.equal(changes.list().length, 1)
    assert.equal(await changes.undo(file('a.txt'), remove), 'undone')
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  it('are looked at after a reload, and heard of only while there are some', async () => {
    assert.equal(watching, undefined)
    await write('a.txt', 'agent')
    assert.ok(watching)
    writeFileSync(file('a.txt'), 'one\ntwo\nthree\n')
    const again = create()
    await until(() => again.list().length === 0)
    changes.keep([file('a.txt')])
    again.keep([file('a.txt')])
    assert.equal(watching, undefined)
  })

  it('are not taken for undone while a tool call has yet to write them', async () => {
    await told('a.txt', 'two', '2', false)
    watching?.(file('a.txt'))
    await changes.refresh()
    writeFileSync(file('a.txt'), 'one\n2\nthree\n')
    await changes.refresh()
    await told('a.txt', 'two', '2', true)
    assert.equal(changes.before(file('a.txt')), 'one\ntwo\nthree\n')
    assert.equal(await changes.undo(file('a.txt'), remove), 'undone')
  })

  it('are kept: what the agent left is where the next change begins', async () => {
    await write('a.txt', 'x')
    const version = changes.version(file('a.txt'))
    changes.keep([file('a.txt')])
    assert.deepEqual(changes.list(), [])
    assert.notEqual(changes.version(file('a.txt')), version)
    await write('a.txt', 'y')
    assert.equal(changes.before(file('a.txt')), 'x')
  })

  it('are known after a reload', async () => {
    await write('a.txt', 'x')
    const again = create()
    assert.deepEqual(again.list(), changes.list())
    assert.equal(await again.undo(file('a.txt'), remove), 'undone')
    assert.equal(text('a.txt'), 'one\ntwo\nthree\n')
  })

  it('are only those within the roots, and only texts', async () => {
    mkdirSync(file('folder'))
    await told('../outside.txt', undefined, 'x', true)
    await told('folder', 'a', 'b', true)
    writeFileSync(file('picture.png'), Buffer.from([0, 1, 2]))
    await told('picture.png', 'a', 'b', true)
    assert.deepEqual(changes.list(), [])
  })

  it('come back byte for byte, whatever was written', async () => {
    const content = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', 'é', '\ufeff', ' '), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(content, fc.array(content, { minLength: 1, maxLength: 4 }), async (before, writes) => {
        writeFileSync(file('p.txt'), before.join(''))
        const bytes = readFileSync(file('p.txt'))
        for (const one of writes) await write('p.txt', one.join(''))
        assert.equal(await changes.undo(file('p.txt'), remove), 'undone')
        if (writes.some(one => one.join('') !== before.join(''))) {
          const after = readFileSync(file('p.txt'))
          // a mark at the beginning is how the text is stored, and stays as the agent left it
          assert.equal(after.toString().replace(/^\ufeff+/, ''), bytes.toString().replace(/^\ufeff+/, ''))
        }
        changes.keep([file('p.txt')])
      }),
      { numRuns: 60 },
    )
  })
})
