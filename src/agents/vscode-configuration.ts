/** The side of this room that faces VS Code: its configuration, workspace folders, trust and memento. */
import * as vscode from 'vscode'
import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { LastUsedAgent, Trust } from './agent-catalog.ts'
import type { SettingLayer, SettingsSource } from './setting-layers.ts'

const SECTION = 'parley'

/** Reads `parley.*` scope by scope. In an untrusted workspace VS Code withholds the restricted ones itself. */
export class VsCodeSettings extends Owner implements SettingsSource {
  readonly #changed = this.register(new Emitter<void>())
  readonly onDidChange: Event<void> = this.#changed.event

  constructor() {
    super()
    this.register(
      vscode.workspace.onDidChangeConfiguration(event => {
        if (event.affectsConfiguration(SECTION)) this.#changed.fire()
      }),
    )
    // A folder brings its settings along.
    this.register(vscode.workspace.onDidChangeWorkspaceFolders(() => this.#changed.fire()))
    // Trust brings the workspace's settings along.
    this.register(vscode.workspace.onDidGrantWorkspaceTrust(() => this.#changed.fire()))
  }

  layers(key: string): SettingLayer[] {
    const values = vscode.workspace.getConfiguration(SECTION).inspect<unknown>(key)
    const layers: SettingLayer[] = [
      { scope: 'default', value: values?.defaultValue },
      { scope: 'user', value: values?.globalValue },
      { scope: 'workspace', value: values?.workspaceValue },
    ]
    // Of several folders that have the setting the first wins, so it comes last.
    for (const folder of [...(vscode.workspace.workspaceFolders ?? [])].reverse()) {
      const inFolder = vscode.workspace.getConfiguration(SECTION, folder.uri).inspect<unknown>(key)
      layers.push({ scope: 'folder', folder: folder.name, value: inFolder?.workspaceFolderValue })
    }
    return layers.filter(layer => layer.value !== undefined)
  }
}

/** The workspace folders that are on this machine's disk. */
export function localFolders(): Array<{ name: string; path: string }> {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(folder => ({ name: folder.name, path: folder.uri.fsPath }))
}

export const workspaceTrust: Trust = {
  get trusted() {
    return vscode.workspace.isTrusted
  },
  onDidChange: listener => vscode.workspace.onDidGrantWorkspaceTrust(() => listener()),
}

/** The agent used last in this workspace, or else anywhere. */
export function lastUsedAgent(context: vscode.ExtensionContext): LastUsedAgent {
  const key = 'lastUsedAgent'
  return {
    get: () => context.workspaceState.get<string>(key) ?? context.globalState.get<string>(key),
    async set(id) {
      await context.workspaceState.update(key, id)
      await context.globalState.update(key, id)
    },
  }
}
