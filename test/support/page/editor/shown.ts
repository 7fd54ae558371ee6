/** What the window shows, as its page draws it: plain JSON, sent after each change. */
import { EventEmitter } from './values.ts'

export interface ShownNotification {
  id: number
  kind: 'info' | 'warning' | 'error' | 'progress'
  text: string
  buttons: string[]
  isModal: boolean
  detail?: string
}

export interface ShownRow {
  index: number
  label: string
  description?: string
  detail?: string
  isSeparator: boolean
  isPicked: boolean
  /** the tooltips of its buttons */
  buttons: string[]
}

export interface ShownInput {
  id: number
  title: string
  placeholder: string
  prompt: string
  /** what it opens with; from then on, the text is the person's */
  value: string
  isPassword: boolean
  isBusy: boolean
  problem: string
  canPickMany: boolean
  /** A list that closes at once when the person chooses, before the extension knows. */
  closesOnAccept: boolean
  hasBack: boolean
  /** `undefined` in an input box */
  rows?: ShownRow[]
  /** the row that is marked at first; the first one by default */
  marked?: number
  filters: { description: boolean; detail: boolean }
}

export interface ShownTab {
  id: number
  title: string
  icon: string
  isActive: boolean
  isDirty: boolean
  isPreview: boolean
  group: number
  /** the id of its webview */
  webview?: string
  /** the texts of an editor: one, or the two sides of a diff */
  texts?: string[]
}

export interface ShownWebview {
  id: string
  /** incremented when its HTML is set again */
  version: number
  place: 'sideBar' | 'editor'
  isVisible: boolean
  /** Visible, and asked for by a command: gets the focus. Incremented each time. */
  focus: number
}

export interface ShownStatus {
  id: number
  text: string
  tooltip: string
}

/** The open context menu of a webview. */
export interface ShownMenu {
  id: number
  webview: string
  /** where in the webview */
  x: number
  y: number
  titles: string[]
}

export interface ShownWindow {
  isSideBarOpen: boolean
  badge: number
  webviews: ShownWebview[]
  tabs: ShownTab[]
  notifications: ShownNotification[]
  input?: ShownInput
  menu?: ShownMenu
  status: ShownStatus[]
  /** the lines of the output channel in the panel */
  output?: string[]
}

/** What the person does in the page. */
export type PageEvent =
  | { type: 'message'; webview: string; message: unknown }
  | { type: 'loaded'; webview: string }
  | { type: 'state'; webview: string; state: unknown }
  | { type: 'link'; webview: string; url: string }
  | { type: 'key'; webview?: string; key: string; ctrl: boolean; shift: boolean; alt: boolean }
  /** A right click: `context` is what the attributes `data-vscode-context` say there. */
  | { type: 'contextMenu'; webview: string; context: Record<string, unknown>; x: number; y: number }
  /** Without an index, the menu was closed. */
  | { type: 'menu'; id: number; index?: number }
  | { type: 'status'; id: number }
  /** A link in a notification: `command:id?arguments` */
  | { type: 'command'; link: string }
  | { type: 'notification'; id: number; button: string | undefined }
  | { type: 'input'; id: number; value: string }
  | { type: 'accept'; id: number; value: string; picked: number[] }
  | { type: 'cancel'; id: number; isBack: boolean }
  | { type: 'itemButton'; id: number; index: number; button: number }
  | { type: 'selectTab'; id: number }
  | { type: 'closeTab'; id: number }
  | { type: 'openSideBar' }
  /** Starts a session with an agent: the menu of the playground. */
  | { type: 'startSession'; agentId: string }

/** Connects the parts of the window with its page. */
export class WindowPage {
  readonly #parts: Array<() => Partial<ShownWindow>> = []
  readonly #changed = new EventEmitter<ShownWindow>()
  readonly #messages = new EventEmitter<{ webview: string; message: unknown }>()
  readonly #events = new EventEmitter<PageEvent>()
  #isScheduled = false
  readonly onDidChange = this.#changed.event
  readonly onMessage = this.#messages.event
  readonly onEvent = this.#events.event

  /** Adds a part of what is shown. */
  add(part: () => Partial<ShownWindow>): void {
    this.#parts.push(part)
  }

  get shown(): ShownWindow {
    const empty: ShownWindow = {
      isSideBarOpen: false,
      badge: 0,
      webviews: [],
      tabs: [],
      notifications: [],
      status: [],
    }
    return Object.assign(empty, ...this.#parts.map(part => part()))
  }

  /** Draws once for all changes of the same moment. */
  update(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#changed.fire(this.shown)
    })
  }

  post(webview: string, message: unknown): void {
    this.#messages.fire({ webview, message })
  }

  receive(event: PageEvent): void {
    this.#events.fire(event)
  }
}
