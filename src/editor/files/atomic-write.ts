import { randomBytes } from 'node:crypto'
import path from 'node:path'
import type { FileInfo, FileSystem } from './file-system.ts'

/**
 * Puts the bytes where `target` is, which is no link (see `PathGuard`): beside it first, then by a rename, so that
 * no reader ever sees half a file and a full disk leaves the old one as it was. The mode is kept. Where a rename or a
 * new file beside it is not possible (a locked file on Windows, a bind-mounted file, a folder that may not be
 * written), or where it would part a hard link or take the file from its owner, it is overwritten in place.
 */
export async function writeAtomically(
  fileSystem: FileSystem,
  target: string,
  bytes: Uint8Array,
  existing: Pick<FileInfo, 'mode' | 'shared'> | undefined,
): Promise<void> {
  if (existing?.shared) return writeInPlace(fileSystem, target, bytes)
  const temporary = path.join(path.dirname(target), `.parley-${randomBytes(6).toString('hex')}.tmp`)
  try {
    await fileSystem.createFile(temporary, bytes, existing?.mode)
    await fileSystem.rename(temporary, target)
    return
  } catch (error) {
    await fileSystem.remove(temporary).catch(() => {})
    if (!existing || !OF_THE_FOLDER.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  await writeInPlace(fileSystem, target, bytes)
}

/** Errors of a rename, or of a new file in the folder, that need not hold for the file itself. */
const OF_THE_FOLDER = new Set([
  'EXDEV',
  'EBUSY',
  'EPERM',
  'EACCES',
  'ETXTBSY',
  'ENOTSUP',
  'EROFS',
  'ENAMETOOLONG',
])

async function writeInPlace(fileSystem: FileSystem, target: string, bytes: Uint8Array): Promise<void> {
  const before = await fileSystem.readFile(target)
  try {
    await fileSystem.overwriteFile(target, bytes)
  } catch (error) {
    // A full disk may have left half of it: what was there fits again.
    await fileSystem.overwriteFile(target, before).catch(() => {})
    throw error
  }
}
