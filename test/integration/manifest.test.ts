import assert from 'node:assert/strict'
import * as vscode from 'vscode'

interface Manifest {
  contributes: {
    commands: Array<{ command: string }>
  }
}

describe('the manifest', () => {
  const extension = vscode.extensions.getExtension<unknown>('parley.parley')!
  const { contributes } = extension.packageJSON as Manifest

  it('contributes only commands that are registered @floor', async () => {
    await extension.activate()
    const registered = new Set(await vscode.commands.getCommands(true))
    const listed = contributes.commands.map(({ command }) => command)
    assert.ok(listed.length > 0)
    assert.deepEqual(
      listed.filter(command => !registered.has(command)),
      [],
    )
  })
})
