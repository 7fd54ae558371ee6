import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChangedFile } from '../../../src/changes/review/changed-file.ts'
import { SessionChanges } from '../../../src/changes/session-changes.ts'
import { waitFor } from '../../host/wait-for.ts'
import { editorChanges } from '../../support/editor-changes.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

describe('the list of changed files that the editor shows', () => {
  const folder = useTemporaryFolder()
  it('is told once, and then only what has changed in it, until nobody shows it', async () => {
    const tracker = memoryTracker()
    const changes = new SessionChanges(tracker, 's', { cwd: folder(), additionalDirectories: [] })
    const write = async (name: string, newText: string) => {
      const path = join(folder(), name)
      writeFileSync(path, newText)
      const diffs = [{ changes: [{ operation: 'add' as const, path, newText }] }]
      await changes.tool({ toolCallId: `${name} ${newText}`, begun: true, done: true }, diffs, [])
    }
    await write('a.txt', 'one\n')
    await write('b.txt', 'one\n')
    const told: string[][] = []
    const tell = ({ changed, removed }: { changed: ChangedFile[]; removed: string[] }) =>
      told.push([...changed.map(({ path, added }) => `${path} ${added}`), ...removed])
    const shown = editorChanges(tracker).changes
    const following = shown.followFiles({ session: 's' }, tell)
    const last = (...names: string[]) => {
      const expected = names.map(name => join(folder(), name)).join()
      return waitFor(expected, () => told.at(-1)?.join() === expected)
    }
    await last('a.txt 1', 'b.txt 1')
    await write('b.txt', 'one\ntwo\n')
    await last('b.txt 2')
    changes.keep({ paths: [join(folder(), 'a.txt')] })
    await last('a.txt')
    assert.equal(told.length, 3)
    following.dispose()
    await write('b.txt', 'three\n')
    const others: unknown[] = []
    const another = shown.followFiles({}, change => others.push(change))
    await waitFor('another list', () => others.length > 0)
    assert.equal(told.length, 3)
    another.dispose()
    tracker.dispose()
  })

  it('is told of a decision about many files at once', async () => {
    const tracker = memoryTracker()
    const changes = new SessionChanges(tracker, 's', { cwd: folder(), additionalDirectories: [] })
    const paths = ['a.txt', 'b.txt', 'c.txt'].map(name => join(folder(), name))
    for (const path of paths) {
      writeFileSync(path, 'one\n')
      const diffs = [{ changes: [{ operation: 'add' as const, path, newText: 'one\n' }] }]
      await changes.tool({ toolCallId: path, begun: true, done: true }, diffs, [])
    }
    const shown = editorChanges(tracker).changes
    const told: string[][] = []
    shown.onDidChange(one => told.push(one))
    changes.keep()
    await waitFor('the decision', () => told.flat().length >= 3)
    assert.deepEqual(told, [paths])
    tracker.dispose()
  })
})
