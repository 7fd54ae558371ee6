import assert from 'node:assert/strict'
import { onDidChangeIn, windowSettings, windowTrust } from '../../../src/app/window-settings.ts'
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
  const configuration = event<{ affectsConfiguration: (section: string) => boolean }>()
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
  let state: State.VsCodeWindowState
  let window: Parameters<typeof windowSettings>[0]

  before(async () => {
    const vscode = { workspace, env: { uriScheme: 'vscode', language: 'en' } }
    const { VsCodeWindowState } = await loadWithFakeVsCode<typeof State>('workbench/window-state.ts', vscode)
    state = new VsCodeWindowState('parley.parley')
    window = new Proxy({} as typeof window, {
      get: (_, name) =>
        name === 'onDidChangeState' ? state.onDidChange : Reflect.get(state.current, name, state.current),
    })
    assert.deepEqual(
      [state.current.settingValues.sounds, state.current.folders, state.current.isTrusted],
      [false, [], false],
    )
  })

  it('is new when the settings, the folders or the trust are reported to whoever follows one of them', () => {
    const seen: unknown[] = []
    const see = (what: string) => () => {
      const { folders, isTrusted, network, settingValues } = state.current
      seen.push([what, settingValues.sounds, folders.length, isTrusted, network.proxy])
    }
    windowSettings(window).onDidChange(see('settings'))
    windowTrust(window).onDidChange(see('trust'))
    onDidChangeIn(window, now => now.network)(see('network'))
    const affects = (section: string) => ({ affectsConfiguration: (one: string) => one === section })
    values.sounds = true
    configuration.fire(affects('parley'))
    workspace.workspaceFolders.push({ name: 'a', uri: { scheme: 'file', fsPath: '/a' } })
    folders.fire()
    values.proxy = 'http://proxy'
    configuration.fire(affects('editor'))
    configuration.fire(affects('http'))
    workspace.isTrusted = true
    trust.fire()
    assert.deepEqual(seen, [
      ['settings', true, 0, false, undefined],
      ['settings', true, 1, false, undefined],
      ['network', true, 1, false, 'http://proxy'],
      ['settings', true, 1, true, 'http://proxy'],
      ['trust', true, 1, true, 'http://proxy'],
    ])
  })

  it('is no trust and no settings before the window has told them', () => {
    for (const told of [{}, { settingLayers: {}, isTrusted: 'yes' }]) {
      const early = told as unknown as typeof window
      assert.equal(windowTrust(early).trusted, false)
      assert.deepEqual(windowSettings(early).layers('permissionRules'), [])
    }
  })

  it('is told to be new if it is too deep to be compared', () => {
    let told = 0
    const deep = (last: string) => JSON.parse(`${'['.repeat(3000)}${last}${']'.repeat(3000)}`) as unknown
    windowSettings(window).onDidChange(() => told++)
    for (const last of ['1', '2', '3']) {
      values.sounds = deep(last)
      configuration.fire({ affectsConfiguration: () => true })
    }
    assert.equal(told, 3)
  })
})
