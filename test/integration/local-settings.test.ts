import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { floor } from '../host/vscode-versions.ts'
import { waitFor } from '../host/wait-for.ts'

const extension = vscode.extensions.getExtension('parley.parley')!
/** Parley's own `vscode` object, since VS Code gives each extension a separate one. */
const api: typeof vscode = createRequire(join(extension.extensionPath, 'dist', 'extension.cjs'))('vscode')

describe('local settings for agents', () => {
  const remoteName = Object.getOwnPropertyDescriptor(api.env, 'remoteName')!
  const { showInformationMessage } = api.window
  const shown: string[] = []
  const openIn = (remote: string | undefined) =>
    Object.defineProperty(api.env, 'remoteName', { ...remoteName, get: () => remote })
  /** Resolves when VS Code has reported the change. */
  const set = async (mcpServers: object | undefined) => {
    const changed = new Promise<void>(resolve => {
      const listening = vscode.workspace.onDidChangeConfiguration(event => {
        if (!event.affectsConfiguration('parley.mcpServers')) return
        listening.dispose()
        resolve()
      })
    })
    const settings = vscode.workspace.getConfiguration('parley')
    await settings.update('mcpServers', mcpServers, vscode.ConfigurationTarget.Global)
    await changed
  }
  const about = () => shown.filter(text => text.includes("don't apply in this remote window"))

  before(async function () {
    // Parley is an ES module, which gets a different API object than `require` returns
    if (vscode.version === floor.version) this.skip()
    await vscode.commands.executeCommand('parley.showConversation')
    Object.assign(api.window, {
      showInformationMessage: async (text: string) => {
        shown.push(text)
      },
    })
  })
  after(async () => {
    Object.assign(api.window, { showInformationMessage })
    Object.defineProperty(api.env, 'remoteName', remoteName)
    await vscode.workspace
      .getConfiguration('parley')
      .update('mcpServers', undefined, vscode.ConfigurationTarget.Global)
  })

  it("are reported once in a remote window, where they don't apply", async () => {
    openIn(undefined)
    await set({ servers: { vault: { command: 'vault' } } })
    openIn('ssh-remote')
    await set(undefined)
    await waitFor('the notification', () => about().length > 0)
    assert.match(about()[0]!, /parley\.mcpServers/)
    await set({ servers: {} })
    await set(undefined)
    openIn('another-remote')
    // all notifications for this machine come before that for another machine
    await set({ servers: {} })
    await set(undefined)
    await waitFor("the other machine's notification", () => about().length > 1)
    assert.equal(about().length, 2)
  })
})
