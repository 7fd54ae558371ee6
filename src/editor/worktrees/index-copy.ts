import { copyFile, lstat, rm } from 'node:fs/promises'
import path from 'node:path'
import { lineOf, runUserGit } from '../git.ts'

/** Runs Git with a copy of the index. */
export type IndexGit = (args: readonly string[], input?: string) => Promise<string>

let indexes = 0

/** Runs `work` with a copy of the index, so that the user's own stays as it is. */
export async function withIndexCopy<T>(top: string, work: (git: IndexGit) => Promise<T>): Promise<T> {
  const folder = await gitFolder(top)
  const file = path.join(folder, `parley-index-${process.pid}-${++indexes}`)
  try {
    await copyFile(path.join(folder, 'index'), file)
    return await work((args, input) =>
      runUserGit(top, args, { env: { GIT_INDEX_FILE: file }, ...(input !== undefined && { input }) }),
    )
  } finally {
    await rm(file, { force: true })
    await rm(`${file}.lock`, { force: true })
  }
}

/** The own Git folder of a work tree. */
export async function gitFolder(top: string): Promise<string> {
  return lineOf(await runUserGit(top, ['rev-parse', '--absolute-git-dir']))
}

/** All files of a work tree, except ignored ones, as a tree. */
export async function treeOf(top: string, git: IndexGit): Promise<string> {
  await showHidden(git, await hiddenFiles(top))
  await git(['add', '--all', '--sparse', '--', '.'])
  return lineOf(await git(['write-tree']))
}

/** The files whose changes Git was told to ignore (`skip-worktree`, `assume-unchanged`) and that exist. */
export async function hiddenFiles(top: string): Promise<string[]> {
  const marked = await runUserGit(top, ['ls-files', '-v', '-z'], { only: entry => !/^[A-RT-Z] /.test(entry) })
  const names = marked.split('\0').flatMap(entry => (entry === '' ? [] : [entry.slice(2)]))
  const all = await Promise.all(
    names.map(async name => ((await lstat(path.join(top, name)).catch(() => undefined)) ? [name] : [])),
  )
  return all.flat()
}

/** Makes Git see the changes of these files. */
export async function showHidden(git: IndexGit, files: readonly string[]): Promise<void> {
  if (files.length === 0) return
  const input = files.map(file => `${file}\0`).join('')
  for (const flag of ['--no-skip-worktree', '--no-assume-unchanged']) {
    await git(['update-index', flag, '-z', '--stdin'], input)
  }
}
