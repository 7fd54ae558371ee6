import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
import type { WhichChanges } from '../../app/changes/editor-changes.ts'
import type { ChosenFiles, ChosenPlace, EditorDecisions } from '../../app/changes/editor-decisions.ts'
import { ReviewSteps } from '../../app/changes/review-steps.ts'
import { type CommandHandlers, CommandId, HiddenCommandId } from '../../app/ids.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { ChangeEditors } from '../changes/change-editors.ts'
import type { OldTexts } from '../changes/old-texts.ts'
import type { ReviewCursor } from '../changes/review-cursor.ts'
import type { ReviewKeys } from '../changes/review-keys.ts'
import { COMMIT, type ReviewTree } from '../changes/review-tree.ts'
import type { ChangesSourceControl } from '../changes/source-control.ts'

export interface ChangeCommandsOptions {
  decisions: Omit<EditorDecisions, 'dispose'>
  /** Resolves to the path of the changed file that a path leads to. */
  pathOf: (path: string) => Promise<string | undefined>
  sourceControl: Pick<ChangesSourceControl, 'changesOf'>
  cursor: Pick<ReviewCursor, 'at' | 'go' | 'pathIn' | 'position' | 'scope' | 'shown'>
  reviewKeys: Pick<ReviewKeys, 'resume'>
  oldTexts: Pick<OldTexts, 'show'>
  reviewTree: Pick<ReviewTree, 'toggleDecided'>
  reviews: Pick<ChangeEditors, 'openReview' | 'review' | 'showReview'>
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

/** Returns the commands to navigate, keep and undo agents' changes, one by one or by file. */
export function changeCommands(options: ChangeCommandsOptions) {
  const { sourceControl, cursor, reviewKeys, decisions } = options

  /** Resolves to the changes in a file that a command applies to: of the peek view or code lens, or else at the cursor. */
  const placeOf = async ([uri, what, index]: unknown[]): Promise<ChosenPlace> => {
    const at = await cursor.at()
    const path = uri instanceof vscode.Uri ? await cursor.pathIn(uri) : at?.path
    if (path === undefined) throw new UnavailableError(l10n.t('Open a file that an agent changed first.'))
    const byLens = lens.safeParse(what)
    const byPeek = lineChanges.safeParse(what)
    const peek = byPeek.success && typeof index === 'number' ? byPeek.data[index] : undefined
    const place = { path, which: cursor.shown, ...(at?.path === path && { at }) }
    return { ...place, ...(byLens.success && { ids: byLens.data.ids }), ...(peek && { peek }) }
  }

  const steps = new ReviewSteps(() => reviewKeys.resume())

  /** Decides about changes, and moves to the next one. */
  const decide = (args: unknown[], how: 'keep' | 'revert') =>
    steps.take(async () => {
      const next = await decisions.decide(how, await placeOf(args), cursor.scope)
      if (next) await cursor.go(next)
    })

  /** Resolves to the files that a command applies to: selected in Source Control, of an editor's title, or else the active file. */
  const ofFiles = async (args: unknown[]): Promise<ChosenFiles[]> => {
    const [first] = args
    const bySession = new Map<string | undefined, string[]>()
    for (const arg of args) {
      const { data } = first instanceof vscode.Uri ? {} : listedFiles.safeParse(arg)
      const { openReview } = options.reviews
      // the review of a continued conversation also lists the changes of the sessions before
      if (data?.inReview && openReview && openReview.session === data.session)
        return [{ which: openReview, paths: data.paths }]
      if (data) bySession.set(data.session, [...(bySession.get(data.session) ?? []), ...data.paths])
    }
    if (bySession.size > 0)
      return [...bySession].map(([session, paths]) => ({
        which: session === undefined ? {} : { session },
        paths,
      }))
    const at = await cursor.at()
    const shown = first instanceof vscode.Uri ? await cursor.pathIn(first) : at?.path
    const path = shown === undefined ? undefined : await options.pathOf(shown)
    if (path === undefined) throw new UnavailableError(l10n.t('No agent changed this file.'))
    return [{ which: at?.path === path ? cursor.shown : {}, paths: [path] }]
  }

  const move = (args: unknown[], direction: 1 | -1) =>
    steps.take(async () => {
      const at = await cursor.at()
      if (at) await decisions.refresh([at.path])
      const from = lens.safeParse(args[1]).success ? await placeOf(args) : await cursor.position()
      await cursor.go(await decisions.next(from, direction, cursor.scope))
    })

  /** Returns the changes of a group in Source Control. */
  const ofGroup = ([first]: unknown[]): WhichChanges | undefined => {
    const group = resourceGroup.safeParse(first)
    return group.success ? sourceControl.changesOf(group.data.id) : undefined
  }

  return {
    [CommandId.nextChange]: (...args) => move(args, 1),
    [CommandId.previousChange]: (...args) => move(args, -1),
    [CommandId.keepChange]: (...args) => decide(args, 'keep'),
    [CommandId.revertChange]: (...args) => decide(args, 'revert'),
    [CommandId.showOld]: async (...args) => {
      const { line } = await decisions.find(await placeOf(args))
      const editor = vscode.window.activeTextEditor
      const uri = args[0] instanceof vscode.Uri ? args[0] : editor?.document.uri
      if (!uri || !(await options.oldTexts.show(uri, line)))
        throw new UnavailableError(l10n.t('This change replaced or deleted no text.'))
    },
    [CommandId.keepFileChanges]: async (...args) => decisions.keepFiles(await ofFiles(args)),
    [CommandId.revertFileChanges]: async (...args) => decisions.revertFiles(await ofFiles(args)),
    // applies to the changes of a group in Source Control, else of the shown review, else of all sessions
    [CommandId.keepAllChanges]: (...args) => decisions.keepAll(ofGroup(args) ?? cursor.scope),
    [CommandId.revertAllChanges]: (...args) => decisions.revertAll(ofGroup(args) ?? cursor.scope),
    [CommandId.reviewChanges]: async (...args) => {
      const which = ofGroup(args) ?? {}
      await decisions.expectChanges(which)
      await options.reviews.review(which, l10n.t('Agent Changes'))
    },
    [HiddenCommandId.reviewFile]: async (file: unknown) => {
      const position = await decisions.firstIn(String(file), options.reviews.openReview ?? {})
      await options.reviews.showReview()
      await cursor.go(position)
    },
    [CommandId.toggleDecided]: () => options.reviewTree.toggleDecided(),
    [CommandId.commitReviewed]: () => {
      if (!options.reviews.openReview) throw new UnavailableError(l10n.t('No review is open.'))
      return vscode.commands.executeCommand(COMMIT)
    },
  } satisfies Partial<CommandHandlers>
}
