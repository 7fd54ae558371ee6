import type { FindResult } from '../../../bridge/conversation.ts'

/** One match: the `occurrence`-th match (from 0) in an entry. */
export interface FindPosition {
  entry: number
  occurrence: number
}

interface EntryHits {
  /** number of matches in the part that is visible while the entry is collapsed */
  head: number
  all: number
}

/** The results by entry, and navigation among them. */
export class FoundEntries {
  readonly #hits = new Map<number, EntryHits>()
  /** entries with matches, ascending */
  #order: number[] = []
  #total = 0

  get total(): number {
    return this.#total
  }

  take({ hits, part }: Pick<FindResult, 'hits' | 'part'>): void {
    if (part === 'whole') {
      this.#hits.clear()
      this.#order = []
      this.#total = 0
    }
    let sorted = true
    for (let i = 0; i + 2 < hits.length; i += 3) {
      const entry = hits[i]!
      const all = hits[i + 2]!
      const before = this.#hits.get(entry)
      this.#total += all - (before?.all ?? 0)
      if (all > 0) this.#hits.set(entry, { head: hits[i + 1]!, all })
      else if (this.#hits.delete(entry)) sorted = false
      if (all === 0 || before) continue
      if (entry < (this.#order.at(-1) ?? -1)) sorted = false
      this.#order.push(entry)
    }
    if (!sorted) this.#order = [...this.#hits.keys()].sort((a, b) => a - b)
  }

  of(entry: number): EntryHits | undefined {
    return this.#hits.get(entry)
  }

  /** Returns the valid position nearest to an earlier one, since an entry may have fewer matches than before. */
  clamp({ entry, occurrence }: FindPosition): FindPosition | undefined {
    const all = this.#hits.get(entry)?.all
    return all === undefined ? this.from(entry) : { entry, occurrence: Math.min(occurrence, all - 1) }
  }

  /** Returns the first match in this entry or after it, or else the first match of all. */
  from(entry: number): FindPosition | undefined {
    const found = this.#order[this.#position(entry)] ?? this.#order[0]
    return found === undefined ? undefined : { entry: found, occurrence: 0 }
  }

  /** Returns the next match; wraps around after the last. */
  after({ entry, occurrence }: FindPosition): FindPosition | undefined {
    if (occurrence + 1 < (this.#hits.get(entry)?.all ?? 0)) return { entry, occurrence: occurrence + 1 }
    return this.from(entry + 1)
  }

  /** Returns the previous match; wraps around before the first. */
  before({ entry, occurrence }: FindPosition): FindPosition | undefined {
    if (occurrence > 0 && this.#hits.has(entry)) return { entry, occurrence: occurrence - 1 }
    const found = this.#order[this.#position(entry) - 1] ?? this.#order.at(-1)
    return found === undefined ? undefined : { entry: found, occurrence: this.#hits.get(found)!.all - 1 }
  }

  /** Returns the number of the match among all matches, from 1. */
  ordinal({ entry, occurrence }: FindPosition): number {
    let before = 0
    for (const other of this.#order) {
      if (other >= entry) break
      before += this.#hits.get(other)!.all
    }
    return before + occurrence + 1
  }

  /** Returns the number of entries with matches before this entry. */
  #position(entry: number): number {
    let low = 0
    let high = this.#order.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#order[middle]! < entry) low = middle + 1
      else high = middle
    }
    return low
  }
}
