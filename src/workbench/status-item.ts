import * as vscode from 'vscode'
import type { StatusItem } from '../app/workbench.ts'
import { Owner } from '../common/disposable.ts'

/** Parley's item in the status bar. */
export class VsCodeStatusItem extends Owner {
  readonly #item = this.register(
    vscode.window.createStatusBarItem('parley.status', vscode.StatusBarAlignment.Right, 100),
  )

  constructor() {
    super()
    this.#item.name = 'Parley'
  }

  show(shown: StatusItem | undefined): void {
    if (!shown) {
      this.#item.hide()
      return
    }
    const { text, label, tooltip, command, attention } = shown
    const backgroundColor = attention ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined
    Object.assign(this.#item, { text, tooltip, command, backgroundColor })
    this.#item.accessibilityInformation = { label }
    this.#item.show()
  }
}
