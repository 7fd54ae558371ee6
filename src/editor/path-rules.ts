import nodePath from 'node:path'
import { fileURLToPath } from 'node:url'
import { isWindowsDevice } from '../common/windows-names.ts'

/** The ways in which platforms differ over paths. Given a platform, so that each is tested on every other. */
export class PathRules {
  readonly platform: NodeJS.Platform
  readonly #path: nodePath.PlatformPath

  constructor(platform: NodeJS.Platform = process.platform) {
    this.platform = platform
    this.#path = platform === 'win32' ? nodePath.win32 : nodePath.posix
  }

  get caseSensitive(): boolean {
    return this.platform !== 'win32' && this.platform !== 'darwin'
  }

  /**
   * Absolute on its own. On Windows that takes a drive or a UNC share: `\dir` depends on the current drive, and
   * `C:dir` on that drive's current directory.
   */
  isAbsolute(path: string): boolean {
    if (this.platform !== 'win32') return path.startsWith('/')
    return /^[A-Za-z]:[\\/]/.test(path) || /^[\\/]{2}[^\\/?.]+[\\/]+[^\\/]+/.test(path)
  }

  /** Lexically normal: no `.` or `..`, one kind of separator, no trailing one, an upper-case drive. */
  normalize(path: string): string {
    const normal = this.#path.normalize(path)
    const root = this.#path.parse(normal).root
    const bare = normal.length > root.length ? normal.replace(this.#trailing, '') : normal
    return this.platform === 'win32' && /^[a-z]:/.test(bare) ? bare[0]?.toUpperCase() + bare.slice(1) : bare
  }

  join(base: string, ...parts: string[]): string {
    return this.#path.join(base, ...parts)
  }

  resolve(base: string, path: string): string {
    return this.normalize(this.isAbsolute(path) ? path : this.#path.resolve(base, path))
  }

  /** `/`, a drive or a share, as it is spelled in the path. */
  root(path: string): string {
    return this.#path.parse(path).root
  }

  /** The names of a path without root, `..` among them. */
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

  /** Equal for two spellings of one path, as far as spelling alone can tell. */
  key(path: string): string {
    const normal = this.normalize(path)
    if (this.platform === 'darwin') return normal.normalize('NFC').toLowerCase()
    return this.caseSensitive ? normal : normal.toLowerCase()
  }

  same(one: string, other: string): boolean {
    return this.key(one) === this.key(other)
  }

  /** Is `path` the folder or inside of it, by spelling? */
  contains(folder: string, path: string): boolean {
    return this.containsKey(this.key(folder), this.key(path))
  }

  /** {@link contains} for normal paths that are compared as they are, letter by letter. */
  containsKey(folder: string, path: string): boolean {
    if (folder === path) return true
    const separator = this.#path.sep
    return path.startsWith(folder.endsWith(separator) ? folder : folder + separator)
  }

  /**
   * An absolute, normal path of what an agent sent: a path, or a `file:` URI. A relative one is taken from `cwd`.
   * Throws {@link InvalidPathError} when no file can have that path.
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
      throw new InvalidPathError(uri, 'it is not a valid file URI')
    }
  }
}

/** No file can have this path. */
export class InvalidPathError extends Error {
  override readonly name = 'InvalidPathError'

  constructor(path: string, why: string) {
    super(`${JSON.stringify(path)} is not a path that can be used: ${why}.`)
  }
}
