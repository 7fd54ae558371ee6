/**
 * Copies of work trees as commits, which Git keeps as long as a reference names them. A worktree is discarded only when
 * such a copy has all of its files, except those that Git ignores.
 */

import * as l10n from '@vscode/l10n'
import { GitError, lineOf, runUserGit } from '../git.ts'
import { createWorktree, freeName, type NewWorktree } from './create-worktree.ts'
import { treeOf, withIndexCopy } from './index-copy.ts'
import {
  checkIgnored,
  deleteBranch,
  findWorktree,
  nestedRepositories,
  type Repository,
  stateOf,
  type Worktree,
} from './repository.ts'

const KEPT = 'refs/parley/discarded'
export const KEPT_DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1000
/** Commits of copies have no author, so that they need no name and address of the user. */
const AUTHOR = {
  GIT_AUTHOR_NAME: 'Parley',
  GIT_AUTHOR_EMAIL: 'parley@localhost',
  GIT_COMMITTER_NAME: 'Parley',
  GIT_COMMITTER_EMAIL: 'parley@localhost',
}
/** An agent that writes all the time has a running turn; this many copies are enough to notice it. */
const MAX_COPIES = 3

export async function commitTree(
  top: string,
  tree: string,
  parents: readonly string[],
  message = 'Parley',
): Promise<string> {
  const args = ['commit-tree', '--no-gpg-sign', tree, ...parents.flatMap(parent => ['-p', parent])]
  return lineOf(await runUserGit(top, args, { env: AUTHOR, input: message }))
}

/** Refuses to discard a worktree with these repositories in it. */
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
 * Discards a worktree, and keeps a copy for {@link KEPT_DAYS} days. Returns the name of the copy. `ignored`: the files without a
 * copy that the user agreed to delete; if there are others, nothing is discarded.
 */
export async function discardWorktree(
  repository: Pick<Repository, 'common'>,
  { path: top, name }: Worktree,
  { ignored, now = Date.now() }: { ignored?: readonly string[]; now?: number } = {},
): Promise<string> {
  checkNoHistory(await nestedRepositories(top))
  for (let copies = 0; copies < MAX_COPIES; copies++) {
    const worktree = await findWorktree(top)
    if (!worktree) throw new GitError(l10n.t('The worktree {0} no longer exists.', name))
    const copy = () =>
      withIndexCopy(top, async git => {
        // there's none in the middle of a merge with conflicts
        const staged = lineOf(await git(['write-tree']).catch(() => ''))
        return { staged, tree: await treeOf(top, git) }
      })
    const { staged, tree } = await copy()
    // like `git stash`
    const index = staged === '' ? [] : [await commitTree(top, staged, [worktree.head], name)]
    const commit = await commitTree(top, tree, [worktree.head, ...index], name)
    const kept = `${KEPT}/${name}-${now.toString(36)}`
    await runUserGit(repository.common, ['update-ref', kept, commit])
    // the copy is complete if nothing has changed since
    const after = await copy()
    if (after.tree !== tree || after.staged !== staged) continue
    if ((await findWorktree(top))?.head !== worktree.head) continue
    try {
      if (ignored) checkIgnored(worktree, await stateOf(worktree), ignored)
    } catch (error) {
      await runUserGit(repository.common, ['update-ref', '-d', kept])
      throw error
    }
    // Git refuses if the worktree is locked
    await runUserGit(repository.common, ['worktree', 'remove', '--force', '--', top])
    await deleteBranch(repository, worktree, worktree.head)
    return kept
  }
  throw new GitError(l10n.t('Files in the worktree {0} are changing. Stop what runs there first.', name))
}

export interface KeptWorktree {
  ref: string
  name: string
  /** milliseconds since the epoch */
  at: number
}

/** The copies of discarded worktrees, the latest first. Older ones are deleted. */
export async function listKept(
  repository: Pick<Repository, 'common'>,
  now = Date.now(),
): Promise<KeptWorktree[]> {
  const args = ['for-each-ref', '--sort=-committerdate', '--format=%(refname)%09%(subject)', KEPT]
  const all = (await runUserGit(repository.common, args)).split('\n').flatMap((line): KeptWorktree[] => {
    const [ref = '', name = ''] = line.split('\t')
    const at = Number.parseInt(/-([\da-z]+)$/.exec(ref)?.[1] ?? '', 36)
    return ref === '' || Number.isNaN(at) ? [] : [{ ref, name, at }]
  })
  const isKept = ({ at }: KeptWorktree) => now - at < KEPT_DAYS * DAY_MS
  for (const { ref } of all.filter(one => !isKept(one))) {
    await runUserGit(repository.common, ['update-ref', '-d', ref])
  }
  return all.filter(isKept)
}

/** Makes a worktree with the commits and the uncommitted changes of a discarded one. Its copy stays. */
export async function restoreKept(
  repository: Repository,
  { ref, name }: Pick<KeptWorktree, 'ref' | 'name'>,
  { folder }: Pick<NewWorktree, 'folder'>,
): Promise<Worktree> {
  const free = await freeName(repository, folder, name)
  const { worktree } = await createWorktree(repository, { name: free, from: `${ref}^`, folder })
  await runUserGit(worktree.path, ['read-tree', '-m', '-u', worktree.head, `${ref}^{tree}`])
  // copies of earlier versions have no index
  const index = ['rev-parse', '--verify', '--quiet', `${ref}^2^{tree}`]
  const staged = lineOf(await runUserGit(worktree.path, index, { codes: [0, 1] }))
  await runUserGit(worktree.path, ['read-tree', '-m', staged || worktree.head])
  await runUserGit(worktree.path, ['update-index', '-q', '--refresh'], { codes: [0, 1] })
  return worktree
}
