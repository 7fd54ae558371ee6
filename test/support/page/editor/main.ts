/**
 * The extension host of a window without a workbench: runs the built extension with our `vscode` in plain Node, and serves
 * the window's page. A test controls it with messages: see `Control`.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { URI } from 'vscode-uri'
import type { StoredPanel } from './editors.ts'
import { readJson, writeJson } from './json-file.ts'
import { type Keybinding, Keybindings } from './keybindings.ts'
import { ContextMenus } from './menus.ts'
import { options, served } from './options.ts'
import { type Serving, servePage } from './server.ts'

const api = new URL('./vscode.ts', import.meta.url).href
const services = new URL('./services.ts', import.meta.url).href
const builtServices = join(options.extension, 'dist', 'services.js')
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'vscode') return { url: api, shortCircuit: true }
    const isFirst = specifier === './services.js' && context.parentURL?.endsWith('/extension.cjs')
    // Without the file, Node reports that as in VS Code: it would remember that ours has failed.
    return isFirst && existsSync(builtServices)
      ? { url: services, shortCircuit: true }
      : next(specifier, context)
  },
})

let startServing: (serving: Serving) => void = () => {}
const { port } = await servePage(
  new Promise(resolve => {
    startServing = resolve
  }),
)
served.origin = `http://127.0.0.1:${port}`
const vscode = await import('./vscode.ts')
const { editors, page } = vscode

const storage = join(options.userData, 'User', 'workspaceStorage', workspaceKey(), 'parley.parley')
const globalStorage = join(options.userData, 'User', 'globalStorage', 'parley.parley')
const panelsFile = join(dirname(storage), 'panels.json')
mkdirSync(storage, { recursive: true })
mkdirSync(globalStorage, { recursive: true })

function workspaceKey(): string {
  return createHash('sha256')
    .update(options.workspace ?? '')
    .digest('hex')
    .slice(0, 16)
}

function memento(file: string) {
  const values = new Map<string, unknown>(Object.entries(readJson(file) ?? {}))
  return {
    keys: () => [...values.keys()],
    get: (key: string, otherwise?: unknown) => values.get(key) ?? otherwise,
    async update(key: string, value: unknown) {
      if (value === undefined) values.delete(key)
      else values.set(key, value)
      writeJson(file, Object.fromEntries(values))
    },
    setKeysForSync() {},
  }
}

function secrets(file: string) {
  const values = memento(file)
  const changed = new vscode.EventEmitter<{ key: string }>()
  const set = async (key: string, value: string | undefined) => {
    await values.update(key, value)
    changed.fire({ key })
  }
  return {
    get: async (key: string) => values.get(key),
    store: set,
    delete: (key: string) => set(key, undefined),
    onDidChange: changed.event,
  }
}

const extensionUri = URI.file(options.extension)
const extension = {
  id: 'parley.parley',
  packageJSON: vscode.manifest,
  extensionUri,
  extensionPath: options.extension,
}
const context = {
  subscriptions: [] as Array<{ dispose(): unknown }>,
  extension,
  extensionUri,
  extensionPath: options.extension,
  extensionMode: 1,
  workspaceState: memento(join(dirname(storage), 'state.json')),
  globalState: memento(join(dirname(globalStorage), 'parley-state.json')),
  secrets: secrets(join(dirname(globalStorage), 'parley-secrets.json')),
  storageUri: options.workspace === undefined ? undefined : URI.file(storage),
  globalStorageUri: URI.file(globalStorage),
  logUri: URI.file(join(options.userData, 'logs')),
}

const keybindings = new Keybindings(
  vscode.manifest.contributes.keybindings as Keybinding[],
  vscode.contextKeys,
  command => void vscode.commands.executeCommand(command),
)
const texts = JSON.parse(readFileSync(join(options.extension, 'package.nls.json'), 'utf8')) as Record<
  string,
  string
>
const titles = new Map(
  (vscode.manifest.contributes.commands as Array<{ command: string; title: string }>).map(
    ({ command, title }) => [command, title.replace(/^%(.*)%$/, (_, key: string) => texts[key] ?? key)],
  ),
)
new ContextMenus(page, {
  menus: vscode.manifest.contributes.menus,
  titleOf: command => titles.get(command) ?? command,
  viewTypeOf: webview => editors.webview(webview)?.viewType,
  contextKey: key => vscode.contextKeys.get(key),
  run: (command, context) => void vscode.commands.executeCommand(command, context),
})
page.onEvent(event => {
  if (event.type === 'key') {
    vscode.contextKeys.set('focusedView', event.webview?.startsWith('sideBar') ? 'parley.conversation' : '')
    keybindings.press(event)
  }
  if (event.type === 'startSession')
    void vscode.commands.executeCommand('parley.newSessionWithAgent', event.agentId)
  if (event.type === 'command') {
    const { path, query } = URI.parse(event.link)
    void vscode.commands.executeCommand(path, ...(JSON.parse(query || '[]') as unknown[]))
  }
  if (event.type === 'link') void vscode.env.openExternal(event.url)
})

const { activate, deactivate } = createRequire(import.meta.url)(
  join(options.extension, 'dist', 'extension.cjs'),
) as { activate(given: typeof context): void; deactivate(): Promise<void> }
activate(context)
startServing({ page, webview: id => editors.webview(id) })
editors.restore((readJson(panelsFile) ?? []) as StoredPanel[])

async function stop(): Promise<void> {
  writeJson(panelsFile, editors.stored())
  const ended = deactivate()
  for (const one of context.subscriptions) one.dispose()
  await ended
}

/** What a test can ask for, apart from what it does in the page. */
const control = {
  /** The user opened a link into the extension. */
  openLink: async (link: string) => void (await vscode.uriHandlers[0]?.handleUri(URI.parse(link))),
  /** The file that the user will choose in the next dialog. */
  willPick: (path: string) => void vscode.pickedFiles.push([URI.file(path)]),
  run: (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args.map(revive)),
  clipboard: () => vscode.env.clipboard.readText(),
  /** The commands of other parts of VS Code that ran, oldest first. */
  builtInCommands: () => vscode.builtIn.map(({ command }) => command),
  openedUrls: () => vscode.openedUrls,
  openSideBar: () => editors.openSideBar(),
  hideSideBar: () => editors.hideSideBar(),
  openFile: async (path: string) => void (await editors.show(URI.file(path), { preview: true })),
  /** The file of the active editor, and the line of its cursor, from 1. */
  activeLine: () => {
    const { document, selection } = editors.active ?? {}
    return document && selection && { path: document.uri.fsPath, line: selection.active.line + 1 }
  },
  activeText: () => editors.active?.document.getText(),
  selectLines: (count: number) => {
    editors.active?.select(new vscode.Selection(0, 0, count, 0))
  },
  /** The user replaces a word that the active editor contains once, and saves the file if `saves`. */
  replaceWord: async (word: string, text: string, saves: boolean) => {
    const document = editors.active?.document
    const at = document?.getText().indexOf(word) ?? -1
    if (!document || at === -1) throw new Error(`The active editor has no “${word}”`)
    const range = new vscode.Range(document.positionAt(at), document.positionAt(at + word.length))
    document.apply([{ range, newText: text }])
    if (saves) await document.save()
  },
  /** The threads of comments: their lines, from 1, and what they show. */
  comments: () =>
    vscode.threads.map(({ uri, range, comments: [shown], contextValue }) => ({
      path: uri.path,
      lines: [range.start.line + 1, range.end.line + 1],
      text: shown?.body,
      label: shown?.label,
      state: contextValue,
    })),
  /** The user comments on lines of a file, from 1. */
  addComment: (path: string, from: number, to: number, text: string) => {
    const range = new vscode.Range(from - 1, 0, to - 1, 0)
    const thread = vscode.comments.createCommentController().createCommentThread(URI.file(path), range, [])
    return vscode.commands.executeCommand('parley.comments.add', { thread, text })
  },
  /** The user comments on lines of the active editor, from 1. */
  commentHere: (from: number, to: number, text: string) => {
    const uri = editors.active?.document.uri
    if (!uri) throw new Error('No editor is active')
    const range = new vscode.Range(from - 1, 0, to - 1, 0)
    const thread = vscode.comments.createCommentController().createCommentThread(uri, range, [])
    return vscode.commands.executeCommand('parley.comments.add', { thread, text })
  },
  /** The text of the active editor, its scheme and its code lenses. */
  activeDocument: () => ({
    scheme: editors.active?.document.uri.scheme,
    text: editors.active?.document.getText(),
    lenses: vscode.lenses().map(({ command }) => command?.title),
  }),
  pressLens: (title: string) => {
    const { command } = vscode.lenses().find(one => one.command?.title === title) ?? {}
    if (!command) throw new Error(`There is no lens “${title}”`)
    return vscode.commands.executeCommand(command.command, ...(command.arguments ?? []))
  },
  /** A button of a comment; `text`: what the user wrote into it before. */
  pressComment: (index: number, command: string, text?: string) => {
    const [shown] = vscode.threads[index]?.comments ?? []
    if (shown && text !== undefined) shown.body = text
    return vscode.commands.executeCommand(command, shown)
  },
  tabs: () => page.shown.tabs,
  log: (channel: string) => vscode.channels.get(channel)?.lines ?? [],
  stop,
}
export type Control = typeof control

/** A path in a message that stands for a URI. */
function revive(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'fileUri' in value
    ? URI.file(String(value.fileUri))
    : value
}

process.on(
  'message',
  async ({ id, method, args }: { id: number; method: keyof Control; args: unknown[] }) => {
    try {
      const result = await (control[method] as (...given: unknown[]) => unknown)(...args)
      process.send?.({
        id,
        result: result === undefined ? null : JSON.parse(JSON.stringify(result) ?? 'null'),
      })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) })
    }
    if (method === 'stop') process.exit()
  },
)
// the test ended without stopping it
process.on('disconnect', () => void stop().finally(() => process.exit()))
process.send?.({ origin: served.origin })
