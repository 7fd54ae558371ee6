import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import * as z from 'zod'
import { confirmUndo, restoreUndone, type UndoServices, undoChanges } from '../../app/changes/undo-changes.ts'
import { type CommandHandlers, CommandId } from '../../app/ids.ts'
import { hunksAt, hunksOfChange, nextChange } from '../../changes/hunk-navigation.ts'
import { ChangeScope, type ChangeSelection } from '../../changes/session-changes.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { ChangesSourceControl } from '../changes/source-control.ts'

export interface ChangeCommandsOptions extends UndoServices {
  sourceControl: ChangesSourceControl
  /** The changes of the conversation that the user looks at. */
  activeChanges: () => { changes: ChangeScope; turn: number } | undefined
}

/** The arguments of `scm/change/title` after the file's URI. */
const lineChanges = z.array(
  z.object({ modifiedStartLineNumber: z.number(), modifiedEndLineNumber: z.number() }),
)
const lens = z.object({ ids: z.array(z.number()) })
const resourceState = z.object({ resourceUri: z.custom<vscode.Uri>(value => value instanceof vscode.Uri) })
const resourceGroup = z.object({ id: z.string(), resourceStates: z.array(z.unknown()) })

/** Commands to navigate, keep and undo agents' changes, one by one or by file. */
export function changeCommands(options: ChangeCommandsOptions) {
  const { tracker, sourceControl } = options
  const all = new ChangeScope(tracker)

  /** The changes in a file to which a command applies: those of the peek view or code lens, else those at the cursor. */
  const atPlace = async (args: unknown[]): Promise<ChangeSelection> => {
    const [uri, what, index] = args
    const editor = vscode.window.activeTextEditor
    const file = uri instanceof vscode.Uri ? uri : editor?.document.uri
    if (file?.scheme !== 'file')
      throw new UnavailableError(l10n.t('Open a file that an agent changed first.'))
    await all.refresh()
    const path = tracker.views.at(file.fsPath)?.path ?? file.fsPath
    const hunks = all.hunks(path)
    const byLens = lens.safeParse(what)
    const byPeek = lineChanges.safeParse(what)
    const change = byPeek.success && typeof index === 'number' ? byPeek.data[index] : undefined
    const found = byLens.success
      ? hunks.filter(({ id }) => byLens.data.ids.includes(id))
      : change
        ? hunksOfChange(hunks, change)
        : editor
          ? hunksAt(hunks, { start: editor.selection.start.line, end: editor.selection.end.line + 1 })
          : []
    if (found.length === 0) throw new UnavailableError(l10n.t('There is no agent change at this line.'))
    return { hunks: { path, ids: new Set(found.map(({ id }) => id)) } }
  }

  /**
   * The files to which a command applies: those selected in Source Control, that of an editor's title, else the active
   * one.
   */
  const ofFiles = (args: unknown[]): { scope: ChangeScope; selection: ChangeSelection } => {
    const [first] = args
    const group = resourceGroup.safeParse(first)
    const scope = group.success ? sourceControl.scopeOf(group.data.id) : undefined
    if (scope) return { scope, selection: {} }
    const states = args.flatMap(arg => {
      const one = resourceState.safeParse(arg)
      return one.success ? [one.data.resourceUri] : []
    })
    const uris = states.length > 0 ? states : first instanceof vscode.Uri ? [first] : []
    const active = vscode.window.activeTextEditor?.document.uri
    const files = uris.length > 0 ? uris : active ? [active] : []
    const paths = files.flatMap(({ fsPath }) => tracker.views.at(fsPath)?.path ?? [])
    if (paths.length === 0) throw new UnavailableError(l10n.t('No agent changed this file.'))
    return { scope: all, selection: { paths } }
  }

  const move = async (step: 1 | -1) => {
    await all.refresh()
    const files = all.list().map(({ path }) => ({ path, hunks: all.hunks(path) }))
    const editor = vscode.window.activeTextEditor
    const view =
      editor?.document.uri.scheme === 'file' ? tracker.views.at(editor.document.uri.fsPath) : undefined
    const path = view?.path ?? editor?.document.uri.fsPath
    const from = editor && path !== undefined ? { path, line: editor.selection.active.line } : undefined
    const next = nextChange(files, from, step)
    if (!next) throw new UnavailableError(l10n.t('There are no agent changes to review.'))
    const file = all.file(next.path)
    if (file && (file.status === 'deleted' || all.hunks(next.path).length === 0)) {
      await options.workbench.editors.openChanges(all, file)
      return
    }
    const range = new vscode.Range(next.line, 0, next.line, 0)
    const shown = await vscode.window.showTextDocument(vscode.Uri.file(next.path), { selection: range })
    shown.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport)
  }

  return {
    [CommandId.nextChange]: () => move(1),
    [CommandId.previousChange]: () => move(-1),
    [CommandId.keepChange]: async (...args) => all.keep(await atPlace(args)),
    [CommandId.revertChange]: async (...args) => undoChanges(all, await atPlace(args), options, () => {}),
    [CommandId.keepFileChanges]: (...args) => {
      const { scope, selection } = ofFiles(args)
      scope.keep(selection)
    },
    [CommandId.revertFileChanges]: async (...args) => {
      const { scope, selection } = ofFiles(args)
      await scope.refresh()
      await confirmUndo(scope, selection, options)
    },
    [CommandId.reviewChanges]: async (...args) => {
      const group = resourceGroup.safeParse(args[0])
      const scope = group.success ? sourceControl.scopeOf(group.data.id) : undefined
      await all.refresh()
      if ((scope ?? all).list().length === 0)
        throw new UnavailableError(l10n.t('There are no agent changes to review.'))
      await options.workbench.editors.reviewChanges(scope ?? all, l10n.t('Agent Changes'))
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
  } satisfies Partial<CommandHandlers>
}
