import { opendir, stat } from 'node:fs/promises'
import { withTimeout } from '../../common/async.ts'
import { TYPED_PATH_MS } from '../../common/limits.ts'
import { PathGuard } from '../path-guard.ts'
import { PathRules } from '../path-rules.ts'

/** A file or folder that matches the typed path or its start. */
export interface TypedPath {
  /** absolute; links aren't resolved */
  path: string
  isFolder: boolean
  /** the complete path as the user would type it: `~/notes/plan.md`, `build/out.js` */
  typed: string
  /** Whether the path is exactly the typed path, not only one that starts with it. */
  isExact: boolean
  /** Whether the path is outside of all roots, including through a link within a root. */
  isOutside: boolean
}

/** The folders in which typed paths are looked up. All are absolute. */
export interface TypedPathPlaces {
  roots: readonly string[]
  /** the folder that `~` stands for */
  home: string
}

/** Maximum number of entries of a folder that are read. */
const MAX_ENTRIES = 100_000
/** Number of entries that are read at once. */
const ENTRIES_AT_ONCE = 1000
/** Maximum number of paths that are returned. */
const MAX_PATHS = 20

const diskRules = new PathRules()

/**
 * Searches for typed paths one at a time, since a folder that doesn't answer blocks one of the few threads for files. Of several waiting
 * searches, only the last one runs.
 */
export class TypedPathSearch {
  readonly #find: typeof findTypedPaths
  #running: Promise<unknown> = Promise.resolve()
  #last: object | undefined

  constructor(find = findTypedPaths) {
    this.#find = find
  }

  /** Resolves to the paths that match the typed one; empty if a folder doesn't answer in time. */
  async find(typed: string, places: TypedPathPlaces): Promise<TypedPath[]> {
    const mine = {}
    this.#last = mine
    const found = this.#running.then(() => (this.#last === mine ? this.#find(typed, places) : []))
    this.#running = found.catch(() => {})
    return (await withTimeout(found, TYPED_PATH_MS)) ?? []
  }
}

/**
 * Resolves to the files and folders that match a typed path, even if Git ignores them or a link leads there: first the path itself, then
 * the items of its folder whose names start with the last name. A path that starts with neither `~/` nor a slash is relative to each root.
 * A name without a slash finds only the file with exactly this name.
 */
export async function findTypedPaths(typed: string, places: TypedPathPlaces): Promise<TypedPath[]> {
  const found = new Map<string, Found>()
  for (const place of placesOf(typed, places))
    for (const one of await findIn(place)) if (!found.has(one.path)) found.set(one.path, one)
  const best = [...found.values()].sort((a, b) => Number(b.isExact) - Number(a.isExact)).slice(0, MAX_PATHS)
  const paths: TypedPath[] = []
  for (const one of best) paths.push({ ...one, isOutside: !(await isInRoots(one.path, places.roots)) })
  return paths
}

/**
 * Resolves to the file or folder of a root that is exactly the pasted path. Accesses nothing else on the disk, since users don't expect
 * this from pasting a text.
 */
export async function findInRoots(typed: string, places: TypedPathPlaces): Promise<TypedPath | undefined> {
  for (const place of placesOf(typed, places)) {
    const file = exactPath(place)
    if (file === undefined || !places.roots.some(root => diskRules.contains(root, file))) continue
    const found = await look(place, place.name)
    if (found && (await isInRoots(file, places.roots))) return { ...found, isOutside: false }
  }
  return undefined
}

/** Whether a path leads into one of the roots. */
export async function isInRoots(
  file: string,
  [cwd, ...additionalDirectories]: readonly string[],
): Promise<boolean> {
  if (cwd === undefined) return false
  const checked = new PathGuard({ cwd, additionalDirectories }).check(file)
  return checked.then(
    ({ inside }) => inside,
    () => false,
  )
}

/** A folder that may contain a typed path. */
interface TypedPlace {
  /** absolute */
  folder: string
  /** the typed text for the folder, with the last slash */
  before: string
  /** the last name of the typed path */
  name: string
}

/**
 * Returns the folders in which to search for a typed path. On Windows, a network share is searched only if a root or the home folder is on
 * the share, because the request reveals the user's identity to its server; devices are never searched.
 */
export function placesOf(
  typed: string,
  { roots, home }: TypedPathPlaces,
  rules: PathRules = diskRules,
): TypedPlace[] {
  const wanted = rules.platform === 'win32' ? typed.replaceAll('\\', '/') : typed
  if (wanted === '' || wanted.includes('\0')) return []
  const nameAt = wanted.lastIndexOf('/') + 1
  const [before, name] = [wanted.slice(0, nameAt), wanted.slice(nameAt)]
  const isHome = before.startsWith('~/')
  const isFull = before.startsWith('/') || rules.isAbsolute(before)
  const above = isFull ? before : `./${isHome ? before.slice(2) : before}`
  const shareOf = (path: string) => rules.key(rules.root(rules.normalize(path)))
  const known = new Set([...roots, home].map(shareOf))
  return (isHome || isFull ? [home] : roots).flatMap(base => {
    const folder = absolute(base, above, rules)
    if (folder === undefined || (folder.startsWith('\\\\') && !known.has(shareOf(folder)))) return []
    return [{ folder, before, name }]
  })
}

function absolute(folder: string, path: string, rules: PathRules): string | undefined {
  try {
    return rules.absolute(folder, path)
  } catch {
    return undefined
  }
}

/** Returns the path of the entry with exactly this name; `undefined` if no file can have the name. */
function exactPath({ folder, name }: TypedPlace): string | undefined {
  return name === '' || name === '.' || name === '..' ? undefined : absolute(folder, `./${name}`, diskRules)
}

type Found = Omit<TypedPath, 'isOutside'>

async function look({ folder, before, name }: TypedPlace, entry: string): Promise<Found | undefined> {
  const path = diskRules.join(folder, entry)
  const info = await stat(path).catch(() => undefined)
  if (!info?.isFile() && !info?.isDirectory()) return undefined
  return { path, isFolder: info.isDirectory(), typed: `${before}${entry}`, isExact: entry === name }
}

async function findIn(place: TypedPlace): Promise<Found[]> {
  const { folder, before, name } = place
  const names = exactPath(place) === undefined ? [] : [name]
  if (before !== '') names.push(...(await namesIn(folder, name)).filter(entry => entry !== name))
  const found: Found[] = []
  // one after the other, since each folder that doesn't answer would block a thread
  for (const entry of names) {
    const one = await look(place, entry)
    if (one) found.push(one)
  }
  return found
}

/**
 * Resolves to the names in a folder that start with the typed letters. Hidden names are included only if the typed text starts with a dot.
 */
async function namesIn(folder: string, start: string): Promise<string[]> {
  const low = start.toLowerCase()
  const names: string[] = []
  try {
    let read = 0
    for await (const { name } of await opendir(folder, { bufferSize: ENTRIES_AT_ONCE })) {
      if (++read > MAX_ENTRIES) break
      if (name.toLowerCase().startsWith(low) && (low.startsWith('.') || !name.startsWith('.')))
        names.push(name)
    }
  } catch {
    // the folder doesn't exist, or can't be read
  }
  return names.sort((a, b) => a.localeCompare(b)).slice(0, MAX_PATHS)
}
