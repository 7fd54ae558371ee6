import assert from 'node:assert/strict'
import * as vscode from 'vscode'

const extension = vscode.extensions.getExtension('parley.parley')

describe('activation', () => {
  it('waits until VS Code has started or something of Parley is used', () => {
    assert.ok(extension, 'Parley is not installed')
    // VS Code adds the commands and views by itself. These events restore what a window had before a reload: tabs, and
    // editors that show the original version of a file that an agent changed. The last one registers code actions when
    // nothing waits for it any more: activation alone loads nothing else.
    assert.deepEqual(extension.packageJSON.activationEvents, [
      'onWebviewPanel:parley.conversationTab',
      'onWebviewPanel:parley.historyTab',
      'onCommand:parley.history.focus',
      'onWebviewPanel:parley.manageAgents',
      'onFileSystem:parley-base',
      'onStartupFinished',
    ])
  })

  it('happens when a command runs', async () => {
    await vscode.commands.executeCommand('parley.openSettings')
    assert.equal(extension?.isActive, true)
  })
})
