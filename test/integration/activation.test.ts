import assert from 'node:assert/strict'
import * as vscode from 'vscode'

const extension = vscode.extensions.getExtension('parley.parley')

describe('activation', () => {
  it('waits until VS Code has started or Parley is used', () => {
    assert.ok(extension, 'Parley is not installed')
    // VS Code adds the events of commands and views. The others restore what a window had before a reload: tabs, and
    // editors with the original version of a file that an agent changed. The last one registers code actions after
    // startup. Activation alone loads nothing else.
    assert.deepEqual(extension.packageJSON.activationEvents, [
      'onWebviewPanel:parley.conversationTab',
      'onWebviewPanel:parley.historyTab',
      'onCommand:parley.history.focus',
      'onWebviewPanel:parley.manageAgents',
      'onWebviewPanel:parley.mcpServers',
      'onWebviewPanel:parley.compare',
      'onFileSystem:parley-base',
      'onUri',
      'onStartupFinished',
    ])
  })

  it('happens when a command runs', async () => {
    await vscode.commands.executeCommand('parley.openSettings')
    assert.equal(extension?.isActive, true)
  })
})
