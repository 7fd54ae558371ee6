/** The progress of a review of agents' changes: the decisions in the workspace, and the number of undecided changes. */
import { randomUUID } from 'node:crypto'
import { Emitter } from '../../common/event.ts'
import type { ChangedFile } from './changed-file.ts'
import { type ChangedFiles, compareFiles } from './hunk-navigation.ts'

/** A user's decision about changes of one file. */
export interface DecidedFile {
  /** absolute */
  path: string
  outcome: 'kept' | 'reverted'
  /** The numbers of changes by the sessions that made them, without sessions that began another turn after their review was finished. */
  changes: Array<{ sessions: string[]; count: number }>
  /** Set if the file doesn't exist anymore. */
  isGone?: true
  /** the id of the revert, or of the keep, which only the window that made it can undo */
  undo?: string
}

/** Persists the decisions across reloads. */
export interface DecisionStore {
  /** Saves a decision in the background. `undefined` removes it. */
  saveDecided(id: string, decided: DecidedFile | undefined): void
  /** the oldest first */
  loadDecided(): Promise<Array<[id: string, decided: DecidedFile]>>
}

export interface ReviewedFile {
  path: string
  /** absent if all changes are decided */
  file?: ChangedFile
  /** numbers of changes; a file without changed lines counts as one change */
  undecided: number
  kept: number
  reverted: number
  /** the ids of the decisions that kept or reverted the changes, the latest last */
  decisions: string[]
  /** Set if the file doesn't exist anymore because of the user's decision. */
  isGone?: true
}

/** The part of a scope of changes that {@link ReviewProgress.files} needs. */
interface ReviewScope extends Pick<ChangedFiles, 'hunks'> {
  /** the sessions whose changes the scope contains; `undefined`: all */
  sessions: ReadonlySet<string> | undefined
  list(): readonly ChangedFile[]
}

/** Maximum number of stored decisions: more than a person makes before an agent's next turn. */
const MAX_DECIDED = 20_000

export class ReviewProgress {
  readonly #store: DecisionStore
  /** by id, the latest last */
  readonly #decided = new Map<string, DecidedFile>()
  readonly #change = new Emitter<void>()
  readonly onDidChange = this.#change.event

  constructor(store: DecisionStore) {
    this.#store = store
  }

  async load(): Promise<void> {
    for (const [id, decided] of await this.#store.loadDecided()) this.#decided.set(id, decided)
    if (this.#decided.size > 0) this.#change.fire()
  }

  /** Records a decision. `changes`: the sessions that made each change. Returns a function to call when the user undoes the decision. */
  add(decided: Omit<DecidedFile, 'changes'> & { changes: ReadonlyArray<readonly string[]> }): () => void {
    const id = `${Date.now()}-${randomUUID()}`
    const one = { ...decided, changes: grouped(decided.changes) }
    this.#set(id, one)
    const [oldest] = this.#decided.keys()
    if (this.#decided.size > MAX_DECIDED && oldest !== undefined) this.#remove(oldest)
    this.#change.fire()
    return () => {
      if (this.#remove(id)) this.#change.fire()
    }
  }

  #remove(id: string): boolean {
    const isKnown = this.#decided.delete(id)
    if (isKnown) this.#store.saveDecided(id, undefined)
    return isKnown
  }

  /**
   * Removes the decisions of a revert that the user undid, except for the files that weren't restored. `only`: only the revert of this file
   * was undone.
   */
  restored(undo: string, unrestored: readonly string[], only?: string): void {
    for (const [id, one] of this.#decided)
      if (one.undo === undo && !unrestored.includes(one.path) && (only === undefined || one.path === only))
        this.#remove(id)
    this.#change.fire()
  }

  /**
   * Records that an agent begins a turn in one of `sessions`: decisions of a finished review aren't part of the next review. `undecided`:
   * the sessions with undecided changes.
   */
  beginTurn(sessions: ReadonlySet<string>, undecided: ReadonlySet<string>): void {
    if (this.#decided.size === 0 || [...sessions].some(one => undecided.has(one))) return
    for (const [id, { changes, ...decided }] of this.#decided) {
      if (undecided.size === 0) this.#remove(id)
      else if (changes.some(({ sessions: of }) => of.some(one => sessions.has(one)))) {
        // the change stays in the reviews of other sessions that also made the change
        const left = (of: readonly string[]) => of.filter(one => !sessions.has(one))
        this.#set(id, { ...decided, changes: changes.map(one => ({ ...one, sessions: left(one.sessions) })) })
      }
    }
    this.#change.fire()
  }

  /** Moves the decisions about files that the user renamed: `moved` returns the new path of a renamed file. */
  renamed(moved: (path: string) => string | undefined): void {
    let isChanged = false
    for (const [id, one] of this.#decided) {
      const path = moved(one.path)
      if (path === undefined) continue
      this.#set(id, { ...one, path })
      isChanged = true
    }
    if (isChanged) this.#change.fire()
  }

  #set(id: string, decided: DecidedFile): void {
    this.#decided.set(id, decided)
    this.#store.saveDecided(id, decided)
  }

  /**
   * The ids of the reverts among the decisions, the latest first, each with the paths of its files, without the old paths of renamed files.
   */
  get reverts(): Map<string, Set<string>> {
    const reverts = new Map<string, Set<string>>()
    for (const { outcome, undo, path } of [...this.#decided.values()].reverse()) {
      if (outcome !== 'reverted' || undo === undefined) continue
      const paths = reverts.get(undo)
      if (paths) paths.add(path)
      else reverts.set(undo, new Set([path]))
    }
    return reverts
  }

  /** The files of a review, decided or not, in the order of the review. */
  files(scope: ReviewScope): ReviewedFile[] {
    const files = new Map<string, ReviewedFile>()
    /**
     * by the previous path: the new path of a file that agents moved; decisions follow the file, although the move itself isn't decided yet
     */
    const moved = new Map<string, string>()
    for (const file of scope.list()) {
      if (file.from !== undefined) moved.set(file.from, file.path)
      files.set(file.path, {
        path: file.path,
        file,
        undecided: Math.max(1, scope.hunks(file.path).length),
        kept: 0,
        reverted: 0,
        decisions: [],
      })
    }
    const { sessions } = scope
    for (const { path: decided, outcome, changes, isGone, undo } of this.#decided.values()) {
      const path = files.has(decided) ? decided : (moved.get(decided) ?? decided)
      let count = 0
      for (const { sessions: of, count: made } of changes)
        if (!sessions || of.some(one => sessions.has(one))) count += made
      if (count === 0) continue
      const file: ReviewedFile = files.get(path) ?? {
        ...{ path, undecided: 0, kept: 0, reverted: 0 },
        decisions: [],
      }
      file[outcome] += count
      if (undo !== undefined && !file.decisions.includes(undo)) file.decisions.push(undo)
      if (isGone && !file.file) file.isGone = true
      else delete file.isGone
      files.set(path, file)
    }
    return [...files.values()].sort(compareFiles)
  }
}

/** The user's decisions about a file's changes. `both`: some kept, some reverted; `some`: not all decided yet; `undefined`: none. */
export type Outcome = 'kept' | 'reverted' | 'both' | 'some'

export function outcomeOf({ undecided, kept, reverted }: ReviewedFile): Outcome | undefined {
  if (kept + reverted === 0) return undefined
  if (undecided > 0) return 'some'
  return kept === 0 ? 'reverted' : reverted === 0 ? 'kept' : 'both'
}

/** The number of changes that the user has decided about, and the number of all changes. */
export function decidedCount(files: readonly ReviewedFile[]): { decided: number; total: number } {
  let decided = 0
  let total = 0
  for (const { undecided, kept, reverted } of files) {
    decided += kept + reverted
    total += kept + reverted + undecided
  }
  return { decided, total }
}

function grouped(changes: ReadonlyArray<readonly string[]>): DecidedFile['changes'] {
  const groups = new Map<string, DecidedFile['changes'][number]>()
  for (const of of changes) {
    const sessions = [...new Set(of)].sort()
    const key = JSON.stringify(sessions)
    const group = groups.get(key)
    if (group) group.count++
    else groups.set(key, { sessions, count: 1 })
  }
  return [...groups.values()]
}
