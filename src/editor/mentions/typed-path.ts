import { opendir, stat } from 'node:fs/promises'
import path from 'node:path'
import { PathGuard } from '../path-guard.ts'

/** A file or folder whose path, or the start of it, was typed. */
export interface TypedPath {
  /** absolute; links aren't resolved */
  path: string
  isFolder: boolean
  /** as the user would type all of it: `~/notes/plan.md`, `build/out.js` */
  typed: string
  /** It's what was typed, not only the start of its name. */
  isExact: boolean
  /** It's outside of all roots, also if a link inside of one leads there. */
  isOutside: boolean
}

/** Where typed paths are looked up. All are absolute. */
export interface TypedPathPlaces {
  roots: readonly string[]
  /** what `~` is */
  home: string
}

/** Most entries of a folder that are read. */
const MAX_ENTRIES = 5000
/** Most paths that are returned. */
const MAX_PATHS = 20

/**
 * The files and folders that exist under a typed path, whether or not Git ignores them or a link leads there: the path itself
 * first, then those in its folder whose names start with the last name. A path that starts with neither `~/` nor a slash is
 * relative to each root. A name alone finds only the file with exactly that name.
 */
export async function findTypedPaths(typed: string, places: TypedPathPlaces): Promise<TypedPath[]> {
  const wanted = process.platform === 'win32' ? typed.replaceAll('\\', '/') : typed
  if (wanted === '' || wanted.includes('\0')) return []
  const found = new Map<string, Omit<TypedPath, 'isOutside'>>()
  for (const base of basesOf(wanted, places))
    for (const one of await findFrom(base, wanted)) if (!found.has(one.path)) found.set(one.path, one)
  const best = [...found.values()].sort((a, b) => Number(b.isExact) - Number(a.isExact)).slice(0, MAX_PATHS)
  return Promise.all(
    best.map(async one => ({ ...one, isOutside: !(await isInRoots(one.path, places.roots)) })),
  )
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

interface Base {
  folder: string
  /** the start of the typed text that stands for the folder */
  prefix: string
}

function basesOf(wanted: string, { roots, home }: TypedPathPlaces): Base[] {
  if (wanted.startsWith('~/')) return [{ folder: home, prefix: '~/' }]
  if (path.isAbsolute(wanted)) {
    const { root } = path.parse(wanted)
    return [{ folder: root, prefix: root.replaceAll('\\', '/') }]
  }
  return roots.map(folder => ({ folder, prefix: '' }))
}

async function findFrom(
  { folder, prefix }: Base,
  wanted: string,
): Promise<Array<Omit<TypedPath, 'isOutside'>>> {
  const rest = wanted.slice(prefix.length)
  const above = rest.slice(0, rest.lastIndexOf('/') + 1)
  const name = rest.slice(above.length)
  const parent = path.resolve(folder, above)
  const at = async (entry: string) => {
    const isFolder = await stat(path.join(parent, entry)).then(
      info => (info.isFile() || info.isDirectory() ? info.isDirectory() : undefined),
      () => undefined,
    )
    return isFolder === undefined
      ? []
      : [
          {
            path: path.join(parent, entry),
            isFolder,
            typed: `${prefix}${above}${entry}`,
            isExact: entry === name,
          },
        ]
  }
  const isDots = name === '.' || name === '..'
  const exact = name === '' || isDots ? [] : await at(name)
  if (prefix === '' && above === '') return exact
  const names = (await namesIn(parent, name)).filter(entry => entry !== name)
  return [...exact, ...(await Promise.all(names.map(at))).flat()]
}

/** The names in a folder that start with the typed letters. Hidden ones need a dot. */
async function namesIn(folder: string, start: string): Promise<string[]> {
  const low = start.toLowerCase()
  const names: string[] = []
  try {
    let read = 0
    for await (const { name } of await opendir(folder)) {
      if (++read > MAX_ENTRIES) break
      if (name.toLowerCase().startsWith(low) && (low.startsWith('.') || !name.startsWith('.')))
        names.push(name)
    }
  } catch {
    // it doesn't exist, or can't be read
  }
  return names.sort((a, b) => a.localeCompare(b)).slice(0, MAX_PATHS)
}
