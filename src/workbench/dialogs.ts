import path from 'node:path'
import * as vscode from 'vscode'
import type { Dialogs, InputOptions, PickButton, Picker, PickItem, PickOptions } from '../app/workbench.ts'
import { AGENT_ICON, iconAndColor, isCodicon } from '../common/agent-icon.ts'
import { Owner, toDisposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { OFFER_UNDO_MS } from '../common/limits.ts'
import { notify } from './notifications.ts'
import { pathOnDisk } from './path-on-disk.ts'
import { withCancellation } from './with-cancellation.ts'

/** How long a text stays in the status bar, in milliseconds. */
const STATUS_MS = 3000

const asked = new Emitter<boolean>()

/** VS Code's notifications, modal dialogs and quick picks. */
export const dialogs: Dialogs = {
  info: async (text, ...buttons) => vscode.window.showInformationMessage(text, ...buttons),
  warn: async (text, ...buttons) => vscode.window.showWarningMessage(text, ...buttons),
  error: async (text, ...buttons) => vscode.window.showErrorMessage(text, ...buttons),
  onDidAsk: asked.event,
  async confirm(text, options, ...buttons) {
    asked.fire(true)
    try {
      return await vscode.window.showWarningMessage(text, { modal: true, ...options }, ...buttons)
    } finally {
      asked.fire(false)
    }
  },
  notify,
  showStatus(text, action) {
    // file names may contain `$(`, which would begin an icon
    const plain = text.replaceAll('$(', '\\$(')
    if (!action) return vscode.window.setStatusBarMessage(plain, STATUS_MS)
    const item = vscode.window.createStatusBarItem('parley.decision', vscode.StatusBarAlignment.Left, -1000)
    item.name = `Parley: ${action.label}`
    item.text = `${plain} $(discard) ${action.label}`
    item.tooltip = action.label
    item.command = action.command
    item.show()
    const timer = setTimeout(() => item.dispose(), OFFER_UNDO_MS)
    return toDisposable(() => {
      clearTimeout(timer)
      item.dispose()
    })
  },
  async pick(items, { active, ...options } = {}) {
    if (active) return pickFrom(items, active, options)
    const shown = items.map(toItem)
    const chosen = await vscode.window.showQuickPick(shown, pickOptions(options))
    return chosen?.item
  },
  async pickMany(items, options = {}) {
    const chosen = await vscode.window.showQuickPick(items.map(toItem), {
      ...pickOptions(options),
      canPickMany: true,
    })
    return chosen?.map(({ item }) => item)
  },
  createPicker: () => new QuickPicker(),
  input: ({ signal, ...options }) =>
    withCancellation(signal, token => vscode.window.showInputBox(inputOptions(options), token)),
  async saveFile({ title, folder, name, filters }) {
    const parent = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(folder)
    const uri = await vscode.window.showSaveDialog({
      title,
      defaultUri: vscode.Uri.joinPath(parent, name),
      filters,
    })
    if (!uri) return undefined
    return {
      name: path.posix.basename(uri.path),
      uri: uri.toString(),
      path: uri.scheme === 'file' ? pathOnDisk(uri) : undefined,
    }
  },
  writeSaved: async ({ uri }, text) =>
    vscode.workspace.fs.writeFile(vscode.Uri.parse(uri, true), Buffer.from(text, 'utf8')),
  openSaved: async ({ uri }) => void (await vscode.window.showTextDocument(vscode.Uri.parse(uri, true))),
  async openFiles({ title, filters }) {
    const uris = await vscode.window.showOpenDialog({ title, filters, canSelectMany: true })
    return uris?.filter(({ scheme }) => scheme === 'file').map(uri => pathOnDisk(uri))
  },
  progress: async ({ title, where, cancellable = false }, work) => {
    const location =
      where === 'notification' ? vscode.ProgressLocation.Notification : vscode.ProgressLocation.Window
    return vscode.window.withProgress({ location, title, cancellable }, (progress, token) => {
      const cancel = new AbortController()
      token.onCancellationRequested(() => cancel.abort())
      return work(step => progress.report(step), cancel.signal)
    })
  },
}

type ShownItem<T> = vscode.QuickPickItem & { item: T }

function toItem<T extends PickItem>(item: T): ShownItem<T> {
  const { label, description, detail, icon, isSeparator, alwaysShow, picked, buttons } = item
  return {
    item,
    label,
    ...(description !== undefined && { description }),
    ...(detail !== undefined && { detail }),
    ...(icon !== undefined && { iconPath: iconPath(icon) }),
    ...(isSeparator && { kind: vscode.QuickPickItemKind.Separator }),
    ...(alwaysShow && { alwaysShow }),
    ...(picked && { picked }),
    ...(buttons && { buttons: buttons.map(toButton) }),
  }
}

/** Colors of icons in VS Code's default themes: an image doesn't know the theme. */
const ON_LIGHT = '#3b3b3b'
const ON_DARK = '#cccccc'

/** Returns an agent's icon. An image can't have a color of the theme, so an agent with a color gets a codicon or a circle. */
function iconPath(text: string): vscode.IconPath {
  const { icon, color } = iconAndColor(text)
  if (color !== undefined) {
    const name = isCodicon(icon) && icon !== AGENT_ICON ? icon : 'circle-filled'
    return new vscode.ThemeIcon(name, new vscode.ThemeColor(color))
  }
  const svg = /^data:image\/svg\+xml,(.+)$/s.exec(icon)?.[1]
  const drawing = svg === undefined ? undefined : decoded(svg)
  if (drawing === undefined) return new vscode.ThemeIcon(isCodicon(icon) ? icon : AGENT_ICON)
  const inColor = (color: string) => {
    const data = Buffer.from(drawing.replaceAll('currentColor', color)).toString('base64')
    return vscode.Uri.parse(`data:image/svg+xml;base64,${data}`)
  }
  return { light: inColor(ON_LIGHT), dark: inColor(ON_DARK) }
}

/** Decodes an icon's URL; `undefined` if it's invalid, since a setting may contain anything. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

type ShownButton = vscode.QuickInputButton & { button: PickButton }

function toButton(button: PickButton): ShownButton {
  return { button, iconPath: new vscode.ThemeIcon(button.icon), tooltip: button.tooltip }
}

function pickOptions({ placeholder, ...options }: PickOptions): vscode.QuickPickOptions {
  return { ...options, ...(placeholder !== undefined && { placeHolder: placeholder }) }
}

function inputOptions({ placeholder, validate, ...options }: InputOptions): vscode.InputBoxOptions {
  return {
    ...options,
    ...(placeholder !== undefined && { placeHolder: placeholder }),
    ...(validate && { validateInput: validate }),
  }
}

function pickFrom<T extends PickItem>(
  items: readonly T[],
  active: T,
  options: PickOptions,
): Promise<T | undefined> {
  const picker = Object.assign(new QuickPicker<T>(), options, { items, activeItems: [active] })
  return new Promise(resolve => {
    picker.onDidAccept(item => {
      resolve(item)
      picker.hide()
    })
    picker.onDidHide(() => {
      resolve(undefined)
      picker.dispose()
    })
    picker.show()
  })
}

class QuickPicker<T extends PickItem> extends Owner implements Picker<T> {
  readonly #picker = this.register(vscode.window.createQuickPick<ShownItem<T>>())
  #items: readonly T[] = []

  get title(): string {
    return this.#picker.title ?? ''
  }
  set title(title: string) {
    this.#picker.title = title
  }
  get placeholder(): string {
    return this.#picker.placeholder ?? ''
  }
  set placeholder(placeholder: string) {
    this.#picker.placeholder = placeholder
  }
  get items(): readonly T[] {
    return this.#items
  }
  set items(items: readonly T[]) {
    this.#items = items
    this.#picker.items = items.map(toItem)
  }
  get activeItems(): readonly T[] {
    return this.#picker.activeItems.map(({ item }) => item)
  }
  set activeItems(items: readonly T[]) {
    this.#picker.activeItems = this.#picker.items.filter(({ item }) => items.includes(item))
  }
  get busy(): boolean {
    return this.#picker.busy
  }
  set busy(busy: boolean) {
    this.#picker.busy = busy
  }
  get matchOnDescription(): boolean {
    return this.#picker.matchOnDescription
  }
  set matchOnDescription(match: boolean) {
    this.#picker.matchOnDescription = match
  }
  get matchOnDetail(): boolean {
    return this.#picker.matchOnDetail
  }
  set matchOnDetail(match: boolean) {
    this.#picker.matchOnDetail = match
  }
  get ignoreFocusOut(): boolean {
    return this.#picker.ignoreFocusOut
  }
  set ignoreFocusOut(ignore: boolean) {
    this.#picker.ignoreFocusOut = ignore
  }
  get canGoBack(): boolean {
    return this.#picker.buttons.length > 0
  }
  set canGoBack(can: boolean) {
    this.#picker.buttons = can ? [vscode.QuickInputButtons.Back] : []
  }
  get value(): string {
    return this.#picker.value
  }

  onDidAccept(listener: (item: T | undefined) => void): vscode.Disposable {
    return this.#picker.onDidAccept(() => listener(this.#picker.selectedItems[0]?.item))
  }

  onDidPressButton(listener: (button: PickButton, item: T) => void): vscode.Disposable {
    return this.#picker.onDidTriggerItemButton(({ button, item }) =>
      listener((button as ShownButton).button, item.item),
    )
  }

  onDidGoBack(listener: () => void): vscode.Disposable {
    return this.#picker.onDidTriggerButton(listener)
  }

  onDidChangeValue(listener: (value: string) => void): vscode.Disposable {
    return this.#picker.onDidChangeValue(listener)
  }

  onDidHide(listener: () => void): vscode.Disposable {
    return this.#picker.onDidHide(listener)
  }

  show(): void {
    this.#picker.show()
  }

  hide(): void {
    this.#picker.hide()
  }
}
