/**
 * Converts between file names and strings. On Linux, a file name consists of any bytes. In strings, a byte that isn't UTF-8 becomes a lone
 * surrogate (U+DC80 to U+DCFF), as in Python (PEP 383), so that the string can be converted back to the same file name.
 */
import { isUtf8 } from 'node:buffer'
import nodePath, { type PlatformPath } from 'node:path'
import { hostPlatform } from './platform.ts'

/** The string for the bytes of one or several file names or paths. */
export function decodeFileName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  let name = ''
  for (let at = 0; at < bytes.length; ) {
    const size = [1, 2, 3, 4].find(count => isUtf8(bytes.subarray(at, at + count)))
    name += size ? bytes.toString('utf8', at, at + size) : String.fromCharCode(0xdc00 + bytes[at]!)
    at += size ?? 1
  }
  return name
}

/** The path in the form that Node's file system functions take. */
export function onDisk(path: string, platform: NodeJS.Platform = hostPlatform): string | Buffer {
  if (isText(path) || platform === 'win32') return path
  const parts = path.split(/([\udc80-\udcff])/u)
  return Buffer.concat(
    parts.map((part, i) => (i % 2 === 1 ? Buffer.of(part.charCodeAt(0) - 0xdc00) : Buffer.from(part))),
  )
}

/**
 * Whether a path is the folder or in the folder. Both must be absolute and spelled as on disk. `paths`: the path functions of the system.
 * On Windows, the path from a folder to another drive is absolute.
 */
export function isWithin(
  folder: string,
  path: string,
  { relative, isAbsolute, sep }: Pick<PlatformPath, 'relative' | 'isAbsolute' | 'sep'> = nodePath,
): boolean {
  const below = relative(folder, path)
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}

/** Whether a path is valid text. VS Code can't represent other paths. */
export function isText(path: string): boolean {
  return !/\p{Surrogate}/u.test(path)
}

/** The path for display, with a replacement character for each byte that isn't UTF-8. */
export function readable(path: string): string {
  return path.replace(/\p{Surrogate}/gu, '\ufffd')
}
