/** Finds VS Code's prompt files, and expands them with values from the editor. */
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { Roots } from '../../acp/model.ts'
import { CALLED_FILE_MS } from '../../common/limits.ts'
import { visible } from '../../common/visible.ts'
import type { ExpandedPrompt, PromptFileRow } from '../../conversation/attachment.ts'
import { expandPrompt } from '../../editor/mentions/expand-prompt.ts'
import type { PromptInput } from '../../editor/mentions/prompt-file-format.ts'
import {
  calledFile,
  callNames,
  PromptFiles,
  type PromptFolder,
  promptFolders,
} from '../../editor/mentions/prompt-files.ts'
import { decodeText } from '../../editor/text.ts'
import { filesInWorktree } from '../../editor/worktrees/files-in-worktree.ts'
import { isUnsaved } from '../editor/files.ts'
import { currentSelection } from '../editor/open.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { localFolders, promptFilesLocations } from '../settings.ts'
import { fileAttachment } from './attachments.ts'
import { askOutside, openDocument, rememberPicked } from './sources.ts'

const found = new PromptFiles()

/** Resolves to the prompt files. `userPrompts`: the folder with the prompt files of VS Code's default profile. */
export async function promptFileRows(
  userPrompts: string,
  commands: readonly string[],
): Promise<PromptFileRow[]> {
  const files = await found.find(foldersNow(userPrompts))
  return callNames(files, commands).map(({ file, call }) => {
    const { path: where, folder, header } = file
    const { description = '', hint, unapplied = [] } = header ?? {}
    const inFolder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(where)) !== undefined
    const lines = [inFolder ? vscode.workspace.asRelativePath(where) : where]
    if (!header)
      lines.push(l10n.t("It leads outside the workspace's folders, so it's read only after you agree."))
    if (unapplied.length > 0) lines.push(l10n.t('Not applied by agents: {0}', unapplied.join(', ')))
    return {
      name: call,
      description: visible(description),
      ...(hint && { hint: visible(hint) }),
      source: sourceName(folder),
      detail: lines.map(visible).join('\n'),
    }
  })
}

/**
 * Resolves to the replacement for the call at the start of a text; to `none` if the text calls no prompt file; to `canceled` if the user
 * canceled a question. Rejects with a sentence if something is missing.
 */
export async function expandCall(
  userPrompts: string,
  text: string,
  commands: readonly string[],
  roots: Roots | undefined,
): Promise<ExpandedPrompt | 'none' | 'canceled'> {
  const call = calledFile(text, await found.find(foldersNow(userPrompts), CALLED_FILE_MS), commands)
  if (!call) return 'none'
  const folders = [...(roots ? [roots.cwd, ...roots.additionalDirectories] : []), ...folderPaths()]
  let moved: ReturnType<typeof filesInWorktree> | undefined
  const expanded = await expandPrompt(call, text, {
    roots: folders,
    values: editorValues(folders[0]),
    readText,
    askOutside: file => askOutside(vscode.Uri.file(file).toString(), roots),
    allow: file => rememberPicked([vscode.Uri.file(file)]),
    ask: askForInputs,
    inWorktree: async file => {
      moved ??= roots ? filesInWorktree(roots.cwd, folderPaths()) : undefined
      return (await moved)?.(file) ?? file
    },
    attachmentFor: (file, isFolder) => fileAttachment(vscode.Uri.file(file), isFolder),
  })
  return expanded ?? 'canceled'
}

function folderPaths(): string[] {
  return localFolders().map(folder => folder.path)
}

function sourceName({ source }: PromptFolder): string {
  if (source === 'user') return l10n.t('User')
  return source === 'workspace' ? l10n.t('Workspace') : source.root
}

function foldersNow(userPrompts: string): PromptFolder[] {
  const { isTrusted } = vscode.workspace
  return promptFolders({
    roots: localFolders(),
    set: promptFilesLocations(),
    userPrompts,
    home: homedir(),
    isTrusted,
  })
}

async function readText(file: string): Promise<string | undefined> {
  const document = openDocument(file)
  if (document && isUnsaved(document)) return document.getText()
  const decoded = decodeText(await readFile(file))
  return typeof decoded === 'string' ? undefined : decoded.text
}

/** Returns the values of VS Code's variables for the folder where the agent works and the active editor. */
function editorValues(folder: string | undefined): Map<string, string> {
  const values = new Map<string, string>()
  if (folder !== undefined) {
    values.set('workspaceFolder', folder)
    values.set('workspaceFolderBasename', path.basename(folder))
  }
  const { activeTextEditor, visibleTextEditors } = vscode.window
  const editor = activeTextEditor ?? visibleTextEditors.find(({ document }) => document.uri.scheme === 'file')
  if (!editor) return values
  const { uri } = editor.document
  if (uri.scheme === 'file') {
    const file = pathOnDisk(uri)
    const extension = path.extname(file)
    values.set('file', file)
    values.set('relativeFile', folder === undefined ? file : path.relative(folder, file))
    values.set('fileDirname', path.dirname(file))
    values.set('fileBasename', path.basename(file))
    values.set('fileBasenameNoExtension', path.basename(file, extension))
    values.set('fileExtname', extension)
  }
  const selected = currentSelection(editor)?.text
  for (const name of selected === undefined ? [] : ['selection', 'selectedText']) values.set(name, selected!)
  return values
}

async function askForInputs(
  inputs: readonly PromptInput[],
  command: string,
): Promise<Map<string, string> | undefined> {
  const values = new Map<string, string>()
  for (const [i, { name, placeholder }] of inputs.entries()) {
    const value = await vscode.window.showInputBox({
      title: inputs.length > 1 ? l10n.t('{0} ({1} of {2})', command, i + 1, inputs.length) : command,
      prompt: visible(name),
      placeHolder: visible(placeholder),
      ignoreFocusOut: true,
    })
    if (value === undefined) return undefined
    values.set(name, value)
  }
  return values
}
