/** Editors, tabs and webviews of `vscode.window`. */
import { URI } from 'vscode-uri'
import { type Documents, nameOf, type TextDocument } from './documents.ts'
import type { PageEvent, ShownTab, ShownWebview, WindowPage } from './shown.ts'
import {
  Disposable,
  EventEmitter,
  type Position,
  Range,
  Selection,
  TabInputText,
  TabInputTextDiff,
  TabInputWebview,
  TextEdit,
  ViewColumn,
} from './values.ts'

interface ShowOptions {
  viewColumn?: number
  preserveFocus?: boolean
  preview?: boolean
  selection?: Range
}

/** The address of the window's page, which serves the webviews' files. */
export interface Served {
  origin: string
  /** The path of a file of the extension, as the page loads it. */
  pathOf(uri: URI): string
}

class TextEditor {
  readonly document: TextDocument
  viewColumn: number
  options: object = {}
  visibleRanges: Range[] = []
  #selections: Selection[] = [new Selection(0, 0, 0, 0)]
  readonly #selected: EventEmitter<unknown>

  constructor(document: TextDocument, viewColumn: number, selected: EventEmitter<unknown>) {
    this.document = document
    this.viewColumn = viewColumn
    this.#selected = selected
  }

  get selection(): Selection {
    return this.#selections[0] ?? new Selection(0, 0, 0, 0)
  }

  set selection(selection: Selection) {
    this.selections = [selection]
  }

  get selections(): Selection[] {
    return this.#selections
  }

  set selections(selections: Selection[]) {
    this.#selections = selections
    this.#selected.fire({ textEditor: this, selections, kind: undefined })
  }

  /** As a person selects text. */
  select(selection: Selection): void {
    this.#selections = [selection]
    this.#selected.fire({ textEditor: this, selections: this.#selections, kind: 1 })
  }

  async edit(build: (edit: { replace(at: Range | Position, text: string): void }) => void): Promise<boolean> {
    const edits: TextEdit[] = []
    const range = (at: Range | Position) => (at instanceof Range ? at : new Range(at, at))
    const replace = (at: Range | Position, text: string) => edits.push(new TextEdit(range(at), text))
    build({ replace, insert: replace, delete: (at: Range) => replace(at, '') } as never)
    this.document.apply(edits)
    return true
  }

  revealRange(): void {}
  setDecorations(): void {}
}

export class Tab {
  readonly id: number
  label: string
  readonly input: unknown
  readonly group: TabGroup
  isPreview: boolean
  isPinned = false
  readonly editor: TextEditor | undefined
  readonly original: TextDocument | undefined
  readonly webview: Webview | undefined
  icon = ''

  constructor(
    id: number,
    label: string,
    input: unknown,
    group: TabGroup,
    parts: { isPreview?: boolean; editor?: TextEditor; original?: TextDocument; webview?: Webview },
  ) {
    this.id = id
    this.label = label
    this.input = input
    this.group = group
    this.isPreview = parts.isPreview ?? false
    this.editor = parts.editor
    this.original = parts.original
    this.webview = parts.webview
  }

  get isActive(): boolean {
    return this.group.activeTab === this
  }

  get isDirty(): boolean {
    return this.editor?.document.isDirty ?? false
  }
}

export class TabGroup {
  readonly viewColumn: number
  readonly tabs: Tab[] = []
  activeTab: Tab | undefined
  readonly #editors: Editors

  constructor(editors: Editors, viewColumn: number) {
    this.#editors = editors
    this.viewColumn = viewColumn
  }

  get isActive(): boolean {
    return this.#editors.activeGroup === this
  }
}

/** One page of the extension: the view in the side bar, or an editor tab. */
export class Webview {
  readonly id: string
  readonly place: 'sideBar' | 'editor'
  readonly viewType: string
  options: object = {}
  isVisible = false
  state: unknown
  version = 0
  focus = 0
  readonly retains: boolean
  readonly #page: WindowPage
  readonly #served: Served
  readonly #received = new EventEmitter<unknown>()
  readonly onDidReceiveMessage = this.#received.event
  #html = ''
  /** What was posted before the page connected, or while it's away. */
  #queue: unknown[] = []
  #isConnected = false

  constructor(
    page: WindowPage,
    served: Served,
    { id, place, viewType }: { id: string; place: 'sideBar' | 'editor'; viewType: string },
    retains: boolean,
  ) {
    this.id = id
    this.place = place
    this.viewType = viewType
    this.retains = retains
    this.#page = page
    this.#served = served
  }

  get cspSource(): string {
    return this.#served.origin
  }

  get html(): string {
    return this.#html
  }

  set html(html: string) {
    this.#html = html
    this.version++
    this.#isConnected = false
    this.#page.update()
  }

  asWebviewUri(uri: URI): URI {
    return URI.parse(`${this.#served.origin}${this.#served.pathOf(uri)}`)
  }

  async postMessage(message: unknown): Promise<boolean> {
    if (this.#isConnected) this.#page.post(this.id, message)
    else this.#queue.push(message)
    return this.isVisible || this.retains
  }

  /** Its document has loaded in the page. */
  loaded(): void {
    this.#isConnected = true
    for (const message of this.#queue.splice(0)) this.#page.post(this.id, message)
  }

  receive(message: unknown): void {
    this.#received.fire(message)
  }

  get shown(): ShownWebview {
    const { id, version, place, isVisible, focus } = this
    return { id, version, place, isVisible, focus }
  }
}

/** A webview that was open when the window was reloaded. */
export interface StoredPanel {
  viewType: string
  title: string
  state: unknown
  group: number
}

interface PanelOptions {
  retainContextWhenHidden?: boolean
}
interface ViewProvider {
  resolveWebviewView(view: unknown): unknown
}
interface Serializer {
  deserializeWebviewPanel(panel: unknown, state: unknown): unknown
}

export class Editors {
  readonly #page: WindowPage
  readonly #documents: Documents
  readonly #served: Served
  readonly #groups: TabGroup[]
  readonly #webviews = new Map<string, Webview>()
  readonly #closing = new Map<Tab, () => void>()
  readonly #panels = new Map<Tab, { viewType: string }>()
  readonly #serializers = new Map<string, Serializer>()
  readonly #views = new Map<string, ViewProvider>()
  #sideBar: { webview: Webview; isOpen: boolean; visibility: EventEmitter<void>; badge: number } | undefined
  #next = 0
  activeGroup: TabGroup
  #lastEditor: TextEditor | undefined
  readonly #activeChanged = new EventEmitter<TextEditor | undefined>()
  readonly #visibleChanged = new EventEmitter<TextEditor[]>()
  readonly #selected = new EventEmitter<unknown>()
  readonly #tabsChanged = new EventEmitter<{ opened: Tab[]; closed: Tab[]; changed: Tab[] }>()
  readonly #groupsChanged = new EventEmitter<unknown>()
  readonly onDidChangeActive = this.#activeChanged.event
  readonly onDidChangeVisible = this.#visibleChanged.event
  readonly onDidChangeSelection = this.#selected.event

  constructor(page: WindowPage, documents: Documents, served: Served) {
    this.#page = page
    this.#documents = documents
    this.#served = served
    this.#groups = [new TabGroup(this, 1)]
    this.activeGroup = this.#groups[0] as TabGroup
    page.add(() => ({
      isSideBarOpen: this.#sideBar?.isOpen ?? false,
      badge: this.#sideBar?.badge ?? 0,
      webviews: [...this.#webviews.values()]
        .filter(webview => webview.isVisible || webview.retains)
        .map(({ shown }) => shown),
      tabs: this.#groups.flatMap(group => group.tabs.map(shownTab)),
    }))
    page.onEvent(event => this.#receive(event))
    documents.didChange.event(({ document }) => {
      const changed = this.#all.filter(tab => tab.editor?.document === document)
      for (const tab of changed) tab.isPreview &&= !tab.isDirty
      if (changed.length > 0) this.#tabsChanged.fire({ opened: [], closed: [], changed })
      this.#page.update()
    })
    documents.didSave.event(document => {
      const changed = this.#all.filter(tab => tab.editor?.document === document)
      if (changed.length > 0) this.#tabsChanged.fire({ opened: [], closed: [], changed })
      this.#page.update()
    })
  }

  get #all(): Tab[] {
    return this.#groups.flatMap(({ tabs }) => tabs)
  }

  get tabGroups() {
    const editors = this
    return {
      get all() {
        return editors.#groups
      },
      get activeTabGroup() {
        return editors.activeGroup
      },
      onDidChangeTabs: this.#tabsChanged.event,
      onDidChangeTabGroups: this.#groupsChanged.event,
      close: async (tabs: Tab | readonly Tab[]) => {
        for (const tab of Array.isArray(tabs) ? [...tabs] : [tabs as Tab]) this.close(tab)
        return true
      },
    }
  }

  get active(): TextEditor | undefined {
    return this.activeGroup.activeTab?.editor
  }

  get visible(): TextEditor[] {
    return this.#groups.flatMap(({ activeTab }) => activeTab?.editor ?? [])
  }

  /** Like `window.showTextDocument`. */
  show = async (what: TextDocument | URI, how: ShowOptions | number = {}): Promise<TextEditor> => {
    const options = typeof how === 'number' ? { viewColumn: how } : how
    const document = URI.isUri(what) ? await this.#documents.open(what) : (what as TextDocument)
    const group = this.#group(options.viewColumn)
    const open = group.tabs.find(tab => tab.editor?.document === document && !tab.original)
    const editor = open?.editor ?? new TextEditor(document, group.viewColumn, this.#selected)
    if (options.selection) editor.selection = new Selection(options.selection.start, options.selection.end)
    if (open) this.#activate(open, options.preserveFocus)
    else
      this.#add(nameOf(document.uri), new TabInputText(document.uri), group, {
        isPreview: options.preview ?? true,
        editor,
      })
    return editor
  }

  /** Like the command `vscode.diff`. */
  async diff(original: URI, modified: URI, title: string, options: ShowOptions = {}): Promise<void> {
    const [left, right] = [await this.#documents.open(original), await this.#documents.open(modified)]
    const group = this.#group(options.viewColumn)
    const editor = new TextEditor(right, group.viewColumn, this.#selected)
    const isPreview = options.preview ?? true
    this.#add(title, new TabInputTextDiff(original, modified), group, { isPreview, editor, original: left })
  }

  /** Like the command `vscode.changes`, whose editor shows several diffs. */
  async changes(title: string, resources: readonly unknown[]): Promise<void> {
    const label = `${title} (${resources.length} ${resources.length === 1 ? 'file' : 'files'})`
    this.#add(label, undefined, this.activeGroup, {})
  }

  registerView = (id: string, provider: ViewProvider): Disposable => {
    this.#views.set(id, provider)
    return new Disposable(() => this.#views.delete(id))
  }

  registerSerializer = (viewType: string, serializer: Serializer): Disposable => {
    this.#serializers.set(viewType, serializer)
    return new Disposable(() => this.#serializers.delete(viewType))
  }

  /** Shows the view in the side bar. */
  openSideBar(focus = false): void {
    if (!this.#sideBar) {
      const webview = this.#webview('sideBar', 'parley.conversation', true)
      const visibility = new EventEmitter<void>()
      const sideBar = { webview, isOpen: true, visibility, badge: 0 }
      this.#sideBar = sideBar
      const page = this.#page
      const view = {
        webview,
        viewType: 'parley.conversation',
        get visible() {
          return webview.isVisible
        },
        set badge(badge: { value: number } | undefined) {
          sideBar.badge = badge?.value ?? 0
          page.update()
        },
        onDidChangeVisibility: visibility.event,
        onDidDispose: new EventEmitter<void>().event,
        show: () => this.openSideBar(),
      }
      for (const provider of this.#views.values()) provider.resolveWebviewView(view)
    }
    this.#setSideBar(true)
    if (focus) this.#sideBar.webview.focus++
    this.#page.update()
  }

  hideSideBar(): void {
    this.#setSideBar(false)
  }

  toggleSideBar(): void {
    this.#setSideBar(!this.#sideBar?.isOpen)
  }

  #setSideBar(isOpen: boolean): void {
    if (!this.#sideBar || this.#sideBar.webview.isVisible === isOpen) return
    this.#sideBar.isOpen = isOpen
    this.#sideBar.webview.isVisible = isOpen
    this.#sideBar.visibility.fire()
    this.#page.update()
  }

  /** Like `window.createWebviewPanel`. */
  createPanel = (
    viewType: string,
    title: string,
    where: number | { viewColumn: number; preserveFocus?: boolean },
    options: PanelOptions = {},
  ) => {
    const column = typeof where === 'number' ? where : where.viewColumn
    const webview = this.#webview('editor', viewType, options.retainContextWhenHidden ?? false)
    webview.isVisible = true
    const tab = this.#add(title, new TabInputWebview(viewType), this.#group(column), { webview })
    this.#panels.set(tab, { viewType })
    webview.focus++
    const disposed = new EventEmitter<void>()
    this.#closing.set(tab, () => disposed.fire())
    const changed = new EventEmitter<{ webviewPanel: unknown }>()
    const page = this.#page
    const panel = {
      webview,
      viewType,
      options,
      get title() {
        return tab.label
      },
      set title(text: string) {
        tab.label = text
        page.update()
      },
      set iconPath(icon: { dark: URI } | undefined) {
        tab.icon = icon ? nameOf(icon.dark) : ''
        page.update()
      },
      get visible() {
        return webview.isVisible
      },
      get active() {
        return tab.isActive && tab.group.isActive
      },
      get viewColumn() {
        return tab.group.viewColumn
      },
      onDidDispose: disposed.event,
      onDidChangeViewState: changed.event,
      reveal: (_column?: number, preserveFocus?: boolean) => {
        this.#activate(tab, preserveFocus)
        if (!preserveFocus) webview.focus++
      },
      dispose: () => this.close(tab),
    }
    this.#tabsChanged.event(() => changed.fire({ webviewPanel: panel }))
    return panel
  }

  /** What a reload restores. */
  stored(): StoredPanel[] {
    return [...this.#panels].map(([tab, { viewType }]) => ({
      viewType,
      title: tab.label,
      state: tab.webview?.state,
      group: tab.group.viewColumn,
    }))
  }

  restore(panels: readonly StoredPanel[]): void {
    for (const { viewType, title, state, group } of panels) {
      const panel = this.createPanel(viewType, title, group, { retainContextWhenHidden: true })
      panel.webview.state = state
      this.#serializers.get(viewType)?.deserializeWebviewPanel(panel, state)
    }
  }

  webview(id: string): Webview | undefined {
    return this.#webviews.get(id)
  }

  close(tab: Tab): void {
    const { group } = tab
    const at = group.tabs.indexOf(tab)
    if (at === -1) return
    group.tabs.splice(at, 1)
    if (group.activeTab === tab) group.activeTab = undefined
    if (tab.webview) {
      tab.webview.isVisible = false
      this.#webviews.delete(tab.webview.id)
    }
    this.#panels.delete(tab)
    this.#closing.get(tab)?.()
    this.#closing.delete(tab)
    const next = group.tabs[Math.min(at, group.tabs.length - 1)]
    if (group.tabs.length === 0 && this.#groups.length > 1) {
      this.#groups.splice(this.#groups.indexOf(group), 1)
      this.activeGroup = this.#groups[0] as TabGroup
    }
    const shown = new Set(this.#all.flatMap(one => [one.editor?.document, one.original]))
    for (const document of [tab.editor?.document, tab.original])
      if (document && !shown.has(document)) this.#documents.close(document)
    this.#tabsChanged.fire({ opened: [], closed: [tab], changed: [] })
    if (next && !group.activeTab) this.#activate(next)
    this.#updated()
  }

  closeAll(): void {
    for (const tab of this.#all) this.close(tab)
  }

  closeActive(): void {
    if (this.activeGroup.activeTab) this.close(this.activeGroup.activeTab)
  }

  #webview(place: 'sideBar' | 'editor', viewType: string, retains: boolean): Webview {
    const id = `${place}-${++this.#next}`
    const webview = new Webview(this.#page, this.#served, { id, place, viewType }, retains)
    this.#webviews.set(webview.id, webview)
    return webview
  }

  #group(column: number = ViewColumn.Active): TabGroup {
    if (column === ViewColumn.Active) return this.activeGroup
    const wanted = column === ViewColumn.Beside ? this.activeGroup.viewColumn + 1 : column
    let group = this.#groups.find(({ viewColumn }) => viewColumn === wanted)
    if (!group) {
      group = new TabGroup(this, wanted)
      this.#groups.push(group)
    }
    return group
  }

  #add(
    label: string,
    input: unknown,
    group: TabGroup,
    parts: { isPreview?: boolean; editor?: TextEditor; original?: TextDocument; webview?: Webview },
  ): Tab {
    const tab = new Tab(++this.#next, label, input, group, parts)
    // a preview replaces the previous one
    const replaced = parts.isPreview ? group.tabs.find(one => one.isPreview && !one.isDirty) : undefined
    group.tabs.push(tab)
    this.#activate(tab, false, [tab])
    if (replaced) this.close(replaced)
    return tab
  }

  #activate(tab: Tab, preserveFocus = false, opened: Tab[] = []): void {
    const before = tab.group.activeTab
    tab.group.activeTab = tab
    if (!preserveFocus) this.activeGroup = tab.group
    if (before?.webview && before !== tab) before.webview.isVisible = false
    if (tab.webview) tab.webview.isVisible = true
    const changed = [before, tab].filter(one => one !== undefined && !opened.includes(one)) as Tab[]
    this.#tabsChanged.fire({ opened, closed: [], changed })
    this.#updated()
  }

  #updated(): void {
    this.#visibleChanged.fire(this.visible)
    if (this.active !== this.#lastEditor) {
      this.#lastEditor = this.active
      this.#activeChanged.fire(this.active)
    }
    this.#page.update()
  }

  #receive(event: PageEvent): void {
    if (event.type === 'message') this.#webviews.get(event.webview)?.receive(event.message)
    else if (event.type === 'loaded') this.#webviews.get(event.webview)?.loaded()
    else if (event.type === 'state') {
      const webview = this.#webviews.get(event.webview)
      if (webview) webview.state = event.state
    } else if (event.type === 'openSideBar') this.openSideBar()
    else if (event.type === 'selectTab' || event.type === 'closeTab') {
      const tab = this.#all.find(({ id }) => id === event.id)
      if (!tab) return
      if (event.type === 'closeTab') this.close(tab)
      else this.#activate(tab)
    }
  }
}

function shownTab(tab: Tab): ShownTab {
  const { id, label: title, icon, isActive, isDirty, isPreview, webview, editor, original } = tab
  const texts = [original, editor?.document].flatMap(document => document?.getText() ?? [])
  return {
    ...{ id, title, icon, isActive, isDirty, isPreview },
    group: tab.group.viewColumn,
    ...(webview && { webview: webview.id }),
    ...(isActive && editor && { texts }),
  }
}
