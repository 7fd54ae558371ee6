import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import path from 'node:path'

/** Characters that are collected before they're written. */
const BUFFER = 1 << 20

/**
 * Writes lines to a file that is complete or not there: they go to a temporary file beside it, which then replaces it.
 * Rejects with the error of the disk or of the lines; then nothing of them remains.
 */
export async function writeAtomically(file: string, lines: AsyncIterable<string>): Promise<void> {
  const folder = path.dirname(file)
  const temporary = path.join(folder, `.${path.basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  const handle = await open(temporary, 'wx')
  try {
    try {
      let buffer = ''
      for await (const line of lines) {
        buffer += `${line}\n`
        if (buffer.length < BUFFER) continue
        await handle.writeFile(buffer)
        buffer = ''
      }
      await handle.writeFile(buffer)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
