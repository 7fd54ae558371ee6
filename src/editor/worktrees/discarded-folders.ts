/**
 * Manages the folders of worktrees that are being discarded, or were discarded within the last day. A folder is moved away before anything
 * is copied from it or deleted: programs that know its path can't write there anymore, and the writes of programs that have it open aren't
 * lost.
 */

import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'
import { readBounded } from '../../common/read-bounded.ts'
import { GitError } from '../git.ts'
import { forgetGitFolder, recordGitFolder } from '../git-folders.ts'
import { gitFolder } from './index-copy.ts'

/** Name of the folder, next to the worktrees, to which discarded folders can be moved without copying. */
const FOLDER = '.discarded'
/**
 * Name of the folder, in the repository's Git folder, that contains the own Git folders of discarded worktrees. Git finds the common Git
 * folder from there, as from `worktrees/`, but doesn't list these worktrees.
 */
const GIT_FOLDERS = 'parley-discarded'
/** Name of the file, in a worktree's own Git folder, that contains the current path of the moved folder. */
const MOVED = 'parley-moved'
/** Maximum duration of a discard; one that takes longer counts as interrupted. Milliseconds. */
const MAX_DISCARD_MS = 600_000
const MAX_PATH_BYTES = 40_000

export interface MovedFolder {
  /** current path of the folder */
  path: string
  /** Removes the worktree from Git's list. Its folder stays, and Git can still be used in the folder. */
  retire(): Promise<void>
  /** Deletes the worktree. */
  remove(): Promise<void>
}

/**
 * Moves the folder of a worktree away and runs `work` with the moved folder. If `work` fails, the folder is moved back, unless it was
 * retired or removed. `key`: a name for the moved folder.
 * @throws GitError if the folder can't be moved, such as on Windows while a program uses it
 */
export async function withMovedFolder<T>(
  top: string,
  { common, key }: { common: string; key: string },
  work: (moved: MovedFolder) => Promise<T>,
): Promise<T> {
  const name = path.basename(top)
  const git = await gitFolder(top)
  if (existsSync(path.join(git, 'locked')))
    throw new GitError(l10n.t('The worktree {0} is locked. Run “git worktree unlock” first.', name))
  const to = path.join(path.dirname(top), FOLDER, key)
  await mkdir(path.dirname(to), { recursive: true })
  await writeFile(path.join(git, MOVED), to)
  let isGone = false
  try {
    await rename(top, to)
    recordGitFolder(to, git)
  } catch (error) {
    await rm(path.join(git, MOVED), { force: true })
    await removeEmpty(path.dirname(to))
    const text = l10n.t(
      "The folder of the worktree {0} couldn't be moved: {1}. Close the programs that use it, and try again.",
      name,
      messageOf(error),
    )
    throw new GitError(text)
  }
  try {
    return await work({
      path: to,
      async retire() {
        const retired = gitFolderOf(common, key)
        await mkdir(path.dirname(retired), { recursive: true })
        await rename(git, retired)
        isGone = true
        await link(to, retired)
        forgetGitFolder(top)
      },
      async remove() {
        isGone = true
        await removeTree(to)
        await removeTree(git)
        await removeEmpty(path.dirname(to))
        for (const one of [top, to]) forgetGitFolder(one)
      },
    })
  } catch (error) {
    if (!isGone) await moveBack(git, to, top)
    throw error
  }
}

export interface DiscardedFolder {
  root: string
  /** the worktree's own Git folder */
  git: string
  /** original path of the worktree */
  from: string
}

/** Resolves to the discarded worktree with this key, if its folder still exists. */
export async function findDiscarded(common: string, key: string): Promise<DiscardedFolder | undefined> {
  const git = gitFolderOf(common, key)
  const [at, from] = await Promise.all([readLine(path.join(git, MOVED)), readLine(path.join(git, 'gitdir'))])
  if (at === undefined || from === undefined || !isOurs(at, key) || !existsSync(at)) return undefined
  return { root: at, git, from: path.dirname(from) }
}

export async function discardedKeys(common: string): Promise<string[]> {
  return readdir(path.join(common, GIT_FOLDERS)).catch(() => [])
}

/** Moves a discarded worktree to `top`, where Git lists it again. `top` must not exist. */
export async function reinstate(common: string, discarded: DiscardedFolder, top: string): Promise<void> {
  await mkdir(path.dirname(top), { recursive: true })
  await mkdir(path.join(common, 'worktrees'), { recursive: true })
  await rename(discarded.root, top)
  const wanted = path.join(common, 'worktrees', path.basename(top))
  let git = wanted
  for (let number = 1; existsSync(git); number++) git = `${wanted}${number}`
  try {
    await writeFile(path.join(discarded.git, 'gitdir'), `${path.join(top, '.git')}\n`)
    await rename(discarded.git, git)
  } catch (error) {
    await rename(top, discarded.root)
    throw error
  }
  await link(top, git)
  forgetGitFolder(discarded.root)
  await rm(path.join(git, MOVED), { force: true })
  await removeEmpty(path.dirname(discarded.root))
}

/** Deletes the folder and records of a discarded worktree, but not its copy. */
export async function removeDiscarded(common: string, key: string): Promise<void> {
  const git = gitFolderOf(common, key)
  const at = await readLine(path.join(git, MOVED))
  if (at !== undefined && isOurs(at, key)) {
    forgetGitFolder(at)
    await removeTree(at)
    await removeEmpty(path.dirname(at))
  }
  await removeTree(git)
}

/** Moves folders back if their discard was interrupted, such as by the end of the process. */
export async function undoInterrupted(common: string, now: number): Promise<void> {
  const all = path.join(common, 'worktrees')
  for (const id of await readdir(all).catch(() => [])) {
    const git = path.join(all, id)
    const info = await stat(path.join(git, MOVED)).catch(() => undefined)
    if (!info || now - info.mtimeMs < MAX_DISCARD_MS) continue
    const [at, link] = await Promise.all([
      readLine(path.join(git, MOVED)),
      readLine(path.join(git, 'gitdir')),
    ])
    if (at !== undefined && link !== undefined && existsSync(at)) await moveBack(git, at, path.dirname(link))
    else await rm(path.join(git, MOVED), { force: true })
  }
}

async function moveBack(git: string, from: string, top: string): Promise<void> {
  try {
    await rename(from, top)
  } catch (error) {
    throw new GitError(
      l10n.t(
        "The worktree {0} couldn't be moved back: {1}. Its files are in {2}.",
        path.basename(top),
        messageOf(error),
        from,
      ),
    )
  }
  forgetGitFolder(from)
  await rm(path.join(git, MOVED), { force: true })
  await removeEmpty(path.dirname(from))
}

function gitFolderOf(common: string, key: string): string {
  return path.join(common, GIT_FOLDERS, key)
}

/** Whether a path is that of a moved folder: nothing else is ever deleted. */
function isOurs(at: string, key: string): boolean {
  return path.basename(at) === key && path.basename(path.dirname(at)) === FOLDER
}

async function link(folder: string, git: string): Promise<void> {
  recordGitFolder(folder, git)
  const file = path.join(folder, '.git')
  // an agent may have created a link with this name, which must not be followed
  await rm(file).catch(() => {})
  await writeFile(file, `gitdir: ${git}\n`, { flag: 'wx' }).catch(() => {})
}

async function readLine(file: string): Promise<string | undefined> {
  const text = await readBounded(file, MAX_PATH_BYTES).catch(() => '')
  return text.trim() || undefined
}

async function removeTree(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 })
}

/** Removes a folder only if it's empty. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {})
}
