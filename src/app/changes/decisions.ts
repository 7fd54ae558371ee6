import * as l10n from '@vscode/l10n'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { ChangeScope, ChangeSelection } from '../../changes/session-changes.ts'
import { type Disposable, Owner } from '../../common/disposable.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { CommandId, ContextKey } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { namesOf } from './file-names.ts'

/** Number of decisions that can be undone one after the other. */
const MAX_DECISIONS = 100

const SOON_MS = 100

type Undo = () => Promise<void>

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
  readonly #undos: Undo[] = []
  /** the stored reverts that `#undos` had, or that the user has tried to undo */
  readonly #known = new Set<string>()
  readonly #stored: StoredReverts | undefined
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
    const { paths, undo } = changes.keep(selection)
    const [first] = paths
    if (first === undefined) return
    const name = namesOf(this.#workbench, [first], this.#sessions)
    const text = selection.hunks
      ? l10n.t('Kept the change in {0}.', name)
      : paths.length === 1
        ? l10n.t('Kept the changes in {0}.', name)
        : l10n.t('Kept the changes in {0} files.', paths.length)
    this.tell(text, async () => {
      const unrestored = await undo()
      if (unrestored.length > 0) {
        const names = namesOf(this.#workbench, unrestored, this.#sessions)
        const text = l10n.t('These files have changed since, so their changes stay kept: {0}', names)
        void this.#workbench.dialogs.warn(text)
      }
      await after?.()
    })
  }

  /** Shows a decision in the status bar, and offers to undo it. `revert`: the id under which it's stored. */
  tell(text: string, undo: Undo, revert?: string): void {
    if (revert !== undefined) this.#known.add(revert)
    let done: Promise<void> | undefined
    const once = () => {
      const at = this.#undos.indexOf(once)
      if (at === this.#undos.length - 1) this.#shown?.dispose()
      if (at >= 0) this.#undos.splice(at, 1)
      this.#setContext()
      done ??= undo()
      return done
    }
    this.#undos.push(once)
    if (this.#undos.length > MAX_DECISIONS) this.#undos.shift()
    this.#setContext()
    this.#shown?.dispose()
    const action = { label: l10n.t('Undo'), command: CommandId.undoDecision }
    this.#shown = this.#workbench.dialogs.showStatus(text, action)
  }

  /** Undoes the latest decision. Resolves to false if there is none. */
  async undo(): Promise<boolean> {
    const last = this.#undos.at(-1)
    await last?.()
    return last !== undefined
  }

  /** The latest revert from before the window was reloaded, to be undone now; `undefined` if there is none. */
  takeStored(): string | undefined {
    const revert = this.#latestStored()
    if (revert !== undefined) this.#known.add(revert)
    this.#setContext()
    return revert
  }

  #latestStored(): string | undefined {
    if (!this.#stored) return undefined
    const { progress, review } = this.#stored
    return progress.reverts.find(id => !this.#known.has(id) && review.undone.some(one => one.id === id))
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
    const canUndo = this.#undos.length > 0 || this.#latestStored() !== undefined
    void this.#workbench.setContext(ContextKey.canUndoDecision, canUndo)
  }
}
