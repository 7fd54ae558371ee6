import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { insertCode, openText } from '../../../src/workbench/editor/code.ts'
import { openContent } from '../../../src/workbench/editor/open.ts'
import { themeTokenColors } from '../../../src/workbench/editor/theme.ts'

describe('text from a conversation', () => {
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'))

  it('opens as a document in its language, and can be inserted at the cursor @floor', async () => {
    await openText('const a = 1\n', 'ts')
    const editor = vscode.window.activeTextEditor
    assert.equal(editor?.document.languageId, 'typescript')
    assert.equal(editor.document.isUntitled, true)
    editor.selection = new vscode.Selection(0, 0, 0, 5)
    await insertCode('let')
    assert.equal(editor.document.getText(), 'let a = 1\n')
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor')
  })

  it('opens as a read-only file @floor', async () => {
    await openContent('notes.txt', 'text/plain', Buffer.from('only here'))
    const document = vscode.workspace.textDocuments.find(one => one.fileName.endsWith('notes.txt'))
    assert.equal(document?.getText(), 'only here')
    assert.equal(vscode.workspace.fs.isWritableFileSystem(document.uri.scheme), false)
    await assert.rejects(openContent('empty.bin', '', new Uint8Array()), /empty\.bin/)
  })
})

describe('the colors of a theme', () => {
  it("are read from VS Code's own themes, overridden by the user's @floor", async () => {
    const colors = await Promise.all(['Default Dark+', 'Visual Studio Dark', 'Dark+'].map(themeTokenColors))
    const dark = colors.find(one => one.comment !== undefined)
    assert.equal(dark?.comment, '#6a9955')
    assert.ok(dark.string && dark.keyword && dark.number)
    assert.deepEqual(await themeTokenColors('No theme of this name'), {})

    const settings = vscode.workspace.getConfiguration()
    await settings.update(
      'editor.tokenColorCustomizations',
      { comments: '#123456' },
      vscode.ConfigurationTarget.Global,
    )
    try {
      assert.equal((await themeTokenColors('No theme of this name')).comment, '#123456')
    } finally {
      await settings.update('editor.tokenColorCustomizations', undefined, vscode.ConfigurationTarget.Global)
    }
  })
})
