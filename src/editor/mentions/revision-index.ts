import fuzzysort from 'fuzzysort'
import { withTimeout } from '../../common/async.ts'
import { FILE_LIST_MS } from '../../common/limits.ts'
import { findCommits, listRevisions, type Revision } from '../git-revisions.ts'

export interface FoundRevision {
  revision: Revision
  /** offsets in the revision's name of the letters that match */
  matches: number[]
  /** number of matching characters of the hash */
  hashMatches: number
}

interface List {
  folders: string
  revisions: readonly Revision[]
  madeAt: number
}

/** Minimum length of a query; a shorter query finds nothing. */
const MIN_QUERY = 3
/** Maximum age of a list; an older list is read again before a search. Milliseconds. */
const MAX_AGE_MS = 5000
/** If a search finds nothing in a list that is at least this old, the list is read again. Milliseconds. */
const MIN_AGE_MS = 1000
const HASH = /^[0-9a-f]{4,64}$/i
/** Minimum score of a match, from 0 to 1. */
const THRESHOLD = 0.5

/** Finds commits by the start of their hash or by their subject, and branches by their name. */
export class RevisionIndex {
  readonly #list: (folders: readonly string[]) => Promise<Revision[]>
  readonly #now: () => number
  #known: List | undefined
  #pending: { folders: string; made: Promise<List> } | undefined

  constructor(list: typeof listRevisions = listRevisions, now: () => number = Date.now) {
    this.#list = list
    this.#now = now
  }

  async search(folders: readonly string[], query: string, limit: number): Promise<FoundRevision[]> {
    if (query.length < MIN_QUERY) return []
    const list = await this.#readList(folders)
    const found = await this.#searchIn(list, folders, query, limit)
    // an old list doesn't contain the newest commits
    if (found.length > 0 || this.#now() - list.madeAt < MIN_AGE_MS) return found
    return this.#searchIn(await this.#make(folders, list.folders), folders, query, limit)
  }

  async #searchIn(
    { revisions }: List,
    folders: readonly string[],
    query: string,
    limit: number,
  ): Promise<FoundRevision[]> {
    const byHash = HASH.test(query) ? await withHash(folders, revisions, query.toLowerCase()) : []
    const others = revisions.filter(revision => !byHash.includes(revision))
    const byName = fuzzysort.go(query, others, { key: 'name', limit, threshold: THRESHOLD })
    return [
      ...byHash.map(revision => ({ revision, matches: [], hashMatches: query.length })),
      ...byName.map(({ obj, indexes }) => ({ revision: obj, matches: [...indexes], hashMatches: 0 })),
    ].slice(0, limit)
  }

  async #readList(folders: readonly string[]): Promise<List> {
    const key = folders.join('\0')
    const known = this.#known?.folders === key ? this.#known : undefined
    if (known && this.#now() - known.madeAt < MAX_AGE_MS) return known
    const fresh = this.#make(folders, key)
    return known ? ((await withTimeout(fresh, FILE_LIST_MS)) ?? known) : fresh
  }

  #make(folders: readonly string[], key: string): Promise<List> {
    if (this.#pending?.folders === key) return this.#pending.made
    const made = this.#list(folders)
      .then(revisions => {
        this.#known = { folders: key, revisions, madeAt: this.#now() }
        return this.#known
      })
      .finally(() => {
        if (this.#pending?.made === made) this.#pending = undefined
      })
    this.#pending = { folders: key, made }
    return made
  }
}

async function withHash(
  folders: readonly string[],
  revisions: readonly Revision[],
  start: string,
): Promise<Revision[]> {
  const listed = revisions.filter(({ ref, base }) => base === undefined && ref.startsWith(start))
  return listed.length > 0 ? listed : findCommits(folders, start)
}
