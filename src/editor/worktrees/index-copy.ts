import { copyFile, lstat, mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Environment } from '../../common/processes/spawn-process.ts'
import { runUserGit, withoutLineEnd } from '../git.ts'
import { recordedGitFolder } from '../git-folders.ts'

/** Runs Git with a copy of the index. Resolves to the output. */
export type IndexGit = (args: readonly string[], input?: string) => Promise<string>

let indexes = 0

/** Runs `work` with a copy of the index, so that the user's own index stays unchanged. `env`: see {@link withTemporaryObjects}. */
export async function withIndexCopy<T>(
  top: string,
  work: (git: IndexGit, file: string) => Promise<T>,
  env?: Environment,
): Promise<T> {
  const folder = await gitFolder(top)
  const file = path.join(folder, `parley-index-${process.pid}-${++indexes}`)
  try {
    const index = path.join(folder, 'index')
    const { atime, mtime } = await stat(index)
    await copyFile(index, file)
    // Git compares the content of files that are as new as the index, since their times may hide a change
    await utimes(file, atime, mtime)
    return await work(
      (args, input) =>
        runUserGit(top, args, {
          env: { ...env, GIT_INDEX_FILE: file },
          ...(input !== undefined && { input }),
        }),
      file,
    )
  } finally {
    await rm(file, { force: true })
    await rm(`${file}.lock`, { force: true })
  }
}

/**
 * Runs `work` with an environment in which Git writes new objects to a temporary folder, and also reads the repository's objects.
 * Otherwise, objects that are needed only briefly (every version of every new file) would stay in the repository for weeks.
 */
export async function withTemporaryObjects<T>(
  top: string,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  const own = path.resolve(top, withoutLineEnd(await runUserGit(top, ['rev-parse', '--git-path', 'objects'])))
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-objects-'))
  try {
    return await work({
      GIT_OBJECT_DIRECTORY: folder,
      // a list of paths; Git reads a quoted path like a C string
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(own),
      // Git LFS would otherwise store each version of a large file in the repository, too
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'lfs.storage',
      GIT_CONFIG_VALUE_0: path.join(folder, 'lfs'),
    })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Resolves to the Git folder of one work tree, which isn't the folder that all worktrees share. */
export async function gitFolder(top: string): Promise<string> {
  return recordedGitFolder(top) ?? withoutLineEnd(await runUserGit(top, ['rev-parse', '--absolute-git-dir']))
}

/** Writes a Git tree of all files of a work tree, except ignored files and files in the folders `except`. Resolves to the tree's id. */
export async function writeTree(top: string, git: IndexGit, except: readonly string[] = []): Promise<string> {
  await showHidden(git, await hiddenFiles(top))
  await addChanges(top, git, '--all', except)
  return withoutLineEnd(await git(['write-tree']))
}

/**
 * Adds all changes to the index, of tracked files or also of new files, except in the folders `except`. For submodules, only the commit
 * that is checked out is read: `git add` would run Git in them, with settings that an agent can write.
 */
export async function addChanges(
  top: string,
  git: IndexGit,
  which: '--all' | '--update',
  except: readonly string[] = [],
): Promise<void> {
  const linked = await Promise.all(
    (await linkedRepositories(top)).map(async name => {
      const info = await lstat(path.join(top, name)).catch(() => undefined)
      return info?.isDirectory() ? [name] : []
    }),
  )
  const submodules = linked.flat()
  const excluded = [...except, ...submodules].map(name => `:(exclude,literal)${name}`)
  await git(['add', which, '--sparse', '--', '.', ...excluded])
  if (submodules.length > 0)
    await git(['update-index', '-z', '--stdin'], submodules.map(name => `${name}\0`).join(''))
}

/** Resolves to the paths of submodules, whether or not they are checked out. */
export async function linkedRepositories(top: string): Promise<string[]> {
  const list = ['ls-files', '--stage', '-z']
  const text = await runUserGit(top, list, { only: entry => entry.startsWith('160000 ') })
  return text.split('\0').flatMap(entry => /^160000 \w+ \d\t(.+)$/s.exec(entry)?.[1] ?? [])
}

/** Resolves to the existing files whose changes Git was told to ignore (`skip-worktree`, `assume-unchanged`). */
export async function hiddenFiles(top: string): Promise<string[]> {
  const marked = await runUserGit(top, ['ls-files', '-v', '-z'], { only: entry => !/^[A-RT-Z] /.test(entry) })
  const names = marked.split('\0').flatMap(entry => (entry === '' ? [] : [entry.slice(2)]))
  const all = await Promise.all(
    names.map(async name => ((await lstat(path.join(top, name)).catch(() => undefined)) ? [name] : [])),
  )
  return all.flat()
}

/** Clears the flags that make Git ignore the changes of these files. */
export async function showHidden(git: IndexGit, files: readonly string[]): Promise<void> {
  if (files.length === 0) return
  const input = files.map(file => `${file}\0`).join('')
  for (const flag of ['--no-skip-worktree', '--no-assume-unchanged']) {
    await git(['update-index', flag, '-z', '--stdin'], input)
  }
}
