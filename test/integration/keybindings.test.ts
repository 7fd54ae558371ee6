import assert from 'node:assert/strict'
import { parse } from 'jsonc-parser'
import * as vscode from 'vscode'

interface Keybinding {
  key: string
  command: string
  when?: string
}

/** Keys that Parley shares on purpose: a webview has the focus then, which VS Code's own command can't work in. */
const shared = new Set(['ctrl+f'])

describe('the default keybindings', () => {
  const extension = vscode.extensions.getExtension<unknown>('parley.parley')!
  const ours = extension.packageJSON.contributes.keybindings as Keybinding[]

  it("share no key with a default of VS Code's, nor do their chords begin with one", async () => {
    const document = await vscode.workspace.openTextDocument(
      vscode.Uri.parse('vscode://defaultsettings/keybindings.json'),
    )
    const defaults = (parse(document.getText()) as Keybinding[]).filter(
      ({ command }) => !command.startsWith('parley.'),
    )
    assert.ok(defaults.length > 500, `${defaults.length} defaults`)
    const taken = new Map(defaults.map(({ key, command }) => [key, command]))
    const chords = new Set(defaults.map(({ key }) => key.split(' ')[0]))
    for (const { key } of ours) {
      if (shared.has(key)) continue
      const [first = ''] = key.split(' ')
      assert.equal(taken.get(key), undefined, key)
      assert.equal(taken.get(first), undefined, `${key} begins with a key of its own`)
      assert.equal(chords.has(first), false, `${first} begins another chord`)
    }
  })
})
