import * as vscode from 'vscode'
import { networkSettings, onDidChangeNetwork } from '../../src/workbench/settings.ts'
import { waitFor } from '../host/wait-for.ts'

describe("VS Code's network settings", () => {
  const set = (value: false | undefined) =>
    vscode.workspace
      .getConfiguration('http')
      .update('proxyStrictSSL', value, vscode.ConfigurationTarget.Global)

  it('are known when a change of them is reported', async () => {
    const seen: unknown[] = []
    const following = onDidChangeNetwork(() => seen.push(networkSettings().strictSSL))
    try {
      await set(false)
      await waitFor('the change', () => seen.includes(false))
    } finally {
      following.dispose()
      await set(undefined)
    }
  })
})
