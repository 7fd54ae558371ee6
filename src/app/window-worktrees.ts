import path from 'node:path'
import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import { RealFolders } from '../editor/folder-comparison.ts'
import { PathRules } from '../editor/path-rules.ts'
import {
  type LinkedWorktrees,
  linkedWorktrees,
  worktreesFolder,
} from '../editor/worktrees/linked-worktrees.ts'
import { settingOf, type Workbench } from './workbench.ts'

/** The worktree that a directory is in. */
export interface WorktreeNote {
  name: string
  /** the current branch; `undefined` if the worktree was removed */
  branch?: string
}

/** The sessions that comparisons are starting. */
export interface StartingAgents {
  /** Returns the worktrees in which sessions are being started. */
  starting(): string[]
}

interface WindowWorktreesOptions {
  workbench: Pick<Workbench, 'folders' | 'settingValues'>
  /** events after which the branches may be different */
  changes: ReadonlyArray<Event<unknown>>
}

/** The worktrees of the repositories that are open in this window, as last read. */
export class WindowWorktrees extends Owner {
  readonly #workbench: WindowWorktreesOptions['workbench']
  readonly #rules = new PathRules()
  readonly #folders = this.register(new RealFolders())
  readonly #change = this.register(new Emitter<void>())
  #known: LinkedWorktrees[] = []
  #reading: Promise<void> | undefined
  #isOutdated = false

  /** Fires when a worktree was created or removed, its branch changed, or the real path of a folder changed. */
  readonly onDidChange = this.#change.event

  constructor({ workbench, changes }: WindowWorktreesOptions) {
    super()
    this.#workbench = workbench
    this.register(this.#folders.onDidChange(() => this.#change.fire()))
    for (const change of changes) this.register(change(() => void this.refresh()))
    void this.refresh()
  }

  /** Returns the paths of all worktrees, including those that Parley didn't create. */
  paths(): string[] {
    return this.#known.flatMap(one => one.worktrees.map(worktree => worktree.path))
  }

  /** Returns the Git folders of the repositories. All worktrees of a repository share one. */
  gitFolders(): string[] {
    return [...new Set(this.#known.map(({ common }) => common))]
  }

  /** Whether any folder of the workspace is in a repository. */
  get hasRepository(): boolean {
    return this.#known.length > 0
  }

  /** Returns the worktree of a session's directory, unless the directory is open in this window. */
  of(cwd: string): WorktreeNote | undefined {
    return this.lookup()(cwd)
  }

  /** Returns a function that tells whether a directory is in a folder that is open in this window. It's fast for many directories. */
  isOpen(): (cwd: string) => boolean {
    const { compare } = this.#folders
    const folders = this.#workbench.folders.map(folder => compare.keys(folder.path))
    return cwd => {
      const keys = compare.keys(cwd)
      return folders.some(folder => compare.containsKeys(folder, keys))
    }
  }

  /** Returns a function like {@link of} for the current state. It's fast for many directories, most of which are equal. */
  lookup(): (cwd: string) => WorktreeNote | undefined {
    const rules = this.#rules
    const { compare } = this.#folders
    const isOpen = this.isOpen()
    const setting = settingOf(this.#workbench, 'worktrees.folder')
    const worktrees = this.#known.flatMap(one =>
      one.worktrees.map(({ path: at, branch }) => ({
        keys: compare.keys(at),
        note: { name: path.basename(at), ...(branch !== undefined && { branch }) },
      })),
    )
    const parents = this.#known.map(({ main }) => worktreesFolder({ main }, setting))
    const find = (cwd: string): WorktreeNote | undefined => {
      if (isOpen(cwd)) return undefined
      const keys = compare.keys(cwd)
      const found = worktrees.find(one => compare.containsKeys(one.keys, keys))
      if (found) return found.note
      for (const folder of parents) {
        const below = [cwd, compare.real(cwd)].find(one => rules.contains(folder, one))
        const [name] = below === undefined ? [] : rules.names(rules.relative(folder, below))
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
      const folders = this.#workbench.folders.map(folder => folder.path)
      await this.#folders.refresh(folders)
      const found = folders.map(folder =>
        linkedWorktrees(this.#folders.compare.real(folder)).catch(() => undefined),
      )
      const known = (await Promise.all(found)).filter(one => one !== undefined)
      if (JSON.stringify(known) === JSON.stringify(this.#known)) continue
      this.#known = known
      this.#change.fire()
    }
  }
}
