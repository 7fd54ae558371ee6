import type { PathRules } from '../../editor/path-rules.ts'

/** Maximum number of other paths that are remembered; beyond it, all of them are forgotten. */
const MAX_ALIASES = 10_000

/**
 * The paths of files, each of which may have several: with other letter cases on a disk that ignores case, or through links. Files are
 * looked up by their keys.
 */
export class FilePaths {
  readonly #rules: Pick<PathRules, 'key'>
  /** by the key of a path through a link: the key of the file's real path */
  readonly #aliases = new Map<string, string>()
  /** by a file's key: other paths under which the editor may have the file open */
  readonly #spellings = new Map<string, Set<string>>()

  constructor(rules: Pick<PathRules, 'key'>) {
    this.#rules = rules
  }

  key(path: string): string {
    return this.#rules.key(path)
  }

  /** The key of the file that the path leads to. */
  ownKey(path: string): string {
    const key = this.key(path)
    return this.#aliases.get(key) ?? key
  }

  /** Records other paths of a file. */
  alias(realPath: string, paths: readonly string[]): void {
    const own = this.key(realPath)
    for (const path of paths) {
      const key = this.key(path)
      if (key === own || this.#aliases.get(key) === own) continue
      if (this.#aliases.size >= MAX_ALIASES) {
        this.#aliases.clear()
        this.#spellings.clear()
      }
      this.#aliases.set(key, own)
      const spellings = this.#spellings.get(own)
      if (spellings) spellings.add(path)
      else this.#spellings.set(own, new Set([path]))
    }
  }

  /** All known paths of a file. */
  of(path: string): string[] {
    return [path, ...(this.#spellings.get(this.key(path)) ?? [])]
  }

  /** The keys of all known paths of a file. */
  keysOf(path: string): string[] {
    return this.of(path).map(one => this.key(one))
  }
}
