import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
import {
  confirmUndo,
  offerRestore,
  restoreUndone,
  type UndoServices,
  undoChanges,
} from '../../app/changes/undo-changes.ts'
import { type CommandHandlers, CommandId, HiddenCommandId } from '../../app/ids.ts'
import {
  followingChange,
  type HunkPosition,
  hunkPositions,
  hunksAt,
  hunksOfChange,
  nextChange,
} from '../../changes/review/hunk-navigation.ts'
import { ChangeScope, type ChangeSelection } from '../../changes/session-changes.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { ChangeEditors } from '../changes/change-editors.ts'
import type { OldTexts } from '../changes/old-texts.ts'
import type { ReviewCursor } from '../changes/review-cursor.ts'
import { COMMIT, type ReviewTree } from '../changes/review-tree.ts'
import type { ChangesSourceControl } from '../changes/source-control.ts'

export interface ChangeCommandsOptions extends UndoServices {
  sourceControl: Pick<ChangesSourceControl, 'scopeOf'>
  cursor: Pick<ReviewCursor, 'at' | 'go' | 'pathIn' | 'position' | 'positions' | 'scope' | 'shown'>
  oldTexts: Pick<OldTexts, 'show'>
  reviewTree: Pick<ReviewTree, 'toggleDecided'>
  reviews: Pick<ChangeEditors, 'openReview' | 'review' | 'showReview'>
  /** The changes of the conversation that the user looks at. */
  activeChanges: () => { changes: ChangeScope; turn: number } | undefined
}

/** The arguments of `scm/change/title` after the file's URI. */
const lineChanges = z.array(
  z.object({ modifiedStartLineNumber: z.number(), modifiedEndLineNumber: z.number() }),
)
const lens = z.object({ ids: z.array(z.number()) })
/** A file in Source Control, or a file or folder in the tree of the review. */
const listed = z.object({ session: z.string().optional(), inReview: z.literal(true).optional() })
const listedFiles = z.union([
  listed.extend({ paths: z.array(z.string()) }),
  listed.extend({ path: z.string() }).transform(({ path, ...rest }) => ({ ...rest, paths: [path] })),
])
const resourceGroup = z.object({ id: z.string(), resourceStates: z.array(z.unknown()) })

/** Commands to navigate, keep and undo agents' changes, one by one or by file. */
export function changeCommands(options: ChangeCommandsOptions) {
  const { tracker, sourceControl, cursor, decisions } = options
  const all = new ChangeScope(tracker)

  /** The changes in a file that a command applies to: those of the peek view or code lens, else those at the cursor. */
  const atPlace = async (
    args: unknown[],
  ): Promise<{ scope: ChangeScope; selection: ChangeSelection; position: HunkPosition; isPeek: boolean }> => {
    const [uri, what, index] = args
    const { at } = cursor
    const path = uri instanceof vscode.Uri ? cursor.pathIn(uri) : at?.path
    if (path === undefined) throw new UnavailableError(l10n.t('Open a file that an agent changed first.'))
    await all.refresh([path])
    const byLens = lens.safeParse(what)
    const byPeek = lineChanges.safeParse(what)
    const change = byPeek.success && typeof index === 'number' ? byPeek.data[index] : undefined
    // a peek view shows what all agents changed
    const scope = change ? all : cursor.shown
    const hunks = scope.hunks(path)
    const found = byLens.success
      ? hunks.filter(({ id }) => byLens.data.ids.includes(id))
      : change
        ? hunksOfChange(hunks, change)
        : at?.path !== path
          ? []
          : at.start === undefined
            ? hunks
            : hunksAt(hunks, at)
    const [first] = found
    // Such as a binary file, or a file with only another name or mode; but not the remaining changes of a file whose chosen change is gone.
    const isWhole = change === undefined && (!byLens.success || byLens.data.ids.length === 0)
    if (!first && isWhole && hunks.length === 0 && scope.file(path))
      return { scope, selection: { paths: [path] }, position: { path, line: 0 }, isPeek: false }
    if (!first) throw new UnavailableError(l10n.t('There is no agent change at this line.'))
    const selection = { hunks: { path, ids: new Set(found.map(({ id }) => id)) } }
    return { scope, selection, position: { path, line: first.start }, isPeek: change !== undefined }
  }

  /** Decides about changes, and moves to the next one. The peek view stays in place: it has its own navigation. */
  const decide = async (
    args: unknown[],
    work: (scope: ChangeScope, selection: ChangeSelection, back: () => Promise<void>) => unknown,
  ) => {
    const { scope, selection, position, isPeek } = await atPlace(args)
    await work(scope, selection, () => cursor.go(position))
    const ids = selection.hunks?.ids
    const isUndecided = ids
      ? scope.hunks(position.path).some(({ id }) => ids.has(id))
      : scope.file(position.path) !== undefined
    if (isPeek || isUndecided) return
    const next = await onDisk(() => followingChange(cursor.positions, position))
    if (next) await cursor.go(next)
  }

  /** A change after its file was read again. To read the files of all would take longer the more there are. */
  const onDisk = async (find: () => HunkPosition | undefined) => {
    const read = new Set<string>()
    for (;;) {
      const found = find()
      if (!found || read.has(found.path)) return found
      read.add(found.path)
      await all.refresh([found.path])
    }
  }

  /** The files that a command applies to: those selected in Source Control, the one of an editor's title, else the active one. */
  const ofFiles = (args: unknown[]): Array<{ scope: ChangeScope; selection: ChangeSelection }> => {
    const [first] = args
    const bySession = new Map<string | undefined, string[]>()
    for (const arg of args) {
      const { data } = first instanceof vscode.Uri ? {} : listedFiles.safeParse(arg)
      // the review of a continued conversation lists what the sessions before changed, too
      if (data?.inReview && options.reviews.openReview?.session === data.session)
        return [{ scope: options.reviews.openReview ?? all, selection: { paths: data.paths } }]
      if (data) bySession.set(data.session, [...(bySession.get(data.session) ?? []), ...data.paths])
    }
    if (bySession.size > 0)
      return [...bySession].map(([session, paths]) => ({
        scope: new ChangeScope(tracker, session),
        selection: { paths },
      }))
    const shown = first instanceof vscode.Uri ? cursor.pathIn(first) : cursor.at?.path
    const path = shown === undefined ? undefined : tracker.views.at(shown)?.path
    if (path === undefined) throw new UnavailableError(l10n.t('No agent changed this file.'))
    return [{ scope: cursor.at?.path === path ? cursor.shown : all, selection: { paths: [path] } }]
  }

  const move = async (args: unknown[], step: 1 | -1) => {
    await all.refresh(cursor.at ? [cursor.at.path] : [])
    const from = lens.safeParse(args[1]).success ? (await atPlace(args)).position : cursor.position
    const next = await onDisk(() => nextChange(cursor.positions, from, step))
    if (!next) throw new UnavailableError(l10n.t('There are no agent changes to review.'))
    await cursor.go(next)
  }

  /** The changes of a group in Source Control. */
  const ofGroup = ([first]: unknown[]): ChangeScope | undefined => {
    const group = resourceGroup.safeParse(first)
    return group.success ? sourceControl.scopeOf(group.data.id) : undefined
  }

  /** The changes of a group in Source Control, else those of the shown review, else those of all sessions. */
  const toReview = async (args: unknown[]): Promise<ChangeScope> => {
    await all.refresh()
    const scope = ofGroup(args) ?? cursor.scope
    if (scope.list().length === 0) throw new UnavailableError(l10n.t('There are no agent changes to review.'))
    return scope
  }

  return {
    [CommandId.nextChange]: (...args) => move(args, 1),
    [CommandId.previousChange]: (...args) => move(args, -1),
    [CommandId.keepChange]: (...args) =>
      decide(args, (scope, selection, back) => decisions.keep(scope, selection, back)),
    [CommandId.revertChange]: (...args) =>
      decide(args, (scope, selection, back) =>
        undoChanges(scope, selection, options, undone =>
          offerRestore(undone, options, { isChange: true, after: back }),
        ),
      ),
    [CommandId.showOld]: async (...args) => {
      const { position } = await atPlace(args)
      const editor = vscode.window.activeTextEditor
      const uri = args[0] instanceof vscode.Uri ? args[0] : editor?.document.uri
      if (!uri || !(await options.oldTexts.show(uri, position.line)))
        throw new UnavailableError(l10n.t('This change replaced or deleted no text.'))
    },
    [CommandId.keepFileChanges]: (...args) => {
      for (const { scope, selection } of ofFiles(args)) decisions.keep(scope, selection)
    },
    [CommandId.revertFileChanges]: async (...args) => {
      const chosen = ofFiles(args)
      await all.refresh(chosen.flatMap(({ selection }) => selection.paths ?? []))
      for (const { scope, selection } of chosen) await confirmUndo(scope, selection, options)
    },
    [CommandId.keepAllChanges]: async (...args) => decisions.keep(await toReview(args)),
    [CommandId.revertAllChanges]: async (...args) => confirmUndo(await toReview(args), {}, options),
    [CommandId.reviewChanges]: async (...args) => {
      const scope = ofGroup(args)
      await all.refresh()
      if ((scope ?? all).list().length === 0)
        throw new UnavailableError(l10n.t('There are no agent changes to review.'))
      await options.reviews.review(scope ?? all, l10n.t('Agent Changes'))
    },
    [CommandId.revertTurnChanges]: async () => {
      const active = options.activeChanges()
      if (!active) throw new UnavailableError(l10n.t('No conversation is open.'))
      const { changes, turn } = active
      await changes.refresh()
      if (changes.list(turn).length === 0)
        throw new UnavailableError(l10n.t('The last turn changed no files.'))
      await confirmUndo(changes, { turn }, options)
    },
    [CommandId.restoreReverted]: async () => {
      const [last] = tracker.review.undone
      if (!last) throw new UnavailableError(l10n.t('There are no reverted changes to restore.'))
      await restoreUndone(last.id, options)
    },
    [HiddenCommandId.reviewFile]: async (file: unknown) => {
      const scope = options.reviews.openReview ?? all
      await scope.refresh([String(file)])
      const position = hunkPositions(scope).find(({ path }) => path === file)
      if (!position) throw new UnavailableError(l10n.t('All changes of this file are kept or reverted.'))
      await options.reviews.showReview()
      await cursor.go(position)
    },
    [CommandId.toggleDecided]: () => options.reviewTree.toggleDecided(),
    [CommandId.commitReviewed]: () => {
      if (!options.reviews.openReview) throw new UnavailableError(l10n.t('No review is open.'))
      return vscode.commands.executeCommand(COMMIT)
    },
    [CommandId.undoDecision]: async () => {
      if (!(await decisions.undo()))
        throw new UnavailableError(l10n.t("You haven't kept or reverted changes in this window."))
    },
  } satisfies Partial<CommandHandlers>
}
