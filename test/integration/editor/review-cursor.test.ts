import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { ReviewCursor } from '../../../src/workbench/changes/review-cursor.ts'
import { waitFor } from '../../host/wait-for.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

describe('the cursor at a change that was just reverted', () => {
  const folder = useTemporaryFolder()
  const file = () => join(folder(), 'a.txt')
  const [REVERTED, RESTORED] = ['one\nMercury\nthree\nfour\n', 'one\nHermes\nthree\nfour\n']
  type Options = ConstructorParameters<typeof ReviewCursor>
  const hunk = { id: 1, start: 1, end: 2 }
  const changes = {
    text: async () => RESTORED,
    pathOf: async (path: string) => path,
    hunks: async () => [hunk],
    file: async (path: string) => ({ path, status: 'modified' }),
    first: async () => undefined,
  } as unknown as Options[0]
  const changeEditors = {
    shownReview: undefined,
    shown: undefined,
    onDidOpenReview: () => new vscode.Disposable(() => {}),
  } as unknown as Options[1]
  let editor: vscode.TextEditor
  let cursor: ReviewCursor
  let lines: number[]
  let listener: vscode.Disposable

  beforeEach(async () => {
    writeFileSync(file(), REVERTED)
    editor = await vscode.window.showTextDocument(vscode.Uri.file(file()))
    cursor = new ReviewCursor(changes, changeEditors)
    lines = []
    listener = vscode.window.onDidChangeTextEditorSelection(({ selections }) => {
      lines.push(selections[0]!.active.line)
    })
    // the change is restored, but the editor doesn't know that yet
    await cursor.go({ path: file(), line: 1, id: 1 })
    assert.equal(editor.document.getText(), REVERTED)
    await waitFor('the cursor', () => lines.at(-1) === 1)
  })
  afterEach(() => {
    listener.dispose()
    cursor.dispose()
  })

  it('stays there when VS Code loads the file late, which moves it to the next line', async () => {
    writeFileSync(file(), RESTORED)
    await waitFor('the load', () => editor.document.getText() === RESTORED)
    await waitFor('the move by VS Code', () => lines.includes(2))
    await waitFor('the cursor', () => lines.at(-1) === 1 && editor.selection.active.line === 1)
  })

  it('stays behind what the user types before the load', async () => {
    await vscode.commands.executeCommand('type', { text: 'x' })
    await waitFor('the text', () => editor.document.isDirty && editor.selection.active.character === 1)
    await vscode.commands.executeCommand('type', { text: 'y' })
    await waitFor('the text', () => editor.document.lineAt(1).text.length === 'xyMercury'.length)
    assert.equal(editor.document.lineAt(1).text, 'xyMercury')
    await vscode.commands.executeCommand('workbench.action.files.revert')
  })

  it('stays where the user moved it meanwhile', async () => {
    await vscode.commands.executeCommand('cursorBottom', { source: 'keyboard' })
    await waitFor('the user to be at the end', () => lines.at(-1) === 4)
    const load = waitFor('the load', () => editor.document.getText() === RESTORED)
    writeFileSync(file(), RESTORED)
    await load
    // what would go back has had its turn
    await vscode.commands.executeCommand('cursorUp', { source: 'keyboard' })
    await waitFor('the cursor', () => lines.at(-1) === 3)
    assert.deepEqual(lines.slice(lines.indexOf(4)), [4, 3])
  })
})
