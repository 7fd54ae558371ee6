import * as vscode from 'vscode'
import type { WindowState } from '../app/workbench.ts'
import { Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { pathOnDisk } from './path-on-disk.ts'
import { hiddenFiles, localFolders, networkSettings, settingLayers, settingValues } from './settings.ts'

/** The sections of VS Code's settings that the state contains. */
const SECTIONS = ['parley', 'http', 'files.exclude']

/** The state of the window that is always available to the services. */
export class VsCodeWindowState extends Owner {
  readonly #change = this.register(new Emitter<void>())
  readonly onDidChange = this.#change.event
  readonly #linkStart: string
  /** the last computed state; absent after a change, until the state is read */
  #current: WindowState | undefined

  constructor(extensionId: string) {
    super()
    this.#linkStart = `${vscode.env.uriScheme}://${extensionId}`
    const changed = () => {
      this.#current = undefined
      this.#change.fire()
    }
    const { workspace } = vscode
    this.register(
      workspace.onDidChangeConfiguration(event => {
        if (SECTIONS.some(section => event.affectsConfiguration(section))) changed()
      }),
    )
    // settings of a folder and of the workspace apply as soon as it's opened and trusted
    this.register(workspace.onDidChangeWorkspaceFolders(changed))
    this.register(workspace.onDidGrantWorkspaceTrust(changed))
  }

  get current(): WindowState {
    const { isTrusted, workspaceFolders = [] } = vscode.workspace
    // the workspace may be trusted for a moment before it's reported
    if (this.#current?.isTrusted !== isTrusted)
      this.#current = {
        isTrusted,
        language: vscode.env.language,
        folders: localFolders(),
        roots: workspaceFolders.map(({ name, uri }) => ({ name, scheme: uri.scheme, path: pathOnDisk(uri) })),
        settingValues: settingValues(),
        settingLayers: settingLayers(),
        network: networkSettings(),
        hiddenFiles: hiddenFiles(),
        linkStart: this.#linkStart,
      }
    return this.#current
  }
}
