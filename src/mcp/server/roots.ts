import { sep } from 'node:path'
import { ToolError } from './tool-error.ts'

/** Checks paths against the folders of a session, as `PathGuard` does. */
export interface RootGuard {
  readonly cwd: string
  /** absolute and normal */
  readonly roots: readonly string[]
  check(path: string): Promise<{ path: string; realPath: string; inside: boolean }>
}

/** The folders of a session: which files tools may see, and how answers name them. */
export class Roots {
  readonly #guard: RootGuard

  constructor(guard: RootGuard) {
    this.#guard = guard
  }

  get folders(): readonly string[] {
    return this.#guard.roots
  }

  /**
   * The absolute path of a file that an agent names, absolute or relative to a folder. Rejects if it's outside of all folders,
   * also by a link.
   */
  async file(path: string): Promise<string> {
    let found: { path: string; inside: boolean }
    try {
      found = await this.#guard.check(withoutScheme(path))
    } catch {
      throw new ToolError(`There can't be a file ${JSON.stringify(path)}.`)
    }
    if (!found.inside)
      throw new ToolError(
        `${JSON.stringify(path)} is outside of the folders of this session, which are: ${this.folders.map(inOneLine).join(', ')}.`,
      )
    return found.path
  }

  /** Whether a file of the editor is in a folder of the session. */
  async has(path: string): Promise<boolean> {
    try {
      return (await this.#guard.check(path)).inside
    } catch {
      return false
    }
  }

  /** The items whose files are in a folder of the session. */
  async within<T>(items: readonly T[], pathOf: (item: T) => string): Promise<T[]> {
    const known = new Map<string, Promise<boolean>>()
    const inside = await Promise.all(
      items.map(item => {
        const path = pathOf(item)
        const found = known.get(path) ?? this.has(path)
        known.set(path, found)
        return found
      }),
    )
    return items.filter((_, i) => inside[i])
  }

  /** The one of `paths` that leads to the same file as `path`, however it's spelled. */
  async same(path: string, paths: readonly string[]): Promise<string | undefined> {
    const realPaths = await Promise.all(
      [path, ...paths].map(async one => (await this.#guard.check(one)).realPath),
    )
    return paths.find((_, at) => realPaths[at + 1] === realPaths[0])
  }

  /** A file in an answer: relative to the working directory where that is shorter to read and means the same. */
  name(path: string): string {
    const { cwd } = this.#guard
    const start = /[\\/]$/.test(cwd) ? cwd : `${cwd}${sep}`
    return inOneLine(path.startsWith(start) && path !== start ? path.slice(start.length) : path)
  }
}

/** Invisible characters and line ends. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A path, as a JSON string if it has line breaks, which could make it look like more than a path. */
function inOneLine(path: string): string {
  if (path.search(CONTROLS) < 0) return path
  return JSON.stringify(path).replace(CONTROLS, character =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

function withoutScheme(path: string): string {
  if (!/^file:\/\//i.test(path)) return path
  const { pathname } = new URL(path)
  const plain = decodeURIComponent(pathname)
  return /^\/[A-Za-z]:/.test(plain) ? plain.slice(1) : plain
}
