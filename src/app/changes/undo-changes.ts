import * as l10n from '@vscode/l10n'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { Undone } from '../../changes/model/undo-log.ts'
import type { ChangedFile } from '../../changes/review/changed-file.ts'
import type { ChangeScope, ChangeSelection, UndoReport } from '../../changes/session-changes.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { rewindsOf } from '../../conversation/rewinds.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { Workbench } from '../workbench.ts'
import type { Decisions } from './decisions.ts'
import { namesOf } from './file-names.ts'
import { mergeUnsaved } from './merge-unsaved.ts'

export interface UndoServices {
  workbench: Pick<Workbench, 'dialogs' | 'editors' | 'folders'>
  tracker: ChangeTracker
  decisions: Decisions
  /** The conversations of this window. They show which files were restored. */
  sessions: { list(): OpenSession[] }
}

/** The places where messages are shown. */
type Shown = Pick<UndoServices, 'workbench' | 'sessions'>

/** Changes to undo. */
interface ChosenChanges {
  changes: ChangeScope
  selection: ChangeSelection
}

/** Undoes a session's changes. Asks first, unless the user chose a single file whose changes were all reported by the agent. */
export function confirmUndo(
  changes: ChangeScope,
  selection: ChangeSelection,
  services: UndoServices,
): Promise<void> {
  return confirmUndos([{ changes, selection }], services)
}

/** Undoes changes of several sessions after one question, as {@link confirmUndo} does. */
export async function confirmUndos(chosen: readonly ChosenChanges[], services: UndoServices): Promise<void> {
  const files = chosen.flatMap(filesOf)
  const [first] = files
  if (!first) return
  const paths = new Set(files.map(({ path }) => path))
  const uncertain = files.filter(file => file.uncertain)
  const isOne = paths.size === 1 && chosen.every(({ selection }) => selection.paths?.length === 1)
  let isCertain = false
  if (!isOne || uncertain.length > 0) {
    const only = paths.size === 1 ? namesOf(services.workbench, [first.path], services.sessions) : undefined
    const question = revertQuestion(chosen, only, paths.size)
    const details = [
      ...(files.some(file => file.status === 'added')
        ? [l10n.t('Files added by the agent will be moved to the trash.')]
        : []),
      ...(files.some(file => file.status === 'renamed')
        ? [l10n.t('Renamed files will get their old names back.')]
        : []),
      ...(uncertain.length > 0
        ? [l10n.t("Some of these changes happened during the turn but weren't reported by the agent.")]
        : []),
    ]
    const certain = l10n.t('Revert Reported Changes Only')
    // changes that the agent didn't report may be the user's own
    const buttons =
      uncertain.length > 0 && files.some(file => file.uncertain !== 'all')
        ? [certain, l10n.t('Revert All')]
        : [l10n.t('Revert')]
    const options = details.length > 0 ? { detail: details.join('\n') } : {}
    const answer = await services.workbench.dialogs.confirm(question, options, ...buttons)
    if (answer === undefined) return
    isCertain = answer === certain
  }
  for (const { changes, selection } of chosen)
    await undoChanges(changes, { ...selection, ...(isCertain && { certain: true }) }, services)
}

function filesOf({ changes, selection: { turn, paths } }: ChosenChanges): ChangedFile[] {
  return changes
    .list(turn)
    .filter(({ path, from = path }) => !paths || paths.includes(path) || paths.includes(from))
}

/** Returns the question. `only` is the name of the file if there is only one. */
function revertQuestion(chosen: readonly ChosenChanges[], only: string | undefined, count: number): string {
  const [of] = chosen.length === 1 ? chosen : []
  const turn = of?.selection.turn
  const session = of?.changes.session
  if (turn !== undefined)
    return only === undefined
      ? l10n.t('Revert all changes made to {0} files in this turn?', count)
      : l10n.t('Revert all changes made to {0} in this turn?', only)
  if (session !== undefined)
    return only === undefined
      ? l10n.t('Revert all changes made to {0} files in this session?', count)
      : l10n.t('Revert all changes made to {0} in this session?', only)
  return only === undefined
    ? l10n.t('Revert all changes that agents made to {0} files?', count)
    : l10n.t('Revert all changes that agents made to {0}?', only)
}

/**
 * Reverts what can be reverted, then asks before reverting files that the user has edited. `tell` is called with the files that were
 * reverted without asking; by default, a notification offers to restore them.
 */
export async function undoChanges(
  changes: ChangeScope,
  selection: ChangeSelection,
  services: UndoServices,
  tell: (undone: Undone) => void = undone => offerRestore(undone, services),
): Promise<void> {
  const report = await changes.undo(selection)
  if (report.undone) tell(report.undone)
  warnOfRest(services, selection, report)
  await undoMerged(changes, selection, report, services, tell)
  const paths = report.unchanged.flatMap(({ path, why }) => (why === 'user' ? path : []))
  if (!(await confirmForce(changes, selection, paths, services))) return
  // changes that a restore discards belong to the same undo as the rest of the restore
  const isRestore = selection.since !== undefined
  const forced = await changes.undo(
    { ...selection, paths },
    { force: true, ...(isRestore && report.undone && { into: report.undone }) },
  )
  if (!forced.undone) return
  if (!isRestore) offerRestore(forced.undone, services)
  else if (!report.undone) tell(forced.undone)
}

/** Offers to merge files that were written on disk while they have unsaved changes, and then undoes their changes. */
async function undoMerged(
  changes: ChangeScope,
  selection: ChangeSelection,
  report: UndoReport,
  services: UndoServices,
  tell: (undone: Undone) => void,
): Promise<void> {
  const merged: string[] = []
  const isRestore = selection.since !== undefined
  for (const { path, why } of report.unchanged) {
    if (why !== 'conflict') continue
    const name = namesOf(services.workbench, [path], services.sessions)
    const offer = isRestore
      ? {
          text: l10n.t(
            '{0} changed on disk while it has unsaved changes. Merge both to restore the file.',
            name,
          ),
          merge: l10n.t('Merge and Restore'),
        }
      : {
          text: l10n.t(
            '{0} changed on disk while it has unsaved changes. Merge both to revert the changes.',
            name,
          ),
          merge: l10n.t('Merge and Revert'),
        }
    if (await mergeUnsaved(path, offer, services)) merged.push(path)
  }
  if (merged.length === 0) return
  const more = await changes.undo(
    selection.hunks ? selection : { ...selection, paths: merged },
    report.undone ? { into: report.undone } : {},
  )
  if (more.undone && !report.undone) tell(more.undone)
  report.undone ??= more.undone
  report.unchanged.push(...more.unchanged.filter(({ why }) => why === 'user'))
  warnOfRest(services, selection, more)
}

/** Reports the undone changes, and offers to restore them. `after` is called after a restore. */
export function offerRestore(
  undone: Undone,
  services: UndoServices,
  { isChange, after }: { isChange?: boolean; after?: () => Promise<void> } = {},
): void {
  const [first] = undone.files
  if (!first) return
  const name = namesOf(services.workbench, [first.before.path], services.sessions)
  const text =
    undone.files.length > 1
      ? l10n.t('Reverted the changes in {0} files.', undone.files.length)
      : isChange
        ? l10n.t('Reverted the change in {0}.', name)
        : l10n.t('Reverted the changes in {0}.', name)
  const restore = async () => {
    await restoreUndone(undone.id, services)
    await after?.()
  }
  services.decisions.tell(text, restore, undone.id)
}

/** Reverts an undo from before a reload of the window, and shows which undo it was, since the user may not remember. */
export async function restoreStored(id: string, services: UndoServices): Promise<void> {
  const { review } = services.tracker
  const undone = review.undone.find(one => one.id === id)
  const paths = [...new Set(undone?.files.map(({ before }) => before.path))]
  await restoreUndone(id, services)
  if (review.undone.some(one => one.id === id)) return
  const text =
    paths.length === 1
      ? l10n.t('Restored the changes in {0}.', namesOf(services.workbench, paths, services.sessions))
      : l10n.t('Restored the changes in {0} files.', paths.length)
  services.workbench.dialogs.showStatus(text)
}

/** Reverts an undo, including the turns that a restored checkpoint set aside. With `only`, reverts just the undo of this file. */
export async function restoreUndone(
  id: string,
  { tracker, sessions, workbench }: UndoServices,
  only?: string,
): Promise<void> {
  const unrestored = await tracker.review.restore(id, only)
  const failed = unrestored.flatMap(({ path, why }) => (why ? { path, why } : []))
  for (const { path, why } of failed) showError({ workbench, sessions }, path, why, true)
  const changed = unrestored.flatMap(({ path, why }) => (why ? [] : path))
  warnOf({ workbench, sessions }, changed, names =>
    l10n.t(
      "These files weren't restored because they have unsaved changes or the same lines have changed since: {0}",
      names,
    ),
  )
  if (unrestored.length > 0 || only !== undefined) return
  for (const { session } of sessions.list()) {
    const notice = rewindsOf(session.state).find(one => one.rewind.restored === id)
    if (notice) session.withdrawRewind(notice.id, l10n.t('The restore of files was undone'))
  }
}

/** Warns about the unchanged files and gives the reasons, except for the user's changes in the same lines. */
function warnOfRest(shown: Shown, { since }: ChangeSelection, { unchanged }: UndoReport): void {
  const isRestore = since !== undefined
  const of = (why: string) => unchanged.flatMap(one => (one.why === why ? one.path : []))
  for (const { path, why } of unchanged) if (why instanceof Error) showError(shown, path, why, isRestore)
  warnOf(shown, of('unsaved'), names =>
    isRestore
      ? l10n.t('Save these files or discard their unsaved changes, then restore again: {0}', names)
      : l10n.t('Save these files or discard their unsaved changes, then revert again: {0}', names),
  )
  warnOf(shown, of('agent'), names =>
    isRestore
      ? l10n.t("Another session changed the same lines, so they weren't restored: {0}", names)
      : l10n.t('Another session changed the same lines. Revert its changes first: {0}', names),
  )
}

/** Shows the user's changes in the same lines, which are discarded only if the user confirms. Resolves to the answer. */
async function confirmForce(
  changes: ChangeScope,
  { since }: ChangeSelection,
  paths: readonly string[],
  services: UndoServices,
): Promise<boolean> {
  const [first] = paths
  if (first === undefined) return false
  const file = changes.list().find(one => one.path === first)
  if (file) await services.workbench.editors.openChanges(changes.session, file)
  const names = namesOf(services.workbench, paths, services.sessions)
  const [text, anyway] =
    since === undefined
      ? [
          l10n.t("You edited lines that the agent changed, so they weren't reverted: {0}", names),
          l10n.t('Revert Anyway'),
        ]
      : [
          l10n.t("You edited lines that the agent changed, so they weren't restored: {0}", names),
          l10n.t('Restore Anyway'),
        ]
  return (await services.workbench.dialogs.warn(text, anyway)) === anyway
}

function showError(shown: Shown, path: string, error: Error, isRestore: boolean): void {
  const [name, reason] = [namesOf(shown.workbench, [path], shown.sessions), plainMessage(error.message)]
  const text = isRestore
    ? l10n.t("Couldn't restore {0}: {1}", name, reason)
    : l10n.t("Couldn't revert the changes in {0}: {1}", name, reason)
  void shown.workbench.dialogs.error(text)
}

function warnOf(shown: Shown, paths: readonly string[], textOf: (names: string) => string): void {
  if (paths.length > 0)
    void shown.workbench.dialogs.warn(textOf(namesOf(shown.workbench, paths, shown.sessions)))
}
