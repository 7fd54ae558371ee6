import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as vscode from 'vscode'

interface Manifest {
  contributes: {
    commands: Array<{ command: string }>
  }
}

/** The commands of the editor and of its own extensions that are run by name. */
const EDITOR_COMMAND =
  /'((?:workbench\.(?:action|view|trust)|editor\.action|vscode|git|markdown)\.[a-zA-Z.]+|reveal(?:InExplorer|FileInOS))'/g
/** An extension, and commands that only a window on the desktop or on another machine has, which is checked before. */
const OTHERS = new Set([
  'revealFileInOS',
  'vscode.git',
  'workbench.action.openRemoteSettings',
  'workbench.action.openRemoteSettingsFile',
])

async function exists(command: string): Promise<boolean> {
  const error: unknown = await vscode.commands.executeCommand(command).then(undefined, (one: unknown) => one)
  return !/not found/.test(String(error))
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

  it('belongs to an extension whose commands of the editor all exist @floor', async () => {
    for (const id of ['vscode.git', 'vscode.markdown-language-features'])
      await vscode.extensions.getExtension(id)?.activate()
    const registered = new Set(await vscode.commands.getCommands())
    const source = path.join(import.meta.dirname, '../../src')
    const used = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter(file => /\.ts$/.test(file) && !file.startsWith('webview'))
      .flatMap(file => [...readFileSync(path.join(source, file), 'utf8').matchAll(EDITOR_COMMAND)])
      .map(([, command]) => command!)
      .filter(command => !OTHERS.has(command))
    assert.ok(used.length > 30, 'they are found in the source')
    const missing = new Set<string>()
    for (const command of used) {
      if (registered.has(command)) continue
      // those of language features aren't listed; without arguments, they fail in another way
      const isThere = /^vscode\.(?:execute|prepare|provide)/.test(command) && (await exists(command))
      if (!isThere) missing.add(command)
    }
    assert.deepEqual([...missing], [])
  })
})
