/** Attachments from the editor: selections, symbols, files that users choose or drop. */

import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { withTimeout } from '../../common/async.ts'
import { fileIcon } from '../../common/block-chip.ts'
import { PICTURE_NAME } from '../../common/image-info.ts'
import { TYPED_PATH_MS } from '../../common/limits.ts'
import { selectsFilesAndFolders } from '../../common/platform.ts'
import { shortened } from '../../common/visible.ts'
import type { Attachment, CaptureKind } from '../../conversation/attachment.ts'
import type { Revision } from '../../editor/git-revisions.ts'
import { mimeTypeOf } from '../../editor/mentions/prompt-content.ts'
import { findInRoots } from '../../editor/mentions/typed-path.ts'
import { currentSelection } from '../editor/open.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { localFolders } from '../settings.ts'
import { terminalSelection } from '../tools/terminal-selection.ts'
import { isReadable, rememberPicked } from './sources.ts'

/** On a chip, a longer path is shortened to its last two names. */
const SHORT_PATH = 32

export function fileAttachment(uri: vscode.Uri, isFolder = false): Attachment {
  const shown = vscode.workspace.asRelativePath(uri, false)
  return {
    id: randomUUID(),
    label: shortPath(shown),
    icon: isFolder ? 'folder' : fileIcon(uri.path),
    detail: shown,
    content: { type: isFolder ? 'folder' : 'file', uri: uri.toString() },
  }
}

function shortPath(shown: string): string {
  const names = shown.replaceAll('\\', '/').split('/').filter(Boolean)
  if (path.isAbsolute(shown)) return names.at(-1) ?? shown
  return shown.length <= SHORT_PATH ? names.join('/') : names.slice(-2).join('/')
}

export function symbolAttachment(symbol: vscode.SymbolInformation): Attachment {
  const { uri, range } = symbol.location
  const [startLine, endLine] = [range.start.line + 1, range.end.line + 1]
  return {
    id: randomUUID(),
    label: symbol.name.replace(/\s+/g, ' '),
    icon: symbolIcon(symbol.kind),
    detail: `${vscode.workspace.asRelativePath(uri)}:${startLine}`,
    content: { type: 'symbol', uri: uri.toString(), startLine, endLine },
  }
}

/** Returns an attachment for lines of a file, 1-based and inclusive, which are read when the prompt is sent. */
export function linesAttachment(uri: vscode.Uri, startLine: number, endLine: number): Attachment {
  const lines = startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`
  return {
    id: randomUUID(),
    label: `${path.posix.basename(uri.path)}:${lines}`,
    icon: 'list-selection',
    detail: `${vscode.workspace.asRelativePath(uri)}:${lines}`,
    content: { type: 'symbol', uri: uri.toString(), startLine, endLine },
  }
}

export function symbolIcon(kind: vscode.SymbolKind): string {
  const name = vscode.SymbolKind[kind] ?? 'Misc'
  return `symbol-${name.replace(/[A-Z]/g, (letter, at) => `${at > 0 ? '-' : ''}${letter.toLowerCase()}`)}`
}

export function problemsAttachment(uri: vscode.Uri | undefined): Attachment {
  const file = uri && path.posix.basename(uri.path)
  return {
    id: randomUUID(),
    label: file === undefined ? l10n.t('Problems') : l10n.t('Problems in {0}', file),
    icon: 'warning',
    content: { type: 'problems', ...(uri && { uri: uri.toString() }) },
  }
}

export function changesAttachment(staged: boolean): Attachment {
  return {
    id: randomUUID(),
    label: staged ? l10n.t('Staged Changes') : l10n.t('Unstaged Changes'),
    icon: 'git-compare',
    content: { type: 'changes', staged },
  }
}

/** Returns an attachment for a commit, or for a branch's changes. */
export function revisionAttachment({ name, short, ref, base, repository }: Revision): Attachment {
  const isCommit = base === undefined
  const detail = isCommit ? name : `${short}...${name}`
  return {
    id: randomUUID(),
    label: isCommit ? short : l10n.t('Changes of {0}', name),
    icon: isCommit ? 'git-commit' : 'git-branch',
    detail: repository === undefined ? detail : `${repository} · ${detail}`,
    content: { type: 'revision', ref, ...(!isCommit && { base }) },
  }
}

/**
 * Returns an attachment for the selection in the active editor, with its text, because the text may be unsaved and the file
 * may change before the agent reads it.
 */
export function selectionAttachment(editor?: vscode.TextEditor): Attachment | undefined {
  const selection = currentSelection(editor)
  if (!selection) return undefined
  const { label, detail, uri, text, startLine, endLine } = selection
  return {
    id: randomUUID(),
    label,
    icon: 'list-selection',
    detail,
    content: { type: 'resource', uri: `${uri}#L${startLine}-L${endLine}`, mimeType: 'text/plain', text },
  }
}

export async function terminalAttachment(): Promise<Attachment | undefined> {
  const selected = await terminalSelection()
  if (!selected) return undefined
  const { terminal, text } = selected
  const name = terminal.replace(/[^\w.-]+/g, '-')
  return {
    id: randomUUID(),
    label: l10n.t('Terminal: {0}', terminal),
    icon: 'terminal',
    detail: shortened(text, 400),
    content: { type: 'resource', uri: `parley:terminal/${name}`, mimeType: 'text/plain', text },
  }
}

export function urlAttachment(url: URL): Attachment {
  const label = `${url.host}${url.pathname === '/' ? '' : url.pathname}`
  return {
    id: randomUUID(),
    label: shortened(label, 48),
    icon: 'globe',
    detail: url.href,
    content: { type: 'resource_link', uri: url.href, name: label },
  }
}

/** A larger image or recording is attached as a file. Bytes. */
const MAX_MEDIA_BYTES = 24 * 1024 * 1024
/** More files at once are assumed to be a mistake. */
const MAX_FILES = 50

/** Resolves to attachments for picked files, the selection, or the terminal. Rejects with a sentence if there is nothing to attach. */
export async function capture(kind: CaptureKind): Promise<Attachment[]> {
  if (kind === 'pick') return pickFiles()
  const found = kind === 'selection' ? selectionAttachment() : await terminalAttachment()
  if (found) return [found]
  throw new Error(
    kind === 'selection'
      ? l10n.t('Select text in an editor first.')
      : l10n.t('Select text in the terminal first.'),
  )
}

/** Lets the user pick files or folders anywhere, which may then be read for prompts. */
async function pickFiles(): Promise<Attachment[]> {
  const uris = await vscode.window.showOpenDialog({
    canSelectMany: true,
    canSelectFiles: true,
    canSelectFolders: selectsFilesAndFolders(),
    openLabel: l10n.t('Add to Conversation'),
    title: l10n.t('Add Files to Conversation'),
  })
  if (!uris) return []
  await rememberPicked(uris)
  return attachmentsFor(uris)
}

/** Resolves to attachments for dropped files. Since the webview provides the paths, files outside of the folders are linked, not read. */
export async function takeDropped(texts: readonly string[]): Promise<Attachment[]> {
  const uris = texts.flatMap(text => {
    try {
      const uri = vscode.Uri.parse(text, true)
      return uri.scheme === 'file' || uri.scheme === 'vscode-remote' ? [vscode.Uri.file(uri.path)] : []
    } catch {
      return []
    }
  })
  const taken = await attachmentsFor(uris, uri => isReadable(pathOnDisk(uri)))
  if (taken.length === 0) throw new Error(l10n.t('Only files and folders on this machine can be added.'))
  return taken
}

/** Resolves to an attachment for a file or folder of the workspace, by its absolute path or its path in a workspace folder. */
export async function takePath(typed: string): Promise<Attachment[]> {
  const places = { roots: localFolders().map(folder => folder.path), home: homedir() }
  const found = await withTimeout(findInRoots(typed, places), TYPED_PATH_MS)
  return found ? [fileAttachment(vscode.Uri.file(found.path), found.isFolder)] : []
}

/** Larger documents aren't searched for pasted code. Characters. */
const MAX_SEARCHED = 1_000_000

/**
 * Finds pasted code: the selection of a visible editor with this text, else the only place in the workspace's open files with
 * this text, since the editor may be hidden behind the conversation.
 */
export async function takeCode(code: string): Promise<Attachment[]> {
  const plain = (text: string) => text.replace(/\r\n?/g, '\n')
  const isOwn = ({ uri }: vscode.TextDocument) =>
    uri.scheme === 'file' && vscode.workspace.getWorkspaceFolder(uri)
  const { activeTextEditor: active, visibleTextEditors } = vscode.window
  for (const editor of new Set([...(active ? [active] : []), ...visibleTextEditors])) {
    const { document, selection } = editor
    if (!isOwn(document) || plain(document.getText(selection)) !== code) continue
    const attachment = selectionAttachment(editor)
    if (attachment) return [attachment]
  }
  const places = vscode.workspace.textDocuments.flatMap(document => {
    if (!isOwn(document)) return []
    const text = document.getText()
    if (text.length > MAX_SEARCHED) return []
    const searched = plain(text)
    const at = searched.indexOf(code)
    if (at < 0) return []
    const isOnly = searched.indexOf(code, at + 1) < 0
    const startLine = searched.slice(0, at).split('\n').length
    const endLine = startLine + code.trimEnd().split('\n').length - 1
    return [isOnly ? { uri: document.uri, startLine, endLine } : undefined]
  })
  const [place] = places
  if (!place || places.length > 1) return []
  const { uri, startLine, endLine } = place
  const lines = linesAttachment(uri, startLine, endLine)
  // the text as the user copied it, since it may be unsaved
  const content = {
    type: 'resource',
    uri: `${uri}#L${startLine}-L${endLine}`,
    mimeType: 'text/plain',
    text: code,
  } as const
  return [{ ...lines, content }]
}

/** Returns attachments: images and recordings with their content, so that they can be shown; other files only by location. */
export async function attachmentsFor(
  uris: readonly vscode.Uri[],
  mayRead: (uri: vscode.Uri) => Promise<boolean> = async () => true,
): Promise<Attachment[]> {
  const made = await Promise.all(
    uris.slice(0, MAX_FILES).map(async uri => attachmentFor(uri, await mayRead(uri))),
  )
  return made.filter(one => one !== undefined)
}

async function attachmentFor(uri: vscode.Uri, mayRead: boolean): Promise<Attachment | undefined> {
  const info = await stat(pathOnDisk(uri)).catch(() => undefined)
  if (!info) return undefined
  const mimeType = mimeTypeOf(uri.path)
  const isMedia = PICTURE_NAME.test(uri.path) || mimeType?.startsWith('audio/')
  if (!info.isFile() || !mayRead || !mimeType || !isMedia || info.size > MAX_MEDIA_BYTES) {
    return fileAttachment(uri, info.isDirectory())
  }
  const data = (await readFile(pathOnDisk(uri))).toString('base64')
  const name = path.posix.basename(uri.path)
  const content = mimeType.startsWith('image/')
    ? ({ type: 'image', data, mimeType, uri: uri.toString() } as const)
    : ({ type: 'audio', data, mimeType } as const)
  return { id: randomUUID(), label: name, icon: fileIcon(name), detail: pathOnDisk(uri), content }
}

/** A selection is reported when it hasn't changed for this long, in milliseconds. */
const REST_MS = 150

/**
 * Tracks what the user is working on: the selection, or else the file of the active editor, in the workspace's folders.
 * Activating a conversation in a tab doesn't change the context while the editor is visible.
 */
export function followActiveContext(
  onChange: (attachment: Attachment | undefined) => void,
): vscode.Disposable {
  let editor = vscode.window.activeTextEditor
  let timer: NodeJS.Timeout | undefined
  const tell = () => {
    timer = undefined
    const active = vscode.window.activeTextEditor
    if (active || !editor || !vscode.window.visibleTextEditors.includes(editor)) editor = active
    onChange(editor && attachmentOf(editor))
  }
  const soon = () => {
    timer ??= setTimeout(tell, REST_MS)
  }
  soon()
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(soon),
    vscode.window.onDidChangeVisibleTextEditors(soon),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      if (textEditor === editor) soon()
    }),
    { dispose: () => clearTimeout(timer) },
  )
}

function attachmentOf(editor: vscode.TextEditor): Attachment | undefined {
  const { uri } = editor.document
  if (uri.scheme !== 'file' || !vscode.workspace.getWorkspaceFolder(uri)) return undefined
  return selectionAttachment(editor) ?? fileAttachment(uri)
}
