/**
 * VS Code's API for a window without a workbench, as far as Parley uses it. The extension imports this module as
 * `vscode`. Its page draws what it shows: see `shown.ts`.
 */
import { existsSync, readdirSync, readFileSync, watch } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, sep } from 'node:path'
import { URI } from 'vscode-uri'
import { Configuration } from './configuration.ts'
import { Documents } from './documents.ts'
import { Editors } from './editors.ts'
import { Notifications, QuickInputs } from './messages.ts'
import { options, served } from './options.ts'
import { WindowPage } from './shown.ts'
import { Disposable, EventEmitter, FileType, type Range, type WorkspaceEdit } from './values.ts'

export * from './values.ts'

export const page = new WindowPage()
const documents = new Documents()
export const editors = new Editors(page, documents, {
  get origin() {
    return served.origin
  },
  pathOf: uri => `/extension/${relative(options.extension, uri.fsPath).split(sep).join('/')}`,
})
const notifications = new Notifications(page)
const quickInputs = new QuickInputs(page)
export const manifest = JSON.parse(readFileSync(join(options.extension, 'package.json'), 'utf8'))

interface Folder {
  uri: URI
  name: string
  index: number
}
const folders: Folder[] = foldersOf(options.workspace).map((path, index) => ({
  uri: URI.file(path),
  name: basename(path),
  index,
}))
const isWorkspaceFile = options.workspace?.endsWith('.code-workspace') ?? false
const configuration = new Configuration({
  manifest,
  userFile: join(options.userData, 'User', 'settings.json'),
  ...(isWorkspaceFile && { workspaceFile: options.workspace }),
  folders: folders.map(({ uri }) => uri.fsPath),
})

function foldersOf(opened: string | undefined): string[] {
  if (opened === undefined) return []
  if (!opened.endsWith('.code-workspace')) return [opened]
  const file = JSON.parse(readFileSync(opened, 'utf8')) as { folders: Array<{ path: string }> }
  return file.folders.map(({ path }) => join(dirname(opened), path))
}

function none<T>() {
  return new EventEmitter<T>().event
}

// Commands

const registered = new Map<string, (...args: never[]) => unknown>()
export const contextKeys = new Map<string, unknown>()
/** The built-in commands that ran, with their arguments, oldest first: what another part of VS Code would show. */
export const builtIn: Array<{ command: string; args: unknown[] }> = []

const known: Record<string, (...args: never[]) => unknown> = {
  setContext: (key: string, value: unknown) => void contextKeys.set(key, value),
  'vscode.open': (uri: URI, how?: object) => editors.show(uri, how),
  'workbench.action.openSettingsJson': () =>
    editors.show(URI.file(join(options.userData, 'User', 'settings.json'))),
  'vscode.diff': (left: URI, right: URI, title: string, how?: object) =>
    editors.diff(left, right, title, how),
  'vscode.changes': (title: string, resources: readonly unknown[]) => editors.changes(title, resources),
  'vscode.executeDocumentSymbolProvider': () => [],
  'vscode.executeWorkspaceSymbolProvider': () => [],
  'parley.conversation.focus': () => editors.openSideBar(true),
  'notifications.clearAll': () => notifications.clear(),
  'workbench.action.closeAllEditors': () => editors.closeAll(),
  'workbench.action.closeActiveEditor': () => editors.closeActive(),
  'workbench.action.closeSidebar': () => editors.hideSideBar(),
  'workbench.action.toggleSidebarVisibility': () => editors.toggleSideBar(),
}

export const commands = {
  registerCommand(command: string, handler: (...args: never[]) => unknown) {
    registered.set(command, handler)
    return new Disposable(() => registered.delete(command))
  },
  async executeCommand(command: string, ...args: unknown[]) {
    const handler = registered.get(command) ?? known[command]
    if (handler) return handler(...(args as never[]))
    builtIn.push({ command, args })
    if (!/^(workbench|revealInExplorer|editor|git)\b/.test(command))
      throw new Error(`command '${command}' not found`)
  },
  getCommands: async () => [...registered.keys()],
}

// Window

interface Channel {
  name: string
  lines: string[]
}
/** The output channels, by their names. */
export const channels = new Map<string, Channel>()

/** The one in the panel. */
let shownChannel: Channel | undefined
page.add(() => (shownChannel ? { output: shownChannel.lines } : {}))

function createOutputChannel(name: string) {
  const channel = channels.get(name) ?? { name, lines: [] }
  channels.set(name, channel)
  const append = (text: string) => {
    channel.lines.push(...text.split('\n'))
    if (shownChannel === channel) page.update()
  }
  const write = (level: string) => (text: unknown) => append(`[${level}] ${text}`)
  return {
    name,
    logLevel: 2,
    onDidChangeLogLevel: none(),
    append,
    appendLine: append,
    ...{ trace: write('trace'), debug: write('debug'), info: write('info') },
    ...{ warn: write('warning'), error: write('error') },
    clear: () => void channel.lines.splice(0),
    show() {
      shownChannel = channel
      page.update()
    },
    hide() {},
    dispose() {},
  }
}

const status: Array<{ id: number; text: string; tooltip: string; command: string; isShown: boolean }> = []
page.add(() => ({ status: status.filter(({ isShown }) => isShown) }))
page.onEvent(event => {
  const command = event.type === 'status' ? status[event.id]?.command : undefined
  if (command) void commands.executeCommand(command)
})

function createStatusBarItem() {
  const shown = { id: status.length, text: '', tooltip: '', command: '', isShown: false }
  status.push(shown)
  const set = (change: Partial<typeof shown>) => {
    Object.assign(shown, change)
    page.update()
  }
  return {
    set text(text: string) {
      set({ text })
    },
    get text() {
      return shown.text
    },
    set tooltip(tooltip: unknown) {
      set({ tooltip: String(tooltip ?? '') })
    },
    set command(command: string | undefined) {
      set({ command: command ?? '' })
    },
    show: () => set({ isShown: true }),
    hide: () => set({ isShown: false }),
    dispose: () => set({ isShown: false }),
  }
}

/** The answers to the next dialogs that choose files, which no page can show. */
export const pickedFiles: URI[][] = []

export const window = {
  createOutputChannel,
  createStatusBarItem,
  setStatusBarMessage: () => new Disposable(() => {}),
  showInformationMessage: notifications.show('info'),
  showWarningMessage: notifications.show('warning'),
  showErrorMessage: notifications.show('error'),
  withProgress: notifications.withProgress,
  showQuickPick: quickInputs.showQuickPick,
  showInputBox: quickInputs.showInputBox,
  createQuickPick: quickInputs.createQuickPick,
  showOpenDialog: async () => pickedFiles.shift(),
  showSaveDialog: async () => pickedFiles.shift()?.[0],
  registerWebviewViewProvider: editors.registerView,
  registerWebviewPanelSerializer: editors.registerSerializer,
  registerUriHandler: (handler: { handleUri(uri: URI): unknown }) => {
    uriHandlers.push(handler)
    return new Disposable(() => {})
  },
  createWebviewPanel: editors.createPanel,
  onDidStartTerminalShellExecution: none(),
  onDidEndTerminalShellExecution: none(),
  registerFileDecorationProvider: () => new Disposable(() => {}),
  createTreeView: () => new Disposable(() => {}),
  createTextEditorDecorationType: () => ({ key: '', dispose() {} }),
  createTerminal: (given: object) => {
    builtIn.push({ command: 'terminal.create', args: [given] })
    return { name: '', show() {}, sendText() {}, dispose() {}, exitStatus: undefined }
  },
  onDidCloseTerminal: none(),
  activeTerminal: undefined,
  activeNotebookEditor: undefined,
  showTextDocument: editors.show,
  tabGroups: editors.tabGroups,
  get activeTextEditor() {
    return editors.active
  },
  get visibleTextEditors() {
    return editors.visible
  },
  onDidChangeActiveTextEditor: editors.onDidChangeActive,
  onDidChangeVisibleTextEditors: editors.onDidChangeVisible,
  onDidChangeTextEditorSelection: editors.onDidChangeSelection,
  activeColorTheme: { kind: 2 },
  state: { focused: true, active: true },
  onDidChangeWindowState: none(),
}

// Workspace

const filesChanged = {
  created: new EventEmitter<URI>(),
  changed: new EventEmitter<URI>(),
  deleted: new EventEmitter<URI>(),
}
const existing = new Set<string>()

for (const { uri } of folders) watchFolder(uri.fsPath)

/** VS Code reports changed files a moment later, too, and several changes of one file as one. */
function watchFolder(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    existing.add(join(folder, name))
  const waiting = new Set<string>()
  const report = async () => {
    const paths = [...waiting]
    waiting.clear()
    for (const path of paths) {
      const isThere = await stat(path).then(
        () => true,
        () => false,
      )
      const was = existing.has(path)
      if (isThere) existing.add(path)
      else existing.delete(path)
      if (isThere) documents.notice(path)
      const event = isThere ? (was ? 'changed' : 'created') : 'deleted'
      if (isThere || was) filesChanged[event].fire(URI.file(path))
    }
  }
  watch(folder, { recursive: true }, (_event, name) => {
    if (name === null) return
    if (waiting.size === 0) setTimeout(() => void report(), 20)
    waiting.add(join(folder, name))
  }).unref()
}

const folderOf = (uri: URI) => {
  if (uri.scheme !== 'file') return undefined
  return folders.find(folder => `${uri.fsPath}/`.startsWith(`${folder.uri.fsPath}/`))
}

export const workspace = {
  workspaceFolders: folders.length > 0 ? folders : undefined,
  workspaceFile: isWorkspaceFile && options.workspace ? URI.file(options.workspace) : undefined,
  name: options.workspace === undefined ? undefined : basename(options.workspace),
  isTrusted: true,
  getConfiguration: (section?: string, scope?: URI | null) => configuration.section(section, scope),
  onDidChangeConfiguration: configuration.onDidChange,
  onDidChangeWorkspaceFolders: none(),
  onDidGrantWorkspaceTrust: none(),
  getWorkspaceFolder: folderOf,
  asRelativePath(what: URI | string, includesFolder?: boolean) {
    const uri = typeof what === 'string' ? URI.file(what) : what
    const folder = folderOf(uri)
    if (!folder) return uri.fsPath
    const path = relative(folder.uri.fsPath, uri.fsPath).split(sep).join('/')
    return (includesFolder ?? folders.length > 1) ? `${folder.name}/${path}` : path
  },
  get textDocuments() {
    return documents.all
  },
  openTextDocument: (what?: URI | string | { content?: string; language?: string }) => documents.open(what),
  onDidOpenTextDocument: documents.opened.event,
  onDidChangeTextDocument: documents.didChange.event,
  onWillSaveTextDocument: documents.willSave.event,
  onDidSaveTextDocument: documents.didSave.event,
  onDidSaveNotebookDocument: none(),
  onDidCloseTextDocument: documents.closed.event,
  onDidCreateFiles: none(),
  onDidDeleteFiles: none(),
  onDidRenameFiles: none(),
  onWillRenameFiles: none(),
  applyEdit: (edit: WorkspaceEdit) => documents.applyEdit(edit),
  createFileSystemWatcher: (_glob: unknown, noCreate = false, noChange = false, noDelete = false) => ({
    onDidCreate: noCreate ? none<URI>() : filesChanged.created.event,
    onDidChange: noChange ? none<URI>() : filesChanged.changed.event,
    onDidDelete: noDelete ? none<URI>() : filesChanged.deleted.event,
    dispose() {},
  }),
  registerTextDocumentContentProvider: documents.addContentProvider.bind(documents),
  registerFileSystemProvider: documents.addFileProvider.bind(documents),
  decode: async (bytes: Uint8Array) => new TextDecoder().decode(bytes),
  encode: async (text: string) => new TextEncoder().encode(text),
  fs: {
    readFile: async (uri: URI) => new Uint8Array(await readFile(uri.fsPath)),
    writeFile: (uri: URI, content: Uint8Array) => writeFile(uri.fsPath, content),
    stat: async (uri: URI) => {
      const { size, mtimeMs, ctimeMs, isDirectory } = await stat(uri.fsPath)
      return {
        type: isDirectory() ? FileType.Directory : FileType.File,
        size,
        mtime: mtimeMs,
        ctime: ctimeMs,
      }
    },
    delete: (uri: URI) => rm(uri.fsPath, { recursive: true }),
  },
}

// The rest

let clipboard = ''
/** What opens links into the extension. */
export const uriHandlers: Array<{ handleUri(uri: URI): unknown }> = []
/** The addresses that the extension opened in the browser. */
export const openedUrls: string[] = []

export const env = {
  appName: 'Visual Studio Code',
  language: options.language ?? 'en',
  remoteName: undefined,
  uriScheme: 'vscode',
  // its windows can't bring each other to the front
  uiKind: 2,
  machineId: 'page',
  sessionId: 'page',
  clipboard: {
    readText: async () => clipboard,
    writeText: async (text: string) => {
      clipboard = text
    },
  },
  asExternalUri: async (target: URI) => target,
  openExternal: async (target: URI | string) => {
    openedUrls.push(String(target))
    return true
  },
}

interface LensProvider {
  provideCodeLenses(
    document: unknown,
  ): Array<{ command?: { title: string; command: string; arguments?: unknown[] } }>
}
const lensProviders = new Set<{ scheme: string | undefined; provider: LensProvider }>()
/** The lenses of the active editor, in their order. */
export const lenses = () => {
  const document = window.activeTextEditor?.document
  return [...lensProviders].flatMap(({ scheme, provider }) =>
    document && document.uri.scheme === scheme ? provider.provideCodeLenses(document) : [],
  )
}

export const languages = {
  registerCodeLensProvider: (selector: { scheme?: string }, provider: LensProvider) => {
    const entry = { scheme: selector.scheme, provider }
    lensProviders.add(entry)
    return new Disposable(() => lensProviders.delete(entry))
  },
  registerHoverProvider: () => new Disposable(() => {}),
  registerCodeActionsProvider: () => new Disposable(() => {}),
  getDiagnostics: (uri?: URI) => (uri ? [] : []),
  onDidChangeDiagnostics: none(),
  getLanguages: async () => ['plaintext', 'javascript', 'json', 'markdown', 'typescript'],
}

export const scm = {
  createSourceControl: () => ({
    inputBox: { visible: true },
    count: 0,
    createResourceGroup: (id: string, label: string) => ({ id, label, resourceStates: [], dispose() {} }),
    dispose() {},
  }),
}

export interface Thread {
  uri: URI
  range: Range
  comments: Array<{ body: string; label?: string }>
  contextValue?: string
}
/** The threads of comments in documents, oldest first. */
export const threads: Thread[] = []

export const comments = {
  // VS Code's can't be changed either, except for what it declares
  createCommentController: () => {
    const values: { options?: unknown; commentingRangeProvider?: unknown } = {}
    return Object.freeze({
      get options() {
        return values.options
      },
      set options(options) {
        values.options = options
      },
      get commentingRangeProvider() {
        return values.commentingRangeProvider
      },
      set commentingRangeProvider(provider) {
        values.commentingRangeProvider = provider
      },
      createCommentThread(uri: URI, range: Range, given: Thread['comments']) {
        const thread = {
          ...{ uri, range, comments: given },
          dispose: () => {
            const at = threads.indexOf(thread)
            if (at !== -1) threads.splice(at, 1)
          },
        }
        threads.push(thread)
        return thread
      },
      dispose() {},
    })
  },
}

/** Nothing is debugged. */
export const debug = {
  activeDebugSession: undefined,
  activeStackItem: undefined,
  breakpoints: [],
  registerDebugAdapterTrackerFactory: () => ({ dispose() {} }),
  onDidStartDebugSession: () => ({ dispose() {} }),
  onDidTerminateDebugSession: () => ({ dispose() {} }),
}

/** A VS Code whose own chat isn't used. */
export const lm = {
  tools: [],
  registerMcpServerDefinitionProvider: () => ({ dispose() {} }),
}

/** They start when another extension asks for them. */
const started = new Map<string, unknown>()

export const extensions = {
  all: [] as unknown[],
  getExtension(id: string) {
    const main = join(options.extensions ?? options.userData, id, 'main.cjs')
    if (!existsSync(main)) return undefined
    return {
      get isActive() {
        return started.has(id)
      },
      async activate() {
        if (!started.has(id)) started.set(id, createRequire(main)(main).activate())
        return started.get(id)
      },
    }
  },
  onDidChange: none(),
}

export const l10n = {
  bundle: options.bundle ? (JSON.parse(readFileSync(options.bundle, 'utf8')) as object) : undefined,
  t(text: string, ...args: unknown[]) {
    const bundle = this.bundle as Record<string, string> | undefined
    return (bundle?.[text] ?? text).replace(/\{(\d+)\}/g, (whole, index) => String(args[index] ?? whole))
  },
}
