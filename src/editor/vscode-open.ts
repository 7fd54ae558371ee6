/** Opens in the editor what a person clicks in a conversation. Each rejects with a sentence to show. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { Roots } from '../acp/model.ts'
import { candidates, parseLink } from './links.ts'
import { PathRules } from './path-rules.ts'

const rules = new PathRules()

/**
 * Opens a file, or shows a folder in the explorer. A relative path is looked for in each root. Line and column are
 * 1-based; a line beyond the end is the last one.
 */
export async function openFile(
  target: { path: string; line?: number; column?: number },
  roots?: Roots,
): Promise<void> {
  const places = candidates(target.path, rootList(roots), homedir(), rules)
  for (const place of places) {
    const info = await stat(place).catch(() => undefined)
    if (!info) continue
    const uri = vscode.Uri.file(place)
    if (info.isDirectory()) {
      await vscode.commands.executeCommand('revealInExplorer', uri)
      return
    }
    // Not showTextDocument: the editor knows how to show an image or a notebook.
    await vscode.commands.executeCommand('vscode.open', uri, showOptions(target))
    return
  }
  throw new Error(l10n.t("The file {0} doesn't exist.", target.path))
}

/** Opens a link of an agent's prose: `http(s)` in the browser, files and paths in the editor, nothing else. */
export async function openLink(href: string, roots?: Roots): Promise<void> {
  const target = parseLink(href, rules)
  if (target.type === 'refused') throw new Error(target.reason)
  if (target.type === 'file') return openFile(target, roots)
  // VS Code takes the address as it is when it is given as a string; through `Uri` an escaped `&` would be lost.
  const opened = await vscode.env.openExternal(target.href as unknown as vscode.Uri)
  if (!opened) throw new Error(l10n.t("The link couldn't be opened."))
}

/** What is selected in the active editor, as context for a prompt. */
export interface SelectionContext {
  /** `name.ts:3-7` */
  label: string
  /** the path within the workspace, and the lines, in words */
  detail: string
  uri: string
  text: string
  /** 1-based, both inclusive */
  startLine: number
  endLine: number
  languageId: string
}

/** `undefined` without an editor, or when nothing but the cursor is there. */
export function currentSelection(
  editor: vscode.TextEditor | undefined = vscode.window.activeTextEditor,
): SelectionContext | undefined {
  if (!editor || editor.selection.isEmpty) return undefined
  const { document, selection } = editor
  const startLine = selection.start.line + 1
  // A selection that ends before the first character of a line holds nothing of that line.
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
    .map(folder => folder.uri.fsPath)
}

function showOptions(target: { line?: number; column?: number }): vscode.TextDocumentShowOptions {
  if (target.line === undefined) return { preview: true }
  const at = new vscode.Position(Math.max(0, target.line - 1), Math.max(0, (target.column ?? 1) - 1))
  return { preview: true, selection: new vscode.Range(at, at) }
}
