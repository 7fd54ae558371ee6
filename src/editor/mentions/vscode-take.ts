/** Files that people pick or drop, as chips. */
import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { fileIcon } from '../../common/block-chip.ts'
import type { Attachment, CaptureKind } from '../../conversation/attachment.ts'
import { mimeTypeOf } from './mime-types.ts'
import { fileAttachment, selectionAttachment, terminalAttachment } from './vscode-attachments.ts'
import { rememberPicked } from './vscode-sources.ts'

/** A larger picture or recording stays a file. Bytes. */
const MOST_MEDIA = 24 * 1024 * 1024
/** More files at once are a mistake. */
const MOST_FILES = 50

/** Rejects with a sentence when there is nothing of the kind. */
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

/** Lets the person pick files or folders, wherever they are; these may then be read for prompts. */
async function pickFiles(): Promise<Attachment[]> {
  const uris = await vscode.window.showOpenDialog({
    canSelectMany: true,
    canSelectFiles: true,
    canSelectFolders: process.platform === 'darwin',
    openLabel: l10n.t('Add to Conversation'),
    title: l10n.t('Add Files to Conversation'),
  })
  if (!uris) return []
  rememberPicked(uris)
  return attachmentsFor(uris)
}

/**
 * What was dropped. A webview says which files: what lies outside of the folders is linked, and not read for the prompt.
 */
export async function takeDropped(texts: readonly string[]): Promise<Attachment[]> {
  const uris = texts.flatMap(text => {
    try {
      const uri = vscode.Uri.parse(text, true)
      return uri.scheme === 'file' || uri.scheme === 'vscode-remote' ? [vscode.Uri.file(uri.path)] : []
    } catch {
      return []
    }
  })
  const taken = await attachmentsFor(uris, uri => vscode.workspace.getWorkspaceFolder(uri) !== undefined)
  if (taken.length === 0) throw new Error(l10n.t('Only files and folders on this machine can be added.'))
  return taken
}

/** Pictures and recordings with their content, so that they can be shown; of others, where they are. */
export async function attachmentsFor(
  uris: readonly vscode.Uri[],
  mayRead: (uri: vscode.Uri) => boolean = () => true,
): Promise<Attachment[]> {
  const made = await Promise.all(uris.slice(0, MOST_FILES).map(uri => attachmentFor(uri, mayRead(uri))))
  return made.filter(one => one !== undefined)
}

async function attachmentFor(uri: vscode.Uri, mayRead: boolean): Promise<Attachment | undefined> {
  const info = await stat(uri.fsPath).catch(() => undefined)
  if (!info) return undefined
  const mimeType = mimeTypeOf(uri.path)
  const media = /^(image\/(?:png|jpeg|gif|webp)|audio\/.+)$/.test(mimeType ?? '')
  if (!info.isFile() || !mayRead || !mimeType || !media || info.size > MOST_MEDIA) {
    return fileAttachment(uri, info.isDirectory())
  }
  const data = (await readFile(uri.fsPath)).toString('base64')
  const name = path.posix.basename(uri.path)
  const content = mimeType.startsWith('image/')
    ? ({ type: 'image', data, mimeType, uri: uri.toString() } as const)
    : ({ type: 'audio', data, mimeType } as const)
  return { id: randomUUID(), label: name, icon: fileIcon(name), detail: uri.fsPath, content }
}
