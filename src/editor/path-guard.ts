/**
 * Is a path inside a session's roots? Judged on where it really leads: links are followed, also the last one of a
 * path that does not exist yet, since writing there would follow it.
 */
import { realpath as fsRealpath, readlink } from 'node:fs/promises'
import type { Roots } from '../acp/model.ts'
import { InvalidPathError, PathRules } from './path-rules.ts'

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

/** A path as {@link PathGuard.check} finds it. */
export interface LocatedPath extends GuardedPath {
  /** where it leads, relative to every root that it is in */
  relative: string[]
}

/** Real systems stop at 40 as well. */
const MAX_LINKS = 40

export class PathGuard {
  readonly cwd: string
  readonly #roots: string[]
  readonly #rules: PathRules
  readonly #links: Links
  readonly #within: string[] | undefined

  /** `within`: roots that a path has to be in as well. */
  constructor(roots: Roots, options: { rules?: PathRules; links?: Links; within?: Roots } = {}) {
    this.#rules = options.rules ?? new PathRules()
    this.#links = options.links ?? diskLinks
    this.cwd = roots.cwd
    const foldersOf = (of: Roots) =>
      [of.cwd, ...of.additionalDirectories].map(root => this.#rules.normalize(root))
    this.#roots = foldersOf(roots)
    this.#within = options.within && foldersOf(options.within)
  }

  /** The session's folders, absolute and normal. */
  get roots(): readonly string[] {
    return this.#roots
  }

  /**
   * Judges a path as an agent sent it; a relative one is taken from the cwd. Rejects with `InvalidPathError` when no
   * file can have that path and with the file system's error when its target can't be resolved.
   */
  async check(path: string): Promise<LocatedPath> {
    const full = this.#rules.absolute(this.cwd, path)
    const realPath = await this.#resolve(full, { left: MAX_LINKS })
    const aliases = new Set<string>()
    const relative: string[] = []
    const isIn = !this.#within || (await this.#isIn(this.#within, realPath))
    for (const root of isIn ? this.#roots : []) {
      // The roots are resolved each time: a link among them may be changed while the session runs.
      const realRoot = await this.#resolve(root, { left: MAX_LINKS })
      // Letter by letter: both are spelled as the disk spells them, and folded case would let a neighbor in.
      if (!this.#rules.containsKey(realRoot, realPath)) continue
      const below = this.#rules.relative(realRoot, realPath)
      relative.push(below)
      aliases.add(this.#rules.join(root, below))
    }
    aliases.delete(full)
    aliases.delete(realPath)
    return { path: full, realPath, inside: relative.length > 0, relative, aliases: [...aliases] }
  }

  /**
   * {@link check} for a path that is to be inside of a root: `undefined` when it is in none, or no file can have that
   * path. Rejects with the file system's error when that is unknown.
   */
  async within(path: string): Promise<LocatedPath | undefined> {
    try {
      const file = await this.check(path)
      return file.inside ? file : undefined
    } catch (error) {
      if (error instanceof InvalidPathError) return undefined
      throw error
    }
  }

  async #isIn(roots: readonly string[], realPath: string): Promise<boolean> {
    for (const root of roots) {
      const realRoot = await this.#resolve(root, { left: MAX_LINKS })
      if (this.#rules.containsKey(realRoot, realPath)) return true
    }
    return false
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
