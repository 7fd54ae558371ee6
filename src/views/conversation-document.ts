import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { conversationMarkdown } from '../conversation/markdown-export.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { titleOf } from '../sessions/session-title.ts'

/** The whole conversation as Markdown, or that of the turns before `until`. */
export function documentOf({ session, agentName, plan }: OpenSession, until?: number): string {
  const title = titleOf(session) || l10n.t('Conversation')
  const { entries, ...state } = session.state
  const wanted = until === undefined ? entries : entries.filter(({ turn }) => turn < until)
  return conversationMarkdown({ ...state, entries: wanted }, { title, agentName, cwd: plan.setup.cwd })
}

/** Asks where to, and writes the conversation there. */
export async function exportDocument(open: OpenSession): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(open.plan.setup.cwd)
  const target = await vscode.window.showSaveDialog({
    title: l10n.t('Export Conversation as Markdown'),
    defaultUri: vscode.Uri.joinPath(folder, `${fileNameOf(open)}.md`),
    filters: { Markdown: ['md'] },
  })
  if (!target) return
  // as it is now, not as it was when the dialog was opened
  await vscode.workspace.fs.writeFile(target, Buffer.from(documentOf(open), 'utf8'))
  const show = l10n.t('Open')
  const name = path.posix.basename(target.path)
  void vscode.window
    .showInformationMessage(l10n.t('Conversation exported to {0}.', name), show)
    .then(answer => {
      if (answer === show) void vscode.window.showTextDocument(target)
    })
}

export async function openDocument(open: OpenSession): Promise<void> {
  const document = await vscode.workspace.openTextDocument({
    language: 'markdown',
    content: documentOf(open),
  })
  await vscode.window.showTextDocument(document, { preview: false })
}

/** The title as a file's name on every system. */
export function fileNameOf({ session }: OpenSession): string {
  const title = titleOf(session) ?? ''
  const name = title
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no file's name has them
    .replace(/[\u0000-\u001f<>:"/\\|?*]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 60)
    .replace(/[. ]+$/, '')
  return name || 'conversation'
}
