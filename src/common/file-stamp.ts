import type { Stats } from 'node:fs'

/**
 * A string that changes when a file is written or replaced. If the file system's clock is too coarse, the inode reveals a replaced file.
 */
export function fileStamp({ mtimeMs, size, ino }: Pick<Stats, 'mtimeMs' | 'size' | 'ino'>): string {
  return `${mtimeMs} ${size} ${ino}`
}
