import { readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { readBounded } from '../../common/read-bounded.ts'
import { branchOf } from '../git-branch.ts'
import { recordedGitFolder } from '../git-folders.ts'

const MAX_WORKTREES = 500
/** Maximum size of a file that is read; Git's own files are smaller. Bytes. */
export const MAX_LINK_BYTES = 4096

export interface LinkedWorktrees {
  /** the Git folder that all worktrees share */
  common: string
  /** the root of the main work tree; the Git folder if the repository has none */
  main: string
  worktrees: Array<{ path: string; branch?: string }>
}

/** Resolves to all linked worktrees of a folder's repository. Doesn't run Git, so that frequent calls are cheap. */
export async function linkedWorktrees(folder: string): Promise<LinkedWorktrees | undefined> {
  const common = await commonFolder(folder)
  if (common === undefined) return undefined
  const ids = await readdir(path.join(common, 'worktrees')).catch(() => [])
  const worktrees = await Promise.all(
    ids.slice(0, MAX_WORKTREES).map(async id => {
      const file = path.join(common, 'worktrees', id, 'gitdir')
      const link = await readBounded(file, MAX_LINK_BYTES).catch(() => '')
      const at = path.resolve(path.join(common, 'worktrees', id), path.dirname(link.trim()))
      if (link.trim() === '' || !(await stat(at).catch(() => undefined))) return []
      const branch = await branchOf(at)
      return [{ path: at, ...(branch !== undefined && { branch }) }]
    }),
  )
  return {
    common,
    main: path.basename(common) === '.git' ? path.dirname(common) : common,
    worktrees: worktrees.flat(),
  }
}

/** Resolves to the Git folder that all worktrees share. */
async function commonFolder(folder: string): Promise<string | undefined> {
  const linked = await worktreeRoot(folder).catch(() => undefined)
  if (linked) return path.dirname(path.dirname(linked.git))
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const git = path.join(at, '.git')
    const info = await stat(git).catch(() => undefined)
    if (info) return info.isDirectory() ? git : undefined
    if (path.dirname(at) === at) return undefined
  }
}

/**
 * Resolves to the root of a linked worktree and its own Git folder, without running Git. A Git folder that isn't recorded comes from the
 * worktree's `.git` file, which an agent may have written.
 */
export async function worktreeRoot(folder: string): Promise<{ root: string; git: string } | undefined> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const recorded = recordedGitFolder(at)
    if (recorded !== undefined) return { root: at, git: recorded }
    const link = path.join(at, '.git')
    const info = await stat(link).catch(() => undefined)
    if (info) {
      if (!info.isFile() || info.size > MAX_LINK_BYTES) return undefined
      const to = /^gitdir: (.+)$/m.exec(await readBounded(link, MAX_LINK_BYTES))?.[1]?.trim()
      const git = to === undefined ? undefined : path.resolve(at, to)
      return git !== undefined && path.basename(path.dirname(git)) === 'worktrees'
        ? { root: at, git }
        : undefined
    }
    if (path.dirname(at) === at) return undefined
  }
}

/** Returns the folder for the worktrees of a repository, according to the setting. */
export function worktreesFolder({ main }: Pick<LinkedWorktrees, 'main'>, setting: string): string {
  if (setting === '') return `${main.replace(/\.git$/, '')}.worktrees`
  return path.resolve(main, setting.replace(/^~(?=$|[\\/])/, homedir()))
}
