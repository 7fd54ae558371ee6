import { readFile, stat } from 'node:fs/promises'
import { relative } from 'node:path'
import * as vscode from 'vscode'
import { delay } from '../../common/async.ts'
import type { Event } from '../../common/event.ts'
import { EDITOR_RELOAD_MS, MAX_FRAGMENT_FILE_BYTES } from '../../common/limits.ts'
import type {
  EditorFeatures,
  FileEdit,
  FoundSymbol,
  HierarchyKind,
  Location,
  LocationKind,
  OpenEditor,
  OutlineSymbol,
  Position,
  Problem,
  ProposedAction,
  RelatedSymbol,
  Severity,
  Span,
  TextBeginning,
  TextChange,
} from '../../mcp/server/editor-features.ts'
import { haveSameLines } from '../../mcp/server/text-lines.ts'
import { ToolError } from '../../mcp/server/tool-error.ts'
import type { Diffs } from '../editor/diffs.ts'
import { isUnsaved } from '../editor/files.ts'
import { openFile } from '../editor/open.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { withCancellation } from '../with-cancellation.ts'
import { createDebugFeatures } from './debugging.ts'
import { listTasks, runTask } from './tasks.ts'
import { followTerminals, terminalCommands } from './terminal-commands.ts'
import { terminalSelection } from './terminal-selection.ts'

/** Interval of checking whether the editor has loaded a file that changed on disk. Milliseconds. */
const RELOAD_POLL_MS = 25
/** Maximum number of symbols of a file or a search, and of levels of an outline. */
const MAX_SYMBOLS = 20_000
const MAX_LEVELS = 100
/** Maximum number of lines of an open document that are read at once. */
const MAX_READ_LINES = 500_000
/** Maximum number of code actions whose edits are computed. */
const MAX_RESOLVED = 30

/** VS Code's knowledge about files, for the tools of the editor's MCP server. */
export function createEditorFeatures(diffs: Diffs): EditorFeatures {
  followTerminals()
  return {
    async problems(path) {
      const all =
        path === undefined
          ? vscode.languages.getDiagnostics()
          : [[vscode.Uri.file(path), vscode.languages.getDiagnostics(vscode.Uri.file(path))] as const]
      return all
        .filter(([uri, found]) => uri.scheme === 'file' && found.length > 0)
        .map(([uri, found]) => ({ path: pathOnDisk(uri), problems: found.map(problemOf) }))
    },
    onDidChangeProblems,
    open: async path => {
      const uri = vscode.Uri.file(path)
      await checkSize(path)
      const isNew = !vscode.workspace.textDocuments.some(one => one.uri.toString() === uri.toString())
      const document = await vscode.workspace.openTextDocument(uri)
      await loaded(document)
      return { text: document.getText(), isNew }
    },
    attend,
    async symbols(query) {
      const found = await execute<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', query)
      return (found ?? [])
        .filter(({ location }) => location.uri.scheme === 'file')
        .slice(0, MAX_SYMBOLS)
        .map(symbolOf)
    },
    async outline(path) {
      const uri = vscode.Uri.file(path)
      const found = await execute<Array<vscode.DocumentSymbol | vscode.SymbolInformation>>(
        'vscode.executeDocumentSymbolProvider',
        uri,
      )
      const budget = { remaining: MAX_SYMBOLS }
      return outlinesOf(found ?? [], budget, MAX_LEVELS)
    },
    async locations(kind, path, at) {
      const found = await execute<Array<vscode.Location | vscode.LocationLink>>(
        PLACE_COMMANDS[kind],
        vscode.Uri.file(path),
        toPosition(at),
      )
      return (found ?? []).flatMap(locationsOf)
    },
    async hover(path, at) {
      const found = await execute<vscode.Hover[]>(
        'vscode.executeHoverProvider',
        vscode.Uri.file(path),
        toPosition(at),
      )
      return (found ?? [])
        .flatMap(({ contents }) => contents.map(markdownOf))
        .filter(text => text.trim() !== '')
    },
    hierarchy,
    editors: async () => editors(),
    async selection() {
      const editor = vscode.window.activeTextEditor
      if (editor?.document.uri.scheme !== 'file') return undefined
      const { document, selection } = editor
      return { path: pathOnDisk(document.uri), ...spanOf(selection), ...beginningOf(document, selection) }
    },
    unsaved: async () => unsavedDocuments().map(({ uri }) => pathOnDisk(uri)),
    async readUnsaved(path) {
      const document = unsavedDocuments().find(({ uri }) => pathOnDisk(uri) === path)
      return document && beginningOf(document, new vscode.Range(0, 0, document.lineCount, 0))
    },
    async rename(path, at, name) {
      const edit = await execute<vscode.WorkspaceEdit>(
        'vscode.executeDocumentRenameProvider',
        vscode.Uri.file(path),
        toPosition(at),
        name,
      )
      return edit ? editsOf(edit) : []
    },
    async actions(path, span, kind) {
      const found = await execute<Array<vscode.CodeAction | vscode.Command>>(
        'vscode.executeCodeActionProvider',
        vscode.Uri.file(path),
        toRange(span),
        kind,
        MAX_RESOLVED,
      )
      return (found ?? []).map(actionOf)
    },
    async format(path, span) {
      const uri = vscode.Uri.file(path)
      const { tabSize, insertSpaces } = formatting(uri)
      const options = { tabSize, insertSpaces }
      const edits = span
        ? await execute<vscode.TextEdit[]>('vscode.executeFormatRangeProvider', uri, toRange(span), options)
        : await execute<vscode.TextEdit[]>('vscode.executeFormatDocumentProvider', uri, options)
      return (edits ?? []).map(changeOf)
    },
    show: (path, at) => openFile({ path, ...at }),
    showDiff: async (path, texts, title) => void (await diffs.open(path, texts, { title })),
    tasks: listTasks,
    runTask,
    terminalCommands: async () => terminalCommands(),
    terminalSelection,
    hasTestTool,
    runTestTool,
    debug: createDebugFeatures(),
  }
}

const hasTestTool: EditorFeatures['hasTestTool'] = async name => {
  // some editors that are based on VS Code have no `vscode.lm`
  const lm: Partial<typeof vscode.lm> | undefined = vscode.lm
  return lm?.tools?.some(tool => tool.name === name) ?? false
}

const runTestTool: EditorFeatures['runTestTool'] = async (name, input, signal) => {
  // there is no chat that the call belongs to
  const options = { input: findable(input), toolInvocationToken: undefined }
  const { content } = await withCancellation(signal, token => vscode.lm.invokeTool(name, options, token))
  return content
    .flatMap(part => (part instanceof vscode.LanguageModelTextPart ? [part.value] : []))
    .join('\n')
}

function unsavedDocuments(): vscode.TextDocument[] {
  const { textDocuments } = vscode.workspace
  return textDocuments.filter(document => document.uri.scheme === 'file' && isUnsaved(document))
}

/** Makes paths relative to the first folder in a remote window, where the tool takes absolute paths for local paths. */
function findable({ files, ...input }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(files)) return input
  const [folder] = vscode.workspace.workspaceFolders ?? []
  if (vscode.env.remoteName === undefined || !folder) return { ...input, files }
  return { ...input, files: files.map(file => relative(pathOnDisk(folder.uri), String(file))) }
}

const PLACE_COMMANDS: Readonly<Record<LocationKind, string>> = {
  definition: 'vscode.executeDefinitionProvider',
  type_definition: 'vscode.executeTypeDefinitionProvider',
  implementations: 'vscode.executeImplementationProvider',
  references: 'vscode.executeReferenceProvider',
}

const SEVERITIES: Readonly<Record<vscode.DiagnosticSeverity, Severity>> = {
  [vscode.DiagnosticSeverity.Error]: 'error',
  [vscode.DiagnosticSeverity.Warning]: 'warning',
  [vscode.DiagnosticSeverity.Information]: 'information',
  [vscode.DiagnosticSeverity.Hint]: 'hint',
}

const onDidChangeProblems: Event<readonly string[]> = listener =>
  vscode.languages.onDidChangeDiagnostics(({ uris }) =>
    listener(uris.filter(({ scheme }) => scheme === 'file').map(uri => pathOnDisk(uri))),
  )

async function execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
  return vscode.commands.executeCommand<T | undefined>(command, ...args)
}

/** Returns the range's text up to a limit, since `getText` joins all lines, which may be millions. */
function beginningOf(document: vscode.TextDocument, { start, end }: vscode.Range): TextBeginning {
  const last = new vscode.Position(start.line + MAX_READ_LINES, 0)
  const isLong = end.isAfter(last)
  const text = document.getText(isLong ? new vscode.Range(start, last) : new vscode.Range(start, end))
  const isCut = isLong || text.length > MAX_FRAGMENT_FILE_BYTES
  return { text: text.slice(0, MAX_FRAGMENT_FILE_BYTES), isCut }
}

/** Throws for a larger file, which languages ignore, and which would block the editor while it's read. */
async function checkSize(path: string): Promise<void> {
  const info = await stat(path).catch(() => undefined)
  if (info && info.size > MAX_FRAGMENT_FILE_BYTES) throw new ToolError('The file is larger than 4 MB.')
}

/** Waits until an unchanged document has the file's content, since the editor needs a moment to notice a change on disk. */
async function loaded(document: vscode.TextDocument): Promise<void> {
  const end = performance.now() + EDITOR_RELOAD_MS
  for (;;) {
    if (isUnsaved(document) || document.isClosed) return
    const bytes = await readFile(pathOnDisk(document.uri)).catch(() => undefined)
    if (!bytes) return
    const onDisk = await vscode.workspace.decode(bytes, { encoding: document.encoding })
    if (haveSameLines(onDisk, document.getText()) || performance.now() > end) return
    await delay(RELOAD_POLL_MS)
  }
}

/** Opens the file in a background tab, unless a tab already shows it. */
async function attend(path: string): ReturnType<EditorFeatures['attend']> {
  const uri = vscode.Uri.file(path)
  if (tabsOf(uri).length > 0) return { isNew: false, dispose() {} }
  // `background` is documented for vscode.open only
  const options = { background: true, preserveFocus: true, preview: false }
  await vscode.commands.executeCommand('vscode.open', uri, options)
  return {
    isNew: true,
    dispose() {
      // close the tab unless the user has begun to use it
      const unused = tabsOf(uri).filter(({ isActive, isDirty }) => !isActive && !isDirty)
      if (unused.length > 0) void vscode.window.tabGroups.close(unused, true)
    },
  }
}

function tabsOf(uri: vscode.Uri): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString())
}

async function hierarchy(
  kind: HierarchyKind,
  path: string,
  at: Position,
): Promise<RelatedSymbol[] | undefined> {
  const isCalls = kind === 'callers' || kind === 'callees'
  const [item] =
    (await execute<Array<vscode.CallHierarchyItem | vscode.TypeHierarchyItem>>(
      isCalls ? 'vscode.prepareCallHierarchy' : 'vscode.prepareTypeHierarchy',
      vscode.Uri.file(path),
      toPosition(at),
    )) ?? []
  if (!item) return undefined
  if (kind === 'callers') {
    const calls = await execute<vscode.CallHierarchyIncomingCall[]>('vscode.provideIncomingCalls', item)
    return (calls ?? []).map(({ from, fromRanges }) => related(from, from.uri, fromRanges))
  }
  if (kind === 'callees') {
    const calls = await execute<vscode.CallHierarchyOutgoingCall[]>('vscode.provideOutgoingCalls', item)
    return (calls ?? []).map(({ to, fromRanges }) => related(to, item.uri, fromRanges))
  }
  const command = kind === 'supertypes' ? 'vscode.provideSupertypes' : 'vscode.provideSubtypes'
  const types = await execute<vscode.TypeHierarchyItem[]>(command, item)
  return (types ?? []).map(type => related(type, type.uri, []))
}

/** Describes an item of a hierarchy. `ranges`: the ranges of its uses, in the file `uri`. */
function related(
  item: vscode.CallHierarchyItem | vscode.TypeHierarchyItem,
  uri: vscode.Uri,
  ranges: readonly vscode.Range[],
): RelatedSymbol {
  return {
    name: item.name,
    kind: kindOf(item.kind),
    ...(item.detail && { container: item.detail }),
    location: { path: pathOnDisk(item.uri), ...spanOf(item.selectionRange) },
    uses: ranges.map(range => ({ path: pathOnDisk(uri), ...spanOf(range) })),
  }
}

function editors(): OpenEditor[] {
  const { all, activeTabGroup } = vscode.window.tabGroups
  const found = new Map<string, OpenEditor>()
  for (const group of [activeTabGroup, ...all.filter(one => one !== activeTabGroup)]) {
    for (const { input, isActive, isDirty } of group.tabs) {
      const uri =
        input instanceof vscode.TabInputText ||
        input instanceof vscode.TabInputNotebook ||
        input instanceof vscode.TabInputCustom
          ? input.uri
          : input instanceof vscode.TabInputTextDiff
            ? input.modified
            : undefined
      if (uri?.scheme !== 'file') continue
      const before = found.get(pathOnDisk(uri))
      found.set(pathOnDisk(uri), {
        path: pathOnDisk(uri),
        isActive: before?.isActive || (isActive && group === activeTabGroup),
        isVisible: before?.isVisible || isActive,
        isDirty: before?.isDirty || isDirty,
      })
    }
  }
  return [...found.values()]
}

function formatting(uri: vscode.Uri): { tabSize: number; insertSpaces: boolean } {
  const shown = vscode.window.visibleTextEditors.find(
    ({ document }) => document.uri.toString() === uri.toString(),
  )
  const settings = vscode.workspace.getConfiguration('editor', uri)
  const tabSize = Number(shown?.options.tabSize ?? settings.get('tabSize')) || 4
  const insertSpaces = shown?.options.insertSpaces ?? settings.get('insertSpaces')
  return { tabSize, insertSpaces: insertSpaces !== false }
}

function problemOf({ severity, message, source, code, range }: vscode.Diagnostic): Problem {
  const plainCode = typeof code === 'object' ? code.value : code
  return {
    severity: SEVERITIES[severity],
    message,
    ...(source !== undefined && { source }),
    ...(plainCode !== undefined && { code: String(plainCode) }),
    ...spanOf(range),
  }
}

function symbolOf({ name, kind, containerName, location }: vscode.SymbolInformation): FoundSymbol {
  return {
    name,
    kind: kindOf(kind),
    ...(containerName && { container: containerName }),
    location: { path: pathOnDisk(location.uri), ...spanOf(location.range) },
  }
}

function outlinesOf(
  symbols: ReadonlyArray<vscode.DocumentSymbol | vscode.SymbolInformation>,
  budget: { remaining: number },
  levels: number,
): OutlineSymbol[] {
  const outlines: OutlineSymbol[] = []
  for (const symbol of levels > 0 ? symbols : []) {
    if (budget.remaining-- <= 0) break
    outlines.push(outlineOf(symbol, budget, levels))
  }
  return outlines
}

function outlineOf(
  symbol: vscode.DocumentSymbol | vscode.SymbolInformation,
  budget: { remaining: number },
  levels: number,
): OutlineSymbol {
  const isDocumentSymbol = 'selectionRange' in symbol
  const range = isDocumentSymbol ? symbol.range : symbol.location.range
  return {
    name: symbol.name,
    kind: kindOf(symbol.kind),
    ...(isDocumentSymbol && symbol.detail && { detail: symbol.detail }),
    span: spanOf(range),
    at: fromPosition(isDocumentSymbol ? symbol.selectionRange.start : range.start),
    children: isDocumentSymbol ? outlinesOf(symbol.children, budget, levels - 1) : [],
  }
}

function locationsOf(found: vscode.Location | vscode.LocationLink): Location[] {
  const isLink = 'targetUri' in found
  const uri = isLink ? found.targetUri : found.uri
  if (uri.scheme !== 'file') return []
  const range = isLink ? (found.targetSelectionRange ?? found.targetRange) : found.range
  return [{ path: pathOnDisk(uri), ...spanOf(range) }]
}

function markdownOf(content: vscode.MarkdownString | vscode.MarkedString): string {
  if (typeof content === 'string') return content
  return 'language' in content ? `\`\`\`${content.language}\n${content.value}\n\`\`\`` : content.value
}

/** Throws a `ToolError` if the edit changes more than the text of files, since a part of it would do harm. */
function editsOf(edit: vscode.WorkspaceEdit): FileEdit[] {
  const entries = edit.entries()
  const texts = entries.reduce((count, [, edits]) => count + edits.length, 0)
  if (countOf(edit) > texts)
    throw new ToolError(
      'It would also create, rename or delete files, or change more than text, which this tool does not do. Nothing was done. Make the whole change yourself, file by file.',
    )
  if (entries.some(([uri]) => uri.scheme !== 'file'))
    throw new ToolError(
      "It would change something that isn't a file. Nothing was done. Make the change yourself.",
    )
  return entries.map(([uri, edits]) => ({ path: pathOnDisk(uri), changes: edits.map(changeOf) }))
}

/** Returns the number of all changes in an edit. `entries()` and, contrary to its documentation, `size` count only texts. */
function countOf(edit: vscode.WorkspaceEdit): number {
  const { _allEntries: all } = edit as vscode.WorkspaceEdit & { _allEntries?: () => readonly unknown[] }
  return all?.call(edit).length ?? 0
}

/** Returns the change of an edit; in a snippet, placeholders become their default texts. */
function changeOf(edit: vscode.TextEdit | vscode.SnippetTextEdit): TextChange {
  const text =
    'snippet' in edit
      ? edit.snippet.value.replace(/\$\{\d+:([^}$]*)\}|\$\{?\d+\}?/g, '$1').replace(/\\([\\$}])/g, '$1')
      : edit.newText
  return { ...spanOf(edit.range), text }
}

function actionOf(action: vscode.CodeAction | vscode.Command): ProposedAction {
  if (typeof action.command === 'string') return { title: action.title }
  const { title, kind, isPreferred, disabled, edit, command } = action as vscode.CodeAction
  return {
    title,
    ...(kind && { kind: kind.value }),
    ...(isPreferred && { isPreferred }),
    ...(disabled && { disabled: disabled.reason }),
    ...(edit && (edit.size > 0 || countOf(edit) > 0) && editOf(edit)),
    ...(command && { hasCommand: true as const }),
  }
}

/** Returns a refusal instead of throwing, so that one action that can't be applied doesn't hide the others. */
function editOf(edit: vscode.WorkspaceEdit): Pick<ProposedAction, 'edit' | 'refusal'> {
  try {
    return { edit: editsOf(edit) }
  } catch (error) {
    if (error instanceof ToolError) return { refusal: error.message }
    throw error
  }
}

/** `EnumMember` becomes `enum member`. */
function kindOf(kind: vscode.SymbolKind): string {
  return (vscode.SymbolKind[kind] ?? 'symbol').replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

function fromPosition({ line, character }: vscode.Position): Position {
  return { line: line + 1, column: character + 1 }
}

function toPosition({ line, column }: Position): vscode.Position {
  return new vscode.Position(line - 1, column - 1)
}

function spanOf({ start, end }: vscode.Range): Span {
  return { start: fromPosition(start), end: fromPosition(end) }
}

function toRange({ start, end }: Span): vscode.Range {
  return new vscode.Range(toPosition(start), toPosition(end))
}
