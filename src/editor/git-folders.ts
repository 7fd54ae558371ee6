/**
 * Stores the Git folder of each worktree when the worktree is created. The `.git` file in a worktree names the folder, too, but an agent
 * could change that file, and Git would then use settings that can start programs.
 */

import { existsSync } from 'node:fs'
import path from 'node:path'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { PathRules } from './path-rules.ts'

const STORE = Symbol.for('parley.gitFolders')
/** One store for the whole process: lazily loaded code may get its own copy of this module. */
const shared = globalThis as { [STORE]?: KeyValueStore }

/** Sets the store, which all windows share. */
export function storeGitFoldersIn(store: KeyValueStore): void {
  shared[STORE] = store
}

function store(): KeyValueStore {
  const known = new Map<string, unknown>()
  shared[STORE] ??= {
    get: <T>(key: string) => known.get(key) as T | undefined,
    set: (key, value) => void known.set(key, value),
  }
  return shared[STORE]
}

export function recordGitFolder(top: string, git: string): void {
  store().set(`worktree ${keyOf(top)}`, git)
}

export function forgetGitFolder(top: string): void {
  store().set(`worktree ${keyOf(top)}`, undefined)
}

/** Returns the recorded Git folder of the worktree with this root, unless the folder no longer exists. */
export function recordedGitFolder(top: string): string | undefined {
  const git = store().get<unknown>(`worktree ${keyOf(top)}`)
  return typeof git === 'string' && existsSync(git) ? git : undefined
}

/** Records that Parley made worktrees of the repository with this Git folder. */
export function recordRepository(common: string): void {
  if (!isRecordedRepository(common)) store().set(`repository ${keyOf(common)}`, true)
}

export function isRecordedRepository(common: string): boolean {
  return store().get(`repository ${keyOf(common)}`) === true
}

/** Returns environment variables that make Git use the recorded folder instead of the folder that `.git` at `cwd` names. */
export function pinnedEnvironment(cwd: string): { GIT_DIR?: string; GIT_WORK_TREE?: string } {
  for (let at = path.resolve(cwd); ; at = path.dirname(at)) {
    const git = recordedGitFolder(at)
    if (git !== undefined) return { GIT_DIR: git, GIT_WORK_TREE: at }
    // stop where Git would find a repository
    if (existsSync(path.join(at, '.git')) || path.dirname(at) === at) return {}
  }
}

function keyOf(at: string): string {
  return new PathRules().key(path.resolve(at))
}
