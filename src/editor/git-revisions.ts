/** The commits and branches of repositories, and what they changed. */

import { GIT_MS } from '../common/limits.ts'
import type { RevisionRef } from '../conversation/attachment.ts'
import { lineOf, MAX_DIFF, repositoriesOf, runGit, shortDiff } from './git.ts'

/** A commit, or a branch. */
export interface Revision extends RevisionRef {
  /** the subject of the commit, or the name of the branch */
  name: string
}

/** Of each repository, newest first. */
const MAX_COMMITS = 300
const MAX_BRANCHES = 300
/** UTF-16 units */
const MAX_LIST = 200_000
const FIELD = '%x1f'

/**
 * The last commits of what is checked out, and the local branches. A branch is compared with what is checked out, and the one
 * that is checked out with the default branch.
 */
export async function listRevisions(folders: readonly string[]): Promise<Revision[]> {
  const repositories = await repositoriesOf(folders)
  const lists = await Promise.all(repositories.map(revisionsIn))
  return lists.flat()
}

async function revisionsIn(top: string): Promise<Revision[]> {
  const [commits, branches, current] = await Promise.all([
    run(top, ['log', '-z', `--max-count=${MAX_COMMITS}`, `--format=%h${FIELD}%s`]),
    run(top, [
      'for-each-ref',
      `--count=${MAX_BRANCHES}`,
      '--sort=-committerdate',
      '--format=%(refname:short)',
      'refs/heads',
    ]),
    run(top, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
  ])
  const names = branches.split('\n').filter(Boolean)
  const head = lineOf(current)
  const main = await defaultBranch(top, names)
  const compared = names.flatMap(name => {
    const base = name === head ? main : 'HEAD'
    return base === undefined || base === name ? [] : [{ type: 'revision' as const, ref: name, base, name }]
  })
  const listed = commits.split('\0').flatMap(line => {
    const [ref, name] = line.split('\x1f')
    return ref && name !== undefined ? [{ type: 'revision' as const, ref, name }] : []
  })
  return [...compared, ...listed]
}

/** The branch that others are made from, as the remote says, or else by its usual names. */
async function defaultBranch(top: string, names: readonly string[]): Promise<string | undefined> {
  const remote = lineOf(await run(top, ['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD']))
  return remote || ['main', 'master'].find(name => names.includes(name))
}

/** A commit with its message, or the diff of a branch since it left its base; `undefined` if no repository has it. */
export async function revisionText(
  folders: readonly string[],
  { ref, base }: RevisionRef,
): Promise<string | undefined> {
  for (const top of await repositoriesOf(folders)) {
    const commit = await commitOf(top, ref)
    const from = base === undefined ? undefined : await commitOf(top, base)
    if (commit === undefined || (base !== undefined && from === undefined)) continue
    const args =
      from === undefined
        ? ['show', '--no-color', '--stat', '--patch', '--format=medium', commit]
        : ['diff', '--no-color', '--ignore-submodules=dirty', `${from}...${commit}`]
    const output = await runGit(top, args, { timeoutMs: GIT_MS, most: MAX_DIFF })
    if (output) return shortDiff(output.text)
  }
  return undefined
}

/** The whole name of a commit, so that no name is taken for an option or a range. */
async function commitOf(top: string, name: string): Promise<string | undefined> {
  const output = await run(top, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
  const commit = lineOf(output)
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

/** What Git prints; empty if it fails. */
async function run(cwd: string, args: readonly string[]): Promise<string> {
  return (await runGit(cwd, args, { timeoutMs: GIT_MS, most: MAX_LIST }))?.text ?? ''
}
