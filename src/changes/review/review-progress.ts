/** How far the user is with the changes that agents made: what was decided in this window, and what is left. */
import { Emitter } from '../../common/event.ts'
import type { ChangedFile } from './changed-file.ts'
import { type ChangedFiles, compareFiles } from './hunk-navigation.ts'

export interface DecidedFile {
  /** absolute */
  path: string
  outcome: 'kept' | 'reverted'
  /** of each change, the sessions that made it */
  changes: ReadonlyArray<readonly string[]>
  /** of a revert: its id */
  undo?: string
}

export interface ReviewedFile {
  path: string
  /** absent if all of it is decided */
  file?: ChangedFile
  /** numbers of changes; a file without changed lines has one */
  left: number
  kept: number
  reverted: number
}

/** What {@link ReviewProgress.files} needs of a scope of changes. */
interface ReviewScope extends Pick<ChangedFiles, 'hunks'> {
  /** `undefined`: all */
  sessions: ReadonlySet<string> | undefined
  list(): readonly ChangedFile[]
}

/** More than a person decides about before an agent's next turn. */
const MAX_DECIDED = 20_000

export class ReviewProgress {
  readonly #decided = new Set<DecidedFile>()
  readonly #change = new Emitter<void>()
  readonly onDidChange = this.#change.event

  /** Returns a function to call when the user undoes the decision. */
  add(decided: DecidedFile): () => void {
    this.#decided.add(decided)
    const [oldest] = this.#decided
    if (this.#decided.size > MAX_DECIDED && oldest) this.#decided.delete(oldest)
    this.#change.fire()
    return () => {
      if (this.#decided.delete(decided)) this.#change.fire()
    }
  }

  /** The user restored what was reverted, except for these files. */
  restored(undo: string, left: readonly string[]): void {
    for (const one of this.#decided)
      if (one.undo === undo && !left.includes(one.path)) this.#decided.delete(one)
    this.#change.fire()
  }

  /** An agent begins to work after everything was decided: the next review is another one. */
  clear(): void {
    if (this.#decided.size === 0) return
    this.#decided.clear()
    this.#change.fire()
  }

  /** The files of a review, decided or not, in its order. */
  files(scope: ReviewScope): ReviewedFile[] {
    const files = new Map<string, ReviewedFile>()
    for (const file of scope.list())
      files.set(file.path, {
        path: file.path,
        file,
        left: Math.max(1, scope.hunks(file.path).length),
        kept: 0,
        reverted: 0,
      })
    const { sessions } = scope
    for (const { path, outcome, changes } of this.#decided) {
      const count = sessions ? changes.filter(of => of.some(one => sessions.has(one))).length : changes.length
      if (count === 0) continue
      const file = files.get(path) ?? { path, left: 0, kept: 0, reverted: 0 }
      file[outcome] += count
      files.set(path, file)
    }
    return [...files.values()].sort(compareFiles)
  }
}

/** What the user decided about a file: `both` of its changes, or `some` so far. `undefined`: nothing. */
export type Outcome = 'kept' | 'reverted' | 'both' | 'some'

export function outcomeOf({ left, kept, reverted }: ReviewedFile): Outcome | undefined {
  if (kept + reverted === 0) return undefined
  if (left > 0) return 'some'
  return kept === 0 ? 'reverted' : reverted === 0 ? 'kept' : 'both'
}

/** How many changes the user has decided about, of how many. */
export function countOf(files: readonly ReviewedFile[]): { decided: number; total: number } {
  let decided = 0
  let total = 0
  for (const { left, kept, reverted } of files) {
    decided += kept + reverted
    total += kept + reverted + left
  }
  return { decided, total }
}
