import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const FILLER = 'filler'

/** A disk of a few megabytes that a test can fill or make read-only: a `tmpfs`. */
export class SmallDisk {
  readonly folder: string

  /** `undefined` where the tests may not mount anything. */
  static create(megabytes: number): SmallDisk | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
      return new SmallDisk(folder)
    } catch {
      rmSync(folder, { recursive: true })
      return undefined
    }
  }

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Not one more byte can be written, or only so many. */
  fill(left = 0): void {
    const file = openSync(path.join(this.folder, FILLER), 'a')
    for (const bytes of [65_536, 4096, 1])
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes))
      } catch {
        // full
      }
    if (left > 0) ftruncateSync(file, fstatSync(file).size - left)
    closeSync(file)
  }

  empty(): void {
    const file = path.join(this.folder, FILLER)
    if (existsSync(file)) rmSync(file)
  }

  setReadOnly(isReadOnly: boolean): void {
    execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.folder])
  }

  dispose(): void {
    execFileSync('umount', ['-l', this.folder])
    rmSync(this.folder, { recursive: true })
  }
}
