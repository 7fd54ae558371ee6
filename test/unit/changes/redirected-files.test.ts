import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChangeTracker } from '../../../src/changes/change-tracker.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { noDocuments } from '../../../src/editor/files/documents.ts'
import { disk } from '../../../src/editor/files/file-system.ts'
import { type FilesShared, filesShared, SessionFiles } from '../../../src/editor/files/files.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

const LEFT = /^A link in its path leads elsewhere now\. The file was left unchanged\.$/

describe("changed files whose folder is replaced by a link to a folder outside of the session's", () => {
  const folder = useTemporaryFolder()
  const at = (...names: string[]) => join(folder(), ...names)
  let shared: FilesShared
  let tracker: ChangeTracker
  let changes: SessionChanges

  beforeEach(() => {
    mkdirSync(at('root', 'door'), { recursive: true })
    mkdirSync(at('outside'))
    writeFileSync(at('root', 'door', 'changed.txt'), 'original\n')
    shared = filesShared({ documents: noDocuments, fileSystem: disk })
    tracker = memoryTracker(shared)
    changes = new SessionChanges(tracker, 's', roots())
  })
  afterEach(() => tracker.dispose())

  const roots = () => ({ cwd: at('root'), additionalDirectories: [] })
  const write = (name: string, content: string) => {
    const files = new SessionFiles(shared, { roots: roots(), askAccess: async () => 'refuse' })
    const path = at('root', 'door', name)
    return changes.writing(path, content, tracked =>
      files.writeTextFile({ path, content }, undefined, tracked),
    )
  }
  const theirs = () => ['changed.txt', 'added.txt'].map(name => readFileSync(at('outside', name), 'utf8'))

  /** The agent changes a file and adds one. Outside are files with the same names and the same texts. */
  const edit = async () => {
    changes.beginTurn(1, () => true)
    await write('changed.txt', 'changed\n')
    await write('added.txt', 'added\n')
    for (const name of ['changed.txt', 'added.txt'])
      writeFileSync(at('outside', name), readFileSync(at('root', 'door', name)))
  }
  const replaceByLink = () => {
    renameSync(at('root', 'door'), at('root', 'aside'))
    symlinkSync(at('outside'), at('root', 'door'))
  }
  const putBack = () => {
    rmSync(at('root', 'door'))
    renameSync(at('root', 'aside'), at('root', 'door'))
  }

  for (const when of ['during', 'after'] as const) {
    it(`aren't touched there by Revert, if it happens ${when} the turn`, async () => {
      await edit()
      if (when === 'during') replaceByLink()
      await changes.endTurn()
      if (when === 'after') replaceByLink()
      const { unchanged } = await changes.undo()
      assert.deepEqual(theirs(), ['changed\n', 'added\n'])
      // without the turn's end, nothing has noticed that the folder is gone
      if (when === 'after') assert.equal(unchanged.length, 2)
      for (const { why } of unchanged) assert.match((why as Error).message, LEFT)
    })
  }

  it("aren't touched there by Restore to Here", async () => {
    await edit()
    replaceByLink()
    await changes.endTurn()
    const { unchanged } = await changes.undo({ since: 1 })
    assert.deepEqual(theirs(), ['changed\n', 'added\n'])
    assert.deepEqual(
      unchanged.map(({ path }) => path),
      ['changed.txt', 'added.txt'].map(name => at('root', 'door', name)),
    )
    for (const { why } of unchanged) assert.match((why as Error).message, LEFT)
  })

  it("aren't touched there if a revert is taken back, which is reported", async () => {
    await edit()
    await changes.endTurn()
    const { undone } = await changes.undo()
    assert.ok(undone)
    assert.equal(existsSync(at('root', 'door', 'added.txt')), false)
    writeFileSync(at('outside', 'changed.txt'), 'original\n')
    rmSync(at('outside', 'added.txt'))
    replaceByLink()
    const left = await tracker.review.restore(undone.id)
    assert.deepEqual(
      left.map(({ path }) => path),
      ['changed.txt', 'added.txt'].map(name => at('root', 'door', name)),
    )
    for (const { why } of left) assert.match(why?.message ?? '', LEFT)
    assert.equal(readFileSync(at('outside', 'changed.txt'), 'utf8'), 'original\n')
    assert.equal(existsSync(at('outside', 'added.txt')), false)
    putBack()
    assert.deepEqual(await tracker.review.restore(undone.id), [])
    assert.equal(readFileSync(at('root', 'door', 'changed.txt'), 'utf8'), 'changed\n')
    assert.equal(readFileSync(at('root', 'door', 'added.txt'), 'utf8'), 'added\n')
  })
})
