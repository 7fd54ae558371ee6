/** Tracks which stored contents this window uses, so that they aren't removed. */
import type { ContentUse } from '../../history/stored-contents.ts'
import type { FileAttributes } from './file-state.ts'

export interface ContentUseStore {
  /** Removes contents of this window some time after they were stored, if nothing uses them. */
  removeUnused(use: ContentUse): void
}

interface Holder {
  hashes: () => Iterable<string> | undefined
  /** whether the contents are used only while a turn runs */
  isOfTurn: boolean
}

/** The objects that refer to contents, until they're removed or garbage-collected. */
export class ContentHolders {
  readonly #holders = new Set<Holder>()

  /**
   * Adds an object that refers to contents. `isOfTurn`: the contents are used only while a turn runs. Returns a function that removes the
   * object.
   */
  add<T extends object>(holder: T, hashesOf: (holder: T) => Iterable<string>, isOfTurn = false): () => void {
    const reference = new WeakRef(holder)
    const hashes = () => {
      const held = reference.deref()
      return held && hashesOf(held)
    }
    const added = { hashes, isOfTurn }
    this.#holders.add(added)
    return () => this.#holders.delete(added)
  }

  /** Adds the hashes of all contents in use. `isQuiet`: no turn runs. */
  addTo(used: Set<string>, isQuiet: boolean): void {
    for (const holder of this.#holders) {
      if (isQuiet && holder.isOfTurn) continue
      const hashes = holder.hashes()
      if (!hashes) this.#holders.delete(holder)
      else for (const hash of hashes) used.add(hash)
    }
  }
}

export function contentsOf(attributes: Iterable<{ value: FileAttributes }>): string[] {
  return [...attributes].flatMap(({ value }) => (value.type === 'binary' ? value.hash : []))
}
