import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
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

  /**
   * All files in one editor. VS Code has no way to bring more files into one that is open: another takes its place, with
   * all that changed until now.
   */
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
    const before = reviews(id, title)
    await vscode.commands.executeCommand('vscode.changes', title, resources)
    // one in which something is not saved would ask first
    const stale = before.filter(tab => !tab.isDirty && tab.group.tabs.includes(tab))
    if (stale.length > 0) await vscode.window.tabGroups.close(stale, true)
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
    const [side] = JSON.parse(uri.query) as [string, string]
    if (side === 'gone') return ''
    const before = this.#sources.get(idOf(uri.query))?.before(vscode.Uri.file(uri.path).fsPath)
    return before === undefined ? l10n.t('This text is no longer at hand.') : (before ?? '')
  }
}

/**
 * The editors that show what the session changed. VS Code tells what is in such an editor, but does not type it yet; one
 * in which all files were added has no text of ours, and is known by its title.
 */
function reviews(id: string, title: string): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap(group => group.tabs)
    .filter(tab => {
      const shown = review.safeParse(tab.input)
      if (!shown.success) return false
      const ours = shown.data.textDiffs.flatMap(({ original }) =>
        original?.scheme === SCHEME ? original : [],
      )
      return ours.length > 0 ? ours.some(({ query }) => idOf(query) === id) : tab.label.startsWith(title)
    })
}

const review = z.object({
  textDiffs: z.array(z.object({ original: z.object({ scheme: z.string(), query: z.string() }).nullish() })),
})

function idOf(query: string): string {
  const [, id] = JSON.parse(query) as [string, string]
  return id
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
