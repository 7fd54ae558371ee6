import * as l10n from '@vscode/l10n'
import {
  followingChange,
  type HunkPosition,
  hunksAt,
  hunksOfChange,
  type LineChange,
  nextChange,
} from '../../changes/review/hunk-navigation.ts'
import type { ChangeScope, ChangeSelection } from '../../changes/session-changes.ts'
import { Owner } from '../../common/disposable.ts'
import { UnavailableError } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import type { EditorChanges, WhichChanges } from './editor-changes.ts'
import { confirmUndo, confirmUndos, offerRestore, type UndoServices, undoChanges } from './undo-changes.ts'

/** The lines of a file; `end` is exclusive. Without lines, the whole file is meant. */
export type Place =
  | { path: string; start: number; end: number }
  | { path: string; start?: never; end?: never }

/** Where a command applies. */
export interface ChosenPlace {
  path: string
  /** selects the changes that the editor shows */
  which: WhichChanges
  /** the ids of the changes of a code lens; empty for the file as a whole */
  ids?: readonly number[]
  /** the change that a peek view shows */
  peek?: LineChange
  /** the user's cursor or selection, if it's in the file */
  at?: Place
}

/** Files that a command applies to. */
export interface ChosenFiles {
  which: WhichChanges
  paths: readonly string[]
}

interface FoundChanges {
  scope: ChangeScope
  selection: ChangeSelection
  position: HunkPosition
  isPeek: boolean
}

interface EditorDecisionsOptions extends UndoServices {
  changes: EditorChanges
}

/**
 * Runs the commands of editors and Source Control for agents' changes. Each method rejects with a sentence for the user if the command
 * isn't possible.
 */
export class EditorDecisions extends Owner {
  readonly #options: EditorDecisionsOptions
  readonly #changes: EditorChanges
  readonly #all: ChangeScope
  readonly #return = this.register(new Emitter<HunkPosition>())

  /** Fires with the position of a change when the user has undone a decision about the change, so that the editor goes back there. */
  readonly onDidReturn = this.#return.event

  constructor(options: EditorDecisionsOptions) {
    super()
    this.#options = options
    this.#changes = options.changes
    this.#all = options.changes.scope({})
  }

  /** Notes that the user edited text in an editor. */
  textEdited(): void {
    this.#options.decisions.textEdited()
  }

  /** Reads files from disk again. */
  async refresh(paths: readonly string[]): Promise<void> {
    await this.#all.refresh(paths)
  }

  /** Rejects if there are no changes of this selection. */
  async expectChanges(which: WhichChanges): Promise<void> {
    await this.#all.refresh()
    if (this.#changes.scope(which).list().length === 0) throw noChanges()
  }

  /** Resolves to the position of the first change at a place. */
  async find(place: ChosenPlace): Promise<HunkPosition> {
    return (await this.#find(place)).position
  }

  /** Resolves to the next or previous change in a review. `from` is the user's position, or a change at the position. */
  async next(
    from: ChosenPlace | HunkPosition | undefined,
    step: 1 | -1,
    review: WhichChanges,
  ): Promise<HunkPosition> {
    const position = from && 'which' in from ? (await this.#find(from)).position : from
    const scope = this.#changes.scope(review)
    const next = await this.#onDisk(() => nextChange(this.#changes.positions(scope), position, step))
    if (!next) throw noChanges()
    return next
  }

  /** Resolves to the first change of a file in a review. */
  async firstIn(path: string, review: WhichChanges): Promise<HunkPosition> {
    const scope = this.#changes.scope(review)
    await scope.refresh([path])
    const position = this.#changes.positions(scope).find(one => one.path === path)
    if (!position) throw new UnavailableError(l10n.t('All changes of this file are kept or reverted.'))
    return position
  }

  /** Keeps or reverts the changes at a place. Resolves to the change to show next, if any. */
  async decide(
    how: 'keep' | 'revert',
    place: ChosenPlace,
    review: WhichChanges,
  ): Promise<HunkPosition | undefined> {
    const { scope, selection, position, isPeek } = await this.#find(place)
    const back = async () => this.#return.fire(position)
    if (how === 'keep') this.#options.decisions.keep(scope, selection, back)
    else
      await undoChanges(scope, selection, this.#options, undone =>
        offerRestore(undone, this.#options, { isChange: true, after: back }),
      )
    const ids = selection.hunks?.ids
    const isUndecided = ids
      ? scope.hunks(position.path).some(({ id }) => ids.has(id))
      : scope.file(position.path) !== undefined
    // the peek view has its own navigation
    if (isPeek || isUndecided) return undefined
    const reviewed = this.#changes.scope(review)
    return this.#onDisk(() => followingChange(this.#changes.positions(reviewed), position))
  }

  async keepFiles(files: readonly ChosenFiles[]): Promise<void> {
    for (const { which, paths } of files) this.#options.decisions.keep(this.#changes.scope(which), { paths })
  }

  async revertFiles(files: readonly ChosenFiles[]): Promise<void> {
    await this.#all.refresh(files.flatMap(({ paths }) => paths))
    const chosen = files.map(({ which, paths }) => ({
      changes: this.#changes.scope(which),
      selection: { paths },
    }))
    await confirmUndos(chosen, this.#options)
  }

  async keepAll(which: WhichChanges): Promise<void> {
    await this.expectChanges(which)
    this.#options.decisions.keep(this.#changes.scope(which))
  }

  async revertAll(which: WhichChanges): Promise<void> {
    await this.expectChanges(which)
    await confirmUndo(this.#changes.scope(which), {}, this.#options)
  }

  async #find({ path, which, ids, peek, at }: ChosenPlace): Promise<FoundChanges> {
    await this.#all.refresh([path])
    // a peek view shows the changes of all agents
    const scope = peek ? this.#all : this.#changes.scope(which)
    const hunks = scope.hunks(path)
    const found = ids
      ? hunks.filter(({ id }) => ids.includes(id))
      : peek
        ? hunksOfChange(hunks, peek)
        : at?.path !== path
          ? []
          : at.start === undefined
            ? hunks
            : hunksAt(hunks, at)
    const [first] = found
    // The file is decided as a whole if it's binary, or if only its name or mode changed, but not if the chosen change of the file is gone.
    const isWhole = !peek && (!ids || ids.length === 0)
    if (!first && isWhole && hunks.length === 0 && scope.file(path))
      return { scope, selection: { paths: [path] }, position: { path, line: 0 }, isPeek: false }
    if (!first) throw new UnavailableError(l10n.t('There is no agent change at this line.'))
    const selection = { hunks: { path, ids: new Set(found.map(({ id }) => id)) } }
    return { scope, selection, position: { path, line: first.start }, isPeek: peek !== undefined }
  }

  /**
   * Resolves to the change that `find` returns once its file was read from disk again. Reading all files would take longer the more there
   * are.
   */
  async #onDisk(find: () => HunkPosition | undefined): Promise<HunkPosition | undefined> {
    const read = new Set<string>()
    for (;;) {
      const found = find()
      if (!found || read.has(found.path)) return found
      read.add(found.path)
      await this.#all.refresh([found.path])
    }
  }
}

function noChanges(): UnavailableError {
  return new UnavailableError(l10n.t('There are no agent changes to review.'))
}
