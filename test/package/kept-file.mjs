// Stores results that are deterministic but slow to create, by a hash of their inputs.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

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
    return await readFile(file)
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
