import { readdir, rm, stat } from 'node:fs/promises'
import module from 'node:module'
import path from 'node:path'
import { messageOf } from './errors.ts'
import { isWithin } from './file-names.ts'
import type { Logger } from './logger.ts'

/** Older code is deleted, since it may belong to programs that are gone; it's compiled again if it's needed. Milliseconds. */
const MAX_AGE_MS = 30 * 24 * 3_600_000

/**
 * Size limit of the folder: Node also stores the code of all extensions that are loaded after Parley, and stores code again after an
 * update. Bytes.
 */
const MAX_BYTES = 128 * 1024 * 1024

/**
 * Stores the code that this process has compiled for the next process, and deletes old files from that folder, oldest first if the folder
 * is larger than `maxBytes`. Node stores code only when a process exits by itself, and never deletes files. Does nothing if the code is
 * stored in another folder. Never rejects.
 */
export async function storeCompiledCode(
  folder: string,
  log: Logger,
  node: Partial<Pick<typeof module, 'getCompileCacheDir' | 'flushCompileCache'>> = module,
  maxBytes = MAX_BYTES,
): Promise<void> {
  // absent before Node 22
  const used = node.getCompileCacheDir?.()
  if (used === undefined) return
  if (!isWithin(folder, used)) return
  try {
    node.flushCompileCache?.()
    await removeOldest(folder, maxBytes)
  } catch (error) {
    // for example, the disk can't be written
    log.debug(`The compiled code: ${messageOf(error)}`)
  }
}

async function removeOldest(folder: string, maxBytes: number): Promise<void> {
  // with file types, since `readdir` would follow links otherwise
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries.map(async entry => {
      const file = path.join(entry.parentPath, entry.name)
      // another window may have deleted the file
      const found = entry.isFile() ? await stat(file).catch(() => undefined) : undefined
      return { file, size: found?.size ?? 0, changedAt: found?.mtimeMs ?? 0, isThere: found !== undefined }
    }),
  )
  let bytes = 0
  for (const { file, size, changedAt, isThere } of files.sort((a, b) => b.changedAt - a.changedAt)) {
    bytes += size
    const isOld = bytes > maxBytes || Date.now() - changedAt > MAX_AGE_MS
    // a file that can't be deleted, such as another user's, doesn't stop the others from being deleted
    if (isThere && isOld) await rm(file, { force: true }).catch(() => {})
  }
}
