import * as vscode from 'vscode'
import type { Attachment } from '../../conversation/attachment.ts'
import { fileAttachment, selectionAttachment } from './vscode-attachments.ts'

/** A selection is told of when it rests, in milliseconds. */
const REST_MS = 150

/**
 * Follows what the user works on: the selection, or else the file of the active editor, in the workspace's folders. A
 * conversation in an editor tab doesn't change it while the editor is still in sight.
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
