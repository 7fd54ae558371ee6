/** Reads the commits and branches of repositories, and their changes. */

import path from 'node:path'
import { GIT_MS } from '../common/limits.ts'
import { shortened } from '../common/visible.ts'
import type { RevisionRef } from '../conversation/attachment.ts'
import { MAX_DIFF, readGit, repositoriesOf, runGit, shortDiff } from './git.ts'

/** A commit or a branch, as the user sees it. */
export interface Revision extends RevisionRef {
  /** the subject of the commit, or the name of the branch */
  name: string
  /** the first characters of the commit's hash, or the name of the branch with which this branch is compared */
  short: string
  /** the repository's folder, if there are several repositories */
  repository?: string
}

/** Maximum number of commits of each repository, newest first. */
const MAX_COMMITS = 300
const MAX_BRANCHES = 300
/** Maximum length of Git's output. UTF-16 units. */
const MAX_LIST = 200_000
const MAX_NAME = 600
const COMMIT_FORMAT = '--format=%H%x1f%h%x1f%s'
const BRANCH_FORMAT = '--format=%(HEAD)%1f%(objectname)%1f%(refname:lstrip=2)%1f%(symref:lstrip=2)'

/**
 * Resolves to the last commits of HEAD, and the local branches. A branch is compared with HEAD, and the current branch with the default
 * branch.
 */
export function listRevisions(folders: readonly string[]): Promise<Revision[]> {
  return inRepositories(folders, revisionsIn)
}

/** Resolves to the commits whose hashes start with these characters, at least four. */
export function findCommits(folders: readonly string[], start: string): Promise<Revision[]> {
  return inRepositories(folders, async top => {
    const objects = await run(top, ['rev-parse', `--disambiguate=${start}`])
    if (objects === '') return []
    const commits = await run(top, ['log', '-z', '--no-walk=unsorted', '--stdin', COMMIT_FORMAT], objects)
    return parseCommits(commits).filter(({ ref }) => ref.startsWith(start))
  })
}

async function inRepositories(
  folders: readonly string[],
  find: (top: string) => Promise<Revision[]>,
): Promise<Revision[]> {
  const tops = await repositoriesOf(folders)
  const lists = await Promise.all(
    tops.map(async top => {
      const name = path.basename(top)
      const isClear = tops.every(other => other === top || path.basename(other) !== name)
      const repository = tops.length > 1 && { repository: isClear ? name : top }
      return (await find(top)).map(revision => ({ ...revision, ...repository }))
    }),
  )
  return lists.flat()
}

async function revisionsIn(top: string): Promise<Revision[]> {
  const [log, heads, defaults] = await Promise.all([
    run(top, ['log', '-z', `--max-count=${MAX_COMMITS}`, COMMIT_FORMAT]),
    run(top, [
      'for-each-ref',
      `--count=${MAX_BRANCHES}`,
      '--sort=-committerdate',
      BRANCH_FORMAT,
      'refs/heads',
    ]),
    // the default branch according to the remote, or else a branch with one of the usual names
    run(top, [
      'for-each-ref',
      BRANCH_FORMAT,
      'refs/remotes/origin/HEAD',
      'refs/heads/main',
      'refs/heads/master',
    ]),
  ])
  const commits = parseCommits(log)
  const branches = parseBranches(heads)
  const usual = parseBranches(defaults)
  const main = usual.find(({ target }) => target) ?? usual[0]
  const [newest] = commits
  const head = newest && {
    ref: newest.ref,
    name: branches.find(({ isCurrent }) => isCurrent)?.name ?? 'HEAD',
    target: '',
  }
  const compared = branches.flatMap(({ ref, name, isCurrent }) => {
    const base = isCurrent ? main : (head ?? main)
    if (!base || base.name === name) return []
    return [{ type: 'revision' as const, ref, base: base.ref, name, short: base.target || base.name }]
  })
  return [...compared, ...commits]
}

function parseCommits(log: string): Revision[] {
  return log.split('\0').flatMap(line => {
    const [ref = '', short = '', name] = line.split('\x1f')
    return name === undefined
      ? []
      : [{ type: 'revision' as const, ref, name: shortened(name, MAX_NAME), short }]
  })
}

function parseBranches(list: string) {
  return list.split('\n').flatMap(line => {
    const [mark, ref = '', name = '', target] = line.split('\x1f')
    if (target === undefined) return []
    return [
      { isCurrent: mark === '*', ref, name: shortened(name, MAX_NAME), target: shortened(target, MAX_NAME) },
    ]
  })
}

/**
 * Resolves to a commit with its message, or to the diff of a branch since it left its base; `undefined` if no repository has the commit.
 * @throws GitError if Git can't show the revision
 */
export async function revisionText(
  folders: readonly string[],
  { ref, base }: RevisionRef,
): Promise<string | undefined> {
  // show a merge as its changes to its first parent
  const args =
    base === undefined
      ? ['show', '--no-color', '-m', '--first-parent', '--stat', '--patch', '--format=medium', ref]
      : ['diff', '--no-color', '--ignore-submodules=dirty', `${base}...${ref}`]
  let failure: unknown
  for (const top of await repositoriesOf(folders)) {
    try {
      if (!(await hasCommits(top, base === undefined ? [ref] : [ref, base]))) continue
      return shortDiff((await readGit(top, args, { timeoutMs: GIT_MS, most: MAX_DIFF })).text)
    } catch (error) {
      failure ??= error
    }
  }
  if (failure) throw failure
  return undefined
}

async function hasCommits(top: string, hashes: readonly string[]): Promise<boolean> {
  const input = hashes.map(hash => `${hash}^{commit}\n`).join('')
  const { text } = await readGit(top, ['cat-file', '--batch-check'], {
    timeoutMs: GIT_MS,
    most: MAX_LIST,
    input,
  })
  return hashes.every(hash => text.includes(`${hash} commit `))
}

/** Resolves to Git's output; empty if the command fails. */
async function run(cwd: string, args: readonly string[], input?: string): Promise<string> {
  const options = { timeoutMs: GIT_MS, most: MAX_LIST, ...(input !== undefined && { input }) }
  return (await runGit(cwd, args, options))?.text ?? ''
}
