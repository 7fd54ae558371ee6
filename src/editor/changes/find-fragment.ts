import { constants, open } from 'node:fs/promises'
import type { FileChange, Roots } from '../../acp/model.ts'
import { MAX_FRAGMENT_FILE_BYTES } from '../../common/limits.ts'
import { PathGuard } from '../path-guard.ts'
import { fragmentLine } from './diff-texts.ts'

/**
 * The line, from 1, at which a change's text begins in its file: agents send fragments without saying where they belong.
 * `undefined` where that can't be told, and for files outside of the session's folders.
 */
export async function findFragment(change: FileChange, roots: Roots): Promise<number | undefined> {
  try {
    const file = await new PathGuard(roots).within(change.path)
    if (!file) return undefined
    // a pipe that nobody writes to would never open
    const handle = await open(file.realPath, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stat = await handle.stat()
      if (!stat.isFile() || stat.size > MAX_FRAGMENT_FILE_BYTES) return undefined
      return fragmentLine(change, await handle.readFile('utf8'))
    } finally {
      await handle.close()
    }
  } catch {
    return undefined
  }
}
