/** Finds agents' changes that were committed: committing a change also keeps it. */

import { isWithin } from '../../common/file-names.ts'
import { lineEdits, splitLines } from '../../editor/line-edits.ts'
import { ABSENT, type FileState, sameState } from '../model/file-state.ts'
import type { TrackedFile } from '../model/tracked-file.ts'
import type { ReadState } from './folder-scan.ts'
import { Checkout, committedContents } from './repository-files.ts'
import { asCheckedOut, commitsSince, type RepositoryPosition, repositoryOf } from './repository-moves.ts'

export interface CommittedChangesOptions {
  files: () => Iterable<TrackedFile>
  stateWith: ReadState
  /** Keeps the changes with these ids, or all changes of the file. */
  keep: (path: string, ids?: ReadonlySet<number>) => void
}

export class CommittedChanges {
  readonly #options: CommittedChangesOptions
  /** by the path of the work tree: the repository's position at the last check */
  readonly #positions = new Map<string, RepositoryPosition>()
  #checking: Promise<void> = Promise.resolve()

  constructor(options: CommittedChangesOptions) {
    this.#options = options
  }

  /** Starts to notice commits in this repository. */
  follow(position: RepositoryPosition): void {
    if (!this.#positions.has(position.top)) this.#positions.set(position.top, position)
  }

  /** Keeps agents' changes that were committed since the last check. */
  check(): Promise<void> {
    const checking = this.#checking.then(() => this.#check())
    this.#checking = checking.catch(() => {})
    return checking
  }

  async #check(): Promise<void> {
    for (const [top, before] of this.#positions) {
      const commits = await commitsSince(before)
      const now = commits && (await repositoryOf(before.root))
      if (!now) continue
      this.#positions.set(top, now)
      for (const { from, to } of commits) await this.#keepCommitted({ ...before, commit: from }, to)
    }
  }

  async #keepCommitted({ root, top, commit }: RepositoryPosition, head: string): Promise<void> {
    const { files, keep } = this.#options
    const changed = [...files()].filter(file => file.hasChanges && !file.gone && isWithin(top, file.path))
    if (changed.length === 0) return
    const paths = changed.map(({ path }) => path)
    const before = await committedContents(root, top, commit, paths)
    const after = await committedContents(root, top, head, paths)
    const checkout = new Checkout(root, paths)
    for (const file of changed) {
      const stateIn = async (contents: typeof before): Promise<FileState | undefined> => {
        const known = contents.get(file.path)
        if (!known?.bytes) return known && ABSENT
        return asCheckedOut(this.#options.stateWith, checkout, file.path, known, file.state)
      }
      const [old, committed] = [await stateIn(before), await stateIn(after)]
      if (!old || !committed || sameState(old, committed)) continue
      if (sameState(committed, file.state)) keep(file.path)
      else {
        const ids = hunksIn(file, committed, old)
        if (ids.size > 0) keep(file.path, ids)
      }
    }
  }
}

/** The ids of changes that are in the new committed text but weren't in the previous one. */
function hunksIn(file: TrackedFile, committed: FileState, old: FileState): Set<number> {
  const types = [file.attributes, committed.attributes].map(({ type }) => type)
  if (types.some(type => type !== 'text')) return new Set()
  const now = splitLines(file.text)
  const isInCommitted = linesIn(now, committed.text)
  const isInOld = linesIn(now, old.text)
  const hunks = file
    .hunks(() => true)
    .filter(({ start, after }) => {
      const end = start + after.length
      return isInCommitted(start, end) && !isInOld(start, end)
    })
  return new Set(hunks.map(({ id }) => id))
}

/** Returns a function that tells whether the lines from `start` to `end` are the same in the other text. */
function linesIn(lines: readonly string[], other: string): (start: number, end: number) => boolean {
  const edits = lineEdits(lines, splitLines(other))
  return (start, end) =>
    edits.every(edit =>
      start === end ? edit.end < start || edit.start > end : edit.end <= start || edit.start >= end,
    )
}
