import assert from 'node:assert/strict'
import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { FileStates } from '../../../src/changes/model/file-state.ts'
import { SessionChanges, type UndoReport } from '../../../src/changes/session-changes.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk, type FileSystem } from '../../../src/editor/files/file-system.ts'
import { type FilesShared, filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { MemoryStore, memoryTracker } from '../../support/memory-tracker.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

const LEFT = /^The file was written at the same moment and was left unchanged\. Try again\.$/

const whyLeft = ({ unchanged: [first] }: UndoReport) => (first?.why instanceof Error ? first.why.message : '')

describe('a file that another program writes while it is restored', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'a.txt')
  const text = () => readFileSync(file(), 'utf8')
  let meanwhile: Partial<Record<keyof FileSystem, () => void>>
  let shared: FilesShared
  let tracker: ChangeTracker
  let changes: SessionChanges

  /** Runs what another program does right before a function of the file system, once. */
  const afterThem = <T>(name: keyof FileSystem, work: () => Promise<T>): Promise<T> => {
    const act = meanwhile[name]
    delete meanwhile[name]
    act?.()
    return work()
  }

  beforeEach(() => {
    meanwhile = {}
    const fileSystem: FileSystem = {
      ...disk,
      createFile: (...rest) => afterThem('createFile', () => disk.createFile(...rest)),
      link: (...rest) => afterThem('link', () => disk.link(...rest)),
      rename: (...rest) => afterThem('rename', () => disk.rename(...rest)),
      overwriteFile: (...rest) => afterThem('overwriteFile', () => disk.overwriteFile(...rest)),
    }
    shared = filesShared({ documents: noDocuments, fileSystem })
    tracker = memoryTracker(shared)
    changes = new SessionChanges(tracker, 's', { cwd: folder(), additionalDirectories: [] })
  })
  afterEach(() => tracker.dispose())

  const edit = async (original: string | undefined) => {
    if (original !== undefined) writeFileSync(file(), original)
    changes.beginTurn(1, () => true)
    const roots = { cwd: folder(), additionalDirectories: [] }
    const files = new SessionFiles(shared, { roots, askAccess: async () => 'refuse' })
    const content = 'changed\n'
    await changes.writing(file(), content, tracked =>
      files.writeTextFile({ path: file(), content }, undefined, tracked),
    )
    await changes.endTurn()
  }
  const save = () => writeFileSync(file(), 'theirs\n')
  const saveByRename = () => {
    writeFileSync(`${file()}~`, 'theirs\n')
    renameSync(`${file()}~`, file())
  }

  for (const [how, act] of [
    ['in place', save],
    ['by a rename', saveByRename],
  ] as const) {
    for (const step of ['createFile', 'link'] as const) {
      it(`${how}, before ${step}, keeps that, and can be restored afterward`, async () => {
        await edit('original\n')
        meanwhile[step] = act
        const report = await changes.undo()
        assert.equal(text(), 'theirs\n')
        assert.deepEqual(meanwhile, {})
        assert.equal(report.undone, undefined)
        assert.deepEqual(tracker.review.undone, [])
        assert.match(whyLeft(report), LEFT)
        assert.deepEqual(readdirSync(folder()), ['a.txt'])
      })
    }
  }

  it('keeps its mode if it is read-only', async function () {
    if (process.platform === 'win32') this.skip()
    await edit('original\n')
    chmodSync(file(), 0o444)
    await tracker.disk.refresh()
    const states = new FileStates(shared, new MemoryStore())
    const attributes = { type: 'text' as const, encoding: 'utf8', bom: false, mode: 0o444 }
    const [mine, original] = ['mine\n', 'original\n'].map(text => ({ attributes, text }))
    await assert.rejects(states.write(file(), mine!, original!, rm), { message: LEFT })
    assert.deepEqual([text(), statSync(file()).mode & 0o777], ['changed\n', 0o444])
  })

  it('is put back if it was replaced by a link right before the rename', async function () {
    if (process.platform === 'win32') this.skip()
    await edit('original\n')
    meanwhile.link = () => {
      rmSync(file())
      symlinkSync('elsewhere.txt', file())
    }
    const report = await changes.undo()
    assert.equal(readlinkSync(file()), 'elsewhere.txt')
    assert.match(whyLeft(report), LEFT)
    assert.deepEqual(readdirSync(folder()), ['a.txt'])
  })

  it('in place, right before the rename, keeps that', async () => {
    await edit('original\n')
    meanwhile.rename = save
    const report = await changes.undo()
    assert.equal(text(), 'theirs\n')
    assert.match(whyLeft(report), LEFT)
    assert.deepEqual(readdirSync(folder()), ['a.txt'])
    writeFileSync(file(), 'changed\n')
    assert.deepEqual((await changes.undo()).unchanged, [])
    assert.equal(text(), 'original\n')
  })

  it('keeps that if the file was deleted and is created anew at that moment', async () => {
    await edit('original\n')
    rmSync(file())
    changes.beginTurn(2, () => true)
    await changes.endTurn()
    assert.equal(changes.list()[0]?.status, 'deleted')
    meanwhile.link = save
    const report = await changes.undo()
    assert.equal(text(), 'theirs\n')
    assert.match(whyLeft(report), LEFT)
    assert.deepEqual(readdirSync(folder()), ['a.txt'])
  })

  it('otherwise is replaced with its mode and its hard links', async function () {
    if (process.platform === 'win32') this.skip()
    await edit('original\n')
    chmodSync(file(), 0o750)
    await tracker.disk.refresh()
    await changes.undo()
    assert.equal(text(), 'original\n')
    assert.equal(statSync(file()).mode & 0o777, 0o750)
    await edit('original\n')
    linkSync(file(), join(folder(), 'b.txt'))
    await changes.undo()
    assert.equal(readFileSync(join(folder(), 'b.txt'), 'utf8'), 'original\n')
    assert.deepEqual(readdirSync(folder()), ['a.txt', 'b.txt'])
  })
})
