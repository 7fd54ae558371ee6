import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ChangeScope, SessionChanges } from '../../../src/changes/session-changes.ts'
import type * as base from '../../../src/workbench/changes/base-files.ts'
import { waitFor } from '../../host/wait-for.ts'
import { editorChanges } from '../../support/editor-changes.ts'
import { memoryTracker } from '../../support/memory-tracker.ts'
import * as values from '../../support/page/editor/values.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

describe('what a review compares a renamed file with', () => {
  const folder = useTemporaryFolder()
  it('is its text under the new name once that is kept', async () => {
    const vscode = {
      ...values,
      workspace: { registerFileSystemProvider: () => new values.Disposable(() => {}) },
    }
    const { BaseFiles, baseUri, summaryUri } = await loadWithFakeVsCode<typeof base>(
      'workbench/changes/base-files.ts',
      vscode,
    )
    const tracker = memoryTracker()
    const { changes: shown } = editorChanges(tracker)
    const files = new BaseFiles(async () => ({ changes: shown }))
    const changed: string[] = []
    files.onDidChangeFile(events => changed.push(...events.map(({ uri }) => uri.toString())))
    files.follow(shown, path => path)
    const [from, to] = ['old.txt', 'new.txt'].map(name => join(folder(), name)) as [string, string]
    writeFileSync(from, 'one\ntwo\n')
    const changes = new SessionChanges(tracker, 's', { cwd: folder(), additionalDirectories: [] })
    renameSync(from, to)
    const text = 'one\ntwo\n'
    await changes.noticed([
      { path: from, before: text },
      { path: to, before: null },
    ])
    const scope = new ChangeScope(tracker, 's')
    assert.deepEqual(
      scope.list().map(({ path, from }) => [path, from]),
      [[to, from]],
    )
    const uri = baseUri(from, 's', false, to)
    const described = summaryUri(from, 'before', 's', to)
    const read = async (one = uri) => Buffer.from(await files.readFile(one)).toString()
    assert.equal(await read(), text)
    assert.equal(await read(described), 'Text file, 8 bytes')
    scope.keep()
    await waitFor('changes', () => changed.length > 0)
    assert.deepEqual([...new Set(changed)], [uri.toString(), described.toString()])
    assert.equal(await read(), text)
    assert.equal(await read(described), 'Text file, 8 bytes')
    tracker.dispose()
  })
})
