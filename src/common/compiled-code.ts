import { readdir, rm, stat } from 'node:fs/promises'
import module from 'node:module'
import path from 'node:path'
import { messageOf } from './errors.ts'
import type { Logger } from './logger.ts'

/** Code of programs that aren't there anymore goes; other code is compiled again. Milliseconds. */
const MAX_AGE_MS = 30 * 24 * 3_600_000

/**
 * Stores the code that was compiled so far in this process for the next one, and deletes old files in that folder. Node does the
 * former only when a process exits by itself, and never the latter. Does nothing if the code is stored in another folder. Never
 * rejects.
 */
export async function keepCompiledCode(
  folder: string,
  log: Logger,
  node: Partial<Pick<typeof module, 'getCompileCacheDir' | 'flushCompileCache'>> = module,
): Promise<void> {
  // absent before Node 22
  const used = node.getCompileCacheDir?.()
  if (used === undefined || path.relative(folder, used).startsWith('..')) return
  try {
    node.flushCompileCache?.()
    for (const name of await readdir(folder, { recursive: true })) {
      const file = path.join(folder, name)
      const found = await stat(file)
      if (found.isFile() && Date.now() - found.mtimeMs > MAX_AGE_MS) await rm(file, { force: true })
    }
  } catch (error) {
    // another window was faster, or the disk can't be written
    log.debug(`The compiled code: ${messageOf(error)}`)
  }
}
