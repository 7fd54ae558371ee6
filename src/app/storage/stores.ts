import { randomUUID } from 'node:crypto'
import { join, relative } from 'node:path'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { FolderStore } from '../../common/key-value-store.ts'
import type { Logger } from '../../common/logger.ts'

/** The key for the page that the side bar showed last, which a reload restores. */
export const SHOWN_PAGE = 'parley.page'

/** The key for the composer height that the user set. */
const COMPOSER_HEIGHT = 'parley.composerHeight'

/** The key for the name of a window without a workspace. */
const WINDOW_NAME = 'parley.windowName'

/** The key for the sessions of tabs by the tab's key. A tab keeps its key across reloads. */
export const TABS = 'parley.tabs'

/** The key for whether the workspace has comments on lines, which a window shows as soon as it starts. */
export const HAS_COMMENTS = 'parley.hasLineComments'

/** The key for whether agents of the workspace may be running without a window. If so, the next window connects to them when it starts. */
export const HAS_AGENTS = 'parley.hasAgents'

/** The name of the folder where Node stores compiled code, in the folder for all workspaces: see `keepCompiledCode`. */
export const CODE_CACHE = 'code-cache'

/** Where this window stores data that outlives it. */
export interface WindowStorage {
  /** Small values of this workspace. May be written with a delay. */
  workspace: KeyValueStore
  /** Small values of all workspaces. May be written with a delay. */
  global: KeyValueStore
  /** The folder for files of this workspace. A window without a workspace has none. */
  workspaceFolder: string | undefined
  /** The folder for files of all workspaces. */
  globalFolder: string
}

/** Returns the name of the workspace in the database of conversations. A window without a workspace has a name of its own. */
export function workspaceName({ workspaceFolder, globalFolder, workspace }: WindowStorage): string {
  if (workspaceFolder !== undefined) return relative(globalFolder, workspaceFolder)
  const known = workspace.get<string>(WINDOW_NAME)
  if (typeof known === 'string') return known
  const name = `window ${randomUUID()}`
  workspace.set(WINDOW_NAME, name)
  return name
}

/** Returns the height of the composer that the user set, in pixels; `undefined` for automatic height. The stored value may be invalid. */
export function composerHeight(views: KeyValueStore): number | undefined {
  const height = views.get<unknown>(COMPOSER_HEIGHT)
  return typeof height === 'number' && Number.isFinite(height) && height > 0 ? height : undefined
}

export function setComposerHeight(views: KeyValueStore, height: number | undefined): void {
  views.set(COMPOSER_HEIGHT, height)
}

/** Returns the store for the contents of folders before each running turn. */
export function turnStore({ workspaceFolder, globalFolder }: WindowStorage, log: Logger): KeyValueStore {
  return new FolderStore(join(workspaceFolder ?? globalFolder, 'turns'), log)
}

/**
 * Returns the store for the state of each view, and for which sessions have a running turn. It's written immediately, because the window
 * may reload or crash right after a click.
 */
export function viewStore({ workspaceFolder, workspace }: WindowStorage, log: Logger): KeyValueStore {
  return workspaceFolder !== undefined ? new FolderStore(join(workspaceFolder, 'views'), log) : workspace
}

/** Returns the folders to which stores write files. */
export function storeFolders({ workspaceFolder, globalFolder }: WindowStorage): string[] {
  const inWorkspace =
    workspaceFolder !== undefined ? ['', 'views', 'turns'].map(name => join(workspaceFolder, name)) : []
  const shared = ['previews', 'turns', 'worktrees'].map(name => join(globalFolder, name))
  return [...shared, ...inWorkspace]
}

/** Returns the folders that only the user may read: those of the stores, and the extension's own folders with their content. */
export function privateFolders(storage: WindowStorage): string[] {
  const { workspaceFolder, globalFolder } = storage
  const roots = workspaceFolder !== undefined ? [globalFolder, workspaceFolder] : [globalFolder]
  return [...new Set([...roots, ...storeFolders(storage)])]
}

/** Returns the store for the previews of conversations by session. All windows share it, since any window can delete a session. */
export function previewFiles(
  { globalFolder }: Pick<WindowStorage, 'globalFolder'>,
  log: Logger,
): KeyValueStore {
  return new FolderStore(join(globalFolder, 'previews'), log)
}

/**
 * Returns the store for the Git folder of each worktree, recorded when the worktree was created. All windows share it. It's in a folder
 * where no agent works.
 */
export function gitFolderStore({ globalFolder }: WindowStorage, log: Logger): KeyValueStore {
  return new FolderStore(join(globalFolder, 'worktrees'), log)
}
