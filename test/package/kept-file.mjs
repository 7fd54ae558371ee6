// Stores results that are deterministic but slow to create, by a hash of their inputs. A fresh clone finds them, too.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../host/cache-directory.mjs'

/** Where the build keeps results. */
export const keptFolder = join(cacheDirectory, 'built')

/** A month, in milliseconds. */
const KEPT_MS = 30 * 24 * 3_600_000

/**
 * The bytes that `make` creates, from `folder` if it has them for the same inputs.
 *
 * @param {string} folder where they are stored; it's created if necessary
 * @param {ReadonlyArray<string | Uint8Array>} inputs everything that determines the result, in a fixed order
 * @param {() => Promise<Uint8Array>} make
 * @returns {Promise<Uint8Array>}
 */
export async function keptFile(folder, inputs, make) {
  const hash = createHash('sha256')
  for (const input of inputs) hash.update(`${input.length}\n`).update(input)
  const file = join(folder, hash.digest('hex'))
  try {
    const bytes = await readFile(file)
    await utimes(file, new Date(), new Date())
    return bytes
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
  }
  const bytes = await make()
  await mkdir(folder, { recursive: true })
  // A concurrent build must not find an incomplete file.
  const half = `${file}.${randomUUID()}`
  await writeFile(half, bytes)
  await rename(half, file)
  return bytes
}

/** Removes what no build used for a month. Another build may remove the same files. */
export async function removeUnused(/** @type {string} */ folder) {
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs > KEPT_MS) await rm(file, { force: true })
  }
}
