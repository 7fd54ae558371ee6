import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'

const SCHEME = 'parley-content'
/** So many files are kept for their editors; older ones can be opened again from the conversation. */
const mostKept = 24

const files = new Map<string, Uint8Array>()
let registered = false
let count = 0

/** Files that are in a conversation alone, as far as editors are to show them. Nobody writes to them. */
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

/** Opens bytes that an agent sent with whatever VS Code has for a file of that name. */
export async function openContent(name: string, mimeType: string, bytes: Uint8Array): Promise<void> {
  if (bytes.byteLength === 0) throw new Error(l10n.t("The agent didn't send any content for {0}.", name))
  if (!registered) {
    registered = true
    vscode.workspace.registerFileSystemProvider(SCHEME, provider, { isReadonly: true })
  }
  const path = `/${count++}/${fileName(name, mimeType)}`
  files.set(path, bytes)
  const [oldest] = files.keys()
  if (files.size > mostKept && oldest !== undefined) files.delete(oldest)
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.from({ scheme: SCHEME, path }))
}

/** The last part of a name, with an extension by which VS Code knows what it is. */
function fileName(name: string, mimeType: string): string {
  const last = (name.split(/[\\/]/).at(-1) ?? '').replace(/[?#:*"<>|\s]+/g, '-').slice(-120) || 'file'
  if (/\.[A-Za-z0-9]{1,8}$/.test(last)) return last
  const extension = /^[\w.-]+\/(?:x-)?([a-z0-9]+)/i.exec(mimeType)?.[1]
  return extension ? `${last}.${extension === 'jpeg' ? 'jpg' : extension}` : last
}
