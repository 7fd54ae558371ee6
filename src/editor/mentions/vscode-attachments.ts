/** Chips for things of the editor. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { fileIcon } from '../../common/block-chip.ts'
import type { Attachment } from '../../conversation/attachment.ts'
import { currentSelection } from '../vscode-open.ts'

/** A longer path is shortened on a chip to its last two names. */
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

/** Lines of a file, 1-based and inclusive, as they are when the prompt is sent. */
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

/**
 * What is selected in the active editor. Taken along whole: it may not be saved yet, and the file may have changed when
 * the agent looks.
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

/** What is selected in the active terminal. VS Code tells it only by way of the clipboard, which is put back. */
export async function terminalAttachment(): Promise<Attachment | undefined> {
  const terminal = vscode.window.activeTerminal
  if (!terminal) return undefined
  const { clipboard } = vscode.env
  const before = await clipboard.readText()
  await clipboard.writeText('')
  try {
    await vscode.commands.executeCommand('workbench.action.terminal.copySelection')
    const text = await clipboard.readText()
    if (text.trim() === '') return undefined
    const name = terminal.name.replace(/[^\w.-]+/g, '-')
    return {
      id: randomUUID(),
      label: l10n.t('Terminal: {0}', terminal.name),
      icon: 'terminal',
      detail: text.length > 400 ? `${text.slice(0, 400)}…` : text,
      content: { type: 'resource', uri: `parley:terminal/${name}`, mimeType: 'text/plain', text },
    }
  } finally {
    await clipboard.writeText(before)
  }
}

export function urlAttachment(url: URL): Attachment {
  const label = `${url.host}${url.pathname === '/' ? '' : url.pathname}`
  return {
    id: randomUUID(),
    label: label.length > 48 ? `${label.slice(0, 47)}…` : label,
    icon: 'globe',
    detail: url.href,
    content: { type: 'resource_link', uri: url.href, name: label },
  }
}
