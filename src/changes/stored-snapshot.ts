import type { FileState } from './file-state.ts'
import type { Snapshot } from './work-tree.ts'

/** A larger snapshot is not stored, since writing it would stop everything else for too long. Characters. */
const MAX_TEXT = 2_000_000

type Repository = Snapshot['repositories'][number]
type Dirty = Repository['dirty'] extends Map<string, infer Value> ? Value : never

/** A snapshot as JSON. */
export interface StoredSnapshot {
  repositories: Array<Omit<Repository, 'dirty'> & { dirty: Array<[string, Dirty]> }>
  unseen: string[]
  accepted: string[]
}

/**
 * What the next window needs of a snapshot; `undefined` if that's too large. Folders without a repository aren't part of it, nor
 * is what isn't text: their contents are in a store that begins anew with each window. That is reported, as usual.
 */
export function storedSnapshot({
  repositories,
  folders,
  unseen,
  accepted,
}: Snapshot): StoredSnapshot | undefined {
  let size = 0
  const stored: StoredSnapshot = {
    repositories: repositories.map(({ dirty, ...repository }) => ({
      ...repository,
      dirty: [...dirty].map(([path, { state, ...known }]) => {
        const isKept = state !== undefined && isComplete(state)
        if (isKept) size += state.text.length
        return [path, { ...known, state: isKept ? state : undefined }]
      }),
    })),
    unseen: [...unseen, ...folders.map(({ root }) => root)],
    accepted,
  }
  return size > MAX_TEXT ? undefined : stored
}

export function snapshotOf({ repositories, unseen, accepted }: StoredSnapshot): Snapshot {
  return {
    repositories: repositories.map(({ dirty, ...repository }) => ({
      ...repository,
      dirty: new Map(dirty.map(([path, known]) => [path, { ...known, state: known.state }])),
    })),
    folders: [],
    unseen,
    accepted,
  }
}

function isComplete({ attributes }: FileState): boolean {
  return attributes.type !== 'binary'
}
