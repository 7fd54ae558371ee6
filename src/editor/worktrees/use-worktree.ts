/** Applies and merges the changes in a worktree into another work tree of the repository. */

import { lstat, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { GitError, runUserGit, withoutLineEnd } from '../git.ts'
import { commitTree } from './discarded-worktrees.ts'
import {
  addChanges,
  gitFolder,
  hiddenFiles,
  type IndexGit,
  showHidden,
  withIndexCopy,
  writeTree,
} from './index-copy.ts'
import {
  changedMeanwhile,
  fileExistsError,
  replaceFiles,
  statsOf,
  withFolderBeside,
  withIndexLock,
} from './replace-files.ts'
import {
  changedSubmodules,
  checkNoRepositories,
  currentBranch,
  findWorktree,
  isBusy,
  type Repository,
  type Worktree,
  writeRecord,
} from './repository.ts'

/** Maximum size of a file with conflicts in which the markers are renamed; a larger file keeps the ids of commits. Bytes. */
const MAX_MARKED_BYTES = 50_000_000
/** Name of the reference to the last applied state. It belongs to the worktree, so Git deletes it with the worktree. */
const APPLIED = 'refs/worktree/parley/applied'

export interface Applied {
  /** the changed files, relative to the root */
  files: string[]
  /** files that both sides changed; Git lists them as conflicts, which VS Code's merge editor opens */
  conflicts: string[]
}

/**
 * Applies all changes of a worktree, committed or not, to the files of `target` as uncommitted changes, merged with other changes there.
 * `mayWrite` gets the changes before anything is written; if it resolves to false, nothing is applied and the result is `undefined`.
 * @throws GitError if the changes can't be applied; no file was changed then
 */
export async function applyWorktree(
  worktree: Worktree,
  target: string,
  mayWrite: (applied: Applied) => Promise<boolean>,
): Promise<Applied | undefined> {
  await checkReady(target)
  // during a merge or rebase, the worktree has the files of another commit
  if (await isBusy(await gitFolder(worktree.path))) {
    throw new GitError(l10n.t('A merge or rebase is in progress in the worktree. Finish or abort it first.'))
  }
  await checkNoRepositories(worktree.path)
  checkNoSubmodules(await changedSubmodules(worktree.path))
  const theirs = await withIndexCopy(worktree.path, git => writeTree(worktree.path, git))
  const bases = [await commonCommit(worktree, target)]
  const before = withoutLineEnd(
    await runUserGit(worktree.path, ['rev-parse', '--verify', '--quiet', APPLIED], { codes: [0, 1] }),
  )
  // the workspace may contain the previously applied state, and the worktree may have changed since
  if (before !== '') bases.push(before)
  const own = await gitFolder(target)
  const index = await stat(path.join(own, 'index'))
  return withIndexCopy(target, async git => {
    const staged = withoutLineEnd(await git(['write-tree']))
    const touched = await Promise.all(bases.map(base => changedPaths(target, base, theirs)))
    const mine = await currentTree(target, git, touched.flat())
    let merged = await mergeTrees(target, bases[0]!, mine, theirs)
    for (const base of bases.slice(1)) {
      if (merged.stages.length === 0) break
      const other = await mergeTrees(target, base, mine, theirs)
      if (other.stages.length < merged.stages.length) merged = other
    }
    const { named } = merged
    const differing = await runUserGit(target, [
      ...['diff-tree', '-r', '-z', '--name-status', '--no-renames', mine, merged.tree],
    ])
    const parts = differing.split('\0')
    const differs = parts.flatMap((file, at) => (at % 2 === 1 ? [{ kind: parts[at - 1], file }] : []))
    const of = (...kinds: string[]) =>
      differs.flatMap(({ kind = '', file }) => (kinds.length === 0 || kinds.includes(kind) ? [file] : []))
    const stages = merged.stages.map(named)
    const conflicts = [...new Set(stages.map(pathOf))]
    checkNoSubmodules(await changedLinks(target, mine, merged.tree))
    const applied = { files: [...new Set([...of().map(named), ...conflicts])].sort(), conflicts }
    await checkStaged(target, { staged, mine, conflicts })
    const copy = await commitTree(worktree.path, theirs, [])
    const finish = async () => {
      await runUserGit(worktree.path, ['update-ref', APPLIED, copy])
    }
    if (applied.files.length === 0) {
      await finish()
      return applied
    }
    if (!(await mayWrite(applied))) return undefined
    const written = of('A', 'M', 'T')
    const replaced = of('D', 'M', 'T')
    // all files are created first: from here on, files are only moved
    return withFolderBeside({ top: target, git: own }, async folder => {
      const fresh = path.join(folder, 'new')
      await checkOut(own, { tree: merged.tree, files: written, to: fresh })
      for (const file of written.filter(one => conflicts.includes(named(one))))
        await nameSides(path.join(fresh, file), path.join(fresh, named(file)), named)
      const known = await statsOf(target, replaced)
      const changed = await git(['diff-files', '--ignore-submodules', '--name-only', '-z'])
      const meanwhile = changed.split('\0').filter(file => replaced.includes(file))
      if (meanwhile.length > 0) throw changedMeanwhile(meanwhile)
      await checkAdded(target, of('A').map(named), of('D'))
      await withIndexCopy(target, async (gitForNext, next) => {
        if (conflicts.length > 0) {
          const none = '0'.repeat(mine.length)
          const entries = [...conflicts.map(file => `0 ${none} 0\t${file}`), ...stages]
          const input = entries.map(entry => `${entry}\0`).join('')
          await gitForNext(['update-index', '-z', '--index-info'], input)
        }
        const locked = { known: index, next: conflicts.length > 0 ? next : undefined }
        await withIndexLock(own, locked, replaceIndex =>
          replaceFiles(
            target,
            { known, written: written.map(named), fresh, folder: path.join(folder, 'old') },
            async () => {
              await finish()
              await replaceIndex().catch(async error => {
                const was = before === '' ? ['-d', APPLIED] : [APPLIED, before]
                await runUserGit(worktree.path, ['update-ref', ...was])
                throw error
              })
            },
          ),
        )
      })
      return applied
    })
  })
}

/** Writes files of a tree to a folder as a checkout would, with filters and line ends. */
async function checkOut(
  git: string,
  { tree, files, to }: { tree: string; files: readonly string[]; to: string },
): Promise<void> {
  await mkdir(to)
  const env = { GIT_DIR: git, GIT_WORK_TREE: to, GIT_INDEX_FILE: path.join(path.dirname(to), 'index') }
  const run = (args: readonly string[], input?: string) =>
    runUserGit(to, ['-c', 'core.sparseCheckout=false', ...args], {
      env,
      ...(input !== undefined && { input }),
    })
  await run(['read-tree', tree])
  const input = files.map(file => `${file}\0`).join('')
  await run(['checkout-index', '--force', '-z', '--stdin'], input)
}

/** Renames a file with conflicts, and replaces the names of the sides in its markers. */
async function nameSides(file: string, to: string, named: (text: string) => string): Promise<void> {
  const info = await lstat(file)
  if (info.isFile() && info.size < MAX_MARKED_BYTES) {
    // with `latin1`, each byte is one character
    const text = await readFile(file, 'latin1')
    const other = named(text)
    if (other !== text) await writeFile(file, other, 'latin1')
  }
  if (to !== file) await rename(file, to)
}

async function changedPaths(top: string, from: string, to: string): Promise<string[]> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to]
  return (await runUserGit(top, args)).split('\0').filter(file => file !== '')
}

/** Resolves to the submodules that differ between two trees. */
async function changedLinks(top: string, from: string, to: string): Promise<string[]> {
  const parts = (await runUserGit(top, ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to])).split(
    '\0',
  )
  return parts.flatMap((part, at) => (/^:(?:160000|\d+ 160000) /.test(part) ? [parts[at + 1]!] : []))
}

/** Throws if submodules have changes, since a tree contains only the commit of a submodule. */
function checkNoSubmodules(changed: readonly string[]): void {
  if (changed.length === 0) return
  throw new GitError(
    l10n.t(
      "Changes in submodules can't be applied: {0}. Make them in the workspace yourself, undo them in the worktree, and try again.",
      changed.join(', '),
    ),
  )
}

/** Writes a Git tree of the work tree's files. Of the untracked files, it includes only those at these paths, or above or below them. */
async function currentTree(top: string, git: IndexGit, paths: readonly string[]): Promise<string> {
  await showHidden(git, await hiddenFiles(top))
  await addChanges(top, git, '--update')
  const wanted = new Set(paths)
  const around = new Set(paths.flatMap(foldersOf))
  const others = ['ls-files', '--others', '--exclude-standard', '-z']
  const untracked = await runUserGit(top, others, {
    only: file =>
      !file.endsWith('/') && (around.has(file) || [file, ...foldersOf(file)].some(one => wanted.has(one))),
  })
  if (untracked !== '') await git(['update-index', '--add', '-z', '--stdin'], untracked)
  return withoutLineEnd(await git(['write-tree']))
}

/** Returns the folders that contain a file of the repository. */
function foldersOf(file: string): string[] {
  const names = file.split('/').slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join('/'))
}

/** Throws if the index has the only copy of a file's staged version, which a conflict would replace. */
async function checkStaged(
  top: string,
  { staged, mine, conflicts }: { staged: string; mine: string; conflicts: readonly string[] },
): Promise<void> {
  if (conflicts.length === 0) return
  const [fromHead, fromDisk] = await Promise.all([
    changedPaths(top, 'HEAD', staged),
    changedPaths(top, staged, mine),
  ])
  const lost = conflicts.filter(file => fromHead.includes(file) && fromDisk.includes(file))
  if (lost.length === 0) return
  throw new GitError(
    l10n.t(
      'The changes conflict with files that are staged and were changed since: {0}. Commit or unstage them first.',
      lost.join(', '),
    ),
  )
}

/** Throws if an added file exists already, which Git doesn't report for ignored files. */
async function checkAdded(top: string, added: readonly string[], deleted: readonly string[]): Promise<void> {
  for (const file of added) {
    const isThere = await lstat(path.join(top, file)).then(
      // a folder whose files are all deleted is deleted, too
      info => !info.isDirectory() || !deleted.some(one => one.startsWith(`${file}/`)),
      // a file has the path of a folder that is needed
      error => error.code === 'ENOTDIR' && !deleted.some(one => file.startsWith(`${one}/`)),
    )
    if (isThere) throw fileExistsError(file)
  }
}

interface MergedTrees {
  tree: string
  /** For each conflict, up to three lines in the format of `ls-files --stage`. */
  stages: string[]
  /** Returns a text of the merge with names of the sides in place of commits. */
  named: (text: string) => string
}

/** Merges two trees without a work tree. */
async function mergeTrees(top: string, base: string, mine: string, theirs: string): Promise<MergedTrees> {
  // older versions of Git find a merge base only through the history of commits
  const from = await commitTree(top, `${base}^{tree}`, [])
  const one = await commitTree(top, mine, [from], 'Workspace')
  const other = await commitTree(top, theirs, [from], 'Worktree')
  let text: string
  try {
    text = await runUserGit(top, ['merge-tree', '--write-tree', '-z', '--no-messages', one, other], {
      codes: [0, 1],
    })
  } catch (error) {
    if (!(error instanceof GitError) || !/usage:|unknown option/i.test(error.message)) throw error
    throw new GitError(l10n.t('This requires Git 2.38 or newer.'))
  }
  const [tree = '', ...stages] = text.split('\0').filter(part => part !== '')
  if (!/^[\da-f]{40,64}$/.test(tree)) throw new GitError(l10n.t('This requires Git 2.38 or newer.'))
  const named = (name: string) => name.replaceAll(one, 'Workspace').replaceAll(other, 'Worktree')
  return { tree, stages, named }
}

async function checkReady(top: string): Promise<void> {
  if ((await conflictsIn(top)).length > 0) {
    throw new GitError(l10n.t('The workspace has unresolved merge conflicts. Resolve them first.'))
  }
  if (await isBusy(await gitFolder(top))) {
    throw new GitError(l10n.t('A merge or rebase is in progress in the workspace. Finish or abort it first.'))
  }
}

/** Resolves to the Git tree of the files that were last applied from a worktree. */
export async function appliedTree(top: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', `${APPLIED}^{tree}`]
  return withoutLineEnd(await runUserGit(top, args, { codes: [0, 1] })) || undefined
}

/** Resolves to the files with unresolved conflicts. */
export async function conflictsIn(top: string): Promise<string[]> {
  const stages = (await runUserGit(top, ['ls-files', '--unmerged', '-z'])).split('\0')
  return [...new Set(stages.filter(stage => stage !== '').map(pathOf))]
}

/** Returns the path in a line of `ls-files --stage`. */
function pathOf(stage: string): string {
  return stage.slice(stage.indexOf('\t') + 1)
}

async function commonCommit({ path: top, head }: Worktree, target: string): Promise<string> {
  const own = withoutLineEnd(await runUserGit(target, ['rev-parse', '--verify', 'HEAD^{commit}']))
  const found = withoutLineEnd(await runUserGit(top, ['merge-base', own, head], { codes: [0, 1] }))
  if (found === '') throw new GitError(l10n.t('The worktree and the workspace have no commit in common.'))
  return found
}

/** Commits all changes of a worktree, without running hooks. */
export async function commitAll(worktree: Worktree, message: string): Promise<Worktree> {
  await checkNoRepositories(worktree.path)
  const git: IndexGit = (args, input) => runUserGit(worktree.path, args, input === undefined ? {} : { input })
  await addChanges(worktree.path, git, '--all')
  await runUserGit(worktree.path, ['commit', '--no-verify', '--cleanup=verbatim', '--file=-'], {
    input: message,
  })
  return again(worktree)
}

export type Merged = 'merged' | 'up-to-date' | 'conflicts'

/** Merges the commits of a worktree into the branch of another work tree. Conflicts are left for the user to resolve. */
export async function mergeWorktree(worktree: Worktree, target: string): Promise<Merged> {
  await checkReady(target)
  if ((await currentBranch(target)) === undefined) {
    throw new GitError(
      l10n.t('No branch is checked out in the workspace. Check out the branch to merge into.'),
    )
  }
  const before = await runUserGit(target, ['rev-parse', 'HEAD'])
  const { path: top, current } = worktree
  const commit = withoutLineEnd(await runUserGit(top, ['rev-parse', '--verify', 'HEAD^{commit}']))
  // use Git's own message format, and pass the commit, since a tag may have the branch's name
  const input = `${commit}\t\t${current === undefined ? `commit '${commit}'` : `branch '${current}' of .`}\n`
  const message = await runUserGit(target, ['fmt-merge-msg', '--no-log'], { input })
  try {
    await runUserGit(target, ['merge', '--no-edit', '-m', message.trim(), '--', commit])
  } catch (error) {
    if ((await conflictsIn(target)).length > 0) return 'conflicts'
    throw error
  }
  return (await runUserGit(target, ['rev-parse', 'HEAD'])) === before ? 'up-to-date' : 'merged'
}

/** Moves a worktree to a new branch, which is kept when the worktree is removed. Uncommitted changes stay uncommitted. */
export async function createBranch(
  repository: Repository,
  worktree: Worktree,
  name: string,
): Promise<Worktree> {
  await runUserGit(worktree.path, ['check-ref-format', '--branch', name]).catch(() => {
    throw new GitError(l10n.t("“{0}” isn't a valid branch name.", name))
  })
  await runUserGit(worktree.path, ['switch', '--quiet', '--no-track', '-c', name])
  const { branch, ...without } = worktree
  await writeRecord(worktree.path, without)
  // the new branch contains all commits of the old one
  if (branch !== undefined && branch === worktree.current) {
    await runUserGit(repository.common, ['update-ref', '-d', `refs/heads/${branch}`, worktree.head])
  }
  return again(worktree)
}

async function again({ path: top, name }: Worktree): Promise<Worktree> {
  const found = await findWorktree(top)
  if (!found) throw new GitError(l10n.t('The worktree {0} no longer exists.', name))
  return found
}
