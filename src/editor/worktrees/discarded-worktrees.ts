/**
 * Keeps copies of discarded worktrees as commits, which Git keeps as long as a reference names them. A worktree is discarded only when its
 * copy has all of its files, except ignored files.
 */

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { GitError, runUserGit, withoutLineEnd } from '../git.ts'
import { isRecordedRepository } from '../git-folders.ts'
import { PathRules } from '../path-rules.ts'
import { BRANCHES, createWorktree, freeName, type NewWorktree } from './create-worktree.ts'
import {
  type DiscardedFolder,
  discardedKeys,
  findDiscarded,
  reinstate,
  removeDiscarded,
  undoInterrupted,
  withMovedFolder,
} from './discarded-folders.ts'
import { withIndexCopy, writeTree } from './index-copy.ts'
import {
  checkIgnored,
  deleteBranch,
  findWorktree,
  nestedRepositories,
  type Repository,
  readWorktree,
  readWorktreeState,
  registeredPaths,
  type Worktree,
  writeRecord,
} from './repository.ts'

const DISCARDED_REFS = 'refs/parley/discarded'
export const DISCARDED_WORKTREE_DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1000
/** Environment for commits of copies: they have Parley as the author, so that they don't need the user's name and address. */
const AUTHOR = {
  GIT_AUTHOR_NAME: 'Parley',
  GIT_AUTHOR_EMAIL: 'parley@localhost',
  GIT_COMMITTER_NAME: 'Parley',
  GIT_COMMITTER_EMAIL: 'parley@localhost',
}
/** How long the folder of a discarded worktree is kept, in milliseconds. */
const FOLDER_MS = DAY_MS

export async function commitTree(
  top: string,
  tree: string,
  parents: readonly string[],
  message = 'Parley',
): Promise<string> {
  const args = ['commit-tree', '--no-gpg-sign', tree, ...parents.flatMap(parent => ['-p', parent])]
  return withoutLineEnd(await runUserGit(top, args, { env: AUTHOR, input: message }))
}

/** Throws if a worktree to discard contains other repositories. */
export function checkNoHistory(nested: readonly string[]): void {
  if (nested.length > 0) {
    throw new GitError(
      l10n.t(
        'The worktree contains repositories with a history of their own, of which no copy can be kept: {0}. Save what you need and delete the worktree with “git worktree remove --force”.',
        nested.join(', '),
      ),
    )
  }
}

/**
 * Discards a worktree, but keeps a copy for {@link DISCARDED_WORKTREE_DAYS} days. Resolves to the name of the copy. The folder, without
 * ignored files, is kept for {@link FOLDER_MS}, so that later writes by programs aren't lost. `ignored`: the files without a copy that the
 * user agreed to delete; if there are other ignored files, nothing is discarded.
 */
export async function discardWorktree(
  { common }: Pick<Repository, 'common'>,
  { path: top, name }: Worktree,
  { ignored, now = Date.now() }: { ignored?: readonly string[]; now?: number } = {},
): Promise<string> {
  const key = `${name}-${now.toString(36)}`
  const ref = `${DISCARDED_REFS}/${key}`
  checkNoHistory(await nestedRepositories(top))
  const { moved, worktree, state } = await withMovedFolder(top, { common, key }, async moved => {
    const worktree = await findWorktree(moved.path)
    if (!worktree) throw new GitError(l10n.t('The worktree {0} no longer exists.', name))
    const state = await readWorktreeState(worktree)
    checkNoHistory(state.nested)
    if (ignored) checkIgnored({ name }, state, ignored)
    await runUserGit(common, ['update-ref', ref, await copyOf(worktree, name)])
    try {
      await moved.retire()
    } catch (error) {
      await runUserGit(common, ['update-ref', '-d', ref])
      throw error
    }
    return { moved, worktree, state }
  })
  const { current, head } = worktree
  if (current !== undefined) {
    await writeRecord(moved.path, { ...worktree, discardedBranch: current })
    // the folder's files stay unchanged without the branch
    await runUserGit(moved.path, ['update-ref', '--no-deref', 'HEAD', head])
  }
  await deleteBranch({ common }, worktree, head)
  // ignored files may take up most of the disk space
  for (const file of state.ignored)
    await rm(path.join(moved.path, file), { recursive: true, force: true }).catch(() => {})
  return ref
}

/**
 * Commits all files of a worktree except ignored files. The parents of the commit are HEAD and a commit of the staged files. Resolves to
 * the commit's id.
 */
async function copyOf({ path: top, head }: Pick<Worktree, 'path' | 'head'>, name: string): Promise<string> {
  const { staged, tree } = await withIndexCopy(top, async git => ({
    // there is no tree of the index during a merge with conflicts
    staged: withoutLineEnd(await git(['write-tree']).catch(() => '')),
    tree: await writeTree(top, git),
  }))
  // the same structure as commits of `git stash`
  const index = staged === '' ? [] : [await commitTree(top, staged, [head], name)]
  return commitTree(top, tree, [head, ...index], name)
}

export interface DiscardedWorktree {
  ref: string
  name: string
  /** time of the discard, in milliseconds since the epoch */
  at: number
}

/**
 * Resolves to the copies of discarded worktrees, latest first. Deletes copies that are too old. `ageOf`: returns how long ago a time was,
 * even if the clock was set since.
 */
export async function listDiscarded(
  { common }: Pick<Repository, 'common'>,
  ageOf: (time: number) => number,
): Promise<DiscardedWorktree[]> {
  const args = ['for-each-ref', '--sort=-committerdate', '--format=%(refname)%09%(subject)', DISCARDED_REFS]
  const all = (await runUserGit(common, args)).split('\n').flatMap((line): DiscardedWorktree[] => {
    const [ref = '', name = ''] = line.split('\t')
    const at = discardedAt(ref)
    return ref === '' || at === undefined ? [] : [{ ref, name, at }]
  })
  const isRecent = ({ at }: DiscardedWorktree) => ageOf(at) < DISCARDED_WORKTREE_DAYS * DAY_MS
  for (const { ref } of all.filter(one => !isRecent(one))) {
    await removeDiscarded(common, keyOf(ref))
    await runUserGit(common, ['update-ref', '-d', ref])
  }
  return all.filter(isRecent)
}

/**
 * Deletes the folders of worktrees that were discarded more than {@link FOLDER_MS} ago, after checking that their copies contain
 * everything. Reverts interrupted discards. Never rejects.
 */
export async function tidyDiscarded(common: string, log: Logger, now = Date.now()): Promise<void> {
  // the `.git` file in a worktree may name any folder
  if (!isRecordedRepository(common)) return
  const tidy = async (key: string) => {
    const at = discardedAt(key)
    if (at === undefined || now - at < FOLDER_MS) return
    const found = await findDiscarded(common, key)
    const worktree = found && (await readWorktree(found))
    if (worktree) {
      const [known] = (
        await runUserGit(common, ['for-each-ref', '--format=%(subject)', `${DISCARDED_REFS}/${key}`])
      ).split('\n')
      await runUserGit(common, [
        'update-ref',
        `${DISCARDED_REFS}/${key}`,
        await copyOf(worktree, known || key),
      ])
    }
    await removeDiscarded(common, key)
  }
  const all = [
    () => undoInterrupted(common, now),
    ...(await discardedKeys(common)).map(key => () => tidy(key)),
  ]
  for (const one of all) {
    await one().catch(error => log.warn(`A discarded worktree of ${common} stays: ${messageOf(error)}`))
  }
}

function keyOf(ref: string): string {
  return ref.slice(DISCARDED_REFS.length + 1)
}

/** Returns the time of a discard from its key, in milliseconds since the epoch. */
function discardedAt(key: string): number | undefined {
  const at = Number.parseInt(/-([\da-z]+)$/.exec(key)?.[1] ?? '', 36)
  return Number.isNaN(at) ? undefined : at
}

/** Creates a worktree with the commits and the uncommitted changes of a discarded worktree. The copy stays. */
export async function restoreDiscarded(
  repository: Repository,
  { ref, name }: Pick<DiscardedWorktree, 'ref' | 'name'>,
  { folder }: Pick<NewWorktree, 'folder'>,
): Promise<Worktree> {
  const discarded = await findDiscarded(repository.common, keyOf(ref))
  if (discarded) return restoreFolder(repository, discarded, { name })
  const free = await freeName(repository, folder, name)
  const { worktree } = await createWorktree(repository, { name: free, from: `${ref}^`, folder })
  await runUserGit(worktree.path, ['read-tree', '-m', '-u', worktree.head, `${ref}^{tree}`])
  // copies that earlier versions of Parley made have no index
  const index = ['rev-parse', '--verify', '--quiet', `${ref}^2^{tree}`]
  const staged = withoutLineEnd(await runUserGit(worktree.path, index, { codes: [0, 1] }))
  await runUserGit(worktree.path, ['read-tree', '-m', staged || worktree.head])
  await runUserGit(worktree.path, ['update-index', '-q', '--refresh'], { codes: [0, 1] })
  return worktree
}

/** Moves the folder of a discarded worktree back to its path, or to another name if the path exists again. */
async function restoreFolder(
  repository: Repository,
  discarded: DiscardedFolder,
  { name }: Pick<DiscardedWorktree, 'name'>,
): Promise<Worktree> {
  const known = await readWorktree(discarded)
  if (!known) throw new GitError(l10n.t('The worktree {0} no longer exists.', name))
  const parent = path.dirname(discarded.from)
  const rules = new PathRules()
  const isTaken =
    existsSync(discarded.from) ||
    (await registeredPaths(repository)).some(one => rules.same(one, discarded.from))
  const free = isTaken ? await freeName(repository, parent, name) : path.basename(discarded.from)
  const branch = await restoreBranch(repository, known, free)
  const top = path.join(parent, free)
  await reinstate(repository.common, discarded, top)
  const { branch: _, discardedBranch: __, ...record } = known
  await writeRecord(top, { ...record, ...(branch !== undefined && { branch }) })
  const worktree = await findWorktree(top)
  if (!worktree) throw new GitError(l10n.t('The worktree {0} no longer exists.', name))
  return worktree
}

/**
 * Checks out the branch of a discarded worktree again. The branch may have been created, moved or checked out elsewhere meanwhile. Resolves
 * to the branch that belongs to the worktree.
 */
async function restoreBranch(
  { common }: Repository,
  { path: top, branch, discardedBranch, head }: Worktree,
  free: string,
): Promise<string | undefined> {
  const used = (await runUserGit(common, ['worktree', 'list', '--porcelain'])).split('\n')
  const create = (name: string) => runUserGit(common, ['update-ref', `refs/heads/${name}`, head, ''])
  const isAvailable = async (name: string) => {
    const verify = ['rev-parse', '--verify', '--quiet', `refs/heads/${name}`]
    const commit = withoutLineEnd(await runUserGit(common, verify, { codes: [0, 1] }))
    if (commit !== '') return commit === head && !used.includes(`branch refs/heads/${name}`)
    return create(name).then(
      () => true,
      () => false,
    )
  }
  let own = branch !== undefined && (await isAvailable(branch)) ? branch : undefined
  let current = discardedBranch === branch ? own : discardedBranch
  if (current !== undefined && current !== own && !(await isAvailable(current))) current = undefined
  if (discardedBranch !== undefined && discardedBranch === branch && own === undefined) {
    own = current = `${BRANCHES}/${free}`
    await create(own)
  }
  if (current !== undefined) await runUserGit(top, ['symbolic-ref', 'HEAD', `refs/heads/${current}`])
  return own
}
