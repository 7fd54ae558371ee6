import path from 'node:path'
import { readBounded } from '../common/read-bounded.ts'

/** Maximum size of a file that is read; Git's own files are smaller. Bytes. */
const MAX_BYTES = 4096
const MAX_NAME = 256

/**
 * Resolves to the branch that is checked out in a folder, or to the first characters of the commit's hash; `undefined` outside of a
 * repository. Reads Git's files, so that frequent calls are cheap.
 */
export async function branchOf(folder: string): Promise<string | undefined> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const head = await readHead(path.join(at, '.git'))
    if (head !== undefined) {
      const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]
      if (branch !== undefined) return branch.slice(0, MAX_NAME)
      return /^[\da-f]{40,64}$/.test(head) ? head.slice(0, 7) : undefined
    }
    if (path.dirname(at) === at) return undefined
  }
}

/** Resolves to the first line of HEAD. `git`: the repository's Git folder, or in a worktree or submodule a file with the folder's path. */
async function readHead(git: string): Promise<string | undefined> {
  const direct = await firstLine(path.join(git, 'HEAD'))
  if (direct !== undefined) return direct
  const elsewhere = /^gitdir: (.+)$/.exec((await firstLine(git)) ?? '')?.[1]
  if (elsewhere === undefined) return undefined
  return firstLine(path.join(path.resolve(path.dirname(git), elsewhere), 'HEAD'))
}

async function firstLine(file: string): Promise<string | undefined> {
  try {
    return (await readBounded(file, MAX_BYTES)).split('\n', 1)[0]?.trim()
  } catch {
    return undefined
  }
}
