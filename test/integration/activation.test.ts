import assert from 'node:assert/strict'
import * as vscode from 'vscode'

const extension = vscode.extensions.getExtension('parley.parley')
// The files are loaded before any test runs: this is what the start of VS Code alone led to.
const activeAfterStart = extension?.isActive

describe('activation', () => {
  it('is left to VS Code, which waits until something of Parley is asked for', () => {
    assert.ok(extension, 'Parley is not installed')
    assert.deepEqual(extension.packageJSON.activationEvents, [])
    assert.equal(activeAfterStart, false)
  })

  it('happens when a command is run', async () => {
    await vscode.commands.executeCommand('parley.openSettings')
    assert.equal(extension?.isActive, true)
  })
})
