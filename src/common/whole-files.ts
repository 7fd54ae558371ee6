import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PRIVATE_FILE, PRIVATE_FOLDER } from './private-files.ts'

/**
 * Writes files so that each is either complete or unchanged: the content is written to a temporary file beside the file, and the temporary
 * file then replaces the file. A crash leaves the old file intact, and an error leaves no part of the new one. Only the user can read the
 * written files, and missing folders are created. Files in the folders of a session are written by `editor/files/file-system.ts`, which
 * follows no link.
 */

export interface WholeFileOptions {
  /**
   * Whether the file belongs to the user, not to Parley: others may read it, its folder must exist, and its content is flushed to disk
   * before the rename.
   */
  isUsers?: boolean
  /** the path of the temporary file; by default, a path that `removeUnfinishedFiles` recognizes */
  temporary?: string
}

/** Counts writes, so that simultaneous writes have different temporary files. */
let writes = 0

export async function writeWhole(
  file: string,
  content: string | Uint8Array | AsyncIterable<string>,
  { isUsers = false, temporary }: WholeFileOptions = {},
): Promise<void> {
  const fresh = temporary ?? (isUsers ? hiddenBeside(file) : `${temporaryPath(file)}.${++writes}`)
  try {
    if (isUsers) await writeFile(fresh, content, { flag: 'wx', flush: true })
    else await writeTemporary(fresh, content)
    await rename(fresh, file)
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {})
    throw error
  }
}

/** Writes synchronously, for data that a reload must not lose. */
export function writeWholeSync(
  file: string,
  content: string | Uint8Array,
  { temporary = temporaryPath(file) }: Pick<WholeFileOptions, 'temporary'> = {},
): void {
  try {
    writeTemporarySync(temporary, content)
    renameSync(temporary, file)
  } catch (error) {
    // remove an incomplete file, such as on a full disk
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Creates a file that is complete as soon as it exists. Throws if there is a file with that name. */
export function createWholeSync(file: string, text: string): void {
  const temporary = temporaryPath(file)
  try {
    // a write to a full disk fails here, before there is a file with that name
    writeTemporarySync(temporary, text)
    try {
      linkSync(temporary, file)
    } catch (error) {
      if (existsSync(file)) throw error
      // the file system doesn't support hard links
      writeFileSync(file, text, { flag: 'wx', mode: PRIVATE_FILE })
    }
  } finally {
    rmSync(temporary, { force: true })
  }
}

function temporaryPath(file: string): string {
  return `${file}.${process.pid}`
}

/** A hidden temporary file for a folder of the user's, where none of the user's files may be taken for an unfinished file of Parley's. */
function hiddenBeside(file: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
}

async function writeTemporary(
  file: string,
  content: string | Uint8Array | AsyncIterable<string>,
): Promise<void> {
  const write = () => writeFile(file, content, { flag: 'wx', mode: PRIVATE_FILE })
  await write().catch(async (error: unknown) => {
    if (isTaken(error)) await rm(file, { force: true })
    else if (isWithoutFolder(error))
      await mkdir(path.dirname(file), { recursive: true, mode: PRIVATE_FOLDER })
    else throw error
    await write()
  })
}

function writeTemporarySync(file: string, content: string | Uint8Array): void {
  const write = () => writeFileSync(file, content, { flag: 'wx', mode: PRIVATE_FILE })
  try {
    write()
  } catch (error) {
    if (isTaken(error)) rmSync(file, { force: true })
    else if (isWithoutFolder(error)) mkdirSync(path.dirname(file), { recursive: true, mode: PRIVATE_FOLDER })
    else throw error
    write()
  }
}

/** Whether the temporary file already exists: an earlier process with the same id was killed, or another program created it. */
function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'
}

function isWithoutFolder(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
