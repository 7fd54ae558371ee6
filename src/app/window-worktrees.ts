import path from 'node:path'
import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import { PathRules } from '../editor/path-rules.ts'
import {
  type LinkedWorktrees,
  linkedWorktrees,
  worktreesFolder,
} from '../editor/worktrees/linked-worktrees.ts'
import type { Workbench } from './workbench.ts'

/** The worktree that a directory is in. */
export interface WorktreeNote {
  name: string
  /** `undefined`: the worktree was removed. */
  branch?: string
}

/** The agents that a comparison is starting. */
export interface StartingAgents {
  /** The worktrees they start in. */
  starting(): string[]
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

  /** All of them, also those that Parley didn't make. */
  paths(): string[] {
    return this.#known.flatMap(one => one.worktrees.map(worktree => worktree.path))
  }

  /** The Git folders of the repositories, each shared by all worktrees. */
  gitFolders(): string[] {
    return [...new Set(this.#known.map(({ common }) => common))]
  }

  /** Whether a folder of the workspace is in a repository. */
  get hasRepository(): boolean {
    return this.#known.length > 0
  }

  /** The worktree of a session's directory, unless that is open in this window. */
  of(cwd: string): WorktreeNote | undefined {
    return this.lookup()(cwd)
  }

  /** {@link of} for many directories, most of which are the same, as things are now. */
  lookup(): (cwd: string) => WorktreeNote | undefined {
    const rules = this.#rules
    const folders = this.#workbench.folders().map(folder => rules.key(folder.path))
    const setting = this.#workbench.settings.read('worktrees.folder')
    const worktrees = this.#known.flatMap(one =>
      one.worktrees.map(({ path: at, branch }) => ({
        key: rules.key(at),
        note: { name: path.basename(at), ...(branch !== undefined && { branch }) },
      })),
    )
    const parents = this.#known.map(({ main }) => worktreesFolder({ main }, setting))
    const find = (cwd: string): WorktreeNote | undefined => {
      const key = rules.key(cwd)
      if (folders.some(folder => rules.containsKey(folder, key))) return undefined
      const found = worktrees.find(one => rules.containsKey(one.key, key))
      if (found) return found.note
      for (const folder of parents) {
        const [name] = rules.contains(folder, cwd) ? rules.names(rules.relative(folder, cwd)) : []
        if (name !== undefined) return { name }
      }
      return undefined
    }
    const known = new Map<string, WorktreeNote | undefined>()
    return cwd => {
      if (!known.has(cwd)) known.set(cwd, find(cwd))
      return known.get(cwd)
    }
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
