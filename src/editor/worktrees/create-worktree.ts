import { constants, existsSync } from 'node:fs'
import { copyFile, lstat, mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { isWindowsDevice } from '../../common/windows-names.ts'
import { realFolder } from '../folder-comparison.ts'
import { GitError, runUserGit, withoutLineEnd } from '../git.ts'
import { forgetGitFolder, recordGitFolder, recordRepository } from '../git-folders.ts'
import { PathRules } from '../path-rules.ts'
import { gitFolder } from './index-copy.ts'
import { worktreesFolder } from './linked-worktrees.ts'
import { isPlainFolder } from './replace-files.ts'
import {
  type CopiedFile,
  findWorktree,
  type Repository,
  registeredPaths,
  type Worktree,
  writeRecord,
} from './repository.ts'

/** The file that lists, in the syntax of `.gitignore`, the ignored files that are copied to a new worktree. */
const INCLUDES = '.worktreeinclude'
export const BRANCHES = 'parley'
const MAX_NAME = 60
const MAX_COPIED = 5000
/** Maximum total size of the copied files. Bytes. */
const MAX_COPIED_SIZE = 1_000_000_000

export interface NewWorktree {
  name: string
  /** a branch, tag or commit; by default, the commit that is checked out */
  from?: string
  /** the folder for worktrees: absolute, with `~`, or relative to the repository; empty for the default */
  folder: string
}

export interface CreatedWorktree {
  worktree: Worktree
  /** notes for the user */
  notes: string[]
}

/** Derives a name for a worktree from the user's words; the name is valid for a folder and for a branch. */
export function nameFrom(text: string): string {
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  let name = ''
  for (const word of words) {
    const longer = name === '' ? word : `${name}-${word}`
    if (longer.length > 40) break
    name = longer
  }
  name ||= Array.from(words[0] ?? '')
    .slice(0, 20)
    .join('')
  return nameProblem(name) === undefined ? name : 'session'
}

/** Returns why a name isn't valid for a worktree; `undefined` if it's valid. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return l10n.t('Enter a name.')
  if (name.length > MAX_NAME) return l10n.t('The name is too long.')
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._-]*$/u.test(name)) {
    return l10n.t(
      'Start with a letter, digit or underscore, and use only letters, digits, dots, dashes and underscores.',
    )
  }
  if (/\.\.|\.$|\.lock$/i.test(name) || isWindowsDevice(name)) {
    return l10n.t("“{0}” isn't a valid name.", name)
  }
  return undefined
}

/** Resolves to the name, with a number added if a worktree or a branch of that name exists. */
export async function freeName(repository: Repository, folder: string, wanted: string): Promise<string> {
  const branches = (await listBranches(repository)).map(branch => branch.name)
  const root = worktreesFolder(repository, folder)
  const rules = new PathRules()
  // includes worktrees whose folder is currently missing
  const registered = await registeredPaths(repository)
  const real = await realFolder(root)
  const isTaken = (name: string) =>
    existsSync(path.join(root, name)) ||
    registered.some(at => rules.same(at, path.join(real, name))) ||
    branches.some(branch => rules.same(branch, `${BRANCHES}/${name}`))
  let name = wanted
  for (let number = 2; isTaken(name); number++) name = `${wanted}-${number}`
  return name
}

export interface Branch {
  name: string
  commit: string
}

/** Resolves to the local and remote branches, latest first. Each has its commit, since a tag may have the same name. */
export async function listBranches({ common }: Pick<Repository, 'common'>): Promise<Branch[]> {
  const args = [
    'for-each-ref',
    '--sort=-committerdate',
    '--format=%(symref)%09%(objectname)%09%(refname)',
    'refs/heads',
    'refs/remotes',
  ]
  return (await runUserGit(common, args)).split('\n').flatMap(line => {
    const [, commit, name] = /^\t(\w+)\trefs\/(?:heads|remotes)\/(.+)$/.exec(line) ?? []
    return commit !== undefined && name !== undefined ? [{ name, commit }] : []
  })
}

/**
 * Creates a worktree with its own branch, and copies the files that `.worktreeinclude` lists.
 * @throws GitError if Git refuses; nothing of the worktree remains then
 */
export async function createWorktree(
  repository: Repository,
  { name, from = repository.head, folder }: NewWorktree,
): Promise<CreatedWorktree> {
  const problem = nameProblem(name)
  if (problem !== undefined) throw new GitError(problem)
  const parent = worktreesFolder(repository, folder)
  await checkFolder(repository, parent)
  const at = path.join(parent, name)
  const verify = ['rev-parse', '--verify', '--end-of-options', `${from}^{commit}`]
  const base = withoutLineEnd(await runUserGit(repository.top, verify))
  const branch = `${BRANCHES}/${name}`
  const rules = new PathRules()
  if ((await listBranches(repository)).some(one => rules.same(one.name, branch))) {
    throw new GitError(l10n.t("There's already a branch {0}. Choose another name.", branch))
  }
  await mkdir(parent, { recursive: true })
  const real = path.join(await realFolder(parent), name)
  const isRegistered = async () => (await registeredPaths(repository)).some(one => rules.same(one, real))
  // Git keeps the worktree's index and commits until the folder is back, for example on a removable drive
  if (await isRegistered()) {
    throw new GitError(
      l10n.t("There's already a worktree at {0}, also if its folder is missing. Choose another name.", at),
    )
  }
  try {
    await runUserGit(repository.top, ['worktree', 'add', '--no-track', '-b', branch, '--', at, base])
    const git = await gitFolder(at)
    recordRepository(repository.common)
    for (const one of new Set([at, real])) recordGitFolder(one, git)
    await writeRecord(at, { base, branch, copied: [] })
    const { copied, notes } = await copyIncluded(repository.top, at)
    await writeRecord(at, { base, branch, copied })
    const worktree = await findWorktree(at)
    if (!worktree) throw new GitError(l10n.t('The worktree {0} no longer exists.', name))
    if (existsSync(path.join(at, '.gitmodules'))) {
      notes.push(
        l10n.t(
          "Submodules aren't checked out in a new worktree. If the agent needs them, set “git submodule update --init” as the setup command.",
        ),
      )
    }
    return { worktree, notes }
  } catch (error) {
    for (const one of [at, real]) forgetGitFolder(one)
    // remove only a worktree that Git registered: a folder that existed before belongs to the user
    if (await isRegistered().catch(() => false)) {
      await runUserGit(repository.common, ['worktree', 'remove', '--force', '--', at]).catch(() => {})
    }
    await runUserGit(repository.common, ['update-ref', '-d', `refs/heads/${branch}`, base]).catch(() => {})
    throw error
  }
}

/** Checks that a folder inside of the repository is ignored by Git: otherwise Git would list all files in it as new. */
async function checkFolder({ main, top }: Repository, parent: string): Promise<void> {
  const rules = new PathRules()
  for (const root of new Set([main, top])) {
    if (!rules.contains(root, parent)) continue
    const isIgnored = await runUserGit(root, ['check-ignore', '--quiet', '--', `${parent}/x`]).catch(
      () => undefined,
    )
    if (isIgnored !== undefined) continue
    throw new GitError(
      l10n.t(
        "The folder for worktrees {0} is in the repository, and Git doesn't ignore it. Change the setting parley.worktrees.folder.",
        parent,
      ),
    )
  }
}

/**
 * Copies ignored files that `.worktreeinclude` lists, such as `.env`. Files that Git doesn't ignore aren't copied: they would be changes of
 * the worktree. Links are neither copied nor followed.
 */
async function copyIncluded(top: string, to: string): Promise<{ copied: CopiedFile[]; notes: string[] }> {
  const patterns = path.join(top, INCLUDES)
  const info = await lstat(patterns).catch(() => undefined)
  if (!info?.isFile()) return { copied: [], notes: [] }
  const list = ['ls-files', '--others', '--ignored', `--exclude-from=${patterns}`, '-z']
  const matching = await runUserGit(top, list)
  if (matching === '') return { copied: [], notes: [] }
  // Git would read a name that begins with a colon as a pattern
  const names = matching.split('\0').filter(name => name !== '' && !name.endsWith('/'))
  const input = names.map(name => `./${name}\0`).join('')
  const checked = await runUserGit(top, ['check-ignore', '-z', '--stdin'], { input, codes: [0, 1] })
  const files = checked.split('\0').flatMap(name => (name === '' ? [] : [name.slice(2)]))
  const [source, target] = await Promise.all([realFolder(top), realFolder(to)])
  const copied: CopiedFile[] = []
  const failed: string[] = []
  let size = 0
  for (const file of files) {
    const most = copied.length < MAX_COPIED ? MAX_COPIED_SIZE - size : -1
    const copy = await copyOne(source, target, file, most).catch(() => undefined)
    if (copy) copied.push(copy)
    else failed.push(file)
    size += copy?.size ?? 0
  }
  const notes =
    failed.length === 0
      ? []
      : [
          failed.length === 1
            ? l10n.t("1 file of {0} wasn't copied: {1}", INCLUDES, failed[0]!)
            : l10n.t("{0} files of {1} weren't copied, such as {2}", failed.length, INCLUDES, failed[0]!),
        ]
  return { copied, notes }
}

/** Copies a file. Resolves to `undefined` if the file isn't a plain file inside of both folders, or the copy exists already. */
async function copyOne(
  source: string,
  target: string,
  file: string,
  most: number,
): Promise<CopiedFile | undefined> {
  const from = path.join(source, file)
  const info = await lstat(from)
  if (!info.isFile() || info.size > most) return undefined
  if (!new PathRules().contains(source, await realpath(from))) return undefined
  // the commit may contain a link where the other work tree has a folder
  if (!(await isPlainFolder(target, path.dirname(path.normalize(file))))) return undefined
  const to = path.join(target, file)
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  const { size, mtimeMs } = await lstat(to)
  return { file, size, mtimeMs }
}
