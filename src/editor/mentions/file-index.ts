import type { KeysResult } from 'fuzzysort'
import fuzzysort from 'fuzzysort'
import { withTimeout } from '../../common/async.ts'
import { FILE_LIST_MS } from '../../common/limits.ts'
import { listFiles } from '../list-files.ts'

/** A workspace folder whose files can be searched. */
export interface IndexRoot {
  /** absolute */
  path: string
  name: string
}

export interface FoundFile {
  root: IndexRoot
  /** path relative to the root, with `/` between names */
  path: string
  isFolder: boolean
  /** offsets in `path` of the letters that match, ascending */
  matches: number[]
}

interface Row {
  root: IndexRoot
  path: string
  name: string
  isFolder: boolean
}

/** Minimum time between refreshes of an outdated list, in milliseconds. */
const MIN_AGE_MS = 1500
/** Minimum score of a match, from 0 to 1. */
const THRESHOLD = 0.2

interface List {
  rows: Row[]
  snapshot: ReturnType<typeof snapshotOf>
  madeAt: number
}

/**
 * Fuzzy search over the files of the workspace. They are listed on first use, cached, and listed again after changes. Contains only files
 * that {@link listFiles} lists.
 */
export class FileIndex {
  readonly #list: (root: string) => Promise<string[]>
  readonly #now: () => number
  readonly #lists = new Map<string, List>()
  readonly #pending = new Map<string, Promise<List>>()
  readonly #stale = new Set<string>()

  constructor(list: (root: string) => Promise<string[]> = listFiles, now: () => number = Date.now) {
    this.#list = list
    this.#now = now
  }

  /** Marks all lists as outdated, since files were created, deleted or renamed. */
  changed(): void {
    for (const root of this.#lists.keys()) this.#stale.add(root)
  }

  /** Resolves to the best matching files and folders, best first. An empty query finds nothing. */
  async search(roots: readonly IndexRoot[], query: string, limit: number): Promise<FoundFile[]> {
    const wanted = query.replaceAll('\\', '/').trim()
    if (wanted === '') return []
    const found = await Promise.all(
      roots.map(async root => this.#searchIn(await this.#listOf(root), wanted, limit)),
    )
    return found
      .flat()
      .sort((a, b) => b.score - a.score || a.file.path.length - b.file.path.length)
      .slice(0, limit)
      .map(({ file }) => file)
  }

  #searchIn(list: List, query: string, limit: number): Array<{ score: number; file: FoundFile }> {
    const results = fuzzysort.go(query, list.snapshot, { limit: limit * 4, threshold: THRESHOLD })
    const [...hits] = results
    return hits
      .map(result => {
        const { root, path, name, isFolder } = result.obj
        const [byName, byPath] = result
        const inName =
          byName && byName.score > 0 ? byName.indexes.map(i => i + path.length - name.length) : undefined
        const matches = [...(inName ?? byPath?.indexes ?? [])].sort((a, b) => a - b)
        return { score: scoreOf(result), file: { root, path, isFolder, matches } }
      })
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
  }

  async #listOf(root: IndexRoot): Promise<List> {
    const known = this.#lists.get(root.path)
    if (!known) return this.#make(root)
    const due = this.#stale.has(root.path) && this.#now() - known.madeAt >= MIN_AGE_MS
    if (!due) return known
    const fresh = this.#make(root).catch(() => known)
    return (await withTimeout(fresh, FILE_LIST_MS)) ?? known
  }

  #make(root: IndexRoot): Promise<List> {
    let making = this.#pending.get(root.path)
    if (!making) {
      this.#stale.delete(root.path)
      making = this.#list(root.path)
        .then(files => {
          const rows = rowsOf(root, files)
          const list = { rows, snapshot: snapshotOf(rows), madeAt: this.#now() }
          this.#lists.set(root.path, list)
          return list
        })
        .finally(() => this.#pending.delete(root.path))
      this.#pending.set(root.path, making)
    }
    return making
  }
}

function rowsOf(root: IndexRoot, files: readonly string[]): Row[] {
  const folders = new Set<string>()
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  const row = (path: string, isFolder: boolean): Row => ({
    root,
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    isFolder,
  })
  return [...files.map(file => row(file, false)), ...[...folders].map(folder => row(folder, true))]
}

function snapshotOf(rows: readonly Row[]) {
  return fuzzysort.snapshot(rows, { keys: ['name', 'path'] })
}

/**
 * Returns the score of a result. A match in the name scores higher than a match in the path; with equal scores, a file comes before a
 * folder.
 */
function scoreOf(result: KeysResult<Row>): number {
  const [byName, byPath] = result
  const best = Math.max((byName?.score ?? 0) + 0.1, byPath?.score ?? 0)
  return result.obj.isFolder ? best - 0.02 : best
}
