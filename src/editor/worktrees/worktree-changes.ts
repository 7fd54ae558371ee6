/** Reads the changes in worktrees: since the commit that each was created from, and compared with each other. */

import { GIT_MS } from '../../common/limits.ts'
import type { Environment } from '../../common/processes/spawn-process.ts'
import { runGit, runUserGit } from '../git.ts'
import { withIndexCopy, withTemporaryObjects, writeTree } from './index-copy.ts'
import { changedSubmodules, unknownRepositories, type Worktree } from './repository.ts'
import { appliedTree } from './use-worktree.ts'

/** Maximum total size of the texts that are compared at once. Bytes. */
const MAX_TEXTS = 40_000_000
/** Git's mode of an entry that is a link to a commit of another repository. */
const REPOSITORY = '160000'

export interface ChangedPath {
  /** relative to the root */
  path: string
  kind: 'added' | 'deleted' | 'modified'
  /** Set if the path is a submodule, or a folder with another repository. */
  isRepository?: true
  /** Number of added lines; like `removed`, absent for a binary file and a repository. */
  added?: number
  removed?: number
  /** The id of the content before the change; absent if the file is new. */
  before?: string
}

export interface WorktreeChanges {
  files: ChangedPath[]
  /** Set if the changes were applied to the workspace. `outdated`: the worktree has changed since. */
  applied?: 'all' | 'outdated'
}

/** Resolves to all changes in a worktree since its creation, committed or not. */
export async function changesOf({
  path: top,
  base,
}: Pick<Worktree, 'path' | 'base'>): Promise<WorktreeChanges> {
  return withTemporaryObjects(top, async env => {
    const { tree, repositories } = await filesOf(top, env)
    const [files, last] = await Promise.all([differences(top, base, tree, env), appliedTree(top)])
    for (const name of repositories) add(files, name, 'added')
    for (const name of await changedSubmodules(top)) add(files, name, 'modified')
    return { files, ...(last !== undefined && { applied: last === tree ? 'all' : 'outdated' }) }
  })
}

/** Resolves to the files that differ between two worktrees of the repository. */
export async function changesBetween(one: string, other: string): Promise<ChangedPath[]> {
  return withTemporaryObjects(one, async env => {
    const [mine, theirs] = await Promise.all([filesOf(one, env), filesOf(other, env)])
    const files = await differences(one, mine.tree, theirs.tree, env)
    for (const name of new Set([...mine.repositories, ...theirs.repositories])) {
      const [before, after] = [mine, theirs].map(({ repositories }) => repositories.includes(name))
      add(files, name, !before ? 'added' : after ? 'modified' : 'deleted')
    }
    return files
  })
}

/** Writes a Git tree of all files of a worktree except ignored files. Nested repositories that aren't submodules have separate trees. */
async function filesOf(top: string, env: Environment): Promise<{ tree: string; repositories: string[] }> {
  const repositories = await unknownRepositories(top, '--exclude-standard')
  return { tree: await withIndexCopy(top, git => writeTree(top, git, repositories), env), repositories }
}

function add(files: ChangedPath[], path: string, kind: ChangedPath['kind']): void {
  if (!files.some(one => one.path === path)) files.push({ path, kind, isRepository: true })
}

/** Resolves to the files that differ between two commits or trees of the repository. */
async function differences(top: string, from: string, to: string, env: Environment): Promise<ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--numstat', '--no-renames', from, to]
  const parts = (await runUserGit(top, args, { env })).split('\0')
  const found = new Map<string, ChangedPath>()
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    const [, modes = '', before, status] = /^:(\d+ \d+) ([\da-f]+) [\da-f]+ (\w)/.exec(part) ?? []
    if (before !== undefined) {
      const path = parts[++at]!
      const kind = status === 'A' ? 'added' : status === 'D' ? 'deleted' : 'modified'
      const isRepository = modes.includes(REPOSITORY)
      found.set(
        path,
        isRepository ? { path, kind, isRepository } : { path, kind, ...(kind !== 'added' && { before }) },
      )
      continue
    }
    const [, added, removed, path = ''] = /^(\d+)\t(\d+)\t(.+)$/s.exec(part) ?? []
    const file = found.get(path)
    if (file && !file.isRepository) Object.assign(file, { added: Number(added), removed: Number(removed) })
  }
  return [...found.values()]
}

/** Resolves to contents of the repository by their ids, except contents that aren't text, and all contents after {@link MAX_TEXTS}. */
export async function readTexts(top: string, ids: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  if (ids.length === 0) return texts
  const input = ids.map(id => `${id}\n`).join('')
  const options = { timeoutMs: GIT_MS, most: MAX_TEXTS, encoding: 'latin1', input } as const
  const output = await runGit(top, ['cat-file', '--batch'], options)
  const bytes = Buffer.from(output?.text ?? '', 'latin1')
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at)
    if (end < 0) break
    const [, id, size] = /^([\da-f]+) \w+ (\d+)$/.exec(bytes.toString('latin1', at, end)) ?? []
    at = end + 1
    // Git reports a missing object
    if (id === undefined) continue
    const content = bytes.subarray(at, at + Number(size))
    if (content.length === Number(size) && !content.includes(0)) texts.set(id, content.toString('utf8'))
    at += Number(size) + 1
  }
  return texts
}
