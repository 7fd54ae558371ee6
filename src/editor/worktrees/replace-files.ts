/** Replaces several files of a work tree: either all or none. */

import type { Stats } from 'node:fs'
import { link, lstat, mkdir, mkdtemp, open, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { delay } from '../../common/async.ts'
import { errorCode, messageOf } from '../../common/errors.ts'
import { GIT_LOCK_MS, GIT_LOCK_PAUSE_MS } from '../../common/limits.ts'
import { GitError } from '../git.ts'

/** Runs `work` with a new folder on the same file system, from which files can be moved into the work tree without copying. */
export async function withFolderBeside<T>(
  { top, git }: { top: string; git: string },
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const isSameFileSystem = (await stat(top)).dev === (await stat(git)).dev
  const folder = await mkdtemp(path.join(isSameFileSystem ? git : top, '.parley-apply-'))
  let isLost = false
  try {
    return await work(folder)
  } catch (error) {
    isLost = error instanceof NotPutBackError
    throw error
  } finally {
    if (!isLost) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Thrown if some files couldn't be restored; they are in a folder that stays. */
class NotPutBackError extends GitError {}

/** The properties of each file at the time of the comparison, or `undefined` if the file didn't exist. */
export type Known = ReadonlyMap<string, Stats | undefined>

export async function statsOf(top: string, files: readonly string[]): Promise<Known> {
  const all = files.map(async file => {
    const stats = await lstat(path.join(top, file)).catch(() => undefined)
    return [file, stats] as const
  })
  return new Map(await Promise.all(all))
}

/**
 * Moves the files `known` of a work tree to `folder`, and then the files in `fresh` to their places; `finish` is the last step. If anything
 * fails, or a file's properties differ from `known`, everything is restored. Paths are relative.
 * @throws GitError
 */
export async function replaceFiles(
  top: string,
  {
    known,
    written,
    fresh,
    folder,
  }: { known: Known; written: readonly string[]; fresh: string; folder: string },
  finish: () => Promise<void>,
): Promise<void> {
  const undo: Array<() => Promise<unknown>> = []
  try {
    for (const [file, before] of known) {
      const [at, aside] = [path.join(top, file), path.join(folder, file)]
      if (!before) continue
      await mkdir(path.dirname(aside), { recursive: true })
      await rename(at, aside)
      undo.push(async () => {
        await mkdir(path.dirname(at), { recursive: true })
        await place(aside, at)
      })
      if (!isSame(await lstat(aside), before)) throw changedMeanwhile([file])
    }
    for (const file of known.keys()) await removeEmptyFolders(top, path.dirname(file))
    for (const file of written) {
      const [at, from] = [path.join(top, file), path.join(fresh, file)]
      undo.push(() => removeEmptyFolders(top, path.dirname(file)))
      if (!(await isPlainFolder(top, path.dirname(file)))) throw inTheWay(file)
      const { ino } = await lstat(from)
      await place(from, at).catch(error => {
        throw errorCode(error) === 'EEXIST' ? fileExistsError(file) : error
      })
      undo.push(async () => {
        if ((await lstat(at).catch(() => undefined))?.ino === ino) await rm(at)
      })
    }
    await finish()
  } catch (error) {
    const failed: string[] = []
    for (const step of undo.reverse()) await step().catch(reason => failed.push(messageOf(reason)))
    if (failed.length === 0) throw error
    throw new NotPutBackError(
      l10n.t(
        "{0}. Some files couldn't be put back ({1}). They are in {2}.",
        messageOf(error),
        failed.join(', '),
        folder,
      ),
    )
  }
}

export function changedMeanwhile(files: readonly string[]): GitError {
  return new GitError(l10n.t('These files were changed meanwhile: {0}. Try again.', files.join(', ')))
}

export function fileExistsError(file: string): GitError {
  return new GitError(l10n.t('{0} exists in the workspace, and Git ignores it. Rename it first.', file))
}

function inTheWay(file: string): GitError {
  return new GitError(
    l10n.t("{0} can't be created, since a link or a file is where its folder is needed.", file),
  )
}

/**
 * Runs `work` while Git can't change the index. `known`: the properties of the index when it was read. `work` gets a function that replaces
 * the index by `next`, to be called in its last step.
 * @throws GitError before `work` starts, if another program is changing the index or has changed it
 */
export async function withIndexLock(
  git: string,
  { known, next }: { known: Stats; next: string | undefined },
  work: (replaceIndex: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const index = path.join(git, 'index')
  const lock = `${index}.lock`
  const content = await readFile(next ?? index)
  const end = performance.now() + GIT_LOCK_MS
  let handle = await open(lock, 'wx').catch(waitable)
  while (!handle) {
    if (performance.now() > end) {
      throw new GitError(
        l10n.t(
          'Another Git command is running in the workspace. Wait until it has finished, or delete {0} if none is running.',
          lock,
        ),
      )
    }
    await delay(GIT_LOCK_PAUSE_MS)
    handle = await open(lock, 'wx').catch(waitable)
  }
  let isMine = true
  try {
    await handle.writeFile(content).finally(() => handle.close())
    if (!isSame(await stat(index), known)) throw changedMeanwhile([index])
    await work(async () => {
      if (next === undefined) return
      await rename(lock, index)
      isMine = false
    })
  } finally {
    if (isMine) await rm(lock, { force: true })
  }
}

function waitable(error: unknown): undefined {
  if (errorCode(error) !== 'EEXIST') throw error
}

/** Moves a file to a path that must not exist. */
async function place(from: string, to: string): Promise<void> {
  try {
    // unlike a rename, a hard link never replaces a file
    await link(from, to)
    await rm(from).catch(() => {})
  } catch (error) {
    if (errorCode(error) === 'EEXIST' || (await lstat(to).catch(() => undefined))) throw error
    // the file system has no hard links
    await rename(from, to)
  }
}

/** Creates the folder if necessary. Resolves to false if a link or a file is in its path. */
export async function isPlainFolder(root: string, relative: string): Promise<boolean> {
  let at = root
  for (const name of relative === '.' ? [] : relative.split(/[\\/]/)) {
    at = path.join(at, name)
    await mkdir(at).catch(error => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
    if (!(await lstat(at)).isDirectory()) return false
  }
  return true
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs
}

/** Removes a folder of the work tree and its parents, up to the first that isn't empty. */
async function removeEmptyFolders(top: string, relative: string): Promise<void> {
  for (let at = relative; at !== '.'; at = path.dirname(at)) {
    try {
      await rmdir(path.join(top, at))
    } catch {
      return
    }
  }
}
