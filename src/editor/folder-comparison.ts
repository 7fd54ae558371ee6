import { realpath } from 'node:fs/promises'
import { Owner } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import { PathRules } from './path-rules.ts'

/** Compares folders by real path: a link equals its target folder. */
export class FolderComparison {
  readonly #rules: PathRules
  /** Returns the real path of a folder, or the same path if the real one is unknown. */
  readonly real: (folder: string) => string

  constructor(rules: PathRules, real: (folder: string) => string = folder => folder) {
    this.#rules = rules
    this.real = real
  }

  same(one: string, other: string): boolean {
    const keys = this.keys(other)
    return this.keys(one).some(key => keys.includes(key))
  }

  /** Whether `path` is the folder or inside of it, by either the given or the real path. */
  contains(folder: string, path: string): boolean {
    return this.containsKeys(this.keys(folder), this.keys(path))
  }

  /** Returns the keys of a folder, for comparing it with many other folders. */
  keys(folder: string): string[] {
    const real = this.real(folder)
    return (real === folder ? [folder] : [folder, real]).map(one => this.#rules.key(one))
  }

  containsKeys(folder: readonly string[], path: readonly string[]): boolean {
    return folder.some(one => path.some(other => this.#rules.containsKey(one, other)))
  }
}

/** Looks up the real paths of these folders, and resolves to their comparison. */
export async function compareFolders(
  folders: Iterable<string>,
  rules: PathRules = new PathRules(),
): Promise<FolderComparison> {
  const known = [...new Set(folders)].map(async one => [rules.key(one), await nearestExisting(one)] as const)
  const real = new Map(await Promise.all(known))
  return new FolderComparison(rules, folder => real.get(rules.key(folder)) ?? folder)
}

/** Resolves to a function that tells whether a path is in a folder. `paths`: all paths with which the function will be called. */
export async function insideCheck(
  folder: string,
  paths: Iterable<string>,
): Promise<(path: string) => boolean> {
  const compare = await compareFolders([folder, ...paths])
  return path => compare.contains(folder, path)
}

/** Resolves to the real path. A part at the end that doesn't exist is kept unchanged. */
async function nearestExisting(at: string): Promise<string> {
  const rules = new PathRules()
  if (!rules.isAbsolute(at)) return at
  const real = await realpath(at).catch(() => undefined)
  const parent = rules.dirname(at)
  if (real !== undefined || parent === at) return real ?? at
  return rules.join(await nearestExisting(parent), rules.basename(at))
}

/** Resolves to the real path, or to the same path if the folder doesn't exist. */
export async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder)
}

/**
 * Whether a path is on a Windows network share. Parley doesn't access a share that an agent or an imported file names, since the request
 * would reveal the user's identity to the other machine.
 */
export function isOnShare(path: string, rules: PathRules): boolean {
  return rules.platform === 'win32' && /^[\\/]{2}/.test(path)
}

/**
 * The real paths of folders, for callers that can't wait. Folders are looked up in the background, one after the other, so that a disk that
 * doesn't answer blocks nothing else. Until its real path is known, a folder is compared by its given path.
 */
export class RealFolders extends Owner {
  readonly #rules = new PathRules()
  readonly #known = new Map<string, string>()
  readonly #change = this.register(new Emitter<void>())
  #unknown: string[] = []
  #isReading = false

  readonly compare = new FolderComparison(this.#rules, folder => this.#real(folder))

  /** Fires when the real path of a folder changed. */
  readonly onDidChange = this.#change.event

  /** Returns the paths of folders, and the targets of the links among them. */
  paths(folders: readonly string[]): string[] {
    return [...new Set(folders.flatMap(folder => [folder, this.compare.real(folder)]))]
  }

  /** Looks up the real paths of these folders, even if they are already known. */
  async refresh(folders: readonly string[]): Promise<void> {
    let changed = false
    for (const folder of folders) {
      const real = await nearestExisting(folder)
      if (real !== (this.#known.get(folder) ?? folder)) changed = true
      this.#known.set(folder, real)
    }
    if (changed) this.#change.fire()
  }

  #real(folder: string): string {
    const known = this.#known.get(folder)
    if (known !== undefined) return known
    this.#known.set(folder, folder)
    if (isOnShare(folder, this.#rules)) return folder
    this.#unknown.push(folder)
    void this.#read()
    return folder
  }

  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    while (this.#unknown.length > 0 && !this.owned.isDisposed) await this.refresh(this.#unknown.splice(0))
    this.#isReading = false
  }
}
