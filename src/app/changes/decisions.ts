import * as l10n from '@vscode/l10n'
import type { ChangeScope, ChangeSelection } from '../../changes/session-changes.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { CommandId, ContextKey } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { namesOf } from './file-names.ts'

/** Number of decisions that can be undone one after the other. */
const MAX_DECISIONS = 100

type Undo = () => Promise<void>

/** Reports what the user decided in this window about agents' changes or a queued prompt, and undoes a decision on request. */
export class Decisions {
  readonly #workbench: Pick<Workbench, 'dialogs' | 'folders' | 'setContext'>
  readonly #sessions: { list(): readonly OpenSession[] } | undefined
  /** the latest last */
  readonly #undos: Undo[] = []
  /** the status bar item of the latest decision */
  #shown: Disposable | undefined

  constructor(
    workbench: Pick<Workbench, 'dialogs' | 'folders' | 'setContext'>,
    sessions?: { list(): readonly OpenSession[] },
  ) {
    this.#workbench = workbench
    this.#sessions = sessions
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

  /** Shows a decision in the status bar, and offers to undo it. */
  tell(text: string, undo: Undo): void {
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

  #setContext(): void {
    void this.#workbench.setContext(ContextKey.canUndoDecision, this.#undos.length > 0)
  }
}
