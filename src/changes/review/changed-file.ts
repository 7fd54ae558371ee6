/** Summarizes agents' changes in a file. */
import { Owner, toDisposable } from '../../common/disposable.ts'
import { countChanges } from '../../editor/line-edits.ts'
import type { TrackedFiles } from '../detect/tracked-files.ts'
import type { Matches } from '../model/change-versions.ts'
import { type FileAttributes, sameAttributes } from '../model/file-state.ts'
import type { TrackedFile } from '../model/tracked-file.ts'

/** How long files are described at a time before other work runs. Milliseconds. */
const SLICE_MS = 5

/** All or some of the changes of a file. */
export type Share = 'all' | 'some'

export interface ChangedFile {
  /** absolute */
  path: string
  status: 'added' | 'modified' | 'deleted' | 'renamed'
  /** The previous path of a renamed file, absolute. */
  from?: string
  /** Whether some or all changes of the file are uncertain: they happened during a turn, and the agent didn't report them. */
  uncertain?: Share
  added: number
  removed: number
  /** Whether the file isn't compared line by line, since it is or was binary, too large or a link. */
  opaque?: true
}

const described = new WeakMap<TrackedFile, { version: number; file: ChangedFile | undefined }>()

/** Describes all changes of a file, once for each of its versions; `undefined` if there are none. */
export function describeAll(file: TrackedFile): ChangedFile | undefined {
  const known = described.get(file)
  if (known?.version === file.version) return known.file
  const now = describe(file, () => true)
  described.set(file, { version: file.version, file: now })
  return now
}

/** Describes the matching changes of a file; `undefined` if there are none. */
export function describe(file: TrackedFile, matches: Matches): ChangedFile | undefined {
  const hunks = file.hunks(matches)
  const authors = [...hunks.flatMap(hunk => hunk.authors), ...file.attributeAuthors(matches)]
  const before = file.attributesWithout(matches)
  // another agent may have reverted all changes
  if (authors.length === 0 || (hunks.length === 0 && sameAttributes(before, file.attributes)))
    return undefined
  let added = 0
  let removed = 0
  for (const { before, after } of hunks) {
    const counts = countChanges(before, after)
    added += counts.added
    removed += counts.removed
  }
  const was = before.type
  const is = file.attributes.type
  const status = was === 'absent' && is !== 'absent' ? 'added' : is === 'absent' ? 'deleted' : 'modified'
  const uncertain = shareOf(authors, author => author.uncertain)
  return {
    path: file.path,
    status,
    ...(uncertain && { uncertain }),
    added,
    removed,
    ...((isOpaque(was) || isOpaque(is)) && { opaque: true }),
  }
}

function isOpaque(type: FileAttributes['type']): boolean {
  return type === 'binary' || type === 'large' || type === 'link'
}

/** Whether all or some of the items have the property; `undefined` if none has it. */
export function shareOf<T>(items: readonly T[], has: (item: T) => boolean | undefined): Share | undefined {
  if (items.every(has)) return 'all'
  return items.some(has) ? 'some' : undefined
}

/** Describes files when they change, so that a list never has to describe many at once. */
export class DescribeAhead extends Owner {
  readonly #files: TrackedFiles
  readonly #waiting = new Set<string>()
  #next: NodeJS.Immediate | undefined

  constructor(files: TrackedFiles) {
    super()
    this.#files = files
    this.register(
      files.onDidChange(paths => {
        for (const path of paths) this.#waiting.add(path)
        this.#next ??= setImmediate(() => this.#describe())
      }),
    )
    this.register(toDisposable(() => clearImmediate(this.#next)))
  }

  #describe(): void {
    this.#next = undefined
    const end = performance.now() + SLICE_MS
    for (const path of this.#waiting) {
      if (performance.now() > end) break
      this.#waiting.delete(path)
      const file = this.#files.at(path)
      if (!file) continue
      describeAll(file)
      // computes the sessions, which lists need, too
      void file.sessions
    }
    if (this.#waiting.size > 0) this.#next = setImmediate(() => this.#describe())
  }
}
