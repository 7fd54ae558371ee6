import assert from 'node:assert/strict'
import * as vscode from 'vscode'

const extension = vscode.extensions.getExtension('parley.parley')
// The files are loaded before any test runs: this is what the start of VS Code alone led to.
const activeAfterStart = extension?.isActive

describe('activation', () => {
  it('is left to VS Code, which waits until something of Parley is asked for', () => {
    assert.ok(extension, 'Parley is not installed')
    // VS Code adds the commands and views by itself. These events bring back what a window had before a reload: tabs, and
    // editors that show a file as it was before an agent changed it.
    assert.deepEqual(extension.packageJSON.activationEvents, [
      'onWebviewPanel:parley.conversationTab',
      'onWebviewPanel:parley.historyTab',
      'onCommand:parley.history.focus',
      'onFileSystem:parley-base',
    ])
    assert.equal(activeAfterStart, false)
  })

  it('happens when a command is run', async () => {
    await vscode.commands.executeCommand('parley.openSettings')
    assert.equal(extension?.isActive, true)
  })
})
