import assert from 'node:assert/strict'
import { basename } from 'node:path'
import * as vscode from 'vscode'

describe('the sample workspace', () => {
  it('opens with all of its folders', () => {
    const names = vscode.workspace.workspaceFolders?.map(({ uri }) => basename(uri.fsPath))
    assert.deepEqual(names, ['planets-api', 'planets-web', 'notes'])
  })

  it('can be searched', async () => {
    const found = await vscode.workspace.findFiles('**/planets.js')
    assert.deepEqual(
      found.map(({ path }) => basename(path)),
      ['planets.js'],
    )
  })
})
