/**
 * Files in notebooks and custom editors. VS Code has no documents for them, and reports a custom editor's save only by its
 * tab, which no longer has unsaved changes.
 */
import { stat } from 'node:fs/promises'
import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import { pathOnDisk } from '../path-on-disk.ts'

/** A tab loses its unsaved changes when the user saves or reverts. It was a save if the file was written this recently. Milliseconds. */
const SAVED_WITHIN_MS = 5000

/** Returns the paths of files with unsaved changes in a notebook or a custom editor. */
export function unsavedElsewhere(): string[] {
  return vscode.window.tabGroups.all.flatMap(({ tabs }) =>
    tabs.flatMap(tab => (tab.isDirty ? (fileOf(tab) ?? []) : [])),
  )
}

function fileOf({ input }: vscode.Tab): string | undefined {
  const isOther = input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputCustom
  return isOther && input.uri.scheme === 'file' ? pathOnDisk(input.uri) : undefined
}

/** Fires with the path of a file that the user saved in a notebook or a custom editor. */
export const onDidSaveElsewhere: Event<string> = listener => {
  const own = new DisposableStore()
  own.add(
    vscode.workspace.onDidSaveNotebookDocument(
      ({ uri }) => uri.scheme === 'file' && listener(pathOnDisk(uri)),
    ),
  )
  const unsaved = new Set(unsavedElsewhere())
  const follow = async (tabs: readonly vscode.Tab[]) => {
    const now = new Set(unsavedElsewhere())
    const saved = [...unsaved].filter(file => !now.has(file))
    for (const file of saved) unsaved.delete(file)
    for (const file of now) unsaved.add(file)
    for (const file of saved) {
      const isNotebook = tabs.some(
        tab => tab.input instanceof vscode.TabInputNotebook && fileOf(tab) === file,
      )
      if (isNotebook) continue
      const info = await stat(file).catch(() => undefined)
      if (info && Date.now() - info.mtimeMs < SAVED_WITHIN_MS) listener(file)
    }
  }
  own.add(
    vscode.window.tabGroups.onDidChangeTabs(
      ({ opened, changed, closed }) => void follow([...opened, ...changed, ...closed]),
    ),
  )
  return own
}
