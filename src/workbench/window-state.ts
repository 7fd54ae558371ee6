import * as vscode from 'vscode'
import type { WindowState } from '../app/workbench.ts'
import { Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { localFolders, settingValues } from './settings.ts'

/** What the services know of the window at any time. */
export class VsCodeWindowState extends Owner {
  readonly #change = this.register(new Emitter<void>())
  readonly onDidChange = this.#change.event
  readonly #linkStart: string
  /** absent after a change, until it's asked for */
  #current: WindowState | undefined

  constructor(extensionId: string) {
    super()
    this.#linkStart = `${vscode.env.uriScheme}://${extensionId}`
    const { workspace } = vscode
    const renew = () => {
      this.#current = undefined
      this.#change.fire()
    }
    this.register(
      workspace.onDidChangeConfiguration(event => {
        if (event.affectsConfiguration('parley')) renew()
      }),
    )
    this.register(workspace.onDidChangeWorkspaceFolders(renew))
    this.register(workspace.onDidGrantWorkspaceTrust(renew))
  }

  get current(): WindowState {
    const { isTrusted, workspaceFolders = [] } = vscode.workspace
    // the workspace may be trusted for a moment before it's reported
    if (this.#current?.isTrusted !== isTrusted)
      this.#current = {
        isTrusted,
        language: vscode.env.language,
        folders: localFolders(),
        roots: workspaceFolders.map(({ name, uri }) => ({ name, scheme: uri.scheme, path: uri.fsPath })),
        settingValues: settingValues(),
        linkStart: this.#linkStart,
      }
    return this.#current
  }
}
