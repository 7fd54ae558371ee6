import * as vscode from 'vscode'
import type { SettingsSource } from '../agents/setting-layers.ts'
import type { WindowState } from '../app/workbench.ts'
import { Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { pathOnDisk } from './path-on-disk.ts'
import { localFolders, settingValues } from './settings.ts'

/** What the services know of the window at any time. */
export class VsCodeWindowState extends Owner {
  readonly #change = this.register(new Emitter<void>())
  readonly onDidChange = this.#change.event
  readonly #linkStart: string
  /** absent after a change, until it's asked for */
  #current: WindowState | undefined

  /** `settings`: they change with the folders and the trust, so what they tell their listeners is told of the window, too. */
  constructor(extensionId: string, settings: Pick<SettingsSource, 'onDidChange'>) {
    super()
    this.#linkStart = `${vscode.env.uriScheme}://${extensionId}`
    this.register(
      settings.onDidChange(() => {
        this.#current = undefined
        this.#change.fire()
      }),
    )
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
        linkStart: this.#linkStart,
      }
    return this.#current
  }
}
