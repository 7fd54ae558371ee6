import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const CHUNK_BYTES = 64 * 1024

export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
}

/**
 * The text of a file that others may have replaced with anything, such as a link to a device that never ends, or a pipe that
 * never answers. Rejects as `open` does, with {@link TooLargeError}, and for what isn't a file.
 */
export async function readBounded(file: string, maxBytes: number): Promise<string> {
  // opening a pipe that has no writer would never return; Windows doesn't have this flag
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const info = await handle.stat()
    if (!info.isFile()) throw new Error(`${file} isn't a file.`)
    const chunks: Buffer[] = []
    let bytes = 0
    // the size is only known for what is on a disk, and the file may grow
    while (bytes <= maxBytes && info.size <= maxBytes) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES)
      if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8')
      chunks.push(buffer.subarray(0, bytesRead))
      bytes += bytesRead
    }
    throw new TooLargeError(`${file} is larger than ${maxBytes} bytes.`)
  } finally {
    await handle.close()
  }
}
