import path from 'node:path'
import { Owner } from '../../common/disposable.ts'
import { Emitter, type Event } from '../../common/event.ts'
import { PathRules } from '../../editor/path-rules.ts'
import {
  type LinkedWorktrees,
  linkedWorktrees,
  worktreesFolder,
} from '../../editor/worktrees/linked-worktrees.ts'
import type { Workbench } from '../workbench.ts'

/** The worktree that a directory is in. */
export interface WorktreeNote {
  name: string
  /** `undefined`: the worktree was removed. */
  branch?: string
}

interface WindowWorktreesOptions {
  workbench: Pick<Workbench, 'folders' | 'settings'>
  /** After these the branches may be different. */
  changes: ReadonlyArray<Event<unknown>>
}

/** The worktrees of the repositories that are open in this window, as they were when they were read last. */
export class WindowWorktrees extends Owner {
  readonly #workbench: WindowWorktreesOptions['workbench']
  readonly #rules = new PathRules()
  readonly #change = this.register(new Emitter<void>())
  #known: LinkedWorktrees[] = []
  #reading: Promise<void> | undefined
  #isOutdated = false

  /** A worktree was made or removed, or has another branch. */
  readonly onDidChange = this.#change.event

  constructor({ workbench, changes }: WindowWorktreesOptions) {
    super()
    this.#workbench = workbench
    for (const change of changes) this.register(change(() => void this.refresh()))
    void this.refresh()
  }

  /** The worktree of a session's directory, unless that is open in this window. */
  of(cwd: string): WorktreeNote | undefined {
    const rules = this.#rules
    if (this.#workbench.folders().some(folder => rules.contains(folder.path, cwd))) return undefined
    for (const { worktrees } of this.#known) {
      const found = worktrees.find(one => rules.contains(one.path, cwd))
      if (found) {
        return {
          name: path.basename(found.path),
          ...(found.branch !== undefined && { branch: found.branch }),
        }
      }
    }
    const setting = this.#workbench.settings.read('worktrees.folder')
    for (const { main } of this.#known) {
      const folder = worktreesFolder({ main }, setting)
      const [name] = rules.contains(folder, cwd) ? rules.names(rules.relative(folder, cwd)) : []
      if (name !== undefined) return { name }
    }
    return undefined
  }

  async refresh(): Promise<void> {
    this.#isOutdated = true
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #read(): Promise<void> {
    while (this.#isOutdated && !this.owned.isDisposed) {
      this.#isOutdated = false
      const folders = this.#workbench
        .folders()
        .map(folder => linkedWorktrees(folder.path).catch(() => undefined))
      const known = (await Promise.all(folders)).filter(one => one !== undefined)
      if (JSON.stringify(known) === JSON.stringify(this.#known)) continue
      this.#known = known
      this.#change.fire()
    }
  }
}
