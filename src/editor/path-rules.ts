import nodePath from 'node:path'
import { fileURLToPath } from 'node:url'
import { foldsCase, hostPlatform, withUpperCaseDrive } from '../common/platform.ts'
import { isWindowsDevice } from '../common/windows-names.ts'

/** Platform-specific rules for paths. The platform is a parameter, so that the rules of every platform can be tested on each. */
export class PathRules {
  readonly platform: NodeJS.Platform
  readonly #path: nodePath.PlatformPath

  constructor(platform: NodeJS.Platform = hostPlatform) {
    this.platform = platform
    this.#path = platform === 'win32' ? nodePath.win32 : nodePath.posix
  }

  get caseSensitive(): boolean {
    return !foldsCase(this.platform)
  }

  /**
   * Whether a path is fully absolute. On Windows, a fully absolute path has a drive or a UNC share: `\dir` depends on the current drive,
   * and `C:dir` on the drive's current directory.
   */
  isAbsolute(path: string): boolean {
    if (this.platform !== 'win32') return path.startsWith('/')
    return /^[A-Za-z]:[\\/]/.test(path) || /^[\\/]{2}[^\\/?.]+[\\/]+[^\\/]+/.test(path)
  }

  /** Normalizes a path by its text alone: no `.` or `..`, one kind of separator, no separator at the end, an upper-case drive. */
  normalize(path: string): string {
    const normal = this.#path.normalize(path)
    const root = this.#path.parse(normal).root
    const bare = normal.length > root.length ? normal.replace(this.#trailing, '') : normal
    return withUpperCaseDrive(bare, this.platform)
  }

  join(base: string, ...parts: string[]): string {
    return this.#path.join(base, ...parts)
  }

  resolve(base: string, path: string): string {
    return this.normalize(this.isAbsolute(path) ? path : this.#path.resolve(base, path))
  }

  /** Returns the root of the path: `/`, a drive or a share, as spelled in the path. */
  root(path: string): string {
    return this.#path.parse(path).root
  }

  /** Splits a path without a root into its names. Keeps `..` and removes `.`. */
  names(path: string): string[] {
    return path
      .split(this.platform === 'win32' ? /[\\/]+/ : /\/+/)
      .filter(name => name !== '' && name !== '.')
  }

  dirname(path: string): string {
    return this.#path.dirname(path)
  }

  basename(path: string): string {
    return this.#path.basename(path)
  }

  relative(from: string, to: string): string {
    return this.#path.relative(from, to)
  }

  /** Returns a key that is equal for different spellings of the same path, as far as the spelling alone can tell. */
  key(path: string): string {
    const normal = this.normalize(path)
    if (this.platform === 'darwin') return normal.normalize('NFC').toLowerCase()
    return this.caseSensitive ? normal : normal.toLowerCase()
  }

  same(one: string, other: string): boolean {
    return this.key(one) === this.key(other)
  }

  /** Whether `path` is the folder or inside of it, judging by the spelling. */
  contains(folder: string, path: string): boolean {
    return this.containsKey(this.key(folder), this.key(path))
  }

  /** Like {@link contains}, for normalized paths, case-sensitive. */
  containsKey(folder: string, path: string): boolean {
    if (folder === path) return true
    const separator = this.#path.sep
    return path.startsWith(folder.endsWith(separator) ? folder : folder + separator)
  }

  /**
   * Returns the absolute, normalized path for a path or `file:` URI that an agent sent. A relative path is relative to `cwd`.
   * @throws {@link InvalidPathError} if no file can have the path
   */
  absolute(cwd: string, path: string): string {
    if (path === '') throw new InvalidPathError(path, 'it is empty')
    if (path.includes('\0')) throw new InvalidPathError(path, 'it holds a NUL character')
    const plain = /^file:\/\//i.test(path) ? this.#fromUri(path) : path
    if (this.platform !== 'win32') return this.resolve(cwd, plain)
    const long = plain.replace(/^\\\\\?\\UNC\\/i, '\\\\').replace(/^\\\\\?\\(?=[A-Za-z]:\\)/, '')
    if (/^[\\/]{2}[?.][\\/]/.test(long)) throw new InvalidPathError(path, 'it names a device')
    const full = this.resolve(cwd, long)
    const names = full.slice(this.#path.parse(full).root.length).split(this.#path.sep)
    for (const name of names) {
      if (name.includes(':')) throw new InvalidPathError(path, 'it has a colon after the drive')
      if (/[. ]$/.test(name)) throw new InvalidPathError(path, 'a name in it ends with a dot or a space')
      if (isWindowsDevice(name)) {
        throw new InvalidPathError(path, `"${name}" is a device on Windows`)
      }
    }
    return full
  }

  get #trailing(): RegExp {
    return this.platform === 'win32' ? /[\\/]+$/ : /\/+$/
  }

  #fromUri(uri: string): string {
    try {
      return fileURLToPath(uri, { windows: this.platform === 'win32' })
    } catch {
      throw new InvalidPathError(uri, "it isn't a valid file URI")
    }
  }
}

/** Thrown for a path that no file can have. */
export class InvalidPathError extends Error {
  override readonly name = 'InvalidPathError'

  constructor(path: string, why: string) {
    super(`${JSON.stringify(path)} isn't a usable path: ${why}.`)
  }
}
