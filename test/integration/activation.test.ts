import assert from 'node:assert/strict'
import * as vscode from 'vscode'

const extension = vscode.extensions.getExtension('parley.parley')
// The files are loaded before any test runs: this is what the start of VS Code alone led to.
const activeAfterStart = extension?.isActive

describe('activation', () => {
  it('is left to VS Code, which waits until something of Parley is asked for', () => {
    assert.ok(extension, 'Parley is not installed')
    // VS Code adds the commands and views by itself; a tab of before a reload it asks for by this event alone
    assert.deepEqual(extension.packageJSON.activationEvents, ['onWebviewPanel:parley.conversationTab'])
    assert.equal(activeAfterStart, false)
  })

  it('happens when a command is run', async () => {
    await vscode.commands.executeCommand('parley.openSettings')
    assert.equal(extension?.isActive, true)
  })
})
