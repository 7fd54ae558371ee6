/** Opens files and links that a user clicks in a conversation. Each function rejects with a sentence to show. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { Roots } from '../../acp/model.ts'
import type { FileReference } from '../../common/file-links.ts'
import { candidates, parseLink } from '../../editor/links.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { pathOnDisk } from '../path-on-disk.ts'

const rules = new PathRules()

/**
 * Opens a file, or shows a folder in the explorer. A relative path is looked up in each root. Line and column are
 * 1-based; a line beyond the end means the last line.
 */
export function openFile(target: FileReference, roots?: Roots): Promise<void> {
  return openFirst([target], roots)
}

/** Like {@link openFile}, for the first of these references that exists. */
async function openFirst(readings: readonly FileReference[], roots: Roots | undefined): Promise<void> {
  for (const reading of readings) {
    for (const place of candidates(reading.path, rootList(roots), homedir(), rules)) {
      const info = await stat(place).catch(() => undefined)
      if (!info) continue
      const uri = vscode.Uri.file(place)
      if (info.isDirectory()) {
        await vscode.commands.executeCommand('revealInExplorer', uri)
        return
      }
      // Not showTextDocument: the editor knows how to show an image or a notebook.
      await vscode.commands.executeCommand('vscode.open', uri, showOptions(reading))
      return
    }
  }
  const likely = readings.find(({ line }) => line !== undefined) ?? readings[0]
  throw new Error(l10n.t("The file {0} doesn't exist.", likely?.path ?? ''))
}

/** Opens a link of an agent's text: `http(s)` in the browser, files and paths in the editor, nothing else. */
export async function openLink(href: string, roots?: Roots): Promise<void> {
  const target = parseLink(href, rules)
  if (target.type === 'refused') throw new Error(target.reason)
  if (target.type === 'file') return openFirst(target.readings, roots)
  // VS Code passes on a string unchanged, whereas `Uri` would lose an escaped `&`.
  const opened = await vscode.env.openExternal(target.href as unknown as vscode.Uri)
  if (!opened) throw new Error(l10n.t("The link couldn't be opened."))
}

/** The selection in the active editor, as context for a prompt. */
export interface SelectionContext {
  /** `name.ts:3-7` */
  label: string
  /** the path in the workspace and the lines, as text */
  detail: string
  uri: string
  text: string
  /** 1-based and inclusive, like `endLine` */
  startLine: number
  endLine: number
  languageId: string
}

/** Returns the selection in an editor; `undefined` without an editor or a selection. */
export function currentSelection(
  editor: vscode.TextEditor | undefined = vscode.window.activeTextEditor,
): SelectionContext | undefined {
  if (!editor || editor.selection.isEmpty) return undefined
  const { document, selection } = editor
  const startLine = selection.start.line + 1
  // A selection that ends before the first character of a line doesn't include that line.
  const endLine = Math.max(
    startLine,
    selection.end.character === 0 ? selection.end.line : selection.end.line + 1,
  )
  const lines = startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`
  const name = path.posix.basename(document.uri.path) || document.fileName
  return {
    label: `${name}:${lines}`,
    detail: `${vscode.workspace.asRelativePath(document.uri)}:${lines}`,
    uri: document.uri.toString(),
    text: document.getText(selection),
    startLine,
    endLine,
    languageId: document.languageId,
  }
}

function rootList(roots: Roots | undefined): string[] {
  if (roots) return [roots.cwd, ...roots.additionalDirectories]
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(folder => pathOnDisk(folder.uri))
}

function showOptions(target: { line?: number; column?: number }): vscode.TextDocumentShowOptions {
  if (target.line === undefined) return { preview: true }
  const at = new vscode.Position(Math.max(0, target.line - 1), Math.max(0, (target.column ?? 1) - 1))
  return { preview: true, selection: new vscode.Range(at, at) }
}

const SCHEME = 'parley-content'
/** Number of files whose content is kept for their editors; older files can be opened again from the conversation. */
const MAX_STORED = 24

const files = new Map<string, Uint8Array>()
let registered = false
let count = 0

/** Read-only documents for files that exist only in a conversation. */
const provider: vscode.FileSystemProvider = {
  onDidChangeFile: () => new vscode.Disposable(() => {}),
  watch: () => new vscode.Disposable(() => {}),
  stat(uri) {
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: read(uri).byteLength }
  },
  readFile: read,
  readDirectory: () => [],
  createDirectory: refuse,
  writeFile: refuse,
  delete: refuse,
  rename: refuse,
}

function read(uri: vscode.Uri): Uint8Array {
  const bytes = files.get(uri.path)
  if (!bytes) throw vscode.FileSystemError.FileNotFound(uri)
  return bytes
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri)
}

/** Opens an agent's binary content in VS Code's editor for files with that name. */
export async function openContent(name: string, mimeType: string, bytes: Uint8Array): Promise<void> {
  if (bytes.byteLength === 0) throw new Error(l10n.t("The agent didn't send any content for {0}.", name))
  if (!registered) {
    registered = true
    vscode.workspace.registerFileSystemProvider(SCHEME, provider, { isReadonly: true })
  }
  const path = `/${count++}/${fileName(name, mimeType)}`
  files.set(path, bytes)
  const [oldest] = files.keys()
  if (files.size > MAX_STORED && oldest !== undefined) files.delete(oldest)
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.from({ scheme: SCHEME, path }))
}

/** Returns the last part of a name, with an extension from which VS Code recognizes the type. */
function fileName(name: string, mimeType: string): string {
  const last = (name.split(/[\\/]/).at(-1) ?? '').replace(/[?#:*"<>|\s]+/g, '-').slice(-120) || 'file'
  if (/\.[A-Za-z0-9]{1,8}$/.test(last)) return last
  const extension = /^[\w.-]+\/(?:x-)?([a-z0-9]+)/i.exec(mimeType)?.[1]
  return extension ? `${last}.${extension === 'jpeg' ? 'jpg' : extension}` : last
}
