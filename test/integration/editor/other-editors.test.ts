import assert from 'node:assert/strict'
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { onDidSaveElsewhere, unsavedElsewhere } from '../../../src/workbench/editor/other-editors.ts'
import { waitFor } from '../../host/wait-for.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('a file in an editor without a text document', () => {
  const folder = useTemporaryFolder()
  const saved: string[] = []
  let following: { dispose(): void }
  beforeEach(() => {
    saved.length = 0
    following = onDidSaveElsewhere(path => saved.push(path))
  })
  afterEach(() => following.dispose())

  it('has unsaved changes in a notebook, and is reported when the user saves it @floor', async () => {
    const path = join(folder(), 'a.ipynb')
    const cell = { cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source: ['1 + 1'] }
    writeFileSync(path, JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 2 }))
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(path))
    await vscode.window.showNotebookDocument(notebook)
    const more = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, '2 + 2', 'python')
    const edit = new vscode.WorkspaceEdit()
    edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(1, [more])])
    assert.equal(await vscode.workspace.applyEdit(edit), true)
    await waitFor('unsaved changes', () => unsavedElsewhere().includes(path))
    assert.equal(await notebook.save(), true)
    assert.match(readFileSync(path, 'utf8'), /2 \+ 2/)
    await waitFor('a save', () => saved.length > 0)
    await waitFor('no unsaved changes', () => !unsavedElsewhere().includes(path))
    assert.deepEqual(saved, [path])
  })

  describe('in a custom editor', () => {
    const host = vscode.extensions.getExtension<{ typeBytes: (content: string) => void }>(
      'parley-tests.parley-test-host',
    )!
    const type = async (path: string, content: string) => {
      await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(path), 'parley-tests.bytes')
      const { typeBytes } = await host.activate()
      typeBytes(content)
      await waitFor('unsaved changes', () => unsavedElsewhere().includes(path))
    }

    it('has unsaved changes, and is reported when the user saves it @floor', async () => {
      const path = join(folder(), 'a.bytes')
      writeFileSync(path, 'before')
      await type(path, 'typed')
      await vscode.commands.executeCommand('workbench.action.files.save')
      await waitFor('a save', () => saved.length > 0)
      assert.equal(readFileSync(path, 'utf8'), 'typed')
      assert.deepEqual([saved, unsavedElsewhere()], [[path], []])
    })

    it("isn't reported when the user discards what they typed", async () => {
      const [path, other] = [join(folder(), 'a.bytes'), join(folder(), 'b.bytes')]
      for (const file of [path, other]) writeFileSync(file, 'before')
      utimesSync(path, 0, 0)
      await type(path, 'typed')
      await vscode.commands.executeCommand('workbench.action.files.revert')
      await waitFor('no unsaved changes', () => unsavedElsewhere().length === 0)
      await type(other, 'typed')
      await vscode.commands.executeCommand('workbench.action.files.save')
      await waitFor('a save', () => saved.length > 0)
      assert.equal(readFileSync(path, 'utf8'), 'before')
      assert.deepEqual(saved, [other])
    })
  })
})
