import { randomUUID } from 'node:crypto'
import { join, relative } from 'node:path'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { FolderStore } from '../../common/key-value-store.ts'
import type { Logger } from '../../common/logger.ts'

/** The page that the side bar showed last, to restore it after a reload. */
export const SHOWN_PAGE = 'parley.page'

/** The height of the composer that the user set. */
const COMPOSER_HEIGHT = 'parley.composerHeight'

/** The name of a window without a workspace. */
const WINDOW_NAME = 'parley.windowName'

/** The sessions of tabs by their keys; a tab keeps its key across reloads. */
export const TABS = 'parley.tabs'

/** Whether the workspace has comments on lines, which a window shows from its start on. */
export const HAS_COMMENTS = 'parley.hasLineComments'

/** Whether agents of the workspace may be running without a window. If so, the next window connects to them when it starts. */
export const HAS_AGENTS = 'parley.hasAgents'

/** The subfolder, in the folder for all workspaces, where Node stores compiled code: see `keepCompiledCode`. */
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

/** The name of the workspace in the database of conversations. A window without a workspace has a name of its own. */
export function workspaceName({ workspaceFolder, globalFolder, workspace }: WindowStorage): string {
  if (workspaceFolder !== undefined) return relative(globalFolder, workspaceFolder)
  const known = workspace.get<string>(WINDOW_NAME)
  if (typeof known === 'string') return known
  const name = `window ${randomUUID()}`
  workspace.set(WINDOW_NAME, name)
  return name
}

/** The height of the composer that the user set, in pixels; `undefined` for automatic height. What is stored may be anything. */
export function composerHeight(views: KeyValueStore): number | undefined {
  const height = views.get<unknown>(COMPOSER_HEIGHT)
  return typeof height === 'number' && Number.isFinite(height) && height > 0 ? height : undefined
}

export function setComposerHeight(views: KeyValueStore, height: number | undefined): void {
  views.set(COMPOSER_HEIGHT, height)
}

/** Stores the contents of folders from before each running turn. */
export function turnStore({ workspaceFolder, globalFolder }: WindowStorage, log: Logger): KeyValueStore {
  return new FolderStore(join(workspaceFolder ?? globalFolder, 'turns'), log)
}

/**
 * The state of each view, and which sessions have a running turn. Written immediately, because the window may reload or crash right after a
 * click.
 */
export function viewStore({ workspaceFolder, workspace }: WindowStorage, log: Logger): KeyValueStore {
  return workspaceFolder !== undefined ? new FolderStore(join(workspaceFolder, 'views'), log) : workspace
}

/** The folders to which stores write files. */
export function storeFolders({ workspaceFolder, globalFolder }: WindowStorage): string[] {
  const inWorkspace =
    workspaceFolder !== undefined ? ['', 'views', 'turns'].map(name => join(workspaceFolder, name)) : []
  const shared = ['previews', 'turns', 'worktrees'].map(name => join(globalFolder, name))
  return [...shared, ...inWorkspace]
}

/** The folders that only the user may read: those of the stores, and the extension's own folders with their content. */
export function privateFolders(storage: WindowStorage): string[] {
  const { workspaceFolder, globalFolder } = storage
  const roots = workspaceFolder !== undefined ? [globalFolder, workspaceFolder] : [globalFolder]
  return [...new Set([...roots, ...storeFolders(storage)])]
}

/** Stores the previews of conversations by session: shared by all windows, since any window can delete a session. */
export function previewFiles(
  { globalFolder }: Pick<WindowStorage, 'globalFolder'>,
  log: Logger,
): KeyValueStore {
  return new FolderStore(join(globalFolder, 'previews'), log)
}

/** The Git folder of each worktree, recorded at its creation: shared by all windows, in a folder where no agent works. */
export function gitFolderStore({ globalFolder }: WindowStorage, log: Logger): KeyValueStore {
  return new FolderStore(join(globalFolder, 'worktrees'), log)
}
