import * as vscode from 'vscode'
import { VsCodeWindowState } from '../../src/workbench/window-state.ts'
import { waitFor } from '../host/wait-for.ts'

describe("VS Code's network settings", () => {
  const set = (value: false | undefined) =>
    vscode.workspace
      .getConfiguration('http')
      .update('proxyStrictSSL', value, vscode.ConfigurationTarget.Global)

  it('are known when a change of them is reported', async () => {
    const seen: unknown[] = []
    const state = new VsCodeWindowState('parley.parley')
    state.onDidChange(() => seen.push(state.current.network.strictSSL))
    try {
      await set(false)
      await waitFor('the change', () => seen.includes(false))
    } finally {
      state.dispose()
      await set(undefined)
    }
  })
})
