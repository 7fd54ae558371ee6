import assert from 'node:assert/strict'
import type * as Settings from '../../../src/workbench/settings.ts'
import type * as State from '../../../src/workbench/window-state.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

/** Listeners are called in their order, as in VS Code. */
function event<T>() {
  const listeners: Array<(data: T) => void> = []
  return {
    event(listener: (data: T) => void) {
      listeners.push(listener)
      return { dispose() {} }
    },
    fire: (data: T) => {
      for (const listener of listeners) listener(data)
    },
  }
}

describe('what is known of the window', () => {
  const values: Record<string, unknown> = { sounds: false }
  const configuration = event<{ affectsConfiguration: () => boolean }>()
  const folders = event<void>()
  const trust = event<void>()
  const workspace = {
    isTrusted: false,
    workspaceFolders: [] as Array<{ name: string; uri: { scheme: string; fsPath: string } }>,
    getConfiguration: () => ({ get: (name: string) => values[name], inspect: () => ({}) }),
    onDidChangeConfiguration: configuration.event,
    onDidChangeWorkspaceFolders: folders.event,
    onDidGrantWorkspaceTrust: trust.event,
  }
  let settings: Settings.VsCodeSettings
  let state: State.VsCodeWindowState

  before(async () => {
    const vscode = { workspace, env: { uriScheme: 'vscode', language: 'en' } }
    const { VsCodeSettings } = await loadWithFakeVsCode<typeof Settings>('workbench/settings.ts', vscode)
    const { VsCodeWindowState } = await loadWithFakeVsCode<typeof State>('workbench/window-state.ts', vscode)
    settings = new VsCodeSettings()
    state = new VsCodeWindowState('parley.parley', settings)
    assert.deepEqual(
      [state.current.settingValues.sounds, state.current.folders, state.current.isTrusted],
      [false, [], false],
    )
  })

  it('is new when the settings, the folders or the trust are reported to whoever follows the settings', () => {
    const seen: unknown[] = []
    settings.onDidChange(() =>
      seen.push([
        'settings',
        state.current.settingValues.sounds,
        state.current.folders.length,
        state.current.isTrusted,
      ]),
    )
    state.onDidChange(() =>
      seen.push([
        'state',
        state.current.settingValues.sounds,
        state.current.folders.length,
        state.current.isTrusted,
      ]),
    )
    values.sounds = true
    configuration.fire({ affectsConfiguration: () => true })
    workspace.workspaceFolders.push({ name: 'a', uri: { scheme: 'file', fsPath: '/a' } })
    folders.fire()
    workspace.isTrusted = true
    trust.fire()
    assert.deepEqual(seen, [
      ['state', true, 0, false],
      ['settings', true, 0, false],
      ['state', true, 1, false],
      ['settings', true, 1, false],
      ['state', true, 1, true],
      ['settings', true, 1, true],
    ])
  })
})
