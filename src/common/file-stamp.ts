import type { Stats } from 'node:fs'

/** Differs once a file was written or replaced: also if the file system's clock is coarse, where a replaced one has another number. */
export function fileStamp({ mtimeMs, size, ino }: Pick<Stats, 'mtimeMs' | 'size' | 'ino'>): string {
  return `${mtimeMs} ${size} ${ino}`
}
