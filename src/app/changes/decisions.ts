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
  /** the id under which a revert is stored until the user undoes it */
  revert?: string
  kept?: KeptChanges
}

/** Undoes a revert; with `only`, just the revert of that file. */
type Restore = (revert: string, only?: string) => Promise<void>

/** The stored reverts. */
interface StoredReverts {
  progress: Pick<ChangeTracker['progress'], 'reverts' | 'onDidChange'>
  review: Pick<ChangeTracker['review'], 'undone'>
}

/**
 * Shows in the status bar what the user decided in this window about agents' changes or a queued prompt, and undoes decisions on request.
 */
export class Decisions extends Owner {
  readonly #workbench: Pick<Workbench, 'dialogs' | 'folders' | 'setContext'>
  readonly #sessions: { list(): readonly OpenSession[] } | undefined
  /** the latest decision is last */
  readonly #decisions: Decision[] = []
  /**
   * decisions that couldn't be undone yet, for example because the file has unsaved changes in the same lines. They are tried after all
   * others.
   */
  readonly #failed: Decision[] = []
  /** decisions about changes since the user last edited text. In a review, the key that undoes text undoes these decisions. */
  readonly #sinceEdit = new Set<Decision>()
  /** the ids of stored reverts that are or were in `#decisions`, or that the user has tried to undo */
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

  /** Keeps changes. `after` is called when the user has undone the decision. */
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

  /** Shows a decision in the status bar, and offers to undo it. `revert` is the id under which a revert of changes is stored. */
  tell(text: string, undo: Undo, revert?: string): void {
    if (revert !== undefined) this.#known.add(revert)
    this.#tell(text, { undo, ...(revert !== undefined && { revert }) }, revert !== undefined)
  }

  /** Notes that the user edited text in an editor. The key that undoes text then undoes the edit and not a decision. */
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
   * Undoes the latest decision. Resolves to false if there is none. `restore` undoes a stored revert from before a reload of the window.
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
   * Returns the paths of files whose decisions can be undone, all or some, without the decisions about other files. Reverts count even if
   * they are from before a reload; keeps count only in this window.
   */
  undoable(files: readonly ReviewedFile[]): ReadonlySet<string> {
    const separable = this.#separable()
    const found = files.filter(
      ({ path, undecided, decisions }) =>
        undecided === 0 && decisions.some(id => separable.get(id)?.has(path)),
    )
    return new Set(found.map(({ path }) => path))
  }

  /** Undoes the user's decisions about a file, the latest first. `find` returns the file's current state. */
  undoIn(find: () => ReviewedFile | undefined, restore: Restore): Promise<void> {
    // `run` waits for an earlier click, so a second click finds nothing left to undo
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
        // the only file of a revert may have been renamed, so its old path is restored as well
        else await restore(id, paths.size === 1 ? undefined : path)
      }
      this.#setContext()
    })
  }

  /** Returns, by the id of a decision in the review, the files for which the decision can be undone without the other files. */
  #separable(): Map<string, ReadonlySet<string>> {
    const separable = new Map<string, ReadonlySet<string>>(
      this.#kept.map(({ id, paths }) => [id, new Set(paths)]),
    )
    if (!this.#stored) return separable
    const { progress, review } = this.#stored
    const undone = new Map(review.undone.map(one => [one.id, one]))
    for (const [id, reverted] of progress.reverts) {
      const paths = new Set(undone.get(id)?.files.map(({ before }) => before.path))
      // the store doesn't say which of several files were renamed
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

  /**
   * Whether a decision can still be undone: not if the revert was restored elsewhere or dropped, or if the keep was undone file by file.
   */
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

  /** Updates the context keys soon. Decisions about thousands of files cause only one update. */
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
