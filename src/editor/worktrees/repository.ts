/** Reads and removes the worktrees that Parley created for sessions. */

import { existsSync } from 'node:fs'
import { lstat, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { CHANGES_GIT_MS } from '../../common/limits.ts'
import { parseJsonAs } from '../../common/parse-json.ts'
import { readBounded } from '../../common/read-bounded.ts'
import { writeWhole } from '../../common/whole-files.ts'
import { realFolder } from '../folder-comparison.ts'
import { GitError, runGit, runUserGit, withoutLineEnd } from '../git.ts'
import { isRecordedRepository, recordedGitFolder, recordGitFolder, recordRepository } from '../git-folders.ts'
import { PathRules } from '../path-rules.ts'
import { withMovedFolder } from './discarded-folders.ts'
import { gitFolder, hiddenFiles, linkedRepositories, showHidden, withIndexCopy } from './index-copy.ts'
import { MAX_LINK_BYTES, worktreeRoot } from './linked-worktrees.ts'

export interface Repository {
  /** the root of the work tree that contains the folder */
  top: string
  /** the Git folder that all worktrees share */
  common: string
  /** the root of the main work tree; the Git folder if the repository has none */
  main: string
  /** the commit that is checked out */
  head: string
  /** Absent if no branch is checked out. */
  branch?: string
}

const RECORD = 'parley.json'
/** Maximum number of names in a message. */
const MAX_NAMES = 10
const record = z.object({
  /** the commit from which the worktree was created */
  base: z.string().regex(/^[\da-f]{40,64}$/),
  /** the branch that was created with the worktree; deleted with the worktree */
  branch: z.string().optional(),
  /** ignored files that were copied into the worktree, with their size and time after copying */
  copied: z.array(z.object({ file: z.string(), size: z.number(), mtimeMs: z.number() })).catch([]),
  /** The user opened a window for the worktree, so the worktree is kept even if it has no changes. */
  isOpened: z.boolean().optional(),
  /** The branch that was checked out in a worktree when it was discarded. */
  discardedBranch: z.string().optional(),
})

export type CopiedFile = WorktreeRecord['copied'][number]

/** Parley's record of a worktree. Git deletes the record with the worktree. */
export type WorktreeRecord = z.infer<typeof record>

export interface Worktree extends WorktreeRecord {
  /** root of the worktree */
  path: string
  name: string
  head: string
  /** the branch that is checked out in the worktree */
  current?: string
}

/** Data that would be lost with a worktree. */
export interface WorktreeState {
  /** files with uncommitted changes, including new files */
  changed: string[]
  /** the number of commits that aren't on any other branch */
  commits: number
  /** Whether Git is in the middle of a merge, rebase or the like. */
  isBusy: boolean
  /** Nested repositories with their own history, such as submodules. */
  nested: string[]
  /** Ignored files or folders, except unchanged copies. */
  ignored: string[]
}

export function isEmpty({ changed, commits, isBusy, nested }: WorktreeState): boolean {
  return changed.length === 0 && commits === 0 && !isBusy && nested.length === 0
}

/**
 * Resolves to the repository of a folder. Rejects with the reason if Git can't create worktrees of the repository.
 * @throws GitError
 */
export async function openRepository(folder: string): Promise<Repository> {
  // Git prints an unknown option, so the random text marks the end of an answer: no folder has this name
  const end = `--${crypto.randomUUID()}`
  const questions = [
    '--git-common-dir',
    '--absolute-git-dir',
    '--show-toplevel',
    '--show-superproject-working-tree',
  ]
  let answers: string
  try {
    answers = await runUserGit(folder, ['rev-parse', ...questions.flatMap(question => [question, end])])
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    if (/not a git repository/i.test(error.message)) {
      throw new GitError(l10n.t("The folder {0} isn't in a Git repository.", folder))
    }
    if (!/must be run in a work tree/i.test(error.message)) throw error
    throw new GitError(
      l10n.t('The repository {0} is bare. Open a folder in which files are checked out.', folder),
    )
  }
  const [common, own, top, superproject] = answers.split(`${end}\n`).map(withoutLineEnd)
  if (common === undefined || own === undefined || top === undefined)
    throw new GitError(l10n.t('Git failed.'))
  if (superproject !== '') {
    throw new GitError(l10n.t("{0} is a submodule. Worktrees of submodules aren't supported.", top))
  }
  const head = await readHead(top).catch(() => undefined)
  if (head === undefined) {
    throw new GitError(l10n.t('The repository {0} has no commits yet. Make the first one.', top))
  }
  const shared = path.resolve(folder, common)
  const main =
    path.basename(shared) === '.git' ? path.dirname(shared) : path.resolve(own) === shared ? top : shared
  return { top: path.resolve(top), common: shared, main, ...head }
}

/** Resolves to the commit that is checked out, and its branch, unless HEAD is detached. Rejects if there is no commit. */
async function readHead(top: string): Promise<Pick<Repository, 'head' | 'branch'>> {
  const answers = await runUserGit(top, ['rev-parse', 'HEAD^{commit}', '--symbolic-full-name', 'HEAD', '--'])
  const [head = '', name] = answers.split(/\r?\n/)
  // Git prints no name if a branch has the name HEAD
  const branch = name?.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : await currentBranch(top)
  return { head, ...(branch !== undefined && { branch }) }
}

/** Resolves to the branch that is checked out; `undefined` if HEAD is detached. */
export async function currentBranch(top: string): Promise<string | undefined> {
  const name = withoutLineEnd(await runUserGit(top, ['symbolic-ref', '--quiet', 'HEAD'], { codes: [0, 1] }))
  return name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : undefined
}

/** Resolves to the real paths of all work trees that Git has registered, even if their folder is missing. */
export async function registeredPaths({ common }: Pick<Repository, 'common'>): Promise<string[]> {
  const text = await runUserGit(common, ['worktree', 'list', '--porcelain'])
  return text.split('\n').flatMap(line => /^worktree (.+)$/.exec(line)?.[1] ?? [])
}

/** Resolves to the worktrees that Parley created, in Git's order, except worktrees whose folder is missing. */
export async function listWorktrees({ common }: Pick<Repository, 'common'>): Promise<Worktree[]> {
  recordRepository(common)
  const paths = await registeredPaths({ common })
  const all = await Promise.all(paths.map(folder => findWorktree(folder).catch(() => undefined)))
  return all.filter(one => one !== undefined)
}

/** Resolves to the worktree, created by Parley, that contains the folder; `undefined` if there is none. */
export async function findWorktree(folder: string): Promise<Worktree | undefined> {
  const at = await worktreeRoot(folder)
  if (!at) return undefined
  if (recordedGitFolder(at.root) === undefined) {
    if (!(await isLinked(at))) return undefined
    // the worktree is new at this path, for example because it was moved
    recordGitFolder(at.root, at.git)
  }
  return readWorktree(at)
}

/** Whether a recorded repository has registered this worktree. The worktree's own files aren't evidence. */
async function isLinked({ root, git }: { root: string; git: string }): Promise<boolean> {
  if (!isRecordedRepository(path.dirname(path.dirname(git)))) return false
  const link = await readBounded(path.join(git, 'gitdir'), MAX_LINK_BYTES).catch(() => '')
  return new PathRules().same(path.dirname(link.trim()), await realFolder(root))
}

/** Resolves to the worktree with this root and own Git folder; `undefined` if Parley didn't create it. */
export async function readWorktree({
  root,
  git,
}: {
  root: string
  git: string
}): Promise<Worktree | undefined> {
  const known = await readRecord(git)
  if (!known) return undefined
  const { head, branch: current } = await readHead(root)
  return {
    ...known,
    path: root,
    name: path.basename(root),
    head,
    ...(current !== undefined && { current }),
  }
}

async function readRecord(git: string): Promise<WorktreeRecord | undefined> {
  const text = await readFile(path.join(git, RECORD), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseJsonAs(record, text)
}

export async function writeRecord(
  worktree: string,
  { base, branch, copied, isOpened, discardedBranch }: WorktreeRecord,
): Promise<void> {
  const known = { base, branch, copied, isOpened, discardedBranch }
  const file = path.join(await gitFolder(worktree), RECORD)
  await writeWhole(file, JSON.stringify(known), { isUsers: true })
}

/**
 * Resolves to the time when the record of a worktree was last written, in milliseconds since the epoch: when the worktree was created or
 * moved to another branch.
 */
export async function recordedAt(worktree: string): Promise<number> {
  return (await stat(path.join(await gitFolder(worktree), RECORD))).mtimeMs
}

export async function readWorktreeState(
  worktree: Pick<Worktree, 'path' | 'branch' | 'copied'>,
): Promise<WorktreeState> {
  const top = worktree.path
  const git = await gitFolder(top)
  const status = [
    ...['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'],
    ...['--ignored=matching', '--ignore-submodules=dirty'],
  ]
  const hidden = await hiddenFiles(top)
  const text =
    hidden.length === 0
      ? await runUserGit(top, status)
      : await withIndexCopy(top, async copy => {
          await showHidden(copy, hidden)
          return copy(status)
        })
  const entries = text.split('\0').filter(entry => entry !== '')
  const named = (isWanted: (entry: string) => boolean) =>
    entries.filter(isWanted).map(entry => entry.slice(3))
  const unchanged = new Set<string>()
  for (const { file, size, mtimeMs } of worktree.copied) {
    const info = await lstat(path.join(top, file)).catch(() => undefined)
    if (info?.isFile() && info.size === size && info.mtimeMs === mtimeMs) unchanged.add(file)
  }
  return {
    changed: named(entry => !entry.startsWith('!!')),
    commits: await ownCommits(worktree),
    isBusy: await isBusy(git),
    nested: await nestedRepositories(top),
    ignored: named(entry => entry.startsWith('!!')).filter(file => !unchanged.has(file)),
  }
}

/**
 * Counts the commits that would be lost with a worktree. The branch that was created with it is deleted with it, even if another branch or
 * none is checked out.
 */
async function ownCommits({ path: top, branch }: Pick<Worktree, 'path' | 'branch'>): Promise<number> {
  const except = [branch, await currentBranch(top)].flatMap(name =>
    name === undefined ? [] : `--exclude=${name}`,
  )
  const args = ['rev-list', '--count', 'HEAD', '--not', ...except, '--branches', '--tags', '--remotes']
  return Number(withoutLineEnd(await runUserGit(top, args)))
}

/** Whether Git is in the middle of a merge, rebase or the like, even if it stopped without conflicts. */
export async function isBusy(git: string): Promise<boolean> {
  const names = [
    'MERGE_HEAD',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'rebase-merge',
    'rebase-apply',
    // several commits are being picked or reverted
    'sequencer',
    'BISECT_LOG',
  ]
  const found = await Promise.all(names.map(name => stat(path.join(git, name)).catch(() => undefined)))
  return found.some(Boolean)
}

/**
 * Resolves to the folders in the worktree that are checked out from another repository: submodules, and repositories that the agent
 * created.
 */
export async function nestedRepositories(top: string): Promise<string[]> {
  const linked = await linkedRepositories(top)
  const unknown = await unknownRepositories(top)
  const all = await Promise.all(
    [...new Set([...linked, ...unknown])].map(async name => {
      const isThere = await stat(path.join(top, name, '.git')).catch(() => undefined)
      return isThere ? [name] : []
    }),
  )
  return all.flat()
}

/** Resolves to the submodules with commits, or uncommitted changes, that the repository doesn't contain. */
export async function changedSubmodules(top: string): Promise<string[]> {
  const all = await linkedRepositories(top)
  if (all.length === 0) return []
  const status = ['status', '--porcelain=v2', '-z', '--no-renames', '--ignore-submodules=dirty']
  const text = await runUserGit(top, [...status, '--', ...all.map(name => `:(literal)${name}`)])
  const moved = text
    .split('\0')
    .flatMap(entry => /^1 \S+ S(?!\.{3})\S{3} (?:\S+ ){5}(.+)$/s.exec(entry)?.[1] ?? [])
  const dirty = all.map(async name => {
    const at = path.join(top, name)
    if (moved.includes(name) || !existsSync(path.join(at, '.git'))) return []
    // an agent can write the submodule's settings, so run Git safely
    const own = ['status', '--porcelain', '-z', '--ignore-submodules=dirty']
    const changes = await runGit(at, own, { timeoutMs: CHANGES_GIT_MS, most: 10_000_000 })
    return changes?.text === '' ? [] : [name]
  })
  return [...moved, ...(await Promise.all(dirty)).flat()]
}

/** Resolves to the folders with a repository that Git doesn't know as a submodule. */
export async function unknownRepositories(top: string, ...except: string[]): Promise<string[]> {
  const list = ['ls-files', '--others', ...except, '-z']
  // Git lists a nested repository as a name with a slash, instead of its files
  const text = await runUserGit(top, list, { only: name => name.endsWith('/') })
  return text.split('\0').flatMap(name => (name === '' ? [] : [name.slice(0, -1)]))
}

/** Throws if there are nested repositories: `git add` would add them as a mere link to a commit that nobody else has. */
export async function checkNoRepositories(top: string): Promise<void> {
  const found = await unknownRepositories(top, '--exclude-standard')
  if (found.length === 0) return
  throw new GitError(
    l10n.t(
      'The worktree contains repositories with a history of their own: {0}. Move them, or make Git ignore them first.',
      found.join(', '),
    ),
  )
}

/**
 * Removes a worktree without changes, and the branch that was created with it. Ignored files are deleted, too. `ignored`: the ignored files
 * that the user agreed to delete; if there are other ignored files, nothing is removed.
 */
export async function removeWorktree(
  repository: Pick<Repository, 'common'>,
  worktree: Worktree,
  { ignored }: { ignored?: readonly string[] } = {},
): Promise<void> {
  const { common } = repository
  const check = async (top: string) => {
    const state = await readWorktreeState({ ...worktree, path: top })
    if (!isEmpty(state)) {
      throw new GitError(
        l10n.t('The worktree {0} has changes or commits that exist only there.', worktree.name),
      )
    }
    if (ignored) checkIgnored(worktree, state, ignored)
  }
  await check(worktree.path)
  await withMovedFolder(worktree.path, { common, key: worktree.name }, async moved => {
    await check(moved.path)
    await moved.remove()
  })
  await deleteBranch(repository, worktree, worktree.head)
}

/** Throws if a worktree to delete has ignored files that the user didn't agree to delete. */
export function checkIgnored(
  { name }: Pick<Worktree, 'name'>,
  { ignored }: Pick<WorktreeState, 'ignored'>,
  agreed: readonly string[],
): void {
  const others = ignored.filter(file => !agreed.includes(file))
  if (others.length === 0) return
  throw new GitError(
    l10n.t(
      "New files that Git ignores are in the worktree {0}: {1}. The worktree wasn't discarded. Try again.",
      name,
      others.slice(0, MAX_NAMES).join(', '),
    ),
  )
}

/** Deletes the branch that was created with a worktree if the branch is still at this commit. */
export async function deleteBranch(
  { common }: Pick<Repository, 'common'>,
  { branch }: Pick<Worktree, 'branch'>,
  commit: string,
): Promise<void> {
  if (branch === undefined) return
  // the branch may be checked out elsewhere, or may have moved
  const used = await runUserGit(common, ['worktree', 'list', '--porcelain'])
  if (used.split('\n').includes(`branch refs/heads/${branch}`)) return
  await runUserGit(common, ['update-ref', '-d', `refs/heads/${branch}`, commit]).catch(() => {})
}
