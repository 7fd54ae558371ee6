import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { currentSelection, openFile, openLink } from '../../../src/workbench/editor/open.ts'
import { waitFor } from '../../host/wait-for.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('opening a clicked link', () => {
  const folder = useTemporaryFolder()
  const roots = () => ({ cwd: join(folder(), 'one'), additionalDirectories: [join(folder(), 'two')] })
  beforeEach(() => {
    mkdirSync(join(folder(), 'one'))
    mkdirSync(join(folder(), 'two'))
    writeFileSync(join(folder(), 'one', 'a.txt'), 'first\nsecond\nthird\n')
    writeFileSync(join(folder(), 'two', 'my file.txt'), 'first\nsecond\n')
  })
  /** Resolves when the file is in the active editor, with the cursor there. */
  const shown = (name: string, at: [line: number, column: number]) =>
    waitFor(`${name} at ${at.join(':')}`, () => {
      const { document, selection } = vscode.window.activeTextEditor ?? {}
      if (!document?.uri.path.endsWith(`/${name}`) || !selection) return false
      return selection.active.isEqual(new vscode.Position(at[0] - 1, at[1] - 1))
    })

  it('shows a file at its line and column @floor', async () => {
    await openFile({ path: join(folder(), 'one', 'a.txt'), line: 2, column: 4 })
    await shown('a.txt', [2, 4])
  })

  it('shows the last line if the link points beyond it', async () => {
    await openFile({ path: 'a.txt', line: 99 }, roots())
    await shown('a.txt', [4, 1])
  })

  it('searches for a relative path in each root', async () => {
    await openLink('my%20file.txt:2', roots())
    await shown('my file.txt', [2, 1])
  })

  it('opens a file URI', async () => {
    await openLink(`${vscode.Uri.file(join(folder(), 'one', 'a.txt'))}#L3`, roots())
    await shown('a.txt', [3, 1])
  })

  it('reports a missing file', async () => {
    await assert.rejects(openLink('nowhere.txt:3', roots()), /The file nowhere\.txt doesn't exist/)
  })

  it('rejects links to anything but web pages and files', async () => {
    await assert.rejects(openLink('command:workbench.action.files.newUntitledFile', roots()), /command:/)
    assert.equal(vscode.window.activeTextEditor, undefined)
  })

  it('returns the selection of an open editor', async () => {
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(join(folder(), 'one', 'a.txt')))
    assert.equal(currentSelection(editor), undefined)
    editor.selection = new vscode.Selection(0, 2, 2, 0)
    assert.deepEqual(currentSelection(editor), {
      label: 'a.txt:1-2',
      detail: `${join(folder(), 'one', 'a.txt')}:1-2`,
      uri: editor.document.uri.toString(),
      text: 'rst\nsecond\n',
      startLine: 1,
      endLine: 2,
      languageId: 'plaintext',
    })
    editor.selection = new vscode.Selection(1, 3, 1, 0)
    assert.equal(currentSelection(editor)?.label, 'a.txt:2')
  })
})
