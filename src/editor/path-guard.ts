/**
 * Is a path inside a session's roots? Judged on where it really leads: links are followed, also the last one of a
 * path that does not exist yet, since writing there would follow it.
 */
import { realpath as fsRealpath, readlink } from 'node:fs/promises'
import type { Roots } from '../acp/model.ts'
import { PathRules } from './path-rules.ts'

/** What the guard asks the file system. Both fail as `node:fs` does, with a `code`. */
export interface Links {
  /** every link resolved, and every name as the disk spells it */
  realpath(path: string): Promise<string>
  /** the text of a link; `EINVAL` when it is none */
  readlink(path: string): Promise<string>
}

export const diskLinks: Links = {
  // fs.promises.realpath is the platform's own, which on macOS and Windows also gives the disk's spelling.
  realpath: path => fsRealpath(path),
  readlink: path => readlink(path),
}

export interface GuardedPath {
  /** absolute and normal, links not resolved */
  path: string
  /** where it leads, links resolved */
  realPath: string
  inside: boolean
  /** Other spellings of the same file by way of the roots, for finding the editor's document of it. */
  aliases: string[]
}

/** Real systems stop at 40 as well. */
const MAX_LINKS = 40

export class PathGuard {
  readonly cwd: string
  readonly #roots: string[]
  readonly #rules: PathRules
  readonly #links: Links

  constructor(roots: Roots, options: { rules?: PathRules; links?: Links } = {}) {
    this.#rules = options.rules ?? new PathRules()
    this.#links = options.links ?? diskLinks
    this.cwd = roots.cwd
    this.#roots = [roots.cwd, ...roots.additionalDirectories].map(root => this.#rules.normalize(root))
  }

  /**
   * Judges a path as an agent sent it; a relative one is taken from the cwd. Rejects with `InvalidPathError` when no
   * file can have that path and with the file system's error when it cannot be told where it leads.
   */
  async check(path: string): Promise<GuardedPath> {
    const full = this.#rules.absolute(this.cwd, path)
    const realPath = await this.#resolve(full, { left: MAX_LINKS })
    const aliases = new Set<string>()
    let inside = false
    for (const root of this.#roots) {
      // The roots are resolved each time: a link among them may be changed while the session runs.
      const realRoot = await this.#resolve(root, { left: MAX_LINKS })
      // Letter by letter: both are spelled as the disk spells them, and folded case would let a neighbour in.
      if (!this.#rules.containsKey(realRoot, realPath)) continue
      inside = true
      aliases.add(this.#rules.join(root, this.#rules.relative(realRoot, realPath)))
    }
    aliases.delete(full)
    aliases.delete(realPath)
    return { path: full, realPath, inside, aliases: [...aliases] }
  }

  /**
   * Where an agent's path leads, relative to every root that it is in; `undefined` when it is in none, or no file can
   * have that path. Rejects as {@link check} does otherwise.
   */
  async within(path: string): Promise<string[] | undefined> {
    let full: string
    try {
      full = this.#rules.absolute(this.cwd, path)
    } catch {
      return undefined
    }
    const realPath = await this.#resolve(full, { left: MAX_LINKS })
    const found: string[] = []
    for (const root of this.#roots) {
      const realRoot = await this.#resolve(root, { left: MAX_LINKS })
      if (this.#rules.containsKey(realRoot, realPath)) found.push(this.#rules.relative(realRoot, realPath))
    }
    return found.length > 0 ? found : undefined
  }

  async #resolve(path: string, links: { left: number }): Promise<string> {
    try {
      return this.#rules.normalize(await this.#links.realpath(path))
    } catch (error) {
      const code = codeOf(error)
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    }
    const parent = this.#rules.dirname(path)
    if (parent === path) return path
    const realParent = await this.#resolve(parent, links)
    const here = this.#rules.join(realParent, this.#rules.basename(path))
    const target = await this.#target(here)
    if (target === undefined) return here
    links.left -= 1
    if (links.left < 0)
      throw Object.assign(new Error(`${path} leads through too many links.`), { code: 'ELOOP' })
    return this.#follow(realParent, target, links)
  }

  /** A link's text, name by name: after a link, `..` leads to the parent of where that link leads. */
  async #follow(folder: string, target: string, links: { left: number }): Promise<string> {
    const absolute = this.#rules.isAbsolute(target)
    const root = absolute ? this.#rules.root(target) : ''
    let here = absolute ? this.#rules.normalize(root) : folder
    for (const name of this.#rules.names(target.slice(root.length))) {
      here =
        name === '..' ? this.#rules.dirname(here) : await this.#resolve(this.#rules.join(here, name), links)
    }
    return here
  }

  /** Where the link leads, if there is one: a link to nothing is missing to realpath. */
  async #target(path: string): Promise<string | undefined> {
    try {
      return await this.#links.readlink(path)
    } catch (error) {
      const code = codeOf(error)
      // Windows answers UNKNOWN for what is no link.
      if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR' || code === 'UNKNOWN') return undefined
      throw error
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}
