import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const CHUNK_BYTES = 64 * 1024

export class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
}

/**
 * Reads the text of a file that others may have replaced, such as with a link to an endless device or with a pipe that never answers.
 * Rejects with the errors of `open`, with {@link TooLargeError}, and for anything that isn't a file.
 */
export async function readBounded(file: string, maxBytes: number): Promise<string> {
  // opening a pipe that has no writer would never return; Windows doesn't have this flag
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    return (await readHandle(handle, file, maxBytes)).toString('utf8')
  } finally {
    await handle.close()
  }
}

/** Reads the bytes of an open file. Rejects like {@link readBounded}. `path`: names the file in errors. */
export async function readHandle(handle: FileHandle, path: string, maxBytes: number): Promise<Buffer> {
  // fstat of a file that was just opened doesn't wait for the disk
  const info = fstatSync(handle.fd)
  const { size } = info
  if (!info.isFile()) throw new Error(`${path} isn't a file.`)
  const chunks: Buffer[] = []
  let bytes = 0
  // read until the end, since the size is known only for files on a disk, and the file may grow
  while (bytes <= maxBytes && size <= maxBytes) {
    const length = size > bytes ? size - bytes + 1 : CHUNK_BYTES
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length)
    bytes += bytesRead
    if (bytesRead > 0) chunks.push(buffer.subarray(0, bytesRead))
    if (bytesRead > 0 && (bytes !== size || bytesRead === length)) continue
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }
  throw new TooLargeError(`${path} is larger than ${maxBytes} bytes.`)
}
