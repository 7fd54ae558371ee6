// What is slow to make and always comes out the same is made once, and kept by a hash of what it was made from.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The bytes that `make` makes, from `folder` if the same inputs were met before.
 *
 * @param {string} folder where they are kept; it is made when it is missing
 * @param {ReadonlyArray<string | Uint8Array>} inputs all that the outcome depends on, in an order that stays
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
  // Another build may run at the same time: no one may find half a file.
  const half = `${file}.${randomUUID()}`
  await writeFile(half, bytes)
  await rename(half, file)
  return bytes
}
