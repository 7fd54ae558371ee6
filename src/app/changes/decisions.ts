import * as l10n from '@vscode/l10n'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { ReviewedFile } from '../../changes/review/review-progress.ts'
import type { ChangeScope, ChangeSelection, KeptChanges } from '../../changes/session-changes.ts'
import { KeyedQueue } from '../../common/async.ts'
import { type Disposable, Owner } from '../../common/disposable.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { CommandId, ContextKey } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { namesOf } from './file-names.ts'

/** Number of decisions that can be undone one after the other. */
const MAX_DECISIONS = 100

const SOON_MS = 100

type Undo = () => Promise<void>

interface Decision {
  undo: Undo
  /** the id under which a revert is stored until it's undone */
  revert?: string
  kept?: KeptChanges
}

/** Undoes a revert; with `only`, that of this file. */
type Restore = (revert: string, only?: string) => Promise<void>

/** What is stored of the reverts. */
interface StoredReverts {
  progress: Pick<ChangeTracker['progress'], 'reverts' | 'onDidChange'>
  review: Pick<ChangeTracker['review'], 'undone'>
}

/** Reports what the user decided in this window about agents' changes or a queued prompt, and undoes a decision on request. */
export class Decisions extends Owner {
  readonly #workbench: Pick<Workbench, 'dialogs' | 'folders' | 'setContext'>
  readonly #sessions: { list(): readonly OpenSession[] } | undefined
  /** the latest last */
  readonly #decisions: Decision[] = []
  /** those that couldn't be undone yet, such as the revert of a file with unsaved changes in the same lines: to be tried after all others */
  readonly #failed: Decision[] = []
  /** those about changes since the user last edited text: in a review, the key that undoes text undoes them */
  readonly #sinceEdit = new Set<Decision>()
  /** the stored reverts that `#decisions` had, or that the user has tried to undo */
  readonly #known = new Set<string>()
  readonly #stored: StoredReverts | undefined
  readonly #undoing = new KeyedQueue()
  #soon: NodeJS.Timeout | undefined
  /** the status bar item of the latest decision */
  #shown: Disposable | undefined

  constructor(
    workbench: Pick<Workbench, 'dialogs' | 'folders' | 'setContext'>,
    sessions?: { list(): readonly OpenSession[] },
    stored?: StoredReverts,
  ) {
    super()
    this.#workbench = workbench
    this.#sessions = sessions
    this.#stored = stored
    if (stored) this.register(stored.progress.onDidChange(() => this.#setContextSoon()))
  }

  /** Keeps changes. `after`: called when the user has undone that. */
  keep(changes: ChangeScope, selection: ChangeSelection = {}, after?: Undo): void {
    const kept = changes.keep(selection)
    const { paths } = kept
    const [first] = paths
    if (first === undefined) return
    const name = namesOf(this.#workbench, [first], this.#sessions)
    const text = selection.hunks
      ? l10n.t('Kept the change in {0}.', name)
      : paths.length === 1
        ? l10n.t('Kept the changes in {0}.', name)
        : l10n.t('Kept the changes in {0} files.', paths.length)
    const undo = async () => {
      await this.#undoKeep(kept)
      await after?.()
    }
    this.#tell(text, { undo, kept }, true)
  }

  async #undoKeep(kept: KeptChanges, only?: string): Promise<void> {
    const unrestored = await kept.undo(only)
    if (unrestored.length === 0) return
    const names = namesOf(this.#workbench, unrestored, this.#sessions)
    const text = l10n.t('These files have changed since, so their changes stay kept: {0}', names)
    void this.#workbench.dialogs.warn(text)
  }

  /** Shows a decision in the status bar, and offers to undo it. `revert`: the id under which it's stored if it's one about changes. */
  tell(text: string, undo: Undo, revert?: string): void {
    if (revert !== undefined) this.#known.add(revert)
    this.#tell(text, { undo, ...(revert !== undefined && { revert }) }, revert !== undefined)
  }

  /** The user edited text in an editor, and then expects that the key that undoes text does that. */
  textEdited(): void {
    if (this.#sinceEdit.size === 0) return
    this.#sinceEdit.clear()
    this.#setContext()
  }

  #tell(text: string, decision: Decision, isAboutChanges: boolean): void {
    this.#decisions.push(decision)
    if (isAboutChanges) this.#sinceEdit.add(decision)
    if (this.#decisions.length > MAX_DECISIONS) this.#sinceEdit.delete(this.#decisions.shift()!)
    this.#setContext()
    this.#shown?.dispose()
    const action = { label: l10n.t('Undo'), command: CommandId.undoDecision }
    this.#shown = this.#workbench.dialogs.showStatus(text, action)
  }

  /**
   * Undoes the latest decision. Resolves to false if there is none. `restore`: undoes a stored revert from before the window was reloaded.
   */
  async undo(restore: (revert: string) => Promise<void>): Promise<boolean> {
    const decision = this.#latest() ?? this.#storedDecision(restore)
    const last = decision ?? this.#failed.find(one => this.#canUndo(one))
    if (!last) return false
    for (const of of [this.#decisions, this.#failed]) {
      const at = of.indexOf(last)
      if (at >= 0) of.splice(at, 1)
    }
    this.#sinceEdit.delete(last)
    if (last.revert !== undefined) this.#known.add(last.revert)
    this.#shown?.dispose()
    this.#setContext()
    try {
      await last.undo()
    } finally {
      if ((last.revert !== undefined || last.kept) && this.#canUndo(last)) this.#failed.push(last)
      this.#setContext()
    }
    return true
  }

  #latest(): Decision | undefined {
    return this.#decisions.findLast(one => this.#canUndo(one))
  }

  /**
   * The files whose decisions can be undone without those about other files, all or some of them: reverts also from before the window was
   * reloaded, keeps only those of this window.
   */
  undoable(files: readonly ReviewedFile[]): ReadonlySet<string> {
    const separable = this.#separable()
    const found = files.filter(
      ({ path, undecided, decisions }) =>
        undecided === 0 && decisions.some(id => separable.get(id)?.has(path)),
    )
    return new Set(found.map(({ path }) => path))
  }

  /** Undoes what the user decided about a file, the latest decision first. `find`: the file now. */
  undoIn(find: () => ReviewedFile | undefined, restore: Restore): Promise<void> {
    // a second click finds nothing left
    return this.#undoing.run('', async () => {
      const file = find()
      if (!file || file.undecided > 0) return
      const { path } = file
      for (const id of file.decisions.toReversed()) {
        const paths = this.#separable().get(id)
        if (!paths?.has(path)) continue
        this.#shown?.dispose()
        const kept = this.#kept.find(one => one.id === id)
        if (kept) await this.#undoKeep(kept, path)
        // the only file of a revert may have been renamed, and its old path is then restored, too
        else await restore(id, paths.size === 1 ? undefined : path)
      }
      this.#setContext()
    })
  }

  /** By the id of a decision in the review, the files for which that can be undone without the others. */
  #separable(): Map<string, ReadonlySet<string>> {
    const separable = new Map<string, ReadonlySet<string>>(
      this.#kept.map(({ id, paths }) => [id, new Set(paths)]),
    )
    if (!this.#stored) return separable
    const { progress, review } = this.#stored
    const undone = new Map(review.undone.map(one => [one.id, one]))
    for (const [id, reverted] of progress.reverts) {
      const paths = new Set(undone.get(id)?.files.map(({ before }) => before.path))
      // which of several files were renamed isn't stored
      const isWhole = reverted.size === 1 || [...paths].every(path => reverted.has(path))
      if (isWhole) separable.set(id, new Set([...reverted].filter(path => paths.has(path))))
    }
    return separable
  }

  get #kept(): KeptChanges[] {
    return [...this.#decisions, ...this.#failed].flatMap(({ kept }) => kept ?? [])
  }

  #storedDecision(restore: (revert: string) => Promise<void>): Decision | undefined {
    const revert = this.#latestStored()
    return revert === undefined ? undefined : { undo: () => restore(revert), revert }
  }

  /** False for a revert that was restored otherwise, or dropped, and for a keep that was undone for each file. */
  #canUndo({ revert, kept }: Decision): boolean {
    if (kept) return kept.paths.length > 0
    return revert === undefined || this.#stored?.review.undone.some(({ id }) => id === revert) === true
  }

  #latestStored(): string | undefined {
    if (!this.#stored) return undefined
    const { progress, review } = this.#stored
    return [...progress.reverts.keys()].find(
      id => !this.#known.has(id) && review.undone.some(one => one.id === id),
    )
  }

  /** Once for decisions about thousands of files. */
  #setContextSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#setContext()
    }, SOON_MS)
  }

  override dispose(): void {
    clearTimeout(this.#soon)
    super.dispose()
  }

  #setContext(): void {
    const canUndo =
      [...this.#decisions, ...this.#failed].some(one => this.#canUndo(one)) ||
      this.#latestStored() !== undefined
    void this.#workbench.setContext(ContextKey.canUndoDecision, canUndo)
    const latest = this.#latest()
    const decidedLast = latest !== undefined && this.#sinceEdit.has(latest)
    void this.#workbench.setContext(ContextKey.decidedLast, decidedLast)
  }
}
