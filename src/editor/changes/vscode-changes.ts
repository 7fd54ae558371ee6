import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'
import type { ChangedFile, ChangedFiles } from './changed-files.ts'

const SCHEME = 'parley-before'

/** Shows what a session changed in the editor's diff views, against the texts from before its first touch. */
export class ChangeEditors extends Owner {
  /** by the id in the address of a text from before */
  readonly #sources = new Map<string, ChangedFiles>()

  constructor() {
    super()
    this.register(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
        provideTextDocumentContent: uri => this.#provide(uri),
      }),
    )
  }

  /** One file in a diff editor. `id` names the session in this window. */
  async open(id: string, changes: ChangedFiles, file: ChangedFile): Promise<void> {
    this.#sources.set(id, changes)
    const title = l10n.t('{0} (since the session began)', path.basename(file.path))
    const right = file.status === 'deleted' ? this.#uri(id, file.path, 'gone') : vscode.Uri.file(file.path)
    await vscode.commands.executeCommand('vscode.diff', this.#uri(id, file.path, 'before'), right, title, {
      preview: true,
    })
  }

  /** All files in one editor. */
  async review(id: string, changes: ChangedFiles, title: string): Promise<void> {
    this.#sources.set(id, changes)
    const resources = changes.list().map(({ path, status }) => {
      const uri = vscode.Uri.file(path)
      return [
        uri,
        status === 'added' ? undefined : this.#uri(id, path, 'before'),
        status === 'deleted' ? undefined : uri,
      ]
    })
    await vscode.commands.executeCommand('vscode.changes', title, resources)
  }

  #uri(id: string, file: string, side: 'before' | 'gone'): vscode.Uri {
    // the first touch may be another one after what was changed was kept
    return vscode.Uri.from({
      scheme: SCHEME,
      path: vscode.Uri.file(file).path,
      query: JSON.stringify([side, id, this.#sources.get(id)?.version(file) ?? 0]),
    })
  }

  #provide(uri: vscode.Uri): string {
    const [side, id] = JSON.parse(uri.query) as [string, string]
    if (side === 'gone') return ''
    const before = this.#sources.get(id)?.before(vscode.Uri.file(uri.path).fsPath)
    return before === undefined ? l10n.t('This text is no longer at hand.') : (before ?? '')
  }
}

/** Takes a file away, into the trash where there is one. */
export async function removeFile(file: string): Promise<void> {
  const uri = vscode.Uri.file(file)
  try {
    await vscode.workspace.fs.delete(uri, { useTrash: true })
  } catch {
    await vscode.workspace.fs.delete(uri, { useTrash: false })
  }
}
