import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { plainMessage } from '../../common/plain-message.ts'
import type { ChangeTracker, Undone } from '../../editor/changes/change-tracker.ts'
import type { ChangeScope, ChangeSelection, UndoReport } from '../../editor/changes/session-changes.ts'
import type { ChangeEditors } from '../../editor/changes/vscode-changes.ts'

export interface UndoServices {
  editors: ChangeEditors
  tracker: ChangeTracker
}

/** Asks whether to undo what a session changed, and undoes it. */
export async function confirmUndo(
  changes: ChangeScope,
  selection: ChangeSelection,
  services: UndoServices,
): Promise<void> {
  const { paths } = selection
  const files = changes.list(selection.turn).filter(file => !paths || paths.includes(file.path))
  const [first] = files
  if (!first) return
  const question =
    files.length === 1
      ? l10n.t('Revert all changes made to {0} in this session?', plainMessage(path.basename(first.path)))
      : l10n.t('Revert all changes made to {0} files in this session?', files.length)
  const uncertain = files.filter(file => file.uncertain)
  const details = [
    ...(files.some(file => file.status === 'added')
      ? [l10n.t('Files added by the agent will be moved to the trash.')]
      : []),
    ...(uncertain.length > 0
      ? [l10n.t("Some files changed during the turn but weren't reported by the agent.")]
      : []),
  ]
  const undo = l10n.t('Revert')
  const certain = l10n.t('Revert Reported Changes Only')
  const buttons = uncertain.length > 0 && uncertain.length < files.length ? [undo, certain] : [undo]
  const options = { modal: true, ...(details.length > 0 && { detail: details.join('\n') }) }
  const answer = await vscode.window.showWarningMessage(question, options, ...buttons)
  if (answer === undefined) return
  await undoChanges(changes, { ...selection, ...(answer === certain && { certain: true }) }, services)
}

/**
 * Undoes what it can, and asks about the rest. `tell` reports what was undone; otherwise a notification offers to restore it.
 */
export async function undoChanges(
  changes: ChangeScope,
  selection: ChangeSelection,
  services: UndoServices,
  tell: (undone: Undone) => void = undone => void offerRestore(undone, services),
): Promise<void> {
  const report = await changes.undo(selection)
  if (report.undone) tell(report.undone)
  await askAboutRest(changes, selection, report, services)
}

/** Offers to bring back what was undone. */
export async function offerRestore(undone: Undone, services: UndoServices): Promise<void> {
  const [first] = undone.files
  if (!first) return
  const text =
    undone.files.length === 1
      ? l10n.t('Reverted changes in {0}.', plainMessage(path.basename(first.before.path)))
      : l10n.t('Reverted changes in {0} files.', undone.files.length)
  const restore = l10n.t('Restore')
  if ((await vscode.window.showInformationMessage(text, restore)) === restore)
    await restoreUndone(undone.id, services)
}

/** Brings back what was undone. False: not all of it. */
export async function restoreUndone(id: string, { tracker }: UndoServices): Promise<boolean> {
  const left = await tracker.restore(id)
  warnOf(left, names =>
    l10n.t(
      "These files weren't restored because they have unsaved changes or the same lines changed since: {0}",
      names,
    ),
  )
  return left.length === 0
}

/** What the user changed in the same lines is shown, and goes only when they say so. */
async function askAboutRest(
  changes: ChangeScope,
  selection: ChangeSelection,
  { left }: UndoReport,
  services: UndoServices,
): Promise<void> {
  const of = (why: string) => left.flatMap(one => (one.why === why ? one.path : []))
  for (const { path, why } of left) {
    if (why instanceof Error) {
      const text = l10n.t(
        "Couldn't revert the changes in {0}: {1}",
        namesOf([path]),
        plainMessage(why.message),
      )
      void vscode.window.showErrorMessage(text)
    }
  }
  warnOf(of('unsaved'), names =>
    l10n.t('Save these files or discard their unsaved changes, then revert again: {0}', names),
  )
  warnOf(of('agent'), names =>
    l10n.t('Another session changed the same lines. Revert its changes first: {0}', names),
  )
  const [first, ...more] = of('user')
  if (first === undefined) return
  const file = changes.list().find(one => one.path === first)
  if (file) await services.editors.open(changes, file)
  const anyway = l10n.t('Revert Anyway')
  const text = l10n.t(
    "You edited lines that the agent changed, so they weren't reverted: {0}",
    namesOf([first, ...more]),
  )
  if ((await vscode.window.showWarningMessage(text, anyway)) !== anyway) return
  const report = await changes.undo({ ...selection, paths: [first, ...more] }, { force: true })
  if (report.undone) await offerRestore(report.undone, services)
}

function warnOf(paths: readonly string[], textOf: (names: string) => string): void {
  if (paths.length > 0) void vscode.window.showWarningMessage(textOf(namesOf(paths)))
}

function namesOf(paths: readonly string[]): string {
  return plainMessage(paths.map(one => path.basename(one)).join(', '))
}
