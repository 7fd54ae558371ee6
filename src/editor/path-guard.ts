/**
 * Determines whether a path is inside a session's roots, by its real path: links are followed, even at the end of a path that doesn't exist
 * yet, since writing would follow them.
 */
import { realpath as fsRealpath, readlink } from 'node:fs/promises'
import type { Roots } from '../acp/model.ts'
import { errorCode } from '../common/errors.ts'
import { decodeFileName, onDisk } from '../common/file-names.ts'
import { InvalidPathError, PathRules } from './path-rules.ts'

/** The file system functions that the guard uses. Both reject like `node:fs`, with a `code`. */
export interface Links {
  /** Resolves to the path with all links resolved and names spelled as on disk. */
  realpath(path: string): Promise<string>
  /** Resolves to the text of a link; rejects with `EINVAL` if the path isn't a link. */
  readlink(path: string): Promise<string>
}

export const diskLinks: Links = {
  // fs.promises.realpath is the platform's function, which on macOS and Windows also returns the disk's spelling.
  realpath: async path => decodeFileName(await fsRealpath(onDisk(path), 'buffer')),
  readlink: async path => decodeFileName(await readlink(onDisk(path), 'buffer')),
}

export interface GuardedPath {
  /** absolute and normalized, with unresolved links */
  path: string
  /** the path with links resolved */
  realPath: string
  inside: boolean
  /** Other paths of the same file, through the roots and the editor's folders, by which to find its document in the editor. */
  aliases: string[]
}

/** The result of {@link PathGuard.check}. */
export interface LocatedPath extends GuardedPath {
  /** the real path relative to each root that contains it */
  relative: string[]
}

/** Maximum number of links in a path, as on Linux. */
const MAX_LINKS = 40

export class PathGuard {
  readonly cwd: string
  readonly #roots: string[]
  readonly #rules: PathRules
  readonly #links: Links
  readonly #within: string[] | undefined
  readonly #folders: () => readonly string[]

  /**
   * `within`: further roots that must contain the path. `folders`: folders that are open in the editor, which may have other paths for the
   * same files. `cwd`: the base of relative paths; by default the cwd of the roots.
   */
  constructor(
    roots: Roots,
    options: {
      rules?: PathRules
      links?: Links
      within?: Roots
      folders?: () => readonly string[]
      cwd?: string
    } = {},
  ) {
    this.#rules = options.rules ?? new PathRules()
    this.#links = options.links ?? diskLinks
    this.cwd = options.cwd ?? roots.cwd
    const foldersOf = (of: Roots) =>
      [of.cwd, ...of.additionalDirectories].map(root => this.#rules.normalize(root))
    this.#roots = foldersOf(roots)
    this.#within = options.within && foldersOf(options.within)
    this.#folders = options.folders ?? (() => [])
  }

  /** The session's folders, absolute and normalized. */
  get roots(): readonly string[] {
    return this.#roots
  }

  /**
   * Checks a path that an agent sent; a relative path is relative to the cwd. Rejects with `InvalidPathError` if no file can have the path,
   * and with the file system's error if its target can't be resolved.
   */
  async check(path: string): Promise<LocatedPath> {
    const full = this.#rules.absolute(this.cwd, path)
    const realPath = await this.#resolve(full, { remaining: MAX_LINKS })
    const aliases = new Set<string>()
    const relative: string[] = []
    const isIn = !this.#within || (await this.#isIn(this.#within, realPath))
    for (const root of isIn ? this.#roots : []) {
      const below = await this.#below(root, full, realPath)
      if (below === undefined) continue
      relative.push(below)
      aliases.add(this.#rules.join(root, below))
    }
    for (const folder of this.#folders()) {
      const normal = this.#rules.normalize(folder)
      if (this.#roots.includes(normal)) continue
      const below = await this.#below(normal, full, realPath).catch(() => undefined)
      if (below !== undefined) aliases.add(this.#rules.join(normal, below))
    }
    aliases.delete(full)
    aliases.delete(realPath)
    return { path: full, realPath, inside: relative.length > 0, relative, aliases: [...aliases] }
  }

  /**
   * Like {@link check}, but resolves to `undefined` if the path is outside of the roots or no file can have it. Rejects with the file
   * system's error if the target can't be resolved.
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

  /** Resolves to the real path relative to a folder; `undefined` if it's outside of the folder. */
  async #below(folder: string, full: string, realPath: string): Promise<string | undefined> {
    // Resolve the folder each time, since a link in its path may change while the session is open. If the whole path has no links, the
    // folder has none.
    const isReal = full === realPath && this.#rules.containsKey(folder, full)
    const realFolder = isReal ? folder : await this.#resolve(folder, { remaining: MAX_LINKS })
    // Compare case-sensitively: both paths are spelled as on disk, and ignoring case could match a different folder.
    if (!this.#rules.containsKey(realFolder, realPath)) return undefined
    return this.#rules.relative(realFolder, realPath)
  }

  async #isIn(roots: readonly string[], realPath: string): Promise<boolean> {
    for (const root of roots) {
      const realRoot = await this.#resolve(root, { remaining: MAX_LINKS })
      if (this.#rules.containsKey(realRoot, realPath)) return true
    }
    return false
  }

  async #resolve(path: string, links: { remaining: number }): Promise<string> {
    try {
      return this.#rules.normalize(await this.#links.realpath(path))
    } catch (error) {
      const code = errorCode(error)
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    }
    const parent = this.#rules.dirname(path)
    if (parent === path) return path
    const realParent = await this.#resolve(parent, links)
    const here = this.#rules.join(realParent, this.#rules.basename(path))
    const target = await this.#target(here)
    if (target === undefined) return here
    links.remaining -= 1
    if (links.remaining < 0)
      throw Object.assign(new Error(`${path} leads through too many links.`), { code: 'ELOOP' })
    return this.#follow(realParent, target, links)
  }

  /** Resolves a link's text name by name: after a link, `..` is the parent of the link's target. */
  async #follow(folder: string, target: string, links: { remaining: number }): Promise<string> {
    const absolute = this.#rules.isAbsolute(target)
    const root = absolute ? this.#rules.root(target) : ''
    let here = absolute ? this.#rules.normalize(root) : folder
    for (const name of this.#rules.names(target.slice(root.length))) {
      here =
        name === '..' ? this.#rules.dirname(here) : await this.#resolve(this.#rules.join(here, name), links)
    }
    return here
  }

  /** Resolves to the target of a link, also of a broken one, for which realpath fails; `undefined` if the path isn't a link. */
  async #target(path: string): Promise<string | undefined> {
    try {
      return await this.#links.readlink(path)
    } catch (error) {
      const code = errorCode(error)
      // Windows returns UNKNOWN for a path that isn't a link.
      if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR' || code === 'UNKNOWN') return undefined
      throw error
    }
  }
}
