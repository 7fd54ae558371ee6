/** Puts code from a conversation into the editor. Each function rejects with a sentence to show. */
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { Roots } from '../../acp/model.ts'
import { languageId, proposedText } from '../../editor/code-blocks.ts'
import { candidates } from '../../editor/links.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { smallestEdit } from '../../editor/text.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import type { Proposals } from './diffs.ts'

/** Returns the text editor that the user used last; a conversation in a tab isn't a text editor. */
function lastEditor(): vscode.TextEditor | undefined {
  return vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors.find(isOfFile)
}

function isOfFile({ document: { uri } }: vscode.TextEditor): boolean {
  return ['file', 'untitled', 'vscode-remote', 'vscode-userdata'].includes(uri.scheme)
}

/** Replaces the selection with the code or inserts the code at the cursor, and reveals it. */
export async function insertCode(text: string): Promise<void> {
  const editor = lastEditor()
  if (!editor) throw new Error(l10n.t('Open a file first. The code is inserted at its cursor.'))
  const shown = await vscode.window.showTextDocument(editor.document, editor.viewColumn)
  const done = await shown.edit(edit => {
    for (const selection of shown.selections) edit.replace(selection, text)
  })
  if (!done) throw new Error(l10n.t("The code couldn't be inserted in the editor."))
}

/** Opens the text in an untitled document. */
export async function openText(text: string, language: string): Promise<void> {
  const id = languageId(language, await vscode.languages.getLanguages())
  const document = await vscode.workspace.openTextDocument({ content: text, ...(id && { language: id }) })
  await vscode.window.showTextDocument(document, { preview: false })
}

export interface CodeToApply {
  text: string
  language: string
  path?: string
  from?: number
  to?: number
}

/** Shows the resulting file in a diff, asks for confirmation, and then writes it. The edit can be undone in the editor. */
export async function applyCode(
  code: CodeToApply,
  roots: Roots | undefined,
  proposals: Proposals,
): Promise<void> {
  const target = await targetOf(code, roots)
  const before = target.document?.getText() ?? ''
  const after = proposedText(before, code.text, code.language, { ...code, ...target.place })
  if (after === undefined)
    throw new Error(l10n.t("The patch doesn't apply to the current version of {0}.", target.name))
  if (after === before) {
    void vscode.window.showInformationMessage(l10n.t('{0} already contains this code.', target.name))
    return
  }
  const question = target.document
    ? l10n.t('Apply this change to {0}?', target.name)
    : l10n.t('Create {0} with this code?', target.name)
  const agreed = await proposals.ask(pathOnDisk(target.uri), { oldText: before, newText: after }, question)
  if (agreed) await write(target, before, after)
}

interface Target {
  uri: vscode.Uri
  /** the name of the file for the user */
  name: string
  /** absent if the file doesn't exist yet */
  document: vscode.TextDocument | undefined
  place: { selection?: { start: number; end: number } }
}

async function targetOf(code: CodeToApply, roots: Roots | undefined): Promise<Target> {
  if (code.path === undefined) {
    const editor = lastEditor()
    if (!editor) throw new Error(l10n.t("Open the target file first. The code doesn't name one."))
    const { document, selection } = editor
    const offsets = { start: document.offsetAt(selection.start), end: document.offsetAt(selection.end) }
    return { uri: document.uri, name: nameOf(document.uri), document, place: { selection: offsets } }
  }
  const places = candidates(code.path, folders(roots), homedir(), new PathRules())
  for (const place of places) {
    const info = await stat(place).catch(() => undefined)
    if (!info?.isFile()) continue
    const uri = vscode.Uri.file(place)
    return { uri, name: nameOf(uri), document: await vscode.workspace.openTextDocument(uri), place: {} }
  }
  const first = places[0]
  if (first === undefined) throw new Error(l10n.t('No folder is open for {0}.', code.path))
  const uri = vscode.Uri.file(first)
  return { uri, name: nameOf(uri), document: undefined, place: {} }
}

/** Returns the path relative to an open folder, or the full path of a file outside of the folders. */
function nameOf(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri)
}

function folders(roots: Roots | undefined): string[] {
  if (roots) return [roots.cwd, ...roots.additionalDirectories]
  return (vscode.workspace.workspaceFolders ?? []).map(folder => pathOnDisk(folder.uri))
}

async function write(target: Target, before: string, after: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit()
  const { uri, document } = target
  if (document) {
    if (document.getText() !== before)
      throw new Error(l10n.t('{0} has changed, so nothing was written. Apply the code again.', target.name))
    const change = smallestEdit(before, after)
    if (!change) return
    const range = new vscode.Range(document.positionAt(change.start), document.positionAt(change.end))
    edit.replace(uri, range, change.text)
  } else edit.createFile(uri, { contents: Buffer.from(after, 'utf8'), overwrite: false })
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error(l10n.t("Can't write to {0}.", target.name))
  const written = document ?? (await vscode.workspace.openTextDocument(uri))
  if (written.uri.scheme !== 'untitled' && written.isDirty && !(await written.save()))
    throw new Error(l10n.t("Can't save {0}. The change is in the editor.", target.name))
  await vscode.window.showTextDocument(written)
}
