import * as z from 'zod'
import type { FileState } from '../model/file-state.ts'
import type { Snapshot } from './work-tree.ts'

/** A larger snapshot is not stored, since writing it would stop everything else for too long. Characters. */
const MAX_TEXT = 2_000_000

const text = z.string()
const texts = z.array(text)
const mode = z.number()
const attributes = z.discriminatedUnion('type', [
  z.object({ type: z.literal('absent') }),
  z.object({ type: z.literal('text'), encoding: text, bom: z.boolean(), mode }),
  z.object({ type: z.literal('link'), target: text }),
  z.object({ type: z.literal('large'), size: z.number(), modified: z.number(), mode }),
])
const known = z.object({
  state: z.object({ attributes, text }).optional(),
  stamp: text,
  changed: z.number(),
  isFresh: z.boolean(),
  unsure: z.boolean(),
})
const place = { root: text, top: text, commit: text }
const repository = z.object({
  ...place,
  position: z.object({
    ...place,
    log: z.object({ path: text, size: z.number() }),
    stashes: z.object({ path: text, stamp: text, commits: texts }),
    index: text,
  }),
  dirty: z.array(z.tuple([text, known])),
  early: texts,
  nested: texts,
})

/** The schema of a snapshot that is stored as JSON. */
export const storedSnapshotSchema = z.object({
  repositories: z.array(repository),
  unseen: texts,
  accepted: texts,
})

type StoredSnapshot = z.infer<typeof storedSnapshotSchema>
type StoredState = z.infer<typeof known>['state']

/**
 * The part of a snapshot that the next window needs; `undefined` if that part is too large. Folders without a repository are left out, and
 * so are files that aren't text, since their contents are in a store that each window creates anew. As usual, the user is notified of
 * changes that can't be detected.
 */
export function storedSnapshot({
  repositories,
  folders,
  unseen,
  accepted,
}: Snapshot): StoredSnapshot | undefined {
  let size = 0
  const stored: StoredSnapshot = {
    repositories: repositories.map(({ dirty, early, ...repository }) => ({
      ...repository,
      early: [...early],
      dirty: [...dirty].map(([path, { state, ...known }]) => {
        const stateToStore = storedState(state)
        size += stateToStore?.text.length ?? 0
        return [path, { ...known, state: stateToStore }]
      }),
    })),
    unseen: [...unseen, ...folders.map(({ root }) => root)],
    accepted,
  }
  return size > MAX_TEXT ? undefined : stored
}

export function snapshotOf({ repositories, unseen, accepted }: StoredSnapshot): Snapshot {
  return {
    repositories: repositories.map(({ dirty, early, ...repository }) => ({
      ...repository,
      early: new Set(early),
      dirty: new Map(dirty.map(([path, known]) => [path, { ...known, state: known.state }])),
    })),
    folders: [],
    unseen,
    accepted,
  }
}

function storedState(state: FileState | undefined): StoredState {
  if (!state || state.attributes.type === 'binary') return undefined
  return { attributes: state.attributes, text: state.text }
}
